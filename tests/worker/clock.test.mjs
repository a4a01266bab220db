// The wall clock of the running workerd is stepped, back and ahead, by an hour: no key waits for the clock, and the
// step is reported with its size.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { skewUnavailable, startSluicegate, TOKEN, withFaultyCounter } from './harness.mjs';
import { rateLimit } from './support/fields.mjs';
import { check, limitsOf, LONG, policy, remaining, totals, until } from './support/limits.mjs';

const HOUR = 3_600_000;
const WINDOW_MS = 3_000;
const window = '3s';
/** How much later than told a poll may see it, on a busy machine. Far from an hour. */
const SLACK_MS = 4_000;

const ALGORITHMS = [
  policy('fixed', 2, { window }),
  policy('sliding', 2, { window, algorithm: 'sliding-window' }),
  policy('strict', 2, { window, algorithm: 'sliding-window', sub_windows: 3, strict: true }),
  policy('log', 2, { window, algorithm: 'sliding-log' }),
  policy('bucket', 2, { window, algorithm: 'token-bucket' }),
];
const limits = limitsOf([...ALGORITHMS, policy('month', 1_000)], { shards: 1, flush_every: '100ms' });

const ask = async (server, name, key) => (await check(server, [[name, key]])).json().results[0];

/** Takes until `key` is refused; returns the refusal. */
const exhaust = (server, name, key) => until(() => ask(server, name, key), ({ allowed }) => !allowed, { every: 0 });

/** Polls until `key` is let through; returns how long that took, in ms. */
async function waitUntilAllowed(server, name, key) {
  const started = performance.now();
  await until(() => ask(server, name, key), ({ allowed }) => allowed, { deadline: 3 * WINDOW_MS + SLACK_MS, what: `${name} for ${key}` });
  return performance.now() - started;
}

/** The steps that the counter has seen: how many back, how many ahead, and the size of the last one. */
async function steps(server) {
  const { steps_back: back, steps_ahead: ahead, counters: [{ last_step_ms: last }] } = await totals(server);
  return { back, ahead, last };
}

const STEP = /"sluicegate":"clock-step"/;
const parsed = (line) => JSON.parse(line.slice(line.indexOf('{')));

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 60_000, `${actual} ms is not near ${expected} ms`);

/** Refuses one key per algorithm, does `step`, and asserts that each is let through when it was told, by every algorithm. */
async function nobodyWaitsForTheClock(server, step, key) {
  const told = await Promise.all(ALGORITHMS.map(({ name }) => exhaust(server, name, key)));
  await step();
  await Promise.all(ALGORITHMS.map(async ({ name }, at) => {
    assert.ok(told[at].retry_after_ms <= 2 * WINDOW_MS, `${name} was told ${told[at].retry_after_ms} ms`);
    const waited = await waitUntilAllowed(server, name, key);
    assert.ok(waited <= told[at].retry_after_ms + SLACK_MS, `${name} waited ${waited} ms, and was told ${told[at].retry_after_ms} ms`);
    const again = await exhaust(server, name, key);
    assert.ok(again.retry_after_ms > 0 && again.retry_after_ms <= 2 * WINDOW_MS, `${name} is told ${again.retry_after_ms} ms after the step`);
  }));
}

