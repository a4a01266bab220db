// The settings and the usage of tenants: /v1/tenants/{id} and what is below it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startOrigin, startSluicegate, TOKEN } from './harness.mjs';
import { problem } from './support/fields.mjs';
import { check, limitsOf, policy } from './support/limits.mjs';

const PERIOD = { unit: 'month', time_zone: 'UTC' };
/** As it is shown: with every anchor, those that another unit has as null. */
const SHOWN = { unit: 'month', time_zone: 'UTC', anchor_day: 1, anchor_weekday: null, anchor_month: null, anchor_time: '00:00:00' };
const MONTHLY = { policy: 'monthly', limit: 1_000, period: SHOWN };

const quota = (name, more = {}) => ({ name, algorithm: 'calendar-quota', limit: 1_000, period: PERIOD, identity: 'tenant', ...more });
/** Nothing here is about time limits, and the machine may be busy. */
const settings = { tenant_header: 'x-tenant', time_limit: '20s' };
const start = (t, policies = [quota('monthly')], more = {}) => startSluicegate(t, { limits: limitsOf(policies, { ...settings, ...more }) });

const ask = (server, method, path, options = {}) => server.fetch(`/v1/tenants/${path}`, { method, token: TOKEN, ...options });
const put = (server, path, json, options = {}) => ask(server, 'PUT', path, { json, ...options });
async function shown(server, path, options) {
  const answer = await ask(server, 'GET', path, options);
  assert.equal(answer.status, 200, answer.text());
  assert.equal(answer.headers.get('content-type'), 'application/json');
  return answer.json();
}

const take = async (server, key, cost, options) => (await check(server, [['monthly', key, cost]], options)).json().results[0];

/** What is wrong with a request, by [path of the field, what is said of it]. */
function assertFaults(answer, expected) {
  const { errors } = problem(answer, 422);
  assert.deepEqual(errors.map(({ path }) => path ?? '').sort(), expected.map(([path]) => path).sort(), answer.text());
  for (const [path, says] of expected) {
    const { code, detail } = errors.find((error) => (error.path ?? '') === path);
    assert.match(detail, says);
    assert.equal(code, 'invalid-spec');
  }
}

describe('the settings of a tenant', { concurrency: 2 }, () => {
  test("are the policy's until they are put, and again when they are deleted, at every point of presence", async (t) => {
    const server = await start(t);
    const unset = { tenant: 'acme', ...MONTHLY, configured: false };
    assert.deepEqual(await shown(server, 'acme'), unset);

    const own = { limit: 10_000, period: { unit: 'month', time_zone: 'America/Los_Angeles', anchor_day: 15 } };
    const answer = await put(server, 'acme', { policy: 'monthly', ...own }, { colo: 'LAX' });
    const expected = { tenant: 'acme', policy: 'monthly', limit: 10_000, period: { ...SHOWN, ...own.period }, configured: true };
    assert.deepEqual([answer.status, answer.headers.get('content-type'), answer.json()], [200, 'application/json', expected]);
    assert.deepEqual(await shown(server, 'acme', { colo: 'FRA' }), expected);
    assert.deepEqual(await shown(server, 'other'), { ...unset, tenant: 'other' });
    assert.deepEqual((await put(server, 'acme', own)).json(), expected, 'the same again changes nothing');

    // A PUT puts all of it: what is absent, or null, is the policy's.
    assert.deepEqual((await put(server, 'acme', { limit: 5 })).json(), { ...unset, limit: 5, configured: true });
    assert.deepEqual((await put(server, 'acme', { limit: null, period: own.period })).json(), { ...expected, limit: 1_000 });
    assert.deepEqual((await put(server, 'acme', {})).json(), { ...unset, configured: true });

    for (let again = 0; again < 2; again += 1) {
      const gone = await ask(server, 'DELETE', 'acme', { colo: 'NRT' });
      assert.deepEqual([gone.status, gone.text()], [204, '']);
      assert.deepEqual(await shown(server, 'acme'), unset);
    }
    const { entries } = await shown(server, 'acme/log');
    assert.deepEqual(entries.map(({ event, limit }) => [event, limit]), [['settings', 10_000], ['settings', 5], ['settings', null], ['settings', null], ['deleted', undefined]]);
  });

  test('outlive a kill of the process', async (t) => {
    const server = await start(t);
    const before = (await put(server, 'acme', { limit: 7, period: { unit: 'week', time_zone: 'Asia/Tokyo', anchor_weekday: 3, anchor_time: '06:30' } })).json();
    assert.deepEqual(before.period, { unit: 'week', time_zone: 'Asia/Tokyo', anchor_day: null, anchor_weekday: 3, anchor_month: null, anchor_time: '06:30:00' });
    await server.restart({ signal: 'SIGKILL' });
    assert.deepEqual(await shown(server, 'acme'), before);
  });

  test('take numbers from 0 to 2^53 - 1, however they are spelt', async (t) => {
    const server = await start(t);
    for (const [spelling, limit] of [['0', 0], ['1.0', 1], ['1e3', 1_000], ['9007199254740991', Number.MAX_SAFE_INTEGER]]) {
      const answer = await ask(server, 'PUT', 'acme', { body: `{"limit":${spelling}}` });
      assert.deepEqual([answer.status, answer.json().limit], [200, limit], spelling);
    }
    assert.equal((await put(server, 'acme', { limit: 0 })).status, 200);
    const { status } = await check(server, [['monthly', 'acme']]);
    assert.equal(status, 403, 'a limit of 0 refuses for good');
  });
});

