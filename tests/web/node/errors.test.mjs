// What is refused: the code, the path, and that nothing has changed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClockTracker, QuotaClock, manualClock, periodFor, periods } from '../../../pkg/nodejs/sluicegate.js';
import { refused } from '../shared/report.mjs';
import { left, limiterOn, WALL } from './support.mjs';

const clock = manualClock({ monotonicMs: 0, wallMs: WALL });
const month = { unit: 'month', timeZone: 'UTC' };
const usual = { capacity: 5, refillPerSecond: 1, suspendPolicy: 'ignore', clock };
const withQuota = (quota) => ({ ...usual, quota });
const withPeriod = (period) => withQuota({ limit: 5, period: { ...month, ...period } });

/** [what is wrong, the options, the whole path] */
const OPTIONS = [
  ['no options', undefined, ''],
  ['null', null, ''],
  ['a number', 5, ''],
  ['an array', [usual], ''],
  ['a function', () => usual, ''],
  ['an unknown name', { ...usual, burst: 5 }, 'burst'],
  ['a listener with a misspelt name', { ...usual, onAnomly: () => {} }, 'onAnomly'],
  ['a name of Rust', { ...usual, refill_per_second: 1 }, 'refill_per_second'],
  ['no capacity', { ...usual, capacity: undefined }, 'capacity'],
  ['a null capacity', { ...usual, capacity: null }, 'capacity'],
  ['a capacity in text', { ...usual, capacity: '5' }, 'capacity'],
  ['a BigInt capacity', { ...usual, capacity: 5n }, 'capacity'],
  ['a fractional capacity', { ...usual, capacity: 1.5 }, 'capacity'],
  ['a capacity of NaN', { ...usual, capacity: NaN }, 'capacity'],
  ['a capacity of true', { ...usual, capacity: true }, 'capacity'],
  ['a capacity above 2^53 - 1', { ...usual, capacity: 2 ** 53 }, 'capacity'],
  ['a function for a capacity', { ...usual, capacity: () => 5 }, 'capacity'],
  ['a Date for a capacity', { ...usual, capacity: new Date() }, 'capacity'],
  ['no refill', { ...usual, refillPerSecond: undefined }, 'refillPerSecond'],
  ['a negative refill', { ...usual, refillPerSecond: -1 }, 'refillPerSecond'],
  ['an endless refill', { ...usual, refillPerSecond: Infinity }, 'refillPerSecond'],
  ['no suspend policy', { ...usual, suspendPolicy: undefined }, 'suspendPolicy'],
  ['an unknown suspend policy', { ...usual, suspendPolicy: 'Ignore' }, 'suspendPolicy'],
  ['a symbol for a suspend policy', { ...usual, suspendPolicy: Symbol('ignore') }, 'suspendPolicy'],
  ['more initial tokens than fit', { ...usual, initialTokens: 6 }, 'initialTokens'],
  ['half a token', { ...usual, initialTokens: 0.5 }, 'initialTokens'],
  ['a tolerance that is a number', { ...usual, tolerance: 250 }, 'tolerance'],
  ['an unknown part of a tolerance', { ...usual, tolerance: { ms: 250 } }, 'tolerance.ms'],
  ['a negative tolerance', { ...usual, tolerance: { fixedMs: -1 } }, 'tolerance.fixedMs'],
  ['a tolerance of NaN', { ...usual, tolerance: { fixedMs: 1, ppm: NaN } }, 'tolerance.ppm'],
  ['a tolerance that does not fit', { ...usual, tolerance: { ppm: 2 ** 32 } }, 'tolerance.ppm'],
  ['a floor in text', { ...usual, earliestPlausibleWallMs: '2020-01-01' }, 'earliestPlausibleWallMs'],
  ['a floor of NaN', { ...usual, earliestPlausibleWallMs: NaN }, 'earliestPlausibleWallMs'],
  ['a quota that is a number', withQuota(5), 'quota'],
  ['a quota without a limit', withQuota({ period: month }), 'quota.limit'],
  ['a quota without a period', withQuota({ limit: 5 }), 'quota.period'],
  ['a quota with an unknown name', withQuota({ limit: 5, period: month, per: 'month' }), 'quota.per'],
  ['a limit of NaN', withQuota({ limit: NaN, period: month }), 'quota.limit'],
  ['a period that is a word', withQuota({ limit: 5, period: 'month' }), 'quota.period'],
  ['an unknown name in a period', withPeriod({ anchor: 1 }), 'quota.period.anchor'],
  ['a name of Rust in a period', withPeriod({ anchor_day: 1 }), 'quota.period.anchor_day'],
  ['hours', withPeriod({ unit: 'hour' }), 'quota.period.unit'],
  ['an anchor day of 0', withPeriod({ anchorDay: 0 }), 'quota.period.anchorDay'],
  ['an anchor day of 32', withPeriod({ anchorDay: 32 }), 'quota.period.anchorDay'],
  ['an anchor day of 2^32 + 1', withPeriod({ anchorDay: 2 ** 32 + 1 }), 'quota.period.anchorDay'],
  ['an anchor day of NaN', withPeriod({ anchorDay: NaN }), 'quota.period.anchorDay'],
  ['an anchor day in text', withPeriod({ anchorDay: '1' }), 'quota.period.anchorDay'],
  ['an anchor weekday of a month', withPeriod({ anchorWeekday: 1 }), 'quota.period.anchorWeekday'],
  ['an anchor month of a month', withPeriod({ anchorMonth: 1 }), 'quota.period.anchorMonth'],
  ['an anchor time of 24:00', withPeriod({ anchorTime: '24:00' }), 'quota.period.anchorTime'],
  ['an anchor time that is a number', withPeriod({ anchorTime: 7 }), 'quota.period.anchorTime'],
  ['an offset for a zone', withPeriod({ timeZone: '+05:30' }), 'quota.period.timeZone'],
  ['a zone that only the runtime could refuse', withPeriod({ timeZone: 'Mars/Olympus' }), 'quota.period.timeZone'],
  ['a zone of a hundred million letters', withPeriod({ timeZone: 'A/'.repeat(50_000_000) }), 'quota.period.timeZone'],
  ['an abbreviation for a zone', withPeriod({ timeZone: 'PST' }), 'quota.period.timeZone'],
  ['a zone with a lone surrogate', withPeriod({ timeZone: '\ud800' }), 'quota.period.timeZone'],
  ['a number for a zone', withPeriod({ timeZone: 5 }), 'quota.period.timeZone'],
  ['no clock', { ...usual, clock: undefined }, 'clock'],
  ['a function for a clock', { ...usual, clock: Date.now }, 'clock'],
  ['a clock without a wall', { ...usual, clock: { monotonicMs: () => 0 } }, 'clock.wallMs'],
  ['a clock of numbers', { ...usual, clock: { monotonicMs: 0, wallMs: 0 } }, 'clock.monotonicMs'],
  ['a clock whose reader is a number', { ...usual, clock: { ...clock, elapsedRealtimeMs: 5 } }, 'clock.elapsedRealtimeMs'],
  ['a listener that is none', { ...usual, onAnomaly: 'log' }, 'onAnomaly'],
];

