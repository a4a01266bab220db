// What is made is given back: by the garbage collector, or by free() at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { initSync, ClockTracker, QuotaClock, manualClock, periodFor } from '../../../pkg/web/sluicegate.js';
import { HOUR, WALL } from './support.mjs';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc');
const module = readFileSync(new URL('../../../pkg/web/sluicegate_bg.wasm', import.meta.url));
const { memory } = initSync({ module });

const OPTIONS = { capacity: 5, refillPerSecond: 1, suspendPolicy: 'ignore' };

/** Makes limiters, uses each, fails with each, and has `end` do away with them. */
async function makeMany(count, end) {
  for (let made = 0; made < count; made += 1) {
    const clock = manualClock({ monotonicMs: 0, wallMs: WALL, elapsedRealtimeMs: 0 });
    const quota = { limit: 5, period: { unit: 'day', timeZone: 'Europe/Paris' } };
    // A clock and a listener that refer to their limiter, as methods of one object would.
    const limiter = new QuotaClock({ ...OPTIONS, quota, clock, onAnomaly: () => limiter });
    clock.limiter = limiter;
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    limiter.tryConsume();
    clock.stepWall(HOUR);
    limiter.tryConsume();
    const restored = QuotaClock.restore(limiter.snapshot(), { ...OPTIONS, clock, onAnomaly: () => restored });
    assert.throws(() => limiter.tryConsume('5'));
    assert.throws(() => new QuotaClock({ capacity: 5 }));
    end([limiter, restored, tracker]);
    if (made % 250 === 0) {
      collect();
      // Finalizers run between tasks.
      await delay(0);
    }
  }
}

for (const [how, end] of [['left to the garbage collector', () => {}], ['freed by hand', (all) => all.forEach((one) => one.free())]]) {
  test(`limiters that are ${how} take no more memory after the first thousands`, async () => {
    await makeMany(2_000, end);
    const before = memory.buffer.byteLength;
    await makeMany(8_000, end);
    // Kept for good, they would take more than three megabytes.
    const grown = memory.buffer.byteLength - before;
    assert.ok(grown < 2 ** 20, `${grown} bytes more`);
  });
}

test('a text of any length takes no memory to be refused', () => {
  const before = memory.buffer.byteLength;
  const huge = 'A/'.repeat(20_000_000);
  assert.throws(() => periodFor({ unit: 'day', timeZone: huge }, WALL), { path: 'timeZone' });
  assert.throws(() => periodFor({ unit: 'day', timeZone: 'UTC', [huge]: 1 }, WALL), { code: 'invalid-spec' });
  assert.equal(memory.buffer.byteLength, before);
});
