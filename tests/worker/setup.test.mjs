// What is wrong around the configuration is told at once, and never means "no limit".

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { builtModules, compatibility, startSluicegate, startWorkers, withFaultyCounter } from './harness.mjs';
import { rateLimit, rateLimitPolicy } from './support/fields.mjs';
import { check, limitsOf, policy } from './support/limits.mjs';

test('without its Durable Object binding every request is 503, and so is /healthz', async (t) => {
  const bindings = { LIMITS: { json: limitsOf([policy('api', 1)]) } };
  const server = await startWorkers(t, { workers: { bare: { modules: builtModules(), bindings, compatibility: compatibility() } } });
  for (const path of ['/api', '/healthz']) {
    const answer = await server.fetch(path);
    assert.equal(answer.status, 503);
    assert.equal(answer.json().errors[0].path, 'POP_COUNTER');
  }
});

for (const origin of ['api.example.com', 'ftp://api.example.com', 'https://api.example.com/?a=', 'https://api.example.com/#x', 'nonsense']) {
  test(`ORIGIN = ${JSON.stringify(origin)} is a configuration error`, async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf([policy('api', 1)]), vars: { ORIGIN: origin } });
    const answer = await server.fetch('/healthz');
    assert.deepEqual([answer.status, answer.json().errors?.[0].path], [503, 'ORIGIN']);
  });
}

test('a status that only an origin may give is passed on', async (t) => {
  const origin = createServer((request, response) => response.writeHead(799).end('odd'));
  await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
  t.after(() => origin.close());
  const server = await startSluicegate(t, { limits: limitsOf([policy('api', 5)]), vars: { ORIGIN: `http://127.0.0.1:${origin.address().port}` } });
  const answer = await server.fetch('/api');
  assert.deepEqual([answer.status, answer.text()], [799, 'odd']);
});

test('a policy that is asked for several keys is announced once, with the least that is left', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('api', 10)]) });
  const answer = await check(server, [['api', '192.0.2.1', 2], ['api', '192.0.2.2', 7], ['api', '192.0.2.3', 7]]);
  assert.equal(answer.status, 200);
  assert.deepEqual(rateLimit(answer).map(({ policy: name, r }) => [name, r]), [['api', 3]]);
  assert.equal(rateLimitPolicy(answer).length, 1);
});

test('several counters out of reach cost one time limit, not one each', async (t) => {
  const policies = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => policy(name, 10, { identity: `header:x-${name}` }));
  const limits = { time_limit: '2s', policies, rules: [{ policies: policies.map(({ name }) => name) }] };
  const server = await startSluicegate(t, { limits, modules: withFaultyCounter({ kind: 'hang', times: 100 }) });
  const headers = Object.fromEntries(policies.map(({ name }) => [`x-${name}`, `value-of-${name}`]));
  const started = performance.now();
  assert.equal((await server.fetch('/', { headers })).status, 200);
  // Several objects one after the other would take 10 s or more.
  assert.ok(performance.now() - started < 8_000, 'each counter had a time limit of its own');
});

test('a name of the point of presence that no ledger would take is a configuration error', async (t) => {
  for (const [name, status] of [['Frankfurt 1', 503], ['Zürich', 503], ['x'.repeat(65), 503], ['FRA-1', 200]]) {
    const server = await startSluicegate(t, { limits: limitsOf([policy('api', 5)]), vars: { POP_NAME: name } });
    const answer = await server.fetch('/healthz');
    assert.equal(answer.status, status, name);
    if (status === 503) assert.deepEqual(answer.json().errors.map(({ path }) => path), ['POP_NAME']);
  }
});