describe('the options of a QuotaClock', () => {
  for (const [what, options, path] of OPTIONS) {
    test(`${what}: invalid-spec at ${path === '' ? 'the whole' : path}`, () => {
      const { path: found } = refused(() => new QuotaClock(options), 'invalid-spec');
      assert.equal(found, path);
      // A restore reads its options by the same rules.
      const { path: again } = refused(() => QuotaClock.restore(limiterOn().limiter.snapshot(), options), 'invalid-spec');
      assert.equal(again, path);
    });
  }

  test('null counts as absent where there is a default, and undefined everywhere', () => {
    const absent = { initialTokens: null, tolerance: null, quota: null, onAnomaly: null, burst: undefined };
    assert.equal(new QuotaClock({ ...usual, ...absent }).peek().tokensRemaining, 5);
    const period = { unit: 'month', timeZone: 'UTC', anchorDay: null, anchorTime: undefined };
    assert.equal(new QuotaClock(withQuota({ limit: 5, period })).peek().quotaRemaining, 5);
  });

  test('objects that refer to themselves or have no end are refused, not followed', () => {
    const circle = { ...usual };
    circle.quota = circle;
    assert.equal(refused(() => new QuotaClock(circle), 'invalid-spec').path.split('.')[0], 'quota');
    const endless = new Proxy({}, { ownKeys: () => ['limit', 'more'], get: () => endless, getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });
    refused(() => new QuotaClock(withQuota(endless)), 'invalid-spec');
    refused(() => new QuotaClock({ ...usual, quota: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`n${at}`, {}])) }), 'invalid-spec');
  });

  test('an exception of a getter is passed on as it is', () => {
    const boom = new RangeError('boom');
    const options = { ...usual, get quota() { throw boom; } };
    assert.throws(() => new QuotaClock(options), (error) => error === boom);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    assert.throws(() => new QuotaClock(proxy), TypeError);
    assert.throws(() => new QuotaClock(withQuota(proxy)), TypeError);
  });
});

