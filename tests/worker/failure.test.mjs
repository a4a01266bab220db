// What happens when a counter fails, hangs or cannot be read: on_error decides, soon, and the log says why.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startSluicegate, withFaultyCounter } from './harness.mjs';
import { problem, rateLimit, retryAfter } from './support/fields.mjs';
import { check, limitsOf, policy } from './support/limits.mjs';

const policies = [policy('open', 1, { on_error: 'open' }), policy('closed', 1, { on_error: 'closed' }), policy('default', 1)];
const limits = { ...limitsOf(policies, { time_limit: '200ms' }) };
limits.rules.push({ path: '/both', policies: ['open', 'closed'] });

async function followsOnError(server) {
  for (let again = 0; again < 3; again += 1) {
    const open = await server.fetch('/open');
    assert.deepEqual([open.status, rateLimit(open)], [200, null], 'open lets it through, and claims no numbers');
    const byDefault = await server.fetch('/default');
    assert.equal(byDefault.status, 200);

    const closed = await server.fetch('/closed');
    const body = problem(closed, 503);
    assert.deepEqual([body.refusal, body['violated-policies']], ['unavailable', ['closed']]);
    assert.ok(retryAfter(closed) >= 1);
    problem(await server.fetch('/both'), 503);
  }
  const open = await check(server, [['open', '203.0.113.7']]);
  const { reset_ms: _, ...result } = open.json().results[0];
  assert.equal(open.status, 200);
  assert.deepEqual([result.allowed, result.decided_by, result.remaining, result.epoch], [true, 'on-error', null, null]);
  const closed = await check(server, [['closed', '203.0.113.7']]);
  assert.deepEqual([closed.status, closed.json().results[0].refusal, closed.json().results[0].decided_by], [503, 'unavailable', 'on-error']);
  assert.ok(retryAfter(closed) >= 1);
  assert.equal((await server.fetch('/healthz')).status, 200);
}

describe('on_error decides', { concurrency: true }, () => {
  for (const kind of ['throw', 'overloaded', 'hang']) {
    test(`when the counter does this: ${kind}`, async (t) => {
      const server = await startSluicegate(t, { limits, modules: withFaultyCounter({ kind }) });
      const started = performance.now();
      await followsOnError(server);
      // 15 answers that each had 200 ms; a hang without the time limit would last ten minutes.
      assert.ok(performance.now() - started < 30_000);
      const line = await server.log.waitFor(/"sluicegate":"counter-unreachable"/);
      const { counter, level } = JSON.parse(line.slice(line.indexOf('{')));
      assert.match(counter, /^DFW\/\d$/);
      assert.equal(level, 'warn');
    });
  }

  test('when its storage cannot be read', async (t) => {
    const server = await startSluicegate(t, { limits });
    for (const path of ['/open', '/closed', '/default', '/both']) await server.fetch(path);
    await check(server, [['open', '203.0.113.7'], ['closed', '203.0.113.7']]);
    await server.stop();
    server.damageStorage();
    await server.start();
    await followsOnError(server);
  });
});

test('a failed counter is asked once per request, never again in the same one', async (t) => {
  for (const kind of ['throw', 'overloaded']) {
    const server = await startSluicegate(t, { limits, modules: withFaultyCounter({ kind }) });
    for (let request = 0; request < 5; request += 1) await server.fetch('/open');
    await server.log.waitFor(/fault/);
    assert.equal(server.log.matching(new RegExp(`^fault: ${kind}`)).length, 5, kind);
  }
});

test('after a fault the next request counts as if nothing had been', async (t) => {
  for (const kind of ['throw', 'hang']) {
    const server = await startSluicegate(t, { limits, modules: withFaultyCounter({ kind, times: 2 }) });
    const statuses = [];
    for (let request = 0; request < 5; request += 1) statuses.push((await server.fetch('/closed')).status);
    assert.deepEqual(statuses, [503, 503, 200, 429, 429], kind);
  }
});

test('where only one of two counters fails, the other keeps nothing of a refused request', async (t) => {
  // The header's counter is another object than the address's, for one of these keys at least.
  const two = [policy('by-ip', 5), policy('by-key', 5, { identity: 'header:x-key', on_error: 'closed' })];
  const server = await startSluicegate(t, { limits: limitsOf(two, { time_limit: '500ms' }), modules: withFaultyCounter({ kind: 'throw', times: 1 }) });
  const ip = '203.0.113.7';
  // The first ask of each object fails: this wakes the address's own.
  await check(server, [['by-ip', ip, 0]]);
  let mixed = 0;
  let allowed = 0;
  for (let at = 0; at < 8; at += 1) {
    const answer = await check(server, [['by-ip', ip], ['by-key', `key-${at}`]]);
    const [byIp, byKey] = answer.json().results;
    if (answer.status === 503) {
      mixed += byIp.decided_by === 'counter' && byKey.decided_by === 'on-error' ? 1 : 0;
      const after = await check(server, [['by-ip', ip]], { peek: true });
      assert.equal(after.json().results[0].remaining, 5 - allowed, 'what was taken for it was given back');
    } else {
      assert.equal(answer.status, 200);
      allowed += 1;
    }
    if (allowed === 5) break;
  }
  assert.ok(mixed > 0, 'no key met a failing counter beside a working one');
});
