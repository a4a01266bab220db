// The decision service: POST /v1/check.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startSluicegate, TOKEN } from './harness.mjs';
import { problem, rateLimit, rateLimitPolicy, retryAfter } from './support/fields.mjs';
import { check, limitsOf, policy, remaining, totals } from './support/limits.mjs';

const DAYS_30_MS = 30 * 86_400_000;
const ME = '203.0.113.7';

test('an allowed check has exactly the documented shape', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 60)]) });
  const answer = await check(server, [['per-ip', ME, 1]], { peek: false });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const { reset_ms: resetMs, epoch, ...rest } = answer.json().results[0];
  assert.deepEqual(answer.json().allowed, true);
  assert.deepEqual(rest, {
    policy: 'per-ip', allowed: true, limit: 60, remaining: 59, retry_after_ms: null, retry_after_basis: null, refusal: null, decided_by: 'counter', pop: 'DFW',
  });
  assert.ok(Number.isInteger(resetMs) && resetMs > 0 && resetMs <= DAYS_30_MS, `${resetMs}`);
  assert.equal(epoch, Math.floor(Date.now() / DAYS_30_MS));
  assert.deepEqual(Object.keys(answer.json()), ['allowed', 'results']);
  assert.deepEqual(rateLimit(answer).map(({ policy: name, r }) => [name, r]), [['per-ip', 59]]);
  assert.deepEqual(rateLimitPolicy(answer).map(({ policy: name, q, w }) => [name, q, w]), [['per-ip', 60, DAYS_30_MS / 1000]]);
});

test('a refused check is 429, in the same shape, and says how long to wait on what basis', async (t) => {
  const policies = [policy('window', 1), policy('bucket', 1, { algorithm: 'token-bucket', window: '1h' })];
  const server = await startSluicegate(t, { limits: limitsOf(policies) });
  for (const [name, basis, longest] of [['window', 'epoch-window', DAYS_30_MS], ['bucket', 'monotonic-refill', 3_600_000]]) {
    assert.equal((await check(server, [[name, ME]])).status, 200);
    const answer = await check(server, [[name, ME]]);
    assert.equal(answer.status, 429);
    const { allowed, results: [result] } = answer.json();
    assert.deepEqual([allowed, result.allowed, result.remaining, result.refusal, result.retry_after_basis], [false, false, 0, 'limit', basis]);
    assert.ok(result.retry_after_ms > 0 && result.retry_after_ms <= longest, `${result.retry_after_ms}`);
    assert.equal(retryAfter(answer), Math.ceil(result.retry_after_ms / 1000), 'rounded up: never early');
    assert.equal(rateLimit(answer)[0].t, Math.ceil(result.retry_after_ms / 1000));
  }
});

test('a check and the gateway count the same key together', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 60)]) });
  assert.equal((await check(server, [['per-ip', ME, 7]])).json().results[0].remaining, 53);
  assert.equal(rateLimit(await server.fetch('/per-ip', { ip: ME }))[0].r, 52);
  assert.equal(await remaining(server, 'per-ip', ME), 52);
});

test('a peek counts nothing and is always 200', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 2), policy('none', 0)]) });
  for (let again = 0; again < 5; again += 1) {
    const answer = await check(server, [['per-ip', ME, 2]], { peek: true });
    assert.deepEqual([answer.status, answer.json().allowed, answer.json().results[0].remaining], [200, true, 2]);
  }
  await check(server, [['per-ip', ME, 2]]);
  for (const [name, cost, refusal] of [['per-ip', 1, 'limit'], ['per-ip', 3, 'cost-exceeds-limit'], ['none', 1, 'cost-exceeds-limit']]) {
    const answer = await check(server, [[name, ME, cost]], { peek: true });
    const { allowed, results: [result] } = answer.json();
    assert.deepEqual([answer.status, allowed, result.refusal], [200, false, refusal], `${name} ${cost}`);
  }
});

