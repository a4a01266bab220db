// The gateway: what is let through, what is refused, and what reaches the origin.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shippedConfiguration, startOrigin, startSluicegate } from './harness.mjs';
import { problem, rateLimit, rateLimitPolicy, retryAfter } from './support/fields.mjs';
import { limitsOf, policy, totals, until } from './support/limits.mjs';

const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const DAYS_30 = 30 * 86_400;

test('a limit lets exactly its number through, then refuses with 429 and says when to come back', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 3)]) });
  for (const left of [2, 1, 0]) {
    const answer = await server.fetch('/per-ip');
    assert.equal(answer.status, 200);
    const [limit, ...others] = rateLimit(answer);
    assert.deepEqual([limit.policy, limit.r, others], ['per-ip', left, []]);
    assert.ok(limit.t >= 1 && limit.t <= DAYS_30, `t=${limit.t}`);
    assert.deepEqual(rateLimitPolicy(answer), [{ policy: 'per-ip', q: 3, w: DAYS_30 }]);
    assert.equal(retryAfter(answer), null);
  }
  for (let again = 0; again < 3; again += 1) {
    const answer = await server.fetch('/per-ip');
    const body = problem(answer, 429);
    assert.equal(body.type, QUOTA_EXCEEDED);
    assert.deepEqual(body['violated-policies'], ['per-ip']);
    assert.equal(body.refusal, 'limit');
    const [limit] = rateLimit(answer);
    assert.deepEqual([limit.policy, limit.r], ['per-ip', 0]);
    assert.deepEqual(rateLimitPolicy(answer), [{ policy: 'per-ip', q: 3, w: DAYS_30 }]);
    assert.equal(retryAfter(answer), limit.t, 'Retry-After and the end of the window agree');
  }
  assert.equal((await server.fetch('/per-ip', { ip: '203.0.113.99' })).status, 200, 'another address is not refused');
});

test('the configuration as shipped lets an address through 60 times a minute', async (t) => {
  const { LIMITS } = shippedConfiguration().vars;
  const server = await startSluicegate(t, { limits: LIMITS });
  // Not across the end of a minute.
  await until(async () => rateLimit(await server.fetch('/api/probe', { ip: '198.51.100.1' }))[0].t, (left) => left > 10, { every: 500 });
  const statuses = [];
  for (let request = 0; request < 62; request += 1) statuses.push((await server.fetch('/api/hello')).status);
  assert.deepEqual(statuses, [...Array(60).fill(200), 429, 429]);
});

test('after its window a refused key is let through again', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('second', 1, { window: '1s' })]) });
  await until(() => server.fetch('/second'), ({ status }) => status === 429, { every: 0 });
  const refused = await server.fetch('/second');
  if (refused.status === 429) assert.equal(retryAfter(refused), 1, 'rounded up, and never 0');
  await until(() => server.fetch('/second'), ({ status }) => status === 200, { deadline: 5_000 });
});

test('without an origin sluicegate answers itself', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 3)]) });
  const answer = await server.fetch('/per-ip?a=1');
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const body = answer.json();
  assert.deepEqual([body.ok, body.answered_by, body.method, body.path], [true, 'sluicegate', 'GET', '/per-ip']);
});

test('a request that no rule matches is passed on, uncounted and without limit fields', async (t) => {
  const origin = await startOrigin(t);
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 0)]), origin: origin.url });
  for (const path of ['/other', '/', '/per-ip/deeper', '/PER-IP']) {
    const answer = await server.fetch(path);
    assert.equal(answer.status, 200, path);
    assert.deepEqual([rateLimit(answer), rateLimitPolicy(answer)], [null, null]);
  }
  assert.deepEqual(origin.seen.map(({ url }) => url), ['/other', '/', '/per-ip/deeper', '/PER-IP']);
});

test('rules are tried in order, by method and by path in any spelling, and the first decides', async (t) => {
  const limits = {
    policies: [policy('writes', 1), policy('all', 2), policy('admin', 0)],
    rules: [
      { path: '/api/open/*', allow: true },
      { path: '/api/*', method: ['POST', 'PUT'], policies: ['writes'] },
      { path: '/api/admin/*', policies: ['admin'] },
      { path: '/api/*', policies: ['all'] },
    ],
  };
  const server = await startSluicegate(t, { limits });
  const ask = async (method, path) => (await server.fetch(path, { method })).status;
  assert.equal(await ask('POST', '/api/a'), 200);
  assert.equal(await ask('PUT', '/api/b'), 429, 'counted with the POST');
  assert.equal(await ask('GET', '/api/a'), 200);
  assert.equal(await ask('GET', '//api///a/'), 200, 'doubled and trailing slashes do not matter');
  assert.equal(await ask('GET', '/%61pi/a'), 429, 'percent-encoding does not hide a path');
  for (const path of ['/api/admin', '/api/admin/x', '/api//admin', '/api/%61dmin/x']) assert.equal(await ask('GET', path), 403, path);
  for (let again = 0; again < 3; again += 1) assert.equal(await ask('GET', '/api/open'), 200);
  for (const path of ['/api/x/../admin/x', '/api/open/../admin/x', '/api/open/%2e%2e/admin/x', '/api/open/..%2fadmin/x', '/api/open/%2e%2e%2fadmin/x']) {
    const status = await ask('GET', path);
    assert.ok(status === 403 || status === 400, `${path} must not lead past a limit, but got ${status}`);
  }
});

