// The worker under test with a PopCounter that fails: what the edge does then is real, the fault is made here.

import { builtModules } from './modules.mjs';

/**
 * Wraps PopCounter. `kind` is 'throw' (its fetch fails), 'overloaded' (fails as an overloaded object does) or 'hang'
 * (it never answers); `times`: how many requests per object, before the real one takes over.
 */
export function withFaultyCounter({ kind, times = null }, modules = builtModules()) {
  const [entry] = modules;
  const source = `
    import { PopCounter as Real } from './${entry.name}';
    export * from './${entry.name}';
    export { default } from './${entry.name}';

    const faults = {
      throw: () => { throw new Error('a fault for the test'); },
      overloaded: () => { throw Object.assign(new Error('Too many requests queued'), { overloaded: true }); },
      hang: () => scheduler.wait(600_000),
    };
    export class PopCounter {
      #real; #left = ${times ?? 'Infinity'};
      constructor(state, env) { this.#real = new Real(state, env); }
      async fetch(request) {
        if (this.#left > 0) { this.#left -= 1; console.log('fault: ${kind}'); await faults.${kind}(); }
        return this.#real.fetch(request);
      }
      alarm(info) { return this.#real.alarm(info); }
    }
  `;
  return [{ name: 'faulty-main.js', kind: 'esModule', content: Buffer.from(source) }, ...modules];
}
