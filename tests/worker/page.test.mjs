// The page below /page/: what it is served with, and what it leaves alone.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startOrigin, startSluicegate, TOKEN } from './harness.mjs';
import { askedOf, FILES, withPage } from './support/assets.mjs';
import { problem, rateLimit } from './support/fields.mjs';
import { limitsOf, policy } from './support/limits.mjs';
import { sendRaw } from './support/raw.mjs';
import { startWrangler } from './support/wrangler.mjs';

const limits = limitsOf([policy('api', 5)]);
const NOTHING_GIVEN_AWAY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Starts sluicegate with the page; `more` is as startSluicegate takes it. */
const start = (t, { vars, services, ...more } = {}) =>
  startSluicegate(t, { limits, ...more, vars: { ...withPage.vars, ...vars }, services: { ...withPage.services, ...services } });

/** The headers that every answer of the page has. */
function guarded({ headers }, what) {
  assert.equal(headers.get('content-security-policy'), NOTHING_GIVEN_AWAY, what);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', what);
  assert.equal(headers.get('referrer-policy'), 'no-referrer', what);
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', what);
  assert.match(headers.get('permissions-policy'), /^([a-z]+=\(\)(, |$))+$/, what);
}

/** A way to the page that no cache keeps. */
function leadsTo(answer, where, what) {
  assert.deepEqual([answer.status, answer.headers.get('location'), answer.headers.get('cache-control')], [302, where, 'no-store'], what);
  guarded(answer, what);
}

for (const [what, open] of [
  ['on workerd, with a worker for the binding', start],
  ['by wrangler, as it is shipped', (t) => startWrangler(t, FILES)],
]) {
  test(`${what}: each file has its content, headers that give nothing away, and is sent once`, async (t) => {
    const server = await open(t);
    const of = { '/page/': '/index.html', '/page/index.html': '/index.html', '/page/app.js': '/app.js', '/page/chunks/live-5F2K.js': '/chunks/live-5F2K.js' };
    for (const [path, file] of Object.entries(of)) {
      const caching = file.startsWith('/chunks/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      const answer = await server.fetch(path);
      assert.deepEqual([answer.status, answer.headers.get('content-type'), answer.text()], [200, ...FILES[file]], path);
      assert.equal(answer.headers.get('cache-control'), caching, path);
      guarded(answer, path);

      const etag = answer.headers.get('etag');
      const head = await server.fetch(path, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers.get('etag'), head.body.length], [200, etag, 0], path);
      guarded(head, path);

      // What compresses an answer on its way makes its tag a weak one.
      for (const known of [etag, `W/${etag}`]) {
        const again = await server.fetch(path, { headers: { 'if-none-match': known } });
        assert.deepEqual([again.status, again.headers.get('etag'), again.headers.get('cache-control'), again.body.length], [304, etag, caching, 0], path);
        guarded(again, path);
      }
      assert.equal((await server.fetch(path, { headers: { 'if-none-match': '"older"' } })).status, 200);
    }
    for (const path of ['/page/nothing.js', '/page/index', '/page/chunks', '/page/chunks/index.html']) {
      const answer = await server.fetch(path);
      problem(answer, 404);
      guarded(answer, path);
    }
    assert.equal((await server.fetch('/page/limiter.json')).json().api, '');
    for (const path of ['/page', '/']) leadsTo(await server.fetch(path), '/page/', path);
    for (const path of ['/index.html', '/app.js', '/limiter.json']) assert.equal((await server.fetch(path)).json().answered_by, 'sluicegate', path);
  });
}