describe('the wall clock steps', { concurrency: true, skip: skewUnavailable }, () => {
  test('back an hour, twice, and two hours ahead: keys are let through when they were told', async (t) => {
    const server = await startSluicegate(t, { limits, skew: true });
    const expected = { back: 0, ahead: 0 };
    for (const [at, step] of [-HOUR, -HOUR, 2 * HOUR].entries()) {
      await nobodyWaitsForTheClock(server, () => server.clock.step(step), `198.51.100.${at}`);
      expected[step < 0 ? 'back' : 'ahead'] += 1;
      const { last, ...seen } = await steps(server);
      assert.deepEqual(seen, expected, 'each step is counted once');
      near(last, step);
    }
  });

  test('ahead an hour, and back: keys are let through, and new ones are told their window', async (t) => {
    const server = await startSluicegate(t, { limits, skew: true });
    await nobodyWaitsForTheClock(server, () => server.clock.step(HOUR), '198.51.100.1');
    near((await steps(server)).last, HOUR);
    await nobodyWaitsForTheClock(server, () => server.clock.step(-HOUR), '198.51.100.2');
    near((await steps(server)).last, -HOUR);
  });

  for (const [kind, step] of [['wall-step-back', -HOUR], ['wall-ahead', HOUR]]) {
    test(`by an hour (${kind}): the log, /v1/pop and /metrics name the kind and the size`, async (t) => {
      const server = await startSluicegate(t, { limits: { ...limits, flush_every: '5s' }, skew: true });
      await ask(server, 'month', '198.51.100.1');
      await server.clock.step(step);
      // Date.now() moves once more before it stands still, so it may take two requests.
      await until(() => ask(server, 'month', '198.51.100.1').then(() => steps(server)), ({ back, ahead }) => back + ahead > 0, { what: 'a sign of the step' });
      const { level, kind: told, stepped_ms: ms } = parsed(await server.log.waitFor(STEP));
      assert.deepEqual([level, told], ['warn', kind]);
      near(ms, step);
      assert.equal(server.log.matching(STEP).length, 1);

      const { back, ahead, last } = await steps(server);
      assert.deepEqual([back, ahead], step < 0 ? [1, 0] : [0, 1]);
      assert.equal(last, ms);

      const metrics = (await server.fetch('/metrics', { token: TOKEN })).text();
      const counted = (name) => Number(new RegExp(`^sluicegate_clock_anomalies_total\\{kind="${name}",pop="DFW",shard="0"\\} (\\d+)$`, 'm').exec(metrics)[1]);
      assert.deepEqual([counted('wall-step-back'), counted('wall-ahead')], [back, ahead]);
      assert.equal(Number(/^sluicegate_clock_step_ms\{.*\} (-?\d+)$/m.exec(metrics)[1]), ms);
    });
  }

  test('ahead an hour while a flush is due: a step that the timer is the first to see is logged too', async (t) => {
    const server = await startSluicegate(t, { limits: { ...limits, flush_every: '1s' }, skew: true });
    await ask(server, 'month', '198.51.100.1'); // Written at once, since it opens an epoch.
    await ask(server, 'month', '198.51.100.1'); // Left to the timer.
    await server.clock.step(HOUR);
    near(parsed(await server.log.waitFor(STEP, { timeout: 10_000 })).stepped_ms, HOUR);
  });

  test('back an hour while nobody asks: the first to come waits no longer than a window', async (t) => {
    const server = await startSluicegate(t, { limits, skew: true });
    await exhaust(server, 'fixed', '198.51.100.1');
    await server.clock.step(-HOUR);
    await delay(WINDOW_MS);
    const { allowed, retry_after_ms: told } = await ask(server, 'fixed', '198.51.100.1');
    // What passed unseen beside the step cannot be told from it: one window more at most.
    if (!allowed) assert.ok(told <= WINDOW_MS, `told ${told} ms`);
    assert.ok(await waitUntilAllowed(server, 'fixed', '198.51.100.1') <= WINDOW_MS + SLACK_MS);
  });

  test('back an hour while it is stopped: keys are let through when they were told', async (t) => {
    const server = await startSluicegate(t, { limits, skew: true });
    await nobodyWaitsForTheClock(server, async () => {
      await delay(500); // The flush timer writes what was taken.
      await server.stop();
      await server.clock.step(-HOUR);
      await server.start();
    }, '198.51.100.1');
    near((await steps(server)).last, -HOUR);
  });

  test('back an hour, then an object is dropped from memory: it goes on from its own time', async (t) => {
    const server = await startSluicegate(t, { limits, skew: true });
    await exhaust(server, 'fixed', '198.51.100.1');
    await server.clock.step(-HOUR);
    await until(() => ask(server, 'month', '198.51.100.1').then(() => steps(server)), ({ back }) => back === 1, { what: 'a sign of the step' });
    const { remaining: left } = await ask(server, 'month', '198.51.100.1');
    await server.evict();
    assert.equal((await ask(server, 'fixed', '198.51.100.1')).allowed, true);
    const refused = await exhaust(server, 'fixed', '198.51.100.2');
    assert.ok(refused.retry_after_ms <= WINDOW_MS);
    assert.ok(await waitUntilAllowed(server, 'fixed', '198.51.100.2') <= WINDOW_MS + SLACK_MS);
    assert.equal(await remaining(server, 'month', '198.51.100.1'), left);
  });

  test('back an hour: what is counted stays counted, and is written although timers stand still', async (t) => {
    const server = await startSluicegate(t, { limits, skew: true });
    for (let hit = 0; hit < 3; hit += 1) await ask(server, 'month', '198.51.100.1');
    await delay(400); // The timer that runs has fired: the next one is armed after the step, and stands still.
    await server.clock.step(-HOUR);
    for (let hit = 0; hit < 3; hit += 1) await ask(server, 'month', '198.51.100.1');
    assert.equal(await remaining(server, 'month', '198.51.100.1'), 994);
    await delay(300);
    await ask(server, 'month', '198.51.100.2'); // A request after flush_every writes what no timer would.
    await server.restart({ signal: 'SIGKILL' });
    assert.equal(await remaining(server, 'month', '198.51.100.1'), 994);
  });

  test('back an hour: a counter that hangs is given up all the same', async (t) => {
    const hanging = limitsOf([policy('open', 1, { window: LONG })], { time_limit: '300ms' });
    const server = await startSluicegate(t, { limits: hanging, skew: true, modules: withFaultyCounter({ kind: 'hang' }) });
    assert.equal((await server.fetch('/open')).status, 200);
    await server.clock.step(-HOUR);
    const answer = await server.fetch('/open', { timeout: 20_000 });
    assert.deepEqual([answer.status, rateLimit(answer)], [200, null]);
  });
});
