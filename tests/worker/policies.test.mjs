// GET /v1/policies: what can be asked for.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startSluicegate, TOKEN } from './harness.mjs';
import { problem } from './support/fields.mjs';
import { check, limitsOf, policy } from './support/limits.mjs';

const limits = {
  prefix: '/_limits',
  policies: [
    { name: 'per-ip', algorithm: 'fixed-window', limit: 60, window: '1m', identity: 'ip' },
    { name: 'both', algorithm: 'token-bucket', limit: 300, window: '1h', burst: 20, identity: ['ip', 'header:X-Key'], on_error: 'closed', shadow: true },
    { name: 'monthly', algorithm: 'calendar-quota', limit: 10_000, identity: 'header:x-key', period: { unit: 'month', time_zone: 'Europe/Paris' } },
  ],
  rules: [{ path: '/healthz', allow: true }, { method: 'post', path: '/api/*', policies: ['both', 'per-ip'] }],
};

test('/v1/policies lists what counts, and what it lists can be asked for', async (t) => {
  const server = await startSluicegate(t, { limits });
  const answer = await server.fetch('/_limits/v1/policies', { token: TOKEN });
  assert.deepEqual([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')], [200, 'application/json', 'no-store']);
  const rest = { period: null, tolerance_ppm: null, burst: null, on_error: 'open', shadow: false };
  assert.deepEqual(answer.json(), {
    policies: [
      { ...rest, name: 'per-ip', algorithm: 'fixed-window', scope: 'pop', limit: 60, window_ms: 60_000, identity: 'ip' },
      { ...rest, name: 'both', algorithm: 'token-bucket', scope: 'pop', limit: 300, window_ms: 3_600_000, burst: 20, identity: ['ip', 'header:x-key'], on_error: 'closed', shadow: true },
      {
        ...rest, name: 'monthly', algorithm: 'calendar-quota', scope: 'global', limit: 10_000, window_ms: null, identity: 'header:x-key', on_error: 'closed',
        period: { unit: 'month', time_zone: 'Europe/Paris', anchor_day: 1, anchor_weekday: null, anchor_month: null, anchor_time: '00:00:00' },
      },
    ],
    rules: [
      { method: null, path: '/healthz', policies: [], allow: true },
      { method: ['POST'], path: '/api/*', policies: ['both', 'per-ip'], allow: false },
    ],
  });
  for (const { name, identity } of answer.json().policies) {
    const key = typeof identity === 'string' ? '192.0.2.1' : identity.map(() => '192.0.2.1');
    const asked = await server.fetch('/_limits/v1/check', { token: TOKEN, json: { limits: [{ policy: name, key }], peek: true } });
    assert.equal(asked.status, 200, asked.text());
  }
});

test('/v1/policies is for those who have the token, and tells none of the secrets', async (t) => {
  const secrets = { SLUICEGATE_TOKEN: TOKEN, SLUICEGATE_HASH_KEY: 'a-key-for-tests' };
  const server = await startSluicegate(t, { limits: limitsOf([policy('api', 5)]), secrets });
  for (const token of [undefined, 'wrong']) {
    const answer = await server.fetch('/v1/policies', { token });
    problem(answer, 401);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="sluicegate"');
    assert.doesNotMatch(answer.text(), /"policies"|api/);
  }
  await check(server, [['api', '192.0.2.99']]);
  const answer = await server.fetch('/v1/policies', { token: TOKEN });
  assert.equal(answer.status, 200);
  assert.doesNotMatch(answer.text(), /for-tests|192\.0\.2/);

  const posted = await server.fetch('/v1/policies', { method: 'POST', token: TOKEN });
  problem(posted, 405);
  assert.equal(posted.headers.get('allow'), 'GET');

  const closed = await startSluicegate(t, { limits: limitsOf([policy('api', 5)]), secrets: {} });
  problem(await closed.fetch('/v1/policies', { token: TOKEN }), 403);
});

test('/v1/policies of a wrong configuration says what is wrong', async (t) => {
  const server = await startSluicegate(t, { limits: { policies: [policy('api', -1)] } });
  assert.equal(problem(await server.fetch('/v1/policies', { token: TOKEN }), 503).errors[0].path, 'policies[0].limit');
  problem(await server.fetch('/v1/policies'), 401);
});
