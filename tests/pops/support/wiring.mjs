// What is put around the worker as it was built, so that its LEDGER binding leads over the test's network.

import { builtModules, scriptModule } from '../../worker/harness.mjs';
import { URL_HEADER } from './network.mjs';

/** The modules of a point of presence: the worker, with another LEDGER for its edge and its PopCounters. */
export function popModules(modules = builtModules()) {
  const [entry] = modules;
  const source = `
    import * as real from './${entry.name}';
    export * from './${entry.name}';

    const ledgerOf = (env, name) => ({
      fetch(input, init) {
        const request = new Request(input, init);
        request.headers.set('${URL_HEADER}', request.url);
        return fetch(new Request(env.POPS_NETWORK + '/' + env.POP_NAME + '/' + encodeURIComponent(name), request));
      },
    });
    const wired = (env) => ({ ...env, LEDGER: { getByName: (name) => ledgerOf(env, name) } });

    export class PopCounter {
      #real;
      constructor(state, env) { this.#real = new real.PopCounter(state, wired(env)); }
      fetch(request) { return this.#real.fetch(request); }
      alarm(info) { return this.#real.alarm(info); }
    }

    const edge = real.default;
    export default typeof edge === 'function'
      ? class extends edge { constructor(context, env) { super(context, wired(env)); } }
      : { fetch: (request, env, context) => edge.fetch(request, wired(env), context) };
  `;
  return [{ name: 'pop-main.js', kind: 'esModule', content: Buffer.from(source) }, ...modules];
}

/** Stands beside the Ledger class and takes POST /NAME to the object of that name, as it was sent. */
export const routerModules = () => scriptModule(`
  export default {
    async fetch(request, env) {
      const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
      const sent = new Request(request.headers.get('${URL_HEADER}'), request);
      sent.headers.delete('${URL_HEADER}');
      return env.LEDGER.getByName(name).fetch(sent);
    },
  };
`);