test('costs count as given: absent is 1, 0 takes nothing, 1.0 and 1e0 are 1, -0 is 0', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 100)]) });
  const left = async (cost) => {
    const body = `{"limits":[{"policy":"per-ip","key":"${ME}"${cost === undefined ? '' : `,"cost":${cost}`}}]}`;
    const answer = await server.fetch('/v1/check', { token: TOKEN, body, headers: { 'content-type': 'application/json' } });
    assert.equal(answer.status, 200, answer.text());
    return answer.json().results[0].remaining;
  };
  assert.equal(await left(undefined), 99);
  assert.equal(await left('1'), 98);
  assert.equal(await left('1.0'), 97);
  assert.equal(await left('1e0'), 96);
  assert.equal(await left('0'), 96);
  assert.equal(await left('-0'), 96);
  assert.equal(await left('-0.0'), 96);
  assert.equal(await left('96'), 0);
  assert.equal(await left('0'), 0, 'a cost of 0 fits a limit that is used up');
});

test('a cost above the limit is a refusal of its own: 403, nothing to wait for, nothing counted', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 10)]) });
  for (const cost of [11, Number.MAX_SAFE_INTEGER]) {
    const answer = await check(server, [['per-ip', ME, cost]]);
    const { allowed, results: [result] } = answer.json();
    assert.deepEqual([answer.status, allowed, result.refusal, result.retry_after_ms, result.retry_after_basis], [403, false, 'cost-exceeds-limit', null, null]);
    assert.equal(retryAfter(answer), null);
  }
  const tooMuchNow = await check(server, [['per-ip', ME, 4]]).then(() => check(server, [['per-ip', ME, 7]]));
  assert.deepEqual([tooMuchNow.status, tooMuchNow.json().results[0].refusal], [429, 'limit'], 'one that only waiting keeps out is 429');
  assert.equal(await remaining(server, 'per-ip', ME), 6);
});

test('a limit of 0 refuses every cost for good', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('none', 0)]) });
  for (const cost of [0, 1, 5]) {
    const answer = await check(server, [['none', ME, cost]]);
    assert.deepEqual([answer.status, answer.json().results[0].refusal, retryAfter(answer)], [403, 'cost-exceeds-limit', null], `cost ${cost}`);
  }
});

test('numbers up to 2^53 - 1 are held exactly', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('vast', Number.MAX_SAFE_INTEGER)]) });
  const answer = await check(server, [['vast', ME, Number.MAX_SAFE_INTEGER - 1]]);
  assert.deepEqual([answer.json().results[0].limit, answer.json().results[0].remaining], [Number.MAX_SAFE_INTEGER, 1]);
  assert.equal((await check(server, [['vast', ME, 2]])).status, 429);
  assert.equal((await check(server, [['vast', ME, 1]])).json().results[0].remaining, 0);
});

for (const shards of [1, 8]) {
  test(`several limits are taken together or not at all, over ${shards} counters`, async (t) => {
    const policies = [policy('wide', 100), policy('narrow', 1, { identity: 'header:x-key' })];
    const server = await startSluicegate(t, { limits: limitsOf(policies, { shards }) });
    for (let at = 0; at < 12; at += 1) {
      const [ip, key] = [`198.51.100.${at}`, `key-${at}`];
      // Both orders: the refusing one is asked before and after the other.
      const batch = at % 2 ? [['wide', ip, 3], ['narrow', key]] : [['narrow', key], ['wide', ip, 3]];
      assert.equal((await check(server, batch)).status, 200);
      const refused = await check(server, batch);
      assert.equal(refused.status, 429);
      const byName = Object.fromEntries(refused.json().results.map((result) => [result.policy, result]));
      assert.deepEqual([byName.wide.allowed, byName.narrow.allowed], [true, false]);
      assert.equal(byName.wide.remaining, 97, 'as it is after nothing was taken');
      assert.equal(await remaining(server, 'wide', ip), 97);
      assert.equal(await remaining(server, 'narrow', key), 0);
    }
  });
}

