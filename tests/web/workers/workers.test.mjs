// The package for the web on a real workerd, whose wall clock is stepped while it runs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compatibility, modulesOf, scriptModule, skewUnavailable, startWorkers } from '../../worker/harness.mjs';

const WEB = fileURLToPath(new URL('../../../pkg/web/', import.meta.url));
const HOUR = 3_600_000;

const WORKER = `
import { initSync, periodFor, systemClock, QuotaClock } from './sluicegate.js';
import wasm from './sluicegate_bg.wasm';

initSync({ module: wasm });
const clock = systemClock();
const anomalies = [];
let limiter;

export default {
  async fetch(request) {
    // Outside a request the clock of a Worker reads 0.
    limiter ??= new QuotaClock({
      capacity: 5, refillPerSecond: 0.001, suspendPolicy: 'refuse', clock,
      quota: { limit: 1_000, period: { unit: 'month', timeZone: 'Europe/Paris' } },
      onAnomaly: ({ kind, steppedMs }) => anomalies.push({ kind, steppedMs }),
    });
    const { allowed, tokensRemaining, period } = limiter.tryConsume();
    const same = JSON.stringify(periodFor({ unit: 'month', timeZone: 'Europe/Paris' }, Date.now())) === JSON.stringify(period);
    return Response.json({ kind: clock.kind, allowed, tokensRemaining, same, anomalies: anomalies.splice(0) });
  },
};
`;

const modules = () => [
  ...scriptModule(WORKER),
  ...modulesOf(WEB, 'sluicegate.js'),
  { name: 'sluicegate_bg.wasm', kind: 'wasm', content: readFileSync(join(WEB, 'sluicegate_bg.wasm')) },
];

test('on Workers: one clock, which says so, and steps of it are no regressions', { skip: skewUnavailable }, async (t) => {
  const server = await startWorkers(t, { workers: { limiter: { modules: modules(), compatibility: compatibility() } }, skew: true });
  const ask = async () => (await server.fetch('/')).json();

  const first = await ask();
  assert.deepEqual(first, { kind: 'single-clock', allowed: true, tokensRemaining: 4, same: true, anomalies: [] });
  assert.equal((await ask()).tokensRemaining, 3);

  await server.clock.step(-HOUR);
  const back = await ask();
  assert.deepEqual([back.allowed, back.tokensRemaining], [true, 2], 'nothing is refused, and nothing credited');
  assert.equal(back.anomalies[0].kind, 'wall-step-back');
  assert.ok(Math.abs(back.anomalies[0].steppedMs + HOUR) < 60_000);

  await server.clock.step(2 * HOUR);
  const ahead = await ask();
  assert.deepEqual([ahead.tokensRemaining, ahead.anomalies], [4, []], 'a step ahead cannot be told from time');
});