describe('what a tenant has used', { concurrency: 2 }, () => {
  test('usage, audit and log have exactly the documented fields, and they agree', async (t) => {
    const server = await start(t);
    await put(server, 'acme', { limit: 10_000, period: { unit: 'month', time_zone: 'America/Los_Angeles' } });
    const before = await shown(server, 'acme/usage');
    const { serial, slot, start_ms: startMs, end_ms: endMs } = await take(server, 'acme', 30, { colo: 'LAX' });
    const usage = await shown(server, 'acme/usage', { colo: 'FRA' });
    assert.deepEqual(Object.keys(usage), ['limit', 'used', 'outstanding', 'remaining', 'serial', 'slot', 'start', 'end', 'start_ms', 'end_ms', 'reset_local', 'held', 'partial']);
    assert.deepEqual([usage.serial, usage.slot, usage.start_ms, usage.end_ms], [serial, slot, startMs, endMs]);
    assert.deepEqual([usage.limit, usage.used + usage.outstanding + usage.remaining, usage.held, usage.partial], [10_000, 10_000, false, false]);
    assert.ok(usage.used + usage.outstanding >= 30, JSON.stringify(usage));
    assert.match(usage.start, /^\d{4}-\d\d-01T00:00:00-0[78]:00$/);
    assert.deepEqual([Date.parse(usage.start), Date.parse(usage.end)], [usage.start_ms, usage.end_ms]);
    assert.equal(usage.reset_local, `${usage.end.slice(0, 10)} 00:00:00 America/Los_Angeles`);
    assert.deepEqual(before, { ...usage, used: 0, outstanding: 0, remaining: 10_000 }, 'a period that is due is shown as it will be opened');

    const audit = await shown(server, 'acme/audit');
    assert.deepEqual(Object.keys(audit), ['serial', 'limit', 'granted', 'spent', 'returned', 'forfeited', 'outstanding', 'carried', 'consistent', 'faults', 'leases', 'settled']);
    assert.deepEqual([audit.serial, audit.limit, audit.consistent, audit.faults, audit.carried], [1, 10_000, true, [], 0]);
    assert.equal(audit.granted, audit.spent + audit.returned + audit.forfeited + audit.outstanding);
    assert.ok(audit.granted >= 30);
    for (const lease of audit.leases) {
      assert.deepEqual(Object.keys(lease), ['fence', 'pop', 'birth', 'amount', 'spent', 'forfeited', 'open']);
      assert.match(`${lease.fence} ${lease.birth}`, /^[0-9a-f]{16}-\d+ [0-9a-f]{16}$/);
      assert.deepEqual([lease.pop, lease.forfeited], ['LAX', 0]);
    }

    const { tenant, entries } = await shown(server, 'acme/log');
    assert.equal(tenant, 'acme');
    assert.deepEqual(entries.slice(0, 3).map(({ event }) => event), ['settings', 'opened', 'grant']);
    const granted = entries.filter(({ event }) => event === 'grant');
    assert.equal(granted.reduce((sum, { amount }) => sum + amount, 0), audit.granted);
    for (const { pop, policy: of, serial: its } of granted) assert.deepEqual([pop, of, its], ['LAX', 'monthly', 1]);
    const stamps = entries.map(({ stamp }) => stamp);
    assert.deepEqual(stamps, [...new Set(stamps)].sort(), 'stamps grow');
    for (const { at, at_ms: atMs } of entries) assert.equal(Date.parse(at), atMs);
  });

  test('of a tenant that nobody asked for is nothing', async (t) => {
    const server = await start(t);
    const { used, outstanding, remaining, serial } = await shown(server, 'nobody/usage');
    assert.deepEqual([used, outstanding, remaining, serial], [0, 0, 1_000, 1]);
    const audit = await shown(server, 'nobody/audit');
    assert.deepEqual(audit, { serial: 0, limit: 1_000, granted: 0, spent: 0, returned: 0, forfeited: 0, outstanding: 0, carried: 0, consistent: true, faults: [], leases: [], settled: 0 });
    assert.deepEqual(await shown(server, 'nobody/log'), { tenant: 'nobody', entries: [] });
  });

  test('reopen opens the period again with what counts as used, and the log says so', async (t) => {
    const server = await start(t);
    assert.equal((await take(server, 'acme', 600)).allowed, true);
    const answer = await ask(server, 'POST', 'acme/reopen', { json: { used: 400 } });
    assert.equal(answer.status, 200);
    const { serial, used, outstanding, remaining } = answer.json();
    assert.deepEqual([serial, used, outstanding, remaining], [2, 400, 0, 600]);
    assert.deepEqual((await shown(server, 'acme/audit')).carried, 400);
    const { entries } = await shown(server, 'acme/log');
    assert.deepEqual(entries.slice(-2).map(({ event, serial: of, used: units }) => [event, of, units]), [['opened', 2, undefined], ['reopened', 2, 400]]);
    assert.equal((await take(server, 'acme', 600, { colo: 'FRA' })).serial, 2);
    assert.deepEqual((await shown(server, 'acme/usage')).remaining, 0);
  });
});

