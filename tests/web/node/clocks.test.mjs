// The clock sources that come with the package.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { QuotaClock, manualClock, procUptimeElapsedRealtime, systemClock } from '../../../pkg/nodejs/sluicegate.js';
import { refused } from '../shared/report.mjs';
import { HOUR, WALL } from './support.mjs';

/** Puts something else in the place of a global for the length of a test. */
function replace(t, target, name, value) {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  t.after(() => (before ? Object.defineProperty(target, name, before) : delete target[name]));
}

describe('systemClock()', () => {
  test('is performance.now and Date.now, and says that these are two clocks', () => {
    const clock = systemClock();
    assert.equal(clock.kind, 'two-clock');
    assert.ok(Math.abs(clock.monotonicMs() - performance.now()) < 1_000);
    assert.ok(Math.abs(clock.wallMs() - Date.now()) < 1_000);
    assert.equal('elapsedRealtimeMs' in clock, false);
  });

  test('can be spread, and a reader put beside it', { skip: process.platform !== 'linux' }, () => {
    const clock = { ...systemClock(), elapsedRealtimeMs: procUptimeElapsedRealtime() };
    const limiter = new QuotaClock({ capacity: 5, refillPerSecond: 1, suspendPolicy: 'ignore', clock });
    assert.equal(limiter.tryConsume().allowed, true);
  });

  /** The clocks of a Worker: performance.now() is Date.now(), and both may step. */
  function asOnWorkers(t, tell) {
    let now = WALL;
    replace(t, Date, 'now', () => now);
    replace(t, globalThis, 'performance', { now: () => now, timeOrigin: 0 });
    tell?.(t);
    return { step: (ms) => { now += ms; } };
  }

  test('on Workers is one clock, and says so', (t) => {
    asOnWorkers(t);
    assert.equal(systemClock().kind, 'single-clock');
  });

  test('is one clock where the host is called Cloudflare-Workers, or has no performance.now', (t) => {
    replace(t, globalThis, 'navigator', { userAgent: 'Cloudflare-Workers' });
    assert.equal(systemClock().kind, 'single-clock');
    replace(t, globalThis, 'navigator', undefined);
    assert.equal(systemClock().kind, 'two-clock');
    replace(t, globalThis, 'performance', undefined);
    assert.equal(systemClock().kind, 'single-clock');
  });

  test('on Workers a step back of the wall is a step back of the wall, and no monotonic regression', (t) => {
    const host = asOnWorkers(t);
    const kinds = [];
    const options = { capacity: 10, refillPerSecond: 1, suspendPolicy: 'refuse', clock: systemClock(), onAnomaly: ({ kind }) => kinds.push(kind) };
    const limiter = new QuotaClock(options);
    limiter.tryConsume(10);
    for (const back of [300, HOUR, 10_000]) {
      host.step(-back);
      assert.equal(limiter.peek().tokensRemaining, 0, 'nothing is credited for a step');
    }
    assert.deepEqual(kinds, ['wall-step-back', 'wall-step-back', 'wall-step-back']);
    host.step(3_000);
    assert.equal(limiter.tryConsume(3).allowed, true, 'time goes on from where the clock was set');
    host.step(HOUR);
    assert.equal(limiter.tryConsume(10).allowed, true, 'a step forward cannot be told from time');
    assert.equal(kinds.length, 3);
  });

  test('on Workers the hand for durations never goes back', (t) => {
    const host = asOnWorkers(t);
    const clock = systemClock();
    let last = clock.monotonicMs();
    for (const ms of [5, -3, -HOUR, 2, 0, HOUR, -1]) {
      host.step(ms);
      const now = clock.monotonicMs();
      assert.equal(now - last, Math.max(0, ms));
      assert.equal(clock.wallMs(), Date.now());
      last = now;
    }
  });
});