describe('with the binding', () => {
  test('of a request the binding gets the file and what the browser has, and nothing else', async (t) => {
    const server = await start(t);
    await server.fetch('/page/app.js?token=1', { token: TOKEN, headers: { cookie: 'a=1', 'if-none-match': '"x"', 'x-own': '1' } });
    await server.fetch('/page/?x', { method: 'HEAD' });
    const asked = (await askedOf(server)).map(({ method, path, headers }) => [method, path, headers]);
    assert.deepEqual(asked, [['GET', '/app.js', { 'if-none-match': '"x"' }], ['HEAD', '/index.html', {}]]);
  });

  test('/page and / lead to the page', async (t) => {
    const server = await start(t);
    for (const path of ['/page', '/page?x=1', '/', '/?x=1']) {
      leadsTo(await server.fetch(path), '/page/', path);
      leadsTo(await server.fetch(path, { method: 'HEAD' }), '/page/', `HEAD ${path}`);
    }
    const posted = await server.fetch('/', { method: 'POST', body: 'x' });
    assert.deepEqual([posted.status, posted.json().answered_by], [200, 'sluicegate'], 'only a visit is led on');
    assert.deepEqual(await askedOf(server), []);
  });

  test('a file that is not there is 404', async (t) => {
    const server = await start(t);
    for (const path of ['/page/nothing.js', '/page/chunks/live-0000.js', '/page/chunks', '/page/v1/check', '/page/healthz']) {
      const answer = await server.fetch(path);
      problem(answer, 404);
      assert.equal(answer.headers.get('cache-control'), 'no-store', 'it may be there tomorrow');
      guarded(answer, path);
    }
  });

  test('other methods are 405', async (t) => {
    const server = await start(t);
    for (const path of ['/page', '/page/', '/page/app.js', '/page/limiter.json', '/page/nothing.js']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        const answer = await server.fetch(path, { method });
        problem(answer, 405);
        assert.equal(answer.headers.get('allow'), 'GET, HEAD', `${method} ${path}`);
        guarded(answer, path);
      }
    }
    assert.deepEqual(await askedOf(server), []);
  });

  test('no spelling of a path reaches what the page does not name', async (t) => {
    const server = await start(t);
    const odd = ['/page//app.js', '/page/./%61pp.js', '/page/app.js/', '/page/app.js%00', '/page/app%2Ejs', '/page/..%2fapp.js', '/page/%2e%2e%2fapp.js', '/page/chunks%2Flive-5F2K.js',
      '/page/..;/app.js', '/page/app.js;x', '/page/.dev.vars', '/page/chunks/.hidden', '/page/%5c..%5capp.js', '/page/\u00e4pp.js', '/page/http://x/', '/page/ap*p.js', '/page/chunks/%252e%252e/app.js'];
    for (const target of odd) {
      const answer = await sendRaw(server, target);
      assert.equal(answer.status, 404, target);
      guarded(answer, target);
    }
    assert.deepEqual(await askedOf(server), [], 'the binding never heard of one');

    // These are other paths, once they are resolved as a browser does.
    for (const target of ['/page/../v1/check', '/page\\..\\v1\\check', '/page/chunks/%2e%2e/../v1/check']) assert.equal((await sendRaw(server, target)).status, 401, target);
    for (const target of ['/page/../app.js', '/page/%2E./app.js', '/page/..\\app.js', '/app.js', '//page/app.js', '/%70age/app.js', '/pages', '/Page/app.js']) {
      const answer = await sendRaw(server, target);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/json'], target);
    }
    assert.deepEqual(await askedOf(server), []);
    for (const target of ['/page/chunks/../app.js', '/page\\app.js', '/x/../page/app.js']) assert.equal((await sendRaw(server, target)).headers.get('etag'), '"710"', target);
    assert.deepEqual((await askedOf(server)).map(({ path }) => path), ['/app.js', '/app.js', '/app.js']);
  });

  test('limiter.json says who serves the page, whatever the file of that name says', async (t) => {
    const server = await start(t);
    const answer = await server.fetch('/page/limiter.json');
    const { version } = (await server.fetch('/healthz')).json();
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.deepEqual([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control'), answer.json()], [200, 'application/json', 'no-store', { api: '', version }]);
    guarded(answer);
    assert.deepEqual(await askedOf(server), []);
  });

  test('the API and the rules stay where they are', async (t) => {
    const all = { policies: [policy('all', 2)], rules: [{ path: '/*', policies: ['all'] }] };
    const server = await start(t, { limits: all });
    for (let visit = 0; visit < 4; visit += 1) assert.equal((await server.fetch('/page/')).status, 200, 'the page is a route of its own, which no rule counts');
    assert.equal((await server.fetch('/healthz')).json().ok, true);
    assert.equal((await server.fetch('/v1/check', { method: 'POST' })).status, 401);
    const visits = [await server.fetch('/'), await server.fetch('/app.js'), await server.fetch('/')];
    assert.deepEqual(visits.map(({ status }) => status), [200, 200, 429], 'a rule decides about / before the page is led to');
    assert.equal(rateLimit(visits[0])[0].r, 1);
  });

  test('a rule that lets / through is a rule too', async (t) => {
    const server = await start(t, { limits: { ...limits, rules: [{ path: '/', allow: true }] } });
    assert.equal((await server.fetch('/')).json().answered_by, 'sluicegate');
  });

  test('an origin has every path but the page', async (t) => {
    const origin = await startOrigin(t);
    const server = await start(t, { origin: origin.url });
    for (const path of ['/', '/app.js', '/index.html', '/pages', '/paged/']) assert.equal((await server.fetch(path)).text(), 'origin', path);
    assert.equal((await server.fetch('/page/')).headers.get('content-type'), 'text/html; charset=utf-8');
    leadsTo(await server.fetch('/page'), '/page/');
    assert.deepEqual(origin.seen.map(({ url }) => url), ['/', '/app.js', '/index.html', '/pages', '/paged/']);
  });

  test('with a prefix the page is behind it, and /page is a path like any other', async (t) => {
    const server = await start(t, { limits: { ...limits, prefix: '/_limits/v1' } });
    assert.equal((await server.fetch('/_limits/v1/page/')).text(), FILES['/index.html'][1]);
    assert.equal((await server.fetch('/_limits/v1/page/limiter.json')).json().api, '/_limits/v1');
    for (const path of ['/', '/_limits/v1/page']) leadsTo(await server.fetch(path), '/_limits/v1/page/', path);
    for (const path of ['/page', '/page/', '/page/app.js', '/_limits/page/', '/_limits/v1', '/_limits/v1/']) {
      assert.equal((await server.fetch(path)).json().answered_by, 'sluicegate', path);
    }
  });

  for (const [what, broken, prefix] of [
    ['a policy', { ...limits, prefix: '/_limits', policies: [policy('api', -1)] }, '/_limits'],
    ['a setting', { ...limits, prefix: '/_limits', shards: 'many' }, '/_limits'],
    ['the prefix', { ...limits, prefix: 'limits/' }, ''],
    ['the JSON', '"{"', ''],
  ]) {
    test(`where ${what} is wrong the page is there to say so, and nothing else is`, async (t) => {
      const origin = await startOrigin(t);
      const server = await start(t, { limits: broken, origin: origin.url });
      const page = await server.fetch(`${prefix}/page/`);
      assert.deepEqual([page.status, page.text()], [200, FILES['/index.html'][1]]);
      guarded(page);
      const { api, error } = (await server.fetch(`${prefix}/page/limiter.json`)).json();
      assert.deepEqual({ api, error }, { api: prefix, error: true });
      const elsewhere = ['/', '/api', `${prefix}/healthz`, ...(prefix ? ['/page/', '/page/app.js', '/healthz'] : [])];
      for (const path of elsewhere) assert.ok(problem(await server.fetch(path), 503).errors.length > 0, path);
      assert.equal((await server.fetch(`${prefix}/v1/check`, { method: 'POST' })).status, 401, 'own routes are where they will be');
      assert.deepEqual(origin.seen, []);
    });
  }

  test('a binding that fails is 503, and is logged', async (t) => {
    const server = await start(t);
    for (const [path, line] of [['/page/chunks/throws.js', /a fault for the test.*"sluicegate":"page"/], ['/page/chunks/fails.js', /500 for \/chunks\/fails\.js.*"sluicegate":"page"/]]) {
      const logged = server.log.waitFor(line);
      const answer = await server.fetch(path);
      problem(answer, 503);
      guarded(answer, path);
      await logged;
    }
  });
});

for (const [what, vars] of [['without a binding', {}], ['with a variable that is no binding', { ASSETS: 'build/www' }]]) {
  test(`${what} there is no page, and its paths are the origin's`, async (t) => {
    const paths = ['/', '/page', '/page/', '/page/app.js', '/page/limiter.json'];
    const alone = await startSluicegate(t, { limits, vars });
    for (const path of paths) assert.equal((await alone.fetch(path)).json().answered_by, 'sluicegate', path);

    const origin = await startOrigin(t);
    const server = await startSluicegate(t, { limits, vars, origin: origin.url });
    for (const path of paths) {
      const answer = await server.fetch(path, { method: 'POST', body: 'x' });
      assert.deepEqual([answer.status, answer.text(), answer.headers.get('content-security-policy')], [200, 'origin', null], path);
    }
    assert.deepEqual(origin.seen.map(({ url }) => url), paths);
  });
}