describe('which tenant and which quota', { concurrency: 2 }, () => {
  test('the id is the identity as requests have it, percent-encoded', async (t) => {
    const server = await start(t);
    const ids = ['acme/eu', 'a b', 'ü', '100%', '%2F', 'a?b', 'a#b', 'a+b', 'a;b', 'Acme', 'acme', '日本'];
    for (const [at, id] of ids.entries()) {
      const encoded = encodeURIComponent(id);
      const answer = await put(server, encoded, { limit: 100 + at });
      assert.deepEqual([answer.status, answer.json().tenant], [200, id]);
    }
    for (const [at, id] of ids.entries()) {
      const encoded = encodeURIComponent(id);
      assert.equal((await shown(server, encoded)).limit, 100 + at, id);
      assert.equal((await take(server, id, 1)).limit, 100 + at, `a check of ${id}`);
      assert.equal((await shown(server, `${encoded}/usage`)).remaining < 100 + at, true);
    }
    for (const id of ['acme', 'a+b']) assert.equal((await server.fetch('/monthly', { headers: { 'x-tenant': id } })).headers.get('ratelimit-policy').includes(`q=${100 + ids.indexOf(id)}`), true, `a request of ${id}`);
    problem(await ask(server, 'GET', '%ff'), 400);
    assertFaults(await ask(server, 'GET', ''), [['id', /0 bytes/]]);
    assertFaults(await ask(server, 'GET', 'k'.repeat(1_025)), [['id', /1025 bytes/]]);
    assert.equal((await ask(server, 'GET', 'k'.repeat(1_024))).status, 200);
  });

  test('identities are normalised, or refused, as the policy counts them', async (t) => {
    const policies = [quota('by-ip', { identity: 'ip' }), quota('by-two', { identity: ['tenant', 'ip'] }), quota('strict', { identity: 'header:x-key', on_missing: 'refuse' })];
    const server = await start(t, policies);
    await put(server, `${encodeURIComponent('::ffff:203.0.113.7')}?policy=by-ip`, { limit: 5 });
    assert.equal((await shown(server, '203.0.113.7?policy=by-ip')).limit, 5);
    assertFaults(await ask(server, 'GET', 'acme?policy=by-ip'), [['id', /"acme" is not an IPv4 or IPv6 address/]]);
    assertFaults(await ask(server, 'GET', 'acme?policy=by-two'), [['id', /counts by several/]]);
    assertFaults(await ask(server, 'GET', '%20?policy=strict'), [['id', /blank/]]);
  });

  test('?policy= says which quota, or the body; where there is one it may be left out', async (t) => {
    const server = await start(t, [quota('monthly'), quota('daily', { limit: 50, period: { unit: 'day', time_zone: 'UTC' } }), policy('window', 5)]);
    assert.equal((await shown(server, 'acme?policy=daily')).limit, 50);
    assert.equal((await shown(server, 'acme?&policy=dail%79&')).limit, 50);
    assert.equal((await put(server, 'acme', { policy: 'daily', limit: 7 })).json().policy, 'daily');
    assert.equal((await put(server, 'acme?policy=daily', { policy: 'daily', limit: 8 })).json().limit, 8);
    assert.deepEqual([(await shown(server, 'acme?policy=daily')).limit, (await shown(server, 'acme?policy=monthly')).limit], [8, 1_000], 'each has its own settings');
    assert.equal((await ask(server, 'POST', 'acme/reopen', { json: { policy: 'daily', used: 3 } })).json().used, 3);

    for (const [query, says] of [
      ['', /missing; write \?policy= and one of "monthly", "daily"/],
      ['?policy=', /""/],
      ['?policy=montly', /"montly"; did you mean "monthly"|no policy is called "montly"/],
      ['?policy=window', /"window" is no "calendar-quota"/],
      ['?policy=daily&policy=daily', /given twice/],
    ]) assertFaults(await ask(server, 'GET', `acme${query}`), [['policy', says]]);
    assertFaults(await ask(server, 'GET', 'acme?polcy=daily'), [['polcy', /not a parameter/]]);
    assertFaults(await put(server, 'acme?policy=daily', { policy: 'monthly', limit: 1 }), [['policy', /"monthly" in the body and "daily" in the query/]]);
    assertFaults(await put(server, 'acme', { policy: 7 }), [['policy', /7/]]);
  });

  test('where no policy is a calendar quota there are no tenants', async (t) => {
    const server = await start(t, [policy('window', 5)]);
    assertFaults(await ask(server, 'GET', 'acme'), [['policy', /no policy is a "calendar-quota"/]]);
  });
});