test('the same policy for two keys is two limits', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 10)]) });
  const answer = await check(server, [['per-ip', '198.51.100.1', 2], ['per-ip', '198.51.100.2', 3]]);
  assert.deepEqual(answer.json().results.map(({ remaining: left }) => left), [8, 7]);
});

test('100 batches at once over two limits never take more of one than of the other', async (t) => {
  const policies = [policy('wide', 40), policy('narrow', 25, { identity: 'header:x-key' })];
  const server = await startSluicegate(t, { limits: limitsOf(policies) });
  const answers = await Promise.all(Array.from({ length: 100 }, () => check(server, [['wide', ME], ['narrow', 'k']])));
  assert.equal(answers.filter(({ status }) => status === 200).length, 25);
  assert.equal(await remaining(server, 'narrow', 'k'), 0);
  assert.equal(await remaining(server, 'wide', ME), 15, 'what was taken for refused ones was given back');
});

test('another Worker checks by service binding', async (t) => {
  const script = `export default { async fetch(request, env) {
    const answer = await env.LIMITER.fetch('https://limiter/v1/check', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + env.TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ limits: [{ policy: 'per-key', key: request.headers.get('x-key') }] }),
    });
    const { results: [result] } = await answer.json();
    return Response.json({ status: answer.status, remaining: result.remaining, pop: result.pop });
  } };`;
  const server = await startSluicegate(t, {
    limits: limitsOf([policy('per-key', 2, { identity: 'header:x-key' })]),
    services: { shop: { script, bindings: { LIMITER: { service: 'sluicegate' }, TOKEN } } },
  });
  const ask = async () => (await server.fetch('/', { worker: 'shop', headers: { 'x-key': 'k' } })).json();
  const [first, second, third] = [await ask(), await ask(), await ask()];
  assert.deepEqual([first.status, first.remaining], [200, 1]);
  assert.deepEqual([second.status, second.remaining], [200, 0]);
  assert.deepEqual([third.status, third.remaining], [429, 0]);
});

