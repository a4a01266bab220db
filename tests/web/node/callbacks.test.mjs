// A caller's own functions: what they may call, and what becomes of their exceptions.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClockTracker, QuotaClock, manualClock } from '../../../pkg/nodejs/sluicegate.js';
import { refused } from '../shared/report.mjs';
import { HOUR, left, limiterOn, WALL } from './support.mjs';

const boom = new Error('boom');
const isBoom = (error) => error === boom;

describe('onAnomaly', () => {
  test('is told of each anomaly once, with its kind, its sizes and a sentence', () => {
    const seen = [];
    const { clock, limiter } = limiterOn({ onAnomaly: (anomaly) => seen.push(anomaly) }, { elapsedRealtimeMs: 0 });
    clock.suspend(6 * HOUR);
    clock.stepWall(-48 * HOUR);
    limiter.tryConsume();
    limiter.tryConsume();
    assert.deepEqual(seen.map(({ kind, suspendedMs, steppedMs }) => [kind, suspendedMs, steppedMs]), [
      ['suspend', 6 * HOUR, -48 * HOUR],
      ['wall-step-back', 6 * HOUR, -48 * HOUR],
    ]);
    assert.match(seen[0].detail, /suspended for 6 h/);
  });

  test('a size that is not known is not there, rather than undefined', () => {
    const seen = [];
    const { clock, limiter } = limiterOn({ onAnomaly: (anomaly) => seen.push(anomaly) });
    clock.stepWall(HOUR);
    limiter.peek();
    assert.deepEqual(Object.keys(seen[0]), ['kind', 'detail']);
  });

  test('a period that is held is reported for as long as it is held', () => {
    const kinds = [];
    const { clock, limiter } = limiterOn({ onAnomaly: ({ kind }) => kinds.push(kind) });
    limiter.tryConsume();
    clock.stepWall(-24 * HOUR);
    limiter.tryConsume();
    limiter.tryConsume();
    clock.stepWall(24 * HOUR);
    limiter.tryConsume();
    assert.deepEqual(kinds, ['wall-step-back', 'period-regression', 'period-regression', 'wall-ahead']);
  });

  test('its exception is passed on, the decision stands, and the limiter goes on', () => {
    let told = 0;
    const { clock, limiter } = limiterOn({ onAnomaly: () => { told += 1; throw boom; } });
    limiter.tryConsume();
    clock.stepWall(-24 * HOUR);
    assert.throws(() => limiter.tryConsume(2), isBoom);
    assert.equal(told, 2, 'the second anomaly is told although the first was not taken well');
    clock.stepWall(24 * HOUR);
    assert.throws(() => limiter.peek(), isBoom);
    assert.deepEqual(left(limiter), [7, 97]);
    assert.equal(limiter.tryConsume().allowed, true);
  });

  test('its exception is the cause of the refusal that it was told of', () => {
    const { clock, limiter } = limiterOn({ suspendPolicy: 'refuse', onAnomaly: () => { throw boom; } });
    clock.stepWall(HOUR);
    assert.equal(refused(() => limiter.tryConsume(), 'ambiguous-jump').cause, boom);
    assert.deepEqual(left(limiter), [10, 100]);
  });

  test('may call the limiter, which has decided by then', () => {
    const inner = [];
    const made = limiterOn({ onAnomaly: () => inner.push(made.limiter.tryConsume(3), made.limiter.peek(), made.limiter.snapshot()) });
    made.clock.stepWall(HOUR);
    const outer = made.limiter.tryConsume(2);
    assert.equal(outer.tokensRemaining, 8);
    assert.deepEqual(inner.slice(0, 2).map(({ tokensRemaining }) => tokensRemaining), [5, 5]);
    assert.deepEqual(left(made.limiter), [5, 95]);
  });

  test('that calls the limiter without an end is stopped with an error, and the limiter goes on', () => {
    let depth = 0;
    let deepest = 0;
    const made = limiterOn({
      onAnomaly: ({ kind }) => {
        if (kind !== 'period-regression') return;
        depth += 1;
        deepest = Math.max(deepest, depth);
        try {
          made.limiter.tryConsume(0);
        } finally {
          depth -= 1;
        }
      },
    });
    made.limiter.tryConsume();
    made.clock.stepWall(-24 * HOUR);
    refused(() => made.limiter.tryConsume(), 'reentrant-call');
    assert.ok(deepest < 100, `${deepest} deep`);
    made.clock.stepWall(24 * HOUR);
    assert.deepEqual(left(made.limiter), [8, 98]);
  });

  test('may free the limiter, which still answers, once', () => {
    const made = limiterOn({ onAnomaly: () => made.limiter.free() });
    made.clock.stepWall(HOUR);
    try {
      assert.equal(made.limiter.tryConsume().allowed, true);
    } catch (error) {
      assert.ok(error instanceof Error);
    }
    assert.throws(() => made.limiter.tryConsume(), Error);
    assert.equal(limiterOn().limiter.tryConsume().allowed, true);
  });

  test('that is async is not waited for', () => {
    const { clock, limiter } = limiterOn({ onAnomaly: async () => {} });
    clock.stepWall(HOUR);
    assert.equal(limiter.tryConsume().allowed, true);
  });
});