describe('costs', () => {
  const notCosts = [null, '3', '', true, 3n, NaN, Infinity, -Infinity, -1, 0.5, 2 ** 53, {}, [], [1], () => 1, Symbol('1'), new Number(1), new Date(0)];

  for (const cost of notCosts) {
    test(`${typeof cost} ${typeof cost === 'symbol' ? 'symbol' : JSON.stringify(cost, (_, v) => (typeof v === 'bigint' ? `${v}n` : v))} is invalid-cost, and nothing is taken`, () => {
      const { limiter } = limiterOn();
      for (const ask of ['tryConsume', 'peek']) refused(() => limiter[ask](cost), 'invalid-cost');
      assert.deepEqual(left(limiter), [10, 100]);
    });
  }

  test('nothing is 1, 1.0 is 1 and -0 is 0', () => {
    const { limiter } = limiterOn();
    for (const cost of [[], [undefined], [1.0], [-0]]) limiter.tryConsume(...cost);
    assert.deepEqual(left(limiter), [7, 97]);
    assert.equal(limiter.tryConsume(2 ** 53 - 1).refusal, 'cost-exceeds-capacity');
  });

  test('a cost that is none is refused before the clock is read', () => {
    let reads = 0;
    const counting = { monotonicMs: () => (reads += 1), wallMs: () => WALL };
    const limiter = new QuotaClock({ ...usual, clock: counting });
    refused(() => limiter.tryConsume('1'), 'invalid-cost');
    assert.equal(reads, 1);
  });
});

describe('readings', () => {
  const notReadings = [NaN, Infinity, -Infinity, undefined, null, '5', 5n, {}, Promise.resolve(5), true, Symbol('5')];
  const name = (reading) => (typeof reading === 'symbol' ? 'a symbol' : `${typeof reading} ${String(reading)}`);

  for (const reading of notReadings) {
    test(`${name(reading)} is non-finite on every hand, and changes nothing`, () => {
      const { clock: by, limiter } = limiterOn({}, { elapsedRealtimeMs: 0 });
      for (const hand of ['monotonicMs', 'wallMs']) {
        const right = by[hand];
        by[hand] = () => reading;
        refused(() => limiter.tryConsume(), 'non-finite');
        refused(() => new QuotaClock({ ...usual, clock: by }), 'non-finite');
        by[hand] = right;
      }
      by.elapsedRealtimeMs = () => reading;
      by.stepWall(60_000);
      refused(() => limiter.tryConsume(), 'non-finite');
      by.stepWall(-60_000);
      assert.deepEqual(left(limiter), [10, 100]);

      const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
      refused(() => tracker.observe({ monotonicMs: reading, wallMs: WALL }), 'non-finite');
      refused(() => tracker.observe({ monotonicMs: 0, wallMs: reading }), 'non-finite');
      refused(() => tracker.observe({ monotonicMs: 0, wallMs: WALL }, () => reading), 'non-finite');
      refused(() => periodFor(month, reading), 'non-finite');
      refused(() => periods(month, reading, 1), 'non-finite');
    });
  }

  test('what has no readings in it is non-finite too', () => {
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    for (const readings of [undefined, null, 5, '', [], {}, () => {}]) refused(() => tracker.observe(readings), 'non-finite');
  });

  test('each refusal has its code, and the limiter goes on from its last good reading', () => {
    const { clock: by, limiter } = limiterOn({}, { elapsedRealtimeMs: 1_000_000 });
    limiter.tryConsume(10);
    by.set({ monotonicMs: 999_999 });
    refused(() => limiter.tryConsume(), 'monotonic-regression');
    by.set({ monotonicMs: 1_000_000, wallMs: 0 });
    refused(() => limiter.tryConsume(), 'implausible-wall');
    by.set({ wallMs: WALL + 60_000, elapsedRealtimeMs: 999_000 });
    refused(() => limiter.tryConsume(), 'reader-regression');
    by.set({ wallMs: WALL, elapsedRealtimeMs: 1_000_000 });
    by.advance(3_000);
    assert.deepEqual(left(limiter), [3, 90]);
  });

  test("'refuse' refuses a jump once, tells of it, and credits nothing for it", () => {
    const seen = [];
    const { clock: by, limiter } = limiterOn({ suspendPolicy: 'refuse', onAnomaly: (anomaly) => seen.push(anomaly) });
    limiter.tryConsume(10);
    by.stepWall(60_000);
    refused(() => limiter.tryConsume(), 'ambiguous-jump');
    assert.deepEqual(seen.map(({ kind }) => kind), ['wall-ahead']);
    assert.deepEqual(left(limiter), [0, 90]);
  });
});