test('several policies of a rule are taken together or not at all, and all are announced', async (t) => {
  const limits = {
    policies: [policy('wide', 5), policy('narrow', 2, { identity: 'header:x-key' })],
    rules: [{ path: '/both', policies: ['wide', 'narrow'] }, { path: '/wide', policies: ['wide'] }],
  };
  const server = await startSluicegate(t, { limits });
  const headers = { 'x-key': 'a' };
  for (const left of [[4, 1], [3, 0]]) {
    const answer = await server.fetch('/both', { headers });
    assert.equal(answer.status, 200);
    assert.deepEqual(rateLimit(answer).map(({ r }) => r), left);
    assert.deepEqual(rateLimitPolicy(answer).map(({ policy: name, q }) => [name, q]), [['wide', 5], ['narrow', 2]]);
  }
  const refused = await server.fetch('/both', { headers });
  assert.deepEqual(problem(refused, 429)['violated-policies'], ['narrow']);
  assert.deepEqual(rateLimit(refused).map(({ policy: name, r }) => [name, r]), [['wide', 3], ['narrow', 0]]);
  assert.equal(rateLimit(await server.fetch('/wide'))[0].r, 2, 'the refused request took nothing');
});

test('a limit of 0 refuses with 403, since waiting does not help', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('none', 0)]) });
  const answer = await server.fetch('/none');
  const body = problem(answer, 403);
  assert.equal(body.refusal, 'cost-exceeds-limit');
  assert.deepEqual(body['violated-policies'], ['none']);
  assert.equal(retryAfter(answer), null);
});

test('a shadow policy refuses nobody and counts what would have been refused', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('trial', 2, { shadow: true })], { shards: 1 }) });
  for (let request = 0; request < 5; request += 1) {
    const answer = await server.fetch('/trial');
    assert.deepEqual([answer.status, rateLimit(answer)], [200, null]);
  }
  const { counters } = await totals(server);
  assert.deepEqual(counters[0].policies.trial, { allowed: 2, refused: 0, would_refuse: 3 });
});

test('200 requests at once on a limit of 50 let exactly 50 through', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('busy', 50)]) });
  const answers = await Promise.all(Array.from({ length: 200 }, () => server.fetch('/busy')));
  const count = (status) => answers.filter((answer) => answer.status === status).length;
  assert.deepEqual([count(200), count(429)], [50, 150]);
  const left = answers.filter(({ status }) => status === 200).map((answer) => rateLimit(answer)[0].r);
  assert.deepEqual(left.sort((a, b) => a - b), Array.from({ length: 50 }, (_, at) => at), 'each was told its own remainder');
});

test('the names of the next header draft are one setting away', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 3)], { header_draft: 'next' }) });
  const [limit] = rateLimit(await server.fetch('/per-ip'));
  assert.deepEqual(Object.keys(limit), ['policy', 'a', 'w']);
});

test('the prefix moves sluicegate\'s own routes, and leaves the old ones to the origin', async (t) => {
  const origin = await startOrigin(t);
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 3)], { prefix: '/_limits' }), origin: origin.url });
  assert.equal((await server.fetch('/_limits/healthz')).json().ok, true);
  assert.equal((await server.fetch('/healthz')).text(), 'origin');
});

test('/healthz answers', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 3)]) });
  const answer = await server.fetch('/healthz', { ip: null, colo: null });
  assert.deepEqual([answer.status, answer.json().ok, typeof answer.json().version], [200, true, 'string']);
});

const BROKEN = {
  'a window that is no duration': {
    limits: { policies: [policy('a', 1), policy('b', 1), policy('c', 1, { window: '1x' })] },
    path: 'policies[2].window',
    says: /"1x" is not a duration; use 10s, 5m, 1h/,
  },
  'a rule with an unknown policy': { limits: { policies: [policy('a', 1)], rules: [{ path: '/*', policies: ['aa'] }] }, path: 'rules[0].policies[0]', says: /aa/ },
  'an unknown field': { limits: { policies: [policy('a', 1, { limits: 3 })] }, path: 'policies[0].limits', says: /did you mean "limit"/ },
  'a negative limit': { limits: { policies: [policy('a', -1)] }, path: 'policies[0].limit', says: /-1/ },
  'two policies of one name': { limits: { policies: [policy('a', 1), policy('a', 2)] }, path: 'policies[1].name', says: /policies\[0\]/ },
  'no policies': { limits: {}, path: 'policies', says: /missing/ },
  'no LIMITS': { limits: undefined, path: 'policies', says: /missing/ },
  'LIMITS as text that is not JSON': { limits: JSON.stringify('{"policies": ['), path: null, says: /not JSON/ },
};

for (const [name, { limits, path, says }] of Object.entries(BROKEN)) {
  test(`a broken configuration (${name}) lets nothing through, and names the place`, async (t) => {
    const server = await startSluicegate(t, { limits });
    for (const route of ['/a', '/anything', '/healthz']) {
      const { errors } = problem(await server.fetch(route), 503);
      const error = path === null ? errors[0] : errors.find((one) => one.path === path);
      assert.ok(error, `${route}: no error at ${path}: ${JSON.stringify(errors)}`);
      assert.match(error.detail, says);
    }
    const line = await server.log.waitFor(/"sluicegate":"configuration"/);
    const { detail, level } = JSON.parse(line.slice(line.indexOf('{')));
    assert.equal(level, 'error');
    assert.match(detail, says);
    if (path !== null) assert.ok(detail.includes(path), detail);
  });
}

test('LIMITS works as JSON text too', async (t) => {
  const server = await startSluicegate(t, { vars: { LIMITS: JSON.stringify(limitsOf([policy('per-ip', 3)])) } });
  assert.equal(rateLimit(await server.fetch('/per-ip'))[0].r, 2);
});
