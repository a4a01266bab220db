// What is stored and restored.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QuotaClock, manualClock } from '../../../pkg/nodejs/sluicegate.js';
import { refused } from '../shared/report.mjs';
import { HOUR, left, limiterOn, WALL } from './support.mjs';

const throughJson = (value) => JSON.parse(JSON.stringify(value));
/** A new process: its monotonic clock begins anew. */
const later = (ms) => manualClock({ monotonicMs: 3, wallMs: WALL + ms });

describe('a snapshot', () => {
  test('is plain data: camelCase, no NaN, no undefined, the same through JSON and a structured clone', () => {
    const { limiter } = limiterOn();
    limiter.tryConsume(3);
    const snapshot = limiter.snapshot();
    assert.deepEqual(throughJson(snapshot), snapshot);
    assert.deepEqual(structuredClone(snapshot), snapshot);
    assert.doesNotMatch(JSON.stringify(snapshot), /_ms|_kind|null,"undefined/);
    assert.deepEqual([snapshot.version, snapshot.bucket.tokens, snapshot.quota.used], [1, 7, 3]);
  });

  test('changes nothing, and calls no clock', () => {
    let reads = 0;
    const { limiter } = limiterOn({ clock: { monotonicMs: () => (reads += 1), wallMs: () => WALL } });
    const [before, once, again] = [reads, limiter.snapshot(), limiter.snapshot()];
    assert.deepEqual(once, again);
    assert.equal(reads, before);
  });

  test('keeps a fraction that no double can hold', () => {
    const { clock, options, limiter } = limiterOn({ refillPerSecond: 1 / 3, quota: undefined });
    limiter.tryConsume(10);
    clock.advance(2_999);
    const restored = QuotaClock.restore(throughJson(limiter.snapshot()), { ...options, clock });
    limiter.peek();
    const again = QuotaClock.restore(throughJson(limiter.snapshot()), { ...options, clock });
    clock.advance(1);
    assert.equal(limiter.tryConsume().retryAfterMs, again.tryConsume().retryAfterMs);
    assert.equal(restored.peek().tokensRemaining, 0);
  });

  test('restores what was used; the time in between is not credited, and a new monotonic clock is no regression', () => {
    const { options, limiter } = limiterOn();
    limiter.tryConsume(10);
    const restored = QuotaClock.restore(throughJson(limiter.snapshot()), { ...options, clock: later(HOUR) });
    assert.deepEqual(left(restored), [0, 90]);
    assert.ok(restored instanceof QuotaClock);
  });

  test('opens the next period where it is due, and holds the open one on a host whose date is behind', () => {
    const { options, limiter } = limiterOn();
    limiter.tryConsume(10);
    const snapshot = throughJson(limiter.snapshot());
    assert.equal(QuotaClock.restore(snapshot, { ...options, clock: later(24 * HOUR) }).peek().quotaRemaining, 100);
    const kinds = [];
    const behind = QuotaClock.restore(snapshot, { ...options, clock: later(-24 * HOUR), onAnomaly: ({ kind }) => kinds.push(kind) });
    assert.equal(behind.peek().quotaRemaining, 90);
    assert.deepEqual(kinds, ['period-regression']);
  });

  test('of another build, damaged, or no snapshot at all is refused with a path', () => {
    const { options, limiter } = limiterOn();
    limiter.tryConsume(1);
    const good = limiter.snapshot();
    const bad = [
      [undefined, 'snapshot.version'], [null, 'snapshot.version'], ['{}', 'snapshot.version'], [[], 'snapshot.version'],
      [{}, 'snapshot.version'], [{ ...good, version: 2 }, 'snapshot.version'], [{ ...good, version: '1' }, 'snapshot.version'],
      [{ ...good, bucket: null }, 'snapshot'], [{ ...good, bucket: { ...good.bucket, tokens: -1 } }, 'snapshot'],
      [{ ...good, bucket: { ...good.bucket, tokens: 0.5 } }, 'snapshot'], [{ ...good, bucket: { ...good.bucket, tokens: 2 ** 53 } }, 'snapshot'],
      [{ ...good, bucket: { ...good.bucket, parts: '0' } }, 'snapshot'], [{ ...good, more: 1 }, 'snapshot'],
      [{ ...good, quota: { open: null, used: 5 } }, 'snapshot.quota.used'],
      [{ ...good, quota: { ...good.quota, used: NaN } }, 'snapshot.quota.used'],
      [{ ...good, quota: { ...good.quota, open: { ...good.quota.open, partOfMs: 5 } } }, 'snapshot.quota.open.partOfMs'],
    ];
    for (const [snapshot, path] of bad) {
      const error = refused(() => QuotaClock.restore(snapshot, options), 'invalid-spec');
      assert.equal(error.path, path, JSON.stringify(snapshot));
    }
    assert.equal(QuotaClock.restore(good, options).peek().quotaRemaining, 99);
  });
});
