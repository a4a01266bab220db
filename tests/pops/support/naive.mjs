// The worker as it was built, with naive limiters beside it: same processes, same clocks, same network.

import { readFileSync } from 'node:fs';

import { builtModules } from '../../worker/harness.mjs';

const limiters = readFileSync(new URL('./naive/limiters.js', import.meta.url));

/** The modules of a worker that also answers POST /naive, see naive/limiters.js. */
export function naiveModules(modules = builtModules()) {
  const [entry] = modules;
  const source = `
    import * as real from './${entry.name}';
    import { withNaive } from './naive-limiters.js';
    export * from './${entry.name}';

    const { Ledger, PopCounter, Edge } = withNaive(real);
    export { Ledger, PopCounter, Edge as default };
  `;
  return [
    { name: 'naive-main.js', kind: 'esModule', content: Buffer.from(source) },
    { name: 'naive-limiters.js', kind: 'esModule', content: limiters },
    ...modules,
  ];
}

/** Puts one request to both limiters at a point of presence: whether the shared `bucket` and the one `alone` admit it. */
export async function askNaive(pop, { key, cost = 1, limit, windowMs }) {
  const answer = await pop.fetch('/naive', { json: { key, cost, limit, window_ms: windowMs } }).catch(() => null);
  if (!answer) return { bucket: false, alone: false };
  if (answer.status !== 200) throw new Error(`${pop.name}: /naive answered ${answer.status}: ${answer.text()}`);
  return answer.json();
}