describe('a decision', () => {
  test('has all its fields, and null where there is nothing to say', () => {
    const { limiter } = limiterOn({ quota: undefined });
    const nothing = { quotaRemaining: null, retryAfterMs: null, retryAfterBasis: null, refusal: null, period: null, skippedPeriods: 0 };
    assert.deepEqual(limiter.tryConsume(4), { allowed: true, tokensRemaining: 6, ...nothing });
    assert.deepEqual(limiter.tryConsume(7), { ...nothing, allowed: false, tokensRemaining: 6, retryAfterMs: 1_000, retryAfterBasis: 'monotonic-refill', refusal: 'bucket' });
    assert.deepEqual(limiter.tryConsume(11), { ...nothing, allowed: false, tokensRemaining: 6, refusal: 'cost-exceeds-capacity' });
  });

  test('is the caller\'s own: what is done to one shows in no other', () => {
    const { limiter } = limiterOn();
    const first = limiter.tryConsume();
    const slot = first.period.slot;
    Object.assign(first.period, { slot: 'mine', endMs: 0 });
    assert.equal(limiter.tryConsume().period.slot, slot);
  });
});

describe('a clock source', () => {
  class Laptop {
    #at = 5_000;
    asked = [];
    monotonicMs() { this.asked.push('monotonic'); return this.#at; }
    wallMs() { this.asked.push('wall'); return WALL + this.#at; }
    elapsedRealtimeMs() { this.asked.push('realtime'); return this.#at; }
  }

  test('may be of a class: its methods are called as methods', () => {
    const clock = new Laptop();
    const limiter = new QuotaClock({ capacity: 5, refillPerSecond: 1, suspendPolicy: 'ignore', clock });
    limiter.tryConsume();
    assert.deepEqual(clock.asked, ['monotonic', 'wall', 'realtime', 'monotonic', 'wall'], 'the reader is asked once, for its base');
  });

  for (const hand of ['monotonicMs', 'wallMs', 'elapsedRealtimeMs']) {
    test(`whose ${hand} throws: the exception is passed on, and nothing has changed`, () => {
      const { clock, options, limiter } = limiterOn({}, { elapsedRealtimeMs: 0 });
      limiter.tryConsume(9);
      const before = JSON.stringify(limiter.snapshot());
      const right = clock[hand];
      clock[hand] = () => { throw boom; };
      clock.advance(2_000);
      clock.stepWall(HOUR);
      assert.throws(() => limiter.tryConsume(), isBoom);
      assert.throws(() => limiter.peek(), isBoom);
      assert.throws(() => new QuotaClock(options), isBoom);
      assert.equal(JSON.stringify(limiter.snapshot()), before);
      clock[hand] = right;
      clock.stepWall(-HOUR);
      assert.deepEqual(left(limiter), [3, 91]);
    });

    test(`whose ${hand} calls the limiter is told that it must not, and the limiter goes on`, () => {
      const made = limiterOn({}, { elapsedRealtimeMs: 0 });
      const right = made.clock[hand];
      for (const call of ['tryConsume', 'peek', 'snapshot']) {
        made.clock[hand] = () => made.limiter[call]() && right();
        made.clock.stepWall(HOUR);
        const error = refused(() => made.limiter.tryConsume(), 'reentrant-call');
        assert.match(error.message, /clock source/);
        made.clock[hand] = right;
        made.limiter.peek();
      }
      assert.deepEqual(left(made.limiter), [10, 100]);
    });

    test(`whose ${hand} frees the limiter breaks that limiter and no other`, () => {
      const made = limiterOn({}, { elapsedRealtimeMs: 0 });
      const right = made.clock[hand];
      made.clock[hand] = () => { made.limiter.free(); return right(); };
      made.clock.stepWall(HOUR);
      assert.throws(() => { made.limiter.tryConsume(); made.limiter.tryConsume(); }, Error);
      assert.equal(limiterOn().limiter.tryConsume().allowed, true);
    });
  }

  test('may swallow the error of such a call: the outer one is answered', () => {
    const made = limiterOn();
    const right = made.clock.wallMs;
    made.clock.wallMs = () => {
      try { made.limiter.tryConsume(5); } catch { /* as told */ }
      return right();
    };
    assert.equal(made.limiter.tryConsume().tokensRemaining, 9);
  });

  test('may get its reader later', () => {
    const kinds = [];
    const { clock, limiter } = limiterOn({ onAnomaly: ({ kind }) => kinds.push(kind) });
    clock.set({ elapsedRealtimeMs: 0 });
    clock.suspend(HOUR);
    limiter.tryConsume();
    clock.suspend(HOUR);
    limiter.tryConsume();
    assert.deepEqual(kinds, ['wall-ahead', 'suspend'], 'the first time there is nothing to compare it with');
  });

  test('may serve two limiters, and one may use the other', () => {
    const clock = manualClock({ monotonicMs: 0, wallMs: WALL });
    const other = limiterOn({ clock }).limiter;
    const { limiter } = limiterOn({ clock: { ...clock, wallMs: () => other.tryConsume() && clock.wallMs() } });
    limiter.tryConsume();
    assert.deepEqual([left(limiter)[0], other.peek().tokensRemaining], [9, 7]);
  });
});

describe('a reader of a ClockTracker', () => {
  const at = (ms, wall = ms) => ({ monotonicMs: ms, wallMs: WALL + wall });

  test('is asked only when the readings disagree, and once for the base', () => {
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    let asked = 0;
    const read = () => { asked += 1; return 0; };
    for (const ms of [0, 10, 20, 30]) tracker.observe(at(ms), read);
    assert.equal(asked, 1);
    tracker.observe(at(40, HOUR), read);
    assert.equal(asked, 2);
  });

  test('that throws: the exception is passed on, and nothing has changed', () => {
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    tracker.observe(at(0), () => 0);
    assert.throws(() => tracker.observe(at(50, HOUR), () => { throw boom; }), isBoom);
    assert.deepEqual(tracker.observe(at(60), () => 60), { elapsedMs: 60, anomalies: [] });
  });

  test('that calls observe() is told that it must not, and the tracker goes on', () => {
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    tracker.observe(at(0), () => 0);
    refused(() => tracker.observe(at(50, HOUR), () => tracker.observe(at(50)) && 0), 'reentrant-call');
    assert.deepEqual(tracker.observe(at(60)), { elapsedMs: 60, anomalies: [] });
  });

  test('a getter of the readings that throws is passed on', () => {
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    assert.throws(() => tracker.observe({ get monotonicMs() { throw boom; }, wallMs: 0 }), isBoom);
    assert.deepEqual(tracker.observe(at(0)), { elapsedMs: 0, anomalies: [] });
  });
});
