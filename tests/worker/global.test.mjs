// Limits over many points of presence, on one workerd: `colo` says at which of them a request arrives.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { parseList } from 'structured-headers';

import { builtModules, compatibility, startSluicegate, startWorkers, TOKEN } from './harness.mjs';
import { problem, rateLimit, rateLimitPolicy, retryAfter } from './support/fields.mjs';
import { check, limitsOf, policy, until } from './support/limits.mjs';

const PERIOD = { unit: 'month', time_zone: 'UTC' };
const POPS = ['LAX', 'FRA', 'NRT'];

const global = (name, limit, more = {}) => policy(name, limit, { scope: 'global', tolerance: 0, identity: 'tenant', ...more });
/** Holds `burst`, and gains so little that none of it comes during a test. */
const bucket = (name, burst, more = {}) => ({ name, algorithm: 'token-bucket', scope: 'global', limit: 1, window: '30d', burst, identity: 'tenant', ...more });
const quota = (name, limit, more = {}) => ({ name, algorithm: 'calendar-quota', limit, period: PERIOD, identity: 'tenant', ...more });

/** Nothing here is about time limits, and the machine may be busy. */
const settings = { tenant_header: 'x-tenant', time_limit: '20s' };
const start = (t, policies, more = {}) => startSluicegate(t, { limits: { ...limitsOf(policies, settings), ...more } });

const one = async (server, limit, options) => {
  const answer = await check(server, [limit], options);
  return { status: answer.status, answer, ...answer.json().results[0] };
};
const usage = async (server, id, name) => (await server.fetch(`/v1/tenants/${id}/usage?policy=${name}`, { token: TOKEN })).json();

/** `times` checks at once, spread over all points of presence. */
const flood = (server, limit, times) => Promise.all(Array.from({ length: times }, (_, at) => one(server, limit, { colo: POPS[at % POPS.length] })));
const allowed = (results) => results.filter((result) => result.allowed).length;

/** The month in UTC that `at` lies in. */
function monthOf(at) {
  const date = new Date(at);
  const start = (more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, 1);
  return { slot: date.toISOString().slice(0, 7), start_ms: start(0), end_ms: start(1) };
}

