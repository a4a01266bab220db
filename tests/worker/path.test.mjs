// What is matched is what the origin gets: request targets as a client can write them, sent raw.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startOrigin, startSluicegate } from './harness.mjs';
import { policy, remaining } from './support/limits.mjs';
import { sendRaw } from './support/raw.mjs';

/** The status of a request with this target. */
const raw = async (server, target, fields) => (await sendRaw(server, target, { fields })).status;

const SPELLINGS = ['/api/x', '/api\\x', '/x\\..\\api/x', '/.\\api/x', '/x/..\\api/x', '/\\api/x', '/x/../api/x', '/x/%2e%2e/api/x', '/./api/x', '//api//x', '/%61pi/x'];

for (const [how, options] of [
  ['by URL', async (t) => ({ origin: await startOrigin(t) })],
  ['by service binding', async () => ({ script: 'export default { fetch: (request) => new Response(request.url) };' })],
]) {
  test(`every spelling of a limited path is counted, and the origin ${how} sees that path`, async (t) => {
    const { origin, script } = await options(t);
    const limits = { policies: [policy('api', 1_000)], rules: [{ path: '/api/*', policies: ['api'] }] };
    const to = origin ? { origin: origin.url } : { origin: { service: 'api' }, services: { api: { script } } };
    const server = await startSluicegate(t, { limits, vars: { POP_NAME: 'HERE' }, ...to });
    for (const [index, target] of SPELLINGS.entries()) {
      assert.equal(await raw(server, target), 200, target);
      assert.equal(await remaining(server, 'api', '203.0.113.7'), 1_000 - index - 1, `${target} was counted`);
    }
    for (const { url } of origin?.seen ?? []) assert.match(url.replace(/\/+/g, '/'), /^\/(api|%61pi)\/x$/);
  });
}

test('a path that servers read differently is a bad request, on every rule', async (t) => {
  const limits = { policies: [policy('api', 10)], rules: [{ path: '/public/*', allow: true }, { path: '/api/*', policies: ['api'] }] };
  const server = await startSluicegate(t, { limits });
  for (const target of ['/public/..%2Fapi/x', '/public/..;/api/x', '/public/%2e%2e%2fapi/x', '/public/.;a=b/x']) {
    assert.equal(await raw(server, target), 400, target);
  }
  assert.equal(await raw(server, '/public/a;b=..'), 200);
});

test('a header that is counted by reaches the origin as it was counted, also when it was sent twice', async (t) => {
  const origin = await startOrigin(t);
  const limits = { policies: [policy('per-key', 10, { identity: 'header:x-api-key' })], rules: [{ policies: ['per-key'] }] };
  const server = await startSluicegate(t, { limits, origin: origin.url });
  assert.equal(await raw(server, '/', { 'x-api-key': ['real', 'other'] }), 200);
  const [{ rawHeaders }] = origin.seen;
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1].toLowerCase() === 'x-api-key');
  assert.deepEqual(values, ['real, other']);
});