test('the route is closed without the secret, and asks for the right token with it', async (t) => {
  const limits = limitsOf([policy('per-ip', 60)]);
  const body = { limits: [{ policy: 'per-ip', key: ME }] };
  const closed = await startSluicegate(t, { limits, secrets: {} });
  for (const token of [undefined, TOKEN, '', 'undefined']) {
    for (const [route, options] of [['/v1/check', { json: body }], ['/v1/pop', {}], ['/metrics', {}]]) {
      const { detail } = problem(await closed.fetch(route, { token, ...options }), 403);
      assert.match(detail, /SLUICEGATE_TOKEN/);
    }
  }
  assert.equal((await closed.fetch('/per-ip')).status, 200, 'the gateway works without it');

  const server = await startSluicegate(t, { limits });
  const headers = [undefined, '', 'Bearer', 'Bearer ', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN} ${TOKEN}`];
  for (const authorization of headers) {
    for (const [route, options] of [['/v1/check', { json: body }], ['/v1/pop', {}], ['/metrics', {}]]) {
      const answer = await server.fetch(route, { headers: authorization === undefined ? {} : { authorization }, ...options });
      problem(answer, 401);
      assert.match(answer.headers.get('www-authenticate'), /^Bearer/);
      assert.ok(!answer.text().includes(TOKEN));
    }
  }
  assert.equal((await server.fetch('/v1/check', { json: body, headers: { authorization: `bearer ${TOKEN}` } })).status, 200, 'the scheme has no case');
  assert.equal(await remaining(server, 'per-ip', ME), 59, 'only the last one counted');
});

test('a wrong method is 405 and names the right one', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 60)]) });
  for (const [route, methods, allowed] of [['/v1/check', ['GET', 'PUT', 'DELETE', 'PATCH'], 'POST'], ['/v1/pop', ['POST', 'PUT'], 'GET'], ['/metrics', ['POST', 'DELETE'], 'GET']]) {
    for (const method of methods) {
      const answer = await server.fetch(route, { method, token: TOKEN });
      problem(answer, 405);
      assert.equal(answer.headers.get('allow'), allowed);
    }
  }
});

const one = (more) => JSON.stringify({ limits: [{ policy: 'per-ip', key: ME, ...more }] });
/** What is wrong: the body, the status, the field that is named (null where there is none), what is said. */
const BAD = {
  'nothing': ['', 400, null, /not JSON/],
  'half of it': ['{"limits":[{"policy":"per-ip"', 400, null, /not JSON/],
  'something after it': [`${one()} x`, 400, null, /not JSON/],
  'bytes that are no text': [Buffer.concat([Buffer.from('{"limits":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]), 400, null, /not JSON/],
  'nesting without end': ['['.repeat(60_000), 400, null, /not JSON/],
  'a list': ['[]', 422, '', /not an object/],
  'null': ['null', 422, '', /not an object/],
  'no limits': ['{}', 422, 'limits', /missing/],
  'limits that are no list': ['{"limits":{}}', 422, 'limits', /not a list/],
  'an empty list of limits': ['{"limits":[]}', 422, 'limits', /empty/],
  'too many limits': [JSON.stringify({ limits: Array.from({ length: 17 }, (_, at) => ({ policy: 'per-ip', key: `198.51.100.${at}` })) }), 422, 'limits', /17/],
  'a limit that is no object': ['{"limits":["per-ip"]}', 422, 'limits[0]', /not an object/],
  'no policy': [JSON.stringify({ limits: [{ key: ME }] }), 422, 'limits[0].policy', /missing/],
  'an unknown policy': [JSON.stringify({ limits: [{ policy: 'per-up', key: ME }] }), 422, 'limits[0].policy', /per-up/],
  'a policy that is no text': [JSON.stringify({ limits: [{ policy: 7, key: ME }] }), 422, 'limits[0].policy', /7/],
  'no key': ['{"limits":[{"policy":"per-ip"}]}', 422, 'limits[0].key', /missing/],
  'a key that is no text': [one({ key: 7 }), 422, 'limits[0].key', /7/],
  'a key that is no address': [one({ key: 'me' }), 422, 'limits[0].key', /"me"/],
  'a key of too many parts': [one({ key: [ME, ME] }), 422, 'limits[0].key', /one string/],
  'a key that is too long': [one({ key: 'k'.repeat(1_025) }), 422, 'limits[0].key', /1024/],
  'a negative cost': [one({ cost: -1 }), 422, 'limits[0].cost', /-1/],
  'a fractional cost': [one({ cost: 1.5 }), 422, 'limits[0].cost', /1\.5/],
  'a cost above 2^53 - 1': [one({ cost: 2 ** 53 }), 422, 'limits[0].cost', /9007199254740992/],
  'a cost above any float': [`{"limits":[{"policy":"per-ip","key":"${ME}","cost":1e400}]}`, 422, 'limits[0].cost', /out of range/],
  'a cost as text': [one({ cost: '1' }), 422, 'limits[0].cost', /"1"/],
  'a cost that is null': [one({ cost: null }), 422, 'limits[0].cost', /null/],
  'a cost that is true': [one({ cost: true }), 422, 'limits[0].cost', /true/],
  'a cost given twice': [`{"limits":[{"policy":"per-ip","key":"${ME}","cost":1,"cost":2}]}`, 422, 'limits[0]', /twice/],
  'a misspelt field': [one({ csot: 1 }), 422, 'limits[0].csot', /did you mean "cost"/],
  'a field too many': [JSON.stringify({ limits: [{ policy: 'per-ip', key: ME }], dry_run: true }), 422, 'dry_run', /not a field/],
  'a peek that is no truth value': [JSON.stringify({ limits: [{ policy: 'per-ip', key: ME }], peek: 1 }), 422, 'peek', /1/],
  'the same limit twice': [JSON.stringify({ limits: [{ policy: 'per-ip', key: ME }, { policy: 'per-ip', key: `::ffff:${ME}` }] }), 422, 'limits[1]', /repeats limits\[0\]/],
  'a good limit beside a bad one': [JSON.stringify({ limits: [{ policy: 'per-ip', key: ME }, { policy: 'per-ip', key: '198.51.100.9', cost: -1 }] }), 422, 'limits[1].cost', /-1/],
};

test('a bad check is refused with the field that is wrong, and counts nothing', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 60)]) });
  const send = (body) => server.fetch('/v1/check', { token: TOKEN, body, headers: { 'content-type': 'application/json' } });
  await check(server, [['per-ip', ME, 5]]);
  for (const [name, [body, status, path, says]] of Object.entries(BAD)) {
    await t.test(name, async () => {
      const { errors, detail } = problem(await send(body), status);
      if (path === null) {
        assert.match(detail, says);
      } else {
        const error = errors.find((each) => (each.path ?? '') === path);
        assert.ok(error, `no error at ${JSON.stringify(path)}: ${JSON.stringify(errors)}`);
        assert.match(error.detail, says);
        assert.equal(error.code, path.endsWith('.cost') ? 'invalid-cost' : 'invalid-spec');
      }
      assert.equal(await remaining(server, 'per-ip', ME), 55);
    });
  }
  const { decisions } = await totals(server);
  assert.equal(decisions, 1, 'only the first, good one was decided');
});

test('every fault of a check is named, not just the first', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 60)]) });
  const answer = await server.fetch('/v1/check', { token: TOKEN, json: { peek: 'yes', limits: [{ policy: 'nobody', cost: 1.5 }, { key: ME, policy: 'per-ip', cost: -1, x: 1 }] } });
  const paths = problem(answer, 422).errors.map(({ path }) => path);
  assert.deepEqual(paths.sort(), ['limits[0].cost', 'limits[0].policy', 'limits[1].cost', 'limits[1].x', 'peek']);
});

test('an oversized body is 413, whether it announces its length or not', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 60)]) });
  const large = `${' '.repeat(64 * 1024)}${one()}`;
  problem(await server.fetch('/v1/check', { token: TOKEN, body: large }), 413);
  const chunked = await server.fetch('/v1/check', { token: TOKEN, body: large, headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } });
  problem(chunked, 413);
  let left = 4;
  const endless = new ReadableStream({
    async pull(controller) {
      if (left > 0) controller.enqueue(Buffer.alloc(32 * 1024, ' '));
      else await new Promise(() => {});
      left -= 1;
    },
  });
  problem(await server.fetch('/v1/check', { token: TOKEN, body: endless, headers: { 'transfer-encoding': 'chunked' } }), 413);

  const fitting = `${' '.repeat(64 * 1024 - one().length)}${one()}`;
  assert.equal((await server.fetch('/v1/check', { token: TOKEN, body: fitting })).status, 200, 'one that just fits is read');
  assert.equal(await remaining(server, 'per-ip', ME), 59);
});

test('2,000 malformed checks do not make it fail', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 10_000)]) });
  const good = one({ cost: 1 });
  // Each is the good body with one byte changed or cut off: deterministic, so a failure can be repeated.
  for (let start = 0; start < 2_000; start += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => {
      const number = start + at;
      const bytes = Buffer.from(good);
      const mutated = number % 2 ? bytes.subarray(0, number % bytes.length) : (bytes[number % bytes.length] = (number * 37) & 0xff, bytes);
      return server.fetch('/v1/check', { token: TOKEN, body: mutated, method: 'POST' });
    }));
    for (const { status } of answers) assert.ok([200, 400, 422].includes(status), `${status}`);
  }
  assert.equal((await server.fetch('/healthz')).status, 200);
  assert.deepEqual(server.log.matching(/panick|unreachable|critical|hang/i), []);
});