const ROUTES = [
  ['acme', ['GET', 'PUT', 'DELETE']],
  ['acme/usage', ['GET']],
  ['acme/audit', ['GET']],
  ['acme/log', ['GET']],
  ['acme/reopen', ['POST']],
];

describe('the routes', { concurrency: 2 }, () => {
  test('are closed without the secret, and ask for the right token with it', async (t) => {
    const closed = await startSluicegate(t, { limits: limitsOf([quota('monthly')], settings), secrets: {} });
    const server = await start(t);
    for (const [path, methods] of ROUTES) {
      for (const method of methods) {
        const json = method === 'GET' || method === 'DELETE' ? undefined : { limit: 1, used: 1 };
        assert.match(problem(await ask(closed, method, path, { json }), 403).detail, /SLUICEGATE_TOKEN/);
        for (const authorization of [undefined, 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`]) {
          const answer = await ask(server, method, path, { json, token: undefined, headers: { authorization } });
          problem(answer, 401);
          assert.match(answer.headers.get('www-authenticate'), /^Bearer/);
        }
      }
    }
    const { configured } = await shown(server, 'acme');
    assert.equal(configured, false, 'none of that has changed anything');
    assert.deepEqual((await shown(server, 'acme/log')).entries, []);
  });

  test('take their own methods, and name them', async (t) => {
    const server = await start(t);
    for (const [path, methods] of ROUTES) {
      for (const method of ['GET', 'PUT', 'DELETE', 'POST', 'PATCH', 'OPTIONS'].filter((other) => !methods.includes(other))) {
        const answer = await ask(server, method, path);
        problem(answer, 405);
        assert.equal(answer.headers.get('allow'), methods.join(', '), `${method} ${path}`);
      }
    }
  });

  test('stand behind the prefix, if there is one', async (t) => {
    const server = await start(t, [quota('monthly')], { prefix: '/limiter' });
    const answer = await server.fetch('/limiter/v1/tenants/acme/usage', { token: TOKEN });
    assert.deepEqual([answer.status, answer.json().limit], [200, 1_000]);
    assert.equal((await ask(server, 'GET', 'acme/usage')).json().limit, undefined, 'elsewhere it is a path as any other');
  });

  test('what is no route of them is 404, and never goes on to the origin with the token', async (t) => {
    const origin = await startOrigin(t);
    for (const prefix of ['', '/limiter']) {
      const server = await startSluicegate(t, { limits: limitsOf([quota('monthly')], { ...settings, prefix }), origin: origin.url });
      for (const path of ['/v1/tenants', '/v1/tenants/acme/', '/v1/tenants/acme/usages', '/v1/tenants/acme/usage/', '/v1/tenants/acme/usage/now', '/v1/tenants/acme//usage']) {
        for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS']) {
          const answer = await server.fetch(prefix + path, { method, token: TOKEN });
          assert.match(problem(answer, 404).detail, /\/v1\/tenants/, `${method} ${path}`);
          problem(await server.fetch(prefix + path, { method }), 401);
        }
      }
      for (const path of ['/v1/tenants/', '/v1/tenants//usage']) assertFaults(await server.fetch(prefix + path, { token: TOKEN }), [['id', /0 bytes/]]);
      assert.deepEqual(origin.seen, [], 'nothing of it has reached the origin');
      // It only begins alike.
      assert.equal((await server.fetch(`${prefix}/v1/tenantsx`)).status, 200);
      assert.deepEqual(origin.seen.splice(0).map(({ url }) => url), [`${prefix}/v1/tenantsx`]);
    }
  });

  test('a configuration that cannot be used is 503, with what is wrong', async (t) => {
    const server = await start(t, [quota('monthly', { period: { unit: 'hour', time_zone: 'UTC' } })]);
    const { errors } = problem(await ask(server, 'GET', 'acme'), 503);
    assert.deepEqual(errors.map(({ path }) => path), ['policies[0].period.unit']);
  });
});

const period = (more) => JSON.stringify({ limit: 5, period: { ...PERIOD, ...more } });
/** What is wrong: the body, the status, the field that is named (null where there is none), what is said. */
const BAD = {
  'nothing': ['', 400, null, /not JSON/],
  'half of it': ['{"limit":', 400, null, /not JSON/],
  'a list': ['[]', 422, '', /not an object/],
  'null': ['null', 422, '', /not an object/],
  'a field given twice': ['{"limit":1,"limit":2}', 422, '', /"limit" is given twice/],
  'a misspelt field': ['{"limt":1}', 422, 'limt', /not a setting/],
  'a limit as text': ['{"limit":"5"}', 422, 'limit', /whole number/],
  'a negative limit': ['{"limit":-1}', 422, 'limit', /whole number/],
  'a fractional limit': ['{"limit":1.5}', 422, 'limit', /whole number/],
  'a limit above 2^53 - 1': ['{"limit":9007199254740992}', 422, 'limit', /9007199254740991/],
  'a limit above any float': ['{"limit":1e400}', 422, 'limit', /out of range/],
  'a period that is no object': ['{"period":"month"}', 422, 'period', /not an object/],
  'no unit': ['{"period":{"time_zone":"UTC"}}', 422, 'period.unit', /required/],
  'a unit below a day': [period({ unit: 'hour' }), 422, 'period.unit', /shorter than a day/],
  'an unknown unit': [period({ unit: 'fortnight' }), 422, 'period.unit', /"fortnight"/],
  'no zone': ['{"period":{"unit":"month"}}', 422, 'period.time_zone', /required/],
  'an offset for a zone': [period({ time_zone: '+05:30' }), 422, 'period.time_zone', /offset/],
  'an abbreviation for a zone': [period({ time_zone: 'PST' }), 422, 'period.time_zone', /"PST"/],
  'a zone that the runtime does not know': [period({ time_zone: 'Mars/Phobos' }), 422, 'period.time_zone', /"Mars\/Phobos"/],
  'a 32nd': [period({ anchor_day: 32 }), 422, 'period.anchor_day', /1 to 31/],
  'an anchor of another unit': [period({ anchor_weekday: 1 }), 422, 'period.anchor_weekday', /does not belong/],
  'a month without 13': [period({ unit: 'year', anchor_month: 13 }), 422, 'period.anchor_month', /1 to 12/],
  'a time that there is not': [period({ anchor_time: '24:00' }), 422, 'period.anchor_time', /time of day/],
  "the web API's spelling": [period({ anchorDay: 1 }), 422, 'period.anchorDay', /not a field/],
};

describe('bad input', { concurrency: 2 }, () => {
  test('a bad PUT is refused with the field that is wrong, and changes nothing', async (t) => {
    const server = await start(t);
    const before = (await put(server, 'acme', { limit: 77 })).json();
    for (const [name, [body, status, path, says]] of Object.entries(BAD)) {
      await t.test(name, async () => {
        const answer = await ask(server, 'PUT', 'acme', { body });
        if (path === null) assert.match(problem(answer, status).detail, says);
        else assertFaults(answer, [[path, says]]);
      });
    }
    problem(await ask(server, 'PUT', 'acme', { body: `${' '.repeat(64 * 1024)}{}` }), 413);
    assert.deepEqual(await shown(server, 'acme'), before);
    assert.equal((await shown(server, 'acme/log')).entries.length, 1);
  });

  test('every fault is named, not just the first', async (t) => {
    const server = await start(t, [quota('monthly'), quota('other')]);
    const answer = await put(server, 'acme?policy=nobody', { limit: -1, limt: 3, period: { unit: 'month', time_zone: 'PST' } });
    assertFaults(answer, [['policy', /nobody/], ['limit', /whole number/], ['limt', /setting/], ['period.time_zone', /PST/]]);
  });

  test('a bad reopen opens nothing', async (t) => {
    const server = await start(t);
    assert.equal((await take(server, 'acme', 1)).serial, 1);
    for (const [body, path, says] of [
      ['{}', 'used', /missing/],
      ['{"used":-1}', 'used', /-1/],
      ['{"used":"1"}', 'used', /"1"/],
      ['{"used":9007199254740992}', 'used', /9007199254740992/],
      ['{"used":1,"why":"x"}', 'why', /not a field/],
    ]) assertFaults(await ask(server, 'POST', 'acme/reopen', { body }), [[path, says]]);
    assert.equal((await shown(server, 'acme/usage')).serial, 1);
  });
});