describe('manualClock()', () => {
  const hands = (clock) => [clock.monotonicMs(), clock.wallMs(), clock.elapsedRealtimeMs?.()];

  test('advance moves all hands, stepWall the wall, suspend the wall and the realtime, set any', () => {
    const clock = manualClock({ monotonicMs: 1, wallMs: 10, elapsedRealtimeMs: 100 });
    clock.advance(5);
    assert.deepEqual(hands(clock), [6, 15, 105]);
    clock.stepWall(-7);
    assert.deepEqual(hands(clock), [6, 8, 105]);
    clock.suspend(50);
    assert.deepEqual(hands(clock), [6, 58, 155]);
    clock.set({ monotonicMs: 0, elapsedRealtimeMs: NaN });
    assert.deepEqual(hands(clock), [0, 58, NaN]);
  });

  test('without elapsedRealtimeMs has no reader, until it is set', () => {
    const clock = manualClock({ monotonicMs: 0, wallMs: 0 });
    clock.suspend(5);
    clock.advance(1);
    assert.deepEqual([hands(clock), 'elapsedRealtimeMs' in clock], [[1, 6, undefined], false]);
    clock.set({ elapsedRealtimeMs: 7 });
    clock.suspend(5);
    assert.equal(clock.elapsedRealtimeMs(), 12);
  });

  test('keeps its own hands: the object it was made from is not looked at again', () => {
    const given = { monotonicMs: 0, wallMs: 0 };
    const clock = manualClock(given);
    given.wallMs = 5;
    assert.equal(clock.wallMs(), 0);
  });

  test('refuses what is no hand and no number', () => {
    for (const [given, path] of [[undefined, ''], [null, ''], [5, ''], [{ wallMs: 0 }, 'monotonicMs'], [{ monotonicMs: 0 }, 'wallMs'], [{ monotonicMs: 0, wallMs: '0' }, 'wallMs'], [{ monotonicMs: 0, wallMs: 0n }, 'wallMs'], [{ monotonicMs: 0, wallMs: 0, wall: 0 }, 'wall'], [{ monotonicMs: 0, wallMs: 0, elapsedRealtimeMs: null }, 'elapsedRealtimeMs']]) {
      assert.equal(refused(() => manualClock(given), 'invalid-spec').path, path);
    }
    const clock = manualClock({ monotonicMs: 0, wallMs: 0 });
    for (const move of ['advance', 'stepWall', 'suspend']) refused(() => clock[move]('5'), 'invalid-spec', 'ms');
    assert.equal(refused(() => clock.set({ monotonicMs: 5, wallMs: '5' }), 'invalid-spec').path, 'wallMs');
    assert.deepEqual(hands(clock), [0, 0, undefined], 'nothing was moved');
  });
});

describe('procUptimeElapsedRealtime()', () => {
  test('reads /proc/uptime, whole milliseconds that go on', { skip: process.platform !== 'linux' }, () => {
    const read = procUptimeElapsedRealtime();
    const first = read();
    const itself = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
    assert.ok(Number.isSafeInteger(first) && Math.abs(first - itself) < 1_000);
    assert.ok(read() >= first);
  });

  const hosts = [
    ['a browser', undefined, /Node on Linux only/],
    ['another system', { versions: { node: '22.0.0' }, platform: 'darwin' }, /darwin/],
    ['an older Node', { versions: { node: '20.9.0' }, platform: 'linux' }, /20\.16/],
  ];
  for (const [where, host, message] of hosts) {
    test(`on ${where} says that there is none`, (t) => {
      replace(t, globalThis, 'process', host);
      const error = refused(() => procUptimeElapsedRealtime(), 'unsupported');
      assert.match(error.message, message);
    });
  }

  test('a file that cannot be read or says nothing is an error at once', (t) => {
    const host = (readFileSync) => ({ versions: { node: '22.0.0' }, platform: 'linux', getBuiltinModule: () => ({ readFileSync }) });
    const missing = new Error('ENOENT');
    replace(t, globalThis, 'process', host(() => { throw missing; }));
    assert.throws(() => procUptimeElapsedRealtime(), (error) => error === missing);
    globalThis.process = host(() => 'soon');
    refused(() => procUptimeElapsedRealtime(), 'non-finite');
    // 2.01 * 1000 is 2009.9999999999998.
    globalThis.process = host(() => '2.01 1.00\n');
    assert.equal(procUptimeElapsedRealtime()(), 2_010);
  });
});
