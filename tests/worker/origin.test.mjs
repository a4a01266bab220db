// What the origin gets, and what of its answer the client gets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';

import { startOrigin, startSluicegate } from './harness.mjs';
import { problem, rateLimit } from './support/fields.mjs';
import { limitsOf, policy } from './support/limits.mjs';

const limits = {
  policies: [policy('per-ip', 1_000)],
  rules: [{ path: '/*', policies: ['per-ip'] }],
};

test('an origin by URL gets method, path, query, headers and body, below its own path', async (t) => {
  const origin = await startOrigin(t);
  const server = await startSluicegate(t, { limits, origin: `${origin.url}/base/` });
  const body = 'b'.repeat(1_000_000);
  await server.fetch('/a%20b//c?x=1&y=%2F', { method: 'PUT', body, headers: { 'x-own': 'kept', 'content-type': 'text/plain' } });
  const [seen] = origin.seen;
  assert.deepEqual([seen.method, seen.url], ['PUT', '/base/a%20b//c?x=1&y=%2F']);
  assert.deepEqual([seen.headers['x-own'], seen.headers['content-type']], ['kept', 'text/plain']);
  assert.equal(seen.body.toString(), body);
});

test('an origin by service binding gets the request as it came', async (t) => {
  const script = `export default { async fetch(request) {
    return Response.json({ method: request.method, url: new URL(request.url).pathname + new URL(request.url).search,
      own: request.headers.get('x-own'), ip: request.headers.get('cf-connecting-ip'), colo: request.cf?.colo, body: await request.text() });
  } };`;
  const server = await startSluicegate(t, { limits, origin: { service: 'api' }, services: { api: { script } } });
  const answer = await server.fetch('/a?x=1', { method: 'POST', body: 'hello', headers: { 'x-own': 'kept' } });
  assert.equal(rateLimit(answer)[0].r, 999);
  assert.deepEqual(answer.json(), { method: 'POST', url: '/a?x=1', own: 'kept', ip: '203.0.113.7', colo: 'DFW', body: 'hello' });
});

test('a refused request does not reach the origin', async (t) => {
  const origin = await startOrigin(t);
  const server = await startSluicegate(t, { limits: limitsOf([policy('once', 1)]), origin: origin.url });
  const statuses = [];
  for (let request = 0; request < 3; request += 1) statuses.push((await server.fetch('/once')).status);
  assert.deepEqual(statuses, [200, 429, 429]);
  assert.equal(origin.seen.length, 1);
});

test("the origin's status, headers and body stay as they are", async (t) => {
  const answers = {
    '/created': (response) => response.writeHead(201, { etag: '"1"', 'content-type': 'text/x-own; charset=utf-8' }).end('made'),
    '/cookies': (response) => response.writeHead(200, [['set-cookie', 'a=1; Path=/'], ['set-cookie', 'b=2; Path=/'], ['vary', 'accept']].flat()).end(),
    '/moved': (response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
    '/empty': (response) => response.writeHead(204).end(),
    '/unchanged': (response) => response.writeHead(304, { etag: '"2"' }).end(),
    '/broken': (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>oh</h1>'),
    '/limited': (response) => response.writeHead(429, { ratelimit: '"its-own";r=0;t=9', 'retry-after': '9' }).end(),
    '/zipped': (response) => response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(gzipSync('z'.repeat(5_000))),
  };
  const origin = await startOrigin(t, (request, response) => answers[request.url](response));
  const server = await startSluicegate(t, { limits, origin: origin.url });
  const get = (path, headers) => server.fetch(path, { headers });

  const created = await get('/created');
  assert.deepEqual([created.status, created.text(), created.headers.get('etag'), created.headers.get('content-type')], [201, 'made', '"1"', 'text/x-own; charset=utf-8']);
  assert.equal(rateLimit(created)[0].policy, 'per-ip');
  assert.equal(created.headers.get('cache-control'), null, 'nothing is added but the limit fields');

  const cookies = await get('/cookies');
  assert.deepEqual([cookies.headers.getSetCookie(), cookies.headers.get('vary')], [['a=1; Path=/', 'b=2; Path=/'], 'accept']);

  const moved = await get('/moved');
  assert.deepEqual([moved.status, moved.headers.get('location')], [302, 'https://elsewhere.example/'], 'a redirect is not followed');

  for (const [path, status] of [['/empty', 204], ['/unchanged', 304]]) {
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.body.length, rateLimit(answer)?.length], [status, 0, 1], path);
  }

  const broken = await get('/broken');
  assert.deepEqual([broken.status, broken.text(), rateLimit(broken).length], [500, '<h1>oh</h1>', 1]);

  const limited = await get('/limited');
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '9']);
  assert.deepEqual(rateLimit(limited).map(({ policy: name }) => name), ['its-own', 'per-ip'], "the origin's own limits are kept beside ours");

  const zipped = await get('/zipped', { 'accept-encoding': 'gzip' });
  const content = zipped.headers.get('content-encoding') === 'gzip' ? gunzipSync(zipped.body) : zipped.body;
  assert.equal(content.toString(), 'z'.repeat(5_000));

  const head = await server.fetch('/created', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length, rateLimit(head).length], [201, 0, 1]);
});

test('bodies stream in both directions', async (t) => {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  const origin = await startOrigin(t, async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('first');
    await released;
    response.end('second');
  });
  const server = await startSluicegate(t, { limits, origin: origin.url });
  const answer = await server.fetch('/stream', { stream: true });
  const chunks = answer.stream[Symbol.asyncIterator]();
  assert.equal((await chunks.next()).value.toString(), 'first', 'it arrives while the origin still holds back the rest');
  release();
  assert.equal((await chunks.next()).value.toString(), 'second');
});

test('an origin that is not there is a 502, and is logged', async (t) => {
  const origin = await startOrigin(t);
  await origin.close();
  const server = await startSluicegate(t, { limits, origin: origin.url });
  problem(await server.fetch('/gone'), 502);
  await server.log.waitFor(/"sluicegate":"origin"/);
});

test('a request that no rule matches streams through just the same', async (t) => {
  const origin = await startOrigin(t, (request, response, body) => response.writeHead(418, { 'x-own': 'kept' }).end(body));
  const server = await startSluicegate(t, { limits: limitsOf([policy('per-ip', 1)]), origin: origin.url });
  const answer = await server.fetch('/elsewhere', { method: 'POST', body: 'tea' });
  assert.deepEqual([answer.status, answer.headers.get('x-own'), answer.text(), rateLimit(answer)], [418, 'kept', 'tea', null]);
});