describe('a ClockTracker', () => {
  for (const [what, options, path] of OPTIONS.filter(([, options]) => options?.tolerance || options?.suspendPolicy !== 'ignore')) {
    if (path === '' || path.startsWith('tolerance') || path === 'suspendPolicy') {
      test(`${what}: invalid-spec at ${path === '' ? 'the whole' : path}`, () => {
        const { suspendPolicy, tolerance } = options ?? {};
        const given = path === '' ? options : { suspendPolicy, tolerance };
        assert.equal(refused(() => new ClockTracker(given), 'invalid-spec').path, path);
      });
    }
  }

  test('the options of a limiter are not its own', () => {
    assert.equal(refused(() => new ClockTracker({ suspendPolicy: 'ignore', clock }), 'invalid-spec').path, 'clock');
  });

  test('a reader that is no function is invalid-spec', () => {
    const tracker = new ClockTracker({ suspendPolicy: 'ignore' });
    for (const reader of [5, {}, 'read', true]) {
      const error = refused(() => tracker.observe({ monotonicMs: 0, wallMs: WALL }, reader), 'invalid-spec');
      assert.equal(error.path, 'readElapsedRealtimeMs');
    }
    assert.deepEqual(tracker.observe({ monotonicMs: 0, wallMs: WALL }, null), { elapsedMs: 0, anomalies: [] });
  });
});

describe('periods', () => {
  test('a specification is refused with the path of its field', () => {
    for (const [spec, path] of [[undefined, ''], [null, ''], ['month', ''], [{ unit: 'month' }, 'timeZone'], [{ timeZone: 'UTC' }, 'unit'], [{ ...month, anchorDay: NaN }, 'anchorDay'], [{ ...month, zone: 'UTC' }, 'zone']]) {
      assert.equal(refused(() => periodFor(spec, WALL), 'invalid-spec').path, path);
      assert.equal(refused(() => periods(spec, WALL, 1), 'invalid-spec').path, path);
    }
  });

  test('a count is a whole number up to 10,000', () => {
    for (const count of [undefined, null, -1, 1.5, NaN, Infinity, '3', 10_001, 2 ** 32, 2 ** 53]) {
      assert.equal(refused(() => periods(month, WALL, count), 'invalid-spec').path, 'count');
    }
    assert.equal(periods(month, WALL, 0).length, 0);
    assert.equal(periods({ unit: 'day', timeZone: 'UTC' }, WALL, 10_000).length, 10_000);
  });

  test('readings outside the years 1 to 9999 are implausible-wall', () => {
    for (const wall of [Date.UTC(0, 0) - 2e15, -62_135_596_800_001, 253_402_300_800_000, 8.64e15, -8.64e15, 1e300, -1e300]) {
      refused(() => periodFor(month, wall), 'implausible-wall');
    }
    refused(() => periods({ unit: 'year', timeZone: 'UTC' }, WALL, 9_000), 'implausible-wall');
  });
});