describe('a global window', { concurrency: 2 }, () => {
  test('is one count for all points of presence, and says so in the documented shape', async (t) => {
    const server = await start(t, [global('api', 10)]);
    const first = await one(server, ['api', 'acme', 3], { colo: 'LAX' });
    const { reset_ms: resetMs, epoch, answer, ...rest } = first;
    assert.deepEqual(rest, {
      status: 200, policy: 'api', allowed: true, limit: 10, remaining: 7, retry_after_ms: null, retry_after_basis: null, refusal: null, decided_by: 'counter', pop: 'LAX',
    });
    assert.ok(Number.isInteger(resetMs) && resetMs > 0 && resetMs <= 30 * 86_400_000, `${resetMs}`);
    assert.deepEqual(rateLimitPolicy(answer), [{ policy: 'api', q: 10, w: 30 * 86_400 }]);
    assert.deepEqual(rateLimit(answer), [{ policy: 'api', r: 7, t: Math.ceil(resetMs / 1000) }]);

    const second = await one(server, ['api', 'acme', 4], { colo: 'FRA' });
    assert.deepEqual([second.allowed, second.remaining, second.epoch, second.pop], [true, 3, epoch, 'FRA']);
    assert.deepEqual([(await one(server, ['api', 'other'], { colo: 'FRA' })).remaining], [9], 'another tenant has its own');
  });

  test('refuses with 429 at each point of presence when it is used up, at the gateway as in a check', async (t) => {
    const server = await start(t, [global('api', 4)]);
    assert.equal((await one(server, ['api', 'acme', 3], { colo: 'LAX' })).allowed, true);
    const headers = { 'x-tenant': 'acme' };
    const passed = await server.fetch('/api', { colo: 'FRA', headers });
    assert.deepEqual([passed.status, rateLimit(passed)[0].r], [200, 0], 'the gateway counts the same tenant');
    for (const colo of POPS) {
      const refused = await one(server, ['api', 'acme'], { colo });
      assert.deepEqual([refused.status, refused.allowed, refused.remaining, refused.refusal, refused.retry_after_basis], [429, false, 0, 'limit', 'epoch-window']);
      assert.ok(refused.retry_after_ms > 0 && refused.retry_after_ms === refused.reset_ms, `${refused.retry_after_ms}`);
      assert.equal(retryAfter(refused.answer), Math.ceil(refused.retry_after_ms / 1000));

      const answer = await server.fetch('/api', { colo, headers });
      const told = problem(answer, 429);
      assert.match(told.type, /#quota-exceeded$/);
      assert.deepEqual([told.title, told.refusal, told['violated-policies']], ['Quota Exceeded', 'limit', ['api']]);
      assert.ok(retryAfter(answer) >= 1);
      assert.deepEqual(rateLimit(answer).map(({ policy: name, r }) => [name, r]), [['api', 0]]);
    }
  });

  for (const [identity, key, limit, times] of [['tenant', 'acme', 100, 300], ['ip', '203.0.113.7', 25, 60]]) {
    test(`${times} requests at once at three points of presence are admitted exactly up to the limit (by ${identity})`, async (t) => {
      const server = await start(t, [global('api', limit, { identity })]);
      const results = await flood(server, ['api', key], times);
      assert.equal(allowed(results), limit);
      for (const { status, decided_by: by } of results) assert.ok(by === 'counter' && [200, 429].includes(status), `${status} by ${by}`);
      assert.equal(allowed(await flood(server, ['api', key], 9)), 0, 'and it stays so');
    });
  }

  test('with a tolerance passes the limit by that part at most, and reaches it', async (t) => {
    const server = await start(t, [global('api', 50, { tolerance: 0.2 })]);
    const admitted = allowed(await flood(server, ['api', 'acme'], 120));
    assert.ok(admitted >= 50 && admitted <= 60, `${admitted}`);
  });

  test('goes on where it was after a restart: early at most, never over', async (t) => {
    const server = await start(t, [global('api', 100)]);
    assert.equal((await one(server, ['api', 'acme', 60])).status, 200);
    await server.restart();
    let after = 0;
    for (const cost of [16, 16, 8, 4, 2, 2, 1, 1, 1]) after += (await one(server, ['api', 'acme', cost], { colo: 'FRA' })).allowed ? cost : 0;
    assert.ok(after <= 40, `60 and ${after}`);
  });
});

describe('a calendar quota', { concurrency: 2 }, () => {
  test('is one count for all points of presence, and says which period it is', async (t) => {
    const server = await start(t, [quota('monthly', 1_000)]);
    const before = monthOf(Date.now());
    const first = await one(server, ['monthly', 'acme', 3], { colo: 'LAX' });
    const month = monthOf(Date.now());
    const { reset_ms: resetMs, answer, ...rest } = first;
    if (before.slot !== month.slot) return t.skip('a month has just ended');
    assert.deepEqual(rest, {
      status: 200, policy: 'monthly', allowed: true, limit: 1_000, remaining: 997, retry_after_ms: null, retry_after_basis: null, refusal: null, decided_by: 'counter', epoch: null, serial: 1, pop: 'LAX', ...month,
    });
    assert.ok(Math.abs(month.end_ms - Date.now() - resetMs) < 60_000, `${resetMs}`);
    const [[name, parameters]] = parseList(answer.headers.get('ratelimit-policy'));
    assert.deepEqual([name, Object.fromEntries(parameters)], ['monthly', { q: 1_000, 'sluicegate-period': 'month' }], 'a month has no constant length: there is no w');
    assert.deepEqual(rateLimit(answer), [{ policy: 'monthly', r: 997, t: Math.ceil(resetMs / 1000) }]);

    const second = await one(server, ['monthly', 'acme'], { colo: 'FRA' });
    const { outstanding, used, remaining } = await usage(server, 'acme', 'monthly');
    assert.equal(used + outstanding + remaining, 1_000);
    assert.equal(second.allowed, true);
    assert.equal((await one(server, ['monthly', 'other'], { colo: 'FRA' })).remaining, 999, 'another tenant has its own');
  });

  test('more requests than it has units are admitted exactly up to the limit, in the end', async (t) => {
    const server = await start(t, [quota('monthly', 100)]);
    const results = [];
    // Units that one point of presence holds and does not need come back when another one lacks them.
    for (let round = 0; round < 20 && allowed(results) < 100; round += 1) {
      results.push(...(await flood(server, ['monthly', 'acme'], 60)));
    }
    results.push(...(await flood(server, ['monthly', 'acme'], 30)));
    assert.equal(allowed(results), 100);
    const refused = results.at(-1);
    assert.deepEqual([refused.status, refused.refusal, refused.remaining, refused.retry_after_basis], [429, 'limit', 0, 'wall-period']);
    assert.equal(retryAfter(refused.answer), Math.ceil(refused.retry_after_ms / 1000));
    const { used, outstanding, remaining } = await usage(server, 'acme', 'monthly');
    assert.deepEqual([used + outstanding, remaining], [100, 0]);
  });

  test('refuses at the gateway with 429, and takes the tenant from the header', async (t) => {
    const server = await start(t, [quota('daily', 2, { period: { unit: 'day', time_zone: 'Asia/Tokyo' } })]);
    const headers = { 'x-tenant': 'acme' };
    for (const left of [1, 0]) {
      const answer = await server.fetch('/daily', { headers });
      assert.deepEqual([answer.status, rateLimit(answer)[0].r], [200, left]);
      const [[, parameters]] = parseList(answer.headers.get('ratelimit-policy'));
      assert.deepEqual(Object.fromEntries(parameters), { q: 2, 'sluicegate-period': 'day' });
    }
    const answer = await server.fetch('/daily', { headers });
    const told = problem(answer, 429);
    assert.deepEqual([told.title, told.refusal, told['violated-policies']], ['Quota Exceeded', 'limit', ['daily']]);
    assert.ok(retryAfter(answer) >= 1 && retryAfter(answer) <= 86_400);
    assert.equal((await server.fetch('/daily', { headers: { 'x-tenant': 'other' } })).status, 200);
  });

  test("a tenant's own limit and unit are what answers announce", async (t) => {
    const server = await start(t, [quota('monthly', 1_000)]);
    const json = { limit: 40, period: { unit: 'year', time_zone: 'UTC' } };
    assert.equal((await server.fetch('/v1/tenants/acme', { method: 'PUT', token: TOKEN, json })).status, 200);
    const { limit, remaining, slot, answer } = await one(server, ['monthly', 'acme']);
    assert.deepEqual([limit, remaining, slot], [40, 39, String(new Date().getUTCFullYear())]);
    const [[, parameters]] = parseList(answer.headers.get('ratelimit-policy'));
    assert.deepEqual(Object.fromEntries(parameters), { q: 40, 'sluicegate-period': 'year' });
  });

  test('is kept over a restart, to the unit where it was idle', async (t) => {
    const server = await start(t, [quota('monthly', 100)]);
    assert.equal((await one(server, ['monthly', 'acme', 30])).remaining, 70);
    await server.restart({ signal: 'SIGKILL' });
    const after = await one(server, ['monthly', 'acme', 70]);
    assert.deepEqual([after.status, after.remaining, after.serial], [200, 0, 1], 'a grant of just what was asked for leaves nothing to forfeit');
    assert.equal((await one(server, ['monthly', 'acme'])).status, 429);
  });
});

describe('a global token bucket', { concurrency: 2 }, () => {
  test('is one bucket for all points of presence, and says so in the documented shape', async (t) => {
    const server = await start(t, [bucket('api', 50)]);
    const { reset_ms: resetMs, answer, ...rest } = await one(server, ['api', 'acme', 3], { colo: 'LAX' });
    assert.deepEqual(rest, {
      status: 200, policy: 'api', allowed: true, limit: 50, remaining: 47, retry_after_ms: null, retry_after_basis: null, refusal: null, decided_by: 'counter', epoch: null, pop: 'LAX',
    });
    assert.ok(Number.isInteger(resetMs) && resetMs > 0, `${resetMs}`);
    const [[name, parameters]] = parseList(answer.headers.get('ratelimit-policy'));
    assert.deepEqual([name, Object.fromEntries(parameters)], ['api', { q: 1, w: 30 * 86_400, 'sluicegate-burst': 50 }]);
    assert.equal(rateLimit(answer)[0].r, 47);
    const second = await one(server, ['api', 'acme', 40], { colo: 'FRA' });
    assert.deepEqual([second.allowed, second.remaining, second.pop], [true, 7, 'FRA']);
    assert.equal((await one(server, ['api', 'acme', 8], { colo: 'NRT' })).status, 429, 'seven are left for all');
    assert.equal((await one(server, ['api', 'other'], { colo: 'FRA' })).remaining, 49, 'another tenant has its own');
  });

  test('more requests than it has tokens are admitted exactly up to its burst, in the end, and then refused', async (t) => {
    const server = await start(t, [bucket('api', 50)]);
    const results = await flood(server, ['api', 'acme'], 150);
    // Tokens that one point of presence holds and does not need come back when they were idle for a while.
    await until(async () => results.push(...(await flood(server, ['api', 'acme'], 6))), () => allowed(results) >= 50, { every: 500, deadline: 30_000, what: 'fifty' });
    results.push(...(await flood(server, ['api', 'acme'], 30)));
    assert.equal(allowed(results), 50);
    for (const { status, decided_by: by } of results) assert.ok(by === 'counter' && [200, 429].includes(status), `${status} by ${by}`);
    const refused = results.at(-1);
    assert.deepEqual([refused.status, refused.refusal, refused.remaining, refused.retry_after_basis], [429, 'limit', 0, 'monotonic-refill']);
    assert.equal(retryAfter(refused.answer), Math.ceil(refused.retry_after_ms / 1000));
    const answer = await server.fetch('/api', { headers: { 'x-tenant': 'acme' } });
    assert.deepEqual([problem(answer, 429).refusal, rateLimit(answer)[0].r], ['limit', 0], 'the gateway counts the same tenant');
  });

  test('refills over time: no more than that, and not much later', async (t) => {
    const server = await start(t, [bucket('api', 20, { limit: 120, window: '1m' })]);
    const started = performance.now();
    const results = [];
    const took = () => performance.now() - started;
    while (took() < 12_000) results.push(...(await flood(server, ['api', 'acme'], 6)));
    const most = 20 + (took() * 2) / 1_000;
    assert.ok(allowed(results) <= most, `${allowed(results)} of ${most}`);
    assert.ok(allowed(results) >= most / 2, `${allowed(results)} of ${most}`);
  });

  test('is kept over a restart: tokens that were out are late at most, never doubled', async (t) => {
    const server = await start(t, [bucket('api', 50)]);
    assert.equal((await one(server, ['api', 'acme', 30])).status, 200);
    await server.restart({ signal: 'SIGKILL' });
    let after = 0;
    for (const cost of [16, 16, 8, 4, 2, 2, 1, 1, 1]) after += (await one(server, ['api', 'acme', cost], { colo: 'FRA' })).allowed ? cost : 0;
    assert.ok(after <= 20, `30 and ${after}`);
  });
});

describe('costs and peeks', { concurrency: 2 }, () => {
  for (const [kind, make] of [['a global window', global], ['a global bucket', bucket], ['a calendar quota', quota]]) {
    test(`${kind}: a cost that does not fit is 429, one above the limit 403, one of 0 takes nothing, and none of them counts`, async (t) => {
      const server = await start(t, [make('p', 10)]);
      assert.equal((await one(server, ['p', 'acme', 4])).remaining, 6);
      const tooMuchNow = await one(server, ['p', 'acme', 7]);
      assert.deepEqual([tooMuchNow.status, tooMuchNow.refusal], [429, 'limit']);
      // A unit of a quota can be on its way back.
      assert.ok(tooMuchNow.remaining === 6 || (kind === 'a calendar quota' && tooMuchNow.remaining === 5), `${tooMuchNow.remaining}`);
      for (const cost of [11, Number.MAX_SAFE_INTEGER]) {
        const never = await one(server, ['p', 'acme', cost]);
        assert.deepEqual([never.status, never.refusal, never.retry_after_ms, retryAfter(never.answer)], [403, 'cost-exceeds-limit', null, null], `${cost}`);
      }
      assert.equal((await one(server, ['p', 'acme', 0])).status, 200);
      const rest = await until(() => one(server, ['p', 'acme', 6]), ({ allowed: may }) => may, { what: 'the six that are left' });
      assert.equal(rest.remaining, 0);
      assert.equal((await one(server, ['p', 'acme'])).status, 429);
      assert.equal((await one(server, ['p', 'acme', 0])).status, 200, 'a cost of 0 fits a limit that is used up');
    });

    test(`${kind}: what a request lacks that is refused stays free for the other points of presence`, async (t) => {
      const server = await start(t, [make('p', 10)]);
      assert.equal((await one(server, ['p', 'acme', 4], { colo: 'LAX' })).allowed, true);
      assert.equal((await one(server, ['p', 'acme', 7], { colo: 'LAX' })).status, 429);
      await until(() => one(server, ['p', 'acme', 6], { colo: 'FRA' }), ({ allowed: may }) => may, { deadline: 8_000, what: 'the six that are left' });
    });

    test(`${kind}: a limit of 0 refuses every cost for good`, async (t) => {
      const server = await start(t, [make('none', 0)]);
      for (const cost of [0, 1, 5, 0]) {
        const result = await one(server, ['none', 'acme', cost]);
        assert.deepEqual([result.status, result.refusal, retryAfter(result.answer)], [403, 'cost-exceeds-limit', null], `cost ${cost}`);
        const peeked = await one(server, ['none', 'acme', cost], { peek: true });
        assert.deepEqual([peeked.status, peeked.refusal], [200, 'cost-exceeds-limit'], `a peek of ${cost}`);
      }
      if (kind === 'a calendar quota') return;
      problem(await server.fetch('/none', { headers: { 'x-tenant': 'acme' } }), 403);
    });

    test(`${kind}: a peek counts nothing and is always 200`, async (t) => {
      const server = await start(t, [make('p', 5)]);
      for (let again = 0; again < 3; again += 1) {
        const peeked = await one(server, ['p', 'acme', 5], { peek: true });
        assert.deepEqual([peeked.status, peeked.allowed, peeked.remaining, peeked.limit], [200, true, 5, 5]);
      }
      assert.equal((await one(server, ['p', 'acme', 3])).remaining, 2);
      for (const [cost, refusal] of [[2, null], [3, 'limit'], [6, 'cost-exceeds-limit']]) {
        const peeked = await one(server, ['p', 'acme', cost], { peek: true });
        assert.deepEqual([peeked.status, peeked.allowed, peeked.refusal], [200, refusal === null, refusal], `cost ${cost}`);
        if (refusal !== 'cost-exceeds-limit') assert.equal(peeked.remaining, 2);
      }
      assert.equal((await one(server, ['p', 'acme', 2])).status, 200, 'all of it was still there');
    });

    test(`${kind} in shadow counts, reports, and refuses nobody`, async (t) => {
      const server = await start(t, [make('watch', 2, { shadow: true })]);
      const seen = [];
      for (let at = 0; at < 4; at += 1) {
        const result = await one(server, ['watch', 'acme'], { colo: POPS[at % 2] });
        assert.deepEqual([result.status, result.allowed, result.refusal], [200, true, null]);
        assert.deepEqual([rateLimit(result.answer), result.answer.headers.get('ratelimit-policy')], [null, null], 'no client has to keep to it');
        seen.push(result.would_refuse);
      }
      assert.deepEqual(seen, [false, false, true, true]);
    });
  }
});

describe('several limits at once', { concurrency: 2 }, () => {
  for (const shards of [1, 8]) {
    test(`a window of the point of presence, a global one and a quota are taken together or not at all, over ${shards} counters`, async (t) => {
      const limits = { local: 5, window: 7, month: 9 };
      const policies = [policy('local', limits.local), global('window', limits.window), quota('month', limits.month)];
      const server = await startSluicegate(t, { limits: limitsOf(policies, { ...settings, shards }) });
      const left = async (name, key) => (await one(server, [name, key], { peek: true })).remaining;
      // Each of the three refuses in its turn, whatever stands in front of it.
      const names = Object.keys(limits);
      for (const [at, tight] of names.entries()) {
        for (let tenant = 0; tenant < 3; tenant += 1) {
          const [ip, key] = [`198.51.100.${at * 10 + tenant}`, `tenant-${at}-${tenant}`];
          const keys = { local: ip, window: key, month: key };
          const used = { local: 0, window: 0, month: 0 };
          // Of the tight one less is left than is asked for, of the others enough.
          used[tight] = limits[tight] - 1;
          for (const name of names) assert.equal((await one(server, [name, keys[name], used[name]])).status, 200);
          const batch = [[names[tenant % 3], 2], [names[(tenant + 1) % 3], 2], [names[(tenant + 2) % 3], 2]].map(([name, units]) => [name, keys[name], units]);
          const refused = await check(server, batch);
          assert.equal(refused.status, 429);
          for (const { policy: name, allowed: may, remaining } of refused.json().results) {
            assert.deepEqual([name, may], [name, name !== tight]);
            // A unit of a quota that somebody lacks can be on its way back.
            const least = limits[name] - used[name] - (name === 'month' && tight === 'month' ? 1 : 0);
            assert.ok(remaining >= least && remaining <= limits[name] - used[name], `${name}: ${remaining}`);
          }
          for (const name of names) await until(() => left(name, keys[name]), (units) => units === limits[name] - used[name], { deadline: 8_000, what: `what is left of ${name}, when ${tight} refuses` });
          const whole = names.map((name) => [name, keys[name], 1]);
          await until(() => check(server, whole), ({ status }) => status === 200, { deadline: 8_000, what: 'a take of what was given back' });
          for (const name of names) assert.equal(await left(name, keys[name]), limits[name] - used[name] - 1);
        }
      }
    });
  }

  test('a quota that was not asked, since another limit refuses, is not called empty', async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf([policy('local', 1), quota('month', 9)], { ...settings, shards: 1 }) });
    assert.equal((await one(server, ['local', '198.51.100.1'])).status, 200);
    const both = [['local', '198.51.100.1'], ['month', 'acme']];
    const answer = await check(server, both);
    const [, month] = answer.json().results;
    assert.equal(answer.status, 429);
    assert.deepEqual(month, {
      policy: 'month', allowed: true, limit: 9, remaining: null, reset_ms: null, retry_after_ms: null, retry_after_basis: null, refusal: null, decided_by: 'nobody', epoch: null, pop: 'DFW',
    });
    assert.deepEqual(rateLimit(answer).map(({ policy: name }) => name), ['local']);
    assert.match(answer.headers.get('ratelimit-policy'), /"month";q=9;sluicegate-period="month"/, 'that there is one is known');
    // One that was asked before has numbers.
    assert.equal((await one(server, ['month', 'acme', 2])).status, 200);
    const [, known] = (await check(server, both)).json().results;
    assert.deepEqual([known.allowed, known.limit, known.remaining, known.decided_by], [true, 9, 7, 'counter']);
  });

  test('60 batches at once take as much of one limit as of the other', async (t) => {
    const server = await start(t, [global('window', 30), quota('month', 20)]);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => check(server, [['window', 'acme'], ['month', 'acme']], { colo: POPS[at % 2] })));
    let admitted = answers.filter(({ status }) => status === 200).length;
    assert.ok(admitted <= 20, `${admitted}`);
    for (let again = 0; again < 60 && admitted < 20; again += 1) {
      admitted += (await check(server, [['window', 'acme'], ['month', 'acme']], { colo: POPS[again % 2] })).status === 200 ? 1 : 0;
    }
    assert.equal(admitted, 20, 'what was taken for refused ones was given back');
    const { used, outstanding } = await usage(server, 'acme', 'month');
    assert.equal(used + outstanding, 20);
    let more = 0;
    for (let again = 0; again < 40; again += 1) more += (await one(server, ['window', 'acme'], { colo: POPS[again % 2] })).allowed ? 1 : 0;
    assert.equal(more, 10, 'of the window, too');
  });
});

describe('without the binding LEDGER', { concurrency: 2 }, () => {
  const bare = (t, policies) => startWorkers(t, {
    workers: {
      bare: {
        modules: builtModules(),
        objects: { POP_COUNTER: 'PopCounter' },
        bindings: { LIMITS: { json: limitsOf(policies, settings) }, SLUICEGATE_TOKEN: TOKEN },
        compatibility: compatibility(),
      },
    },
  });

  for (const needs of [global('api', 5), quota('api', 5)]) {
    test(`a ${needs.scope ?? 'calendar'} limit is a configuration error that names it`, async (t) => {
      const server = await bare(t, [needs]);
      const routes = [['/healthz'], ['/api'], ['/v1/check', { token: TOKEN, json: { limits: [{ policy: 'api', key: 'k' }] } }], ['/v1/tenants/acme', { token: TOKEN }]];
      for (const [route, options] of routes) {
        const { errors } = problem(await server.fetch(route, options), 503);
        assert.deepEqual(errors.map(({ path }) => path), ['LEDGER'], route);
        assert.match(errors[0].detail, /Durable Object/);
      }
    });
  }

  test('limits of a point of presence need none', async (t) => {
    const server = await bare(t, [policy('api', 5)]);
    assert.equal((await server.fetch('/healthz')).status, 200);
    assert.equal((await server.fetch('/api')).status, 200);
  });
});
