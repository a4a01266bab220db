// Every example, run for real.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startSluicegate, TOKEN } from '../tests/worker/harness.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = (path) => readFileSync(here(path), 'utf8');

test('the gateway stands in front of an API by service binding', async (t) => {
  const server = await startSluicegate(t, {
    limits: {
      policies: [{ name: 'per-ip', algorithm: 'fixed-window', limit: 2, window: '30d', identity: 'ip' }],
      rules: [{ path: '/api/*', policies: ['per-ip'] }],
    },
    origin: { service: 'my-api' },
    services: { 'my-api': { script: source('gateway/origin.js') } },
  });
  const first = await server.fetch('/api/hello');
  assert.deepEqual([first.status, first.json()], [200, { hello: '/api/hello', from: 'my-api' }]);
  assert.match(first.headers.get('ratelimit'), /^"per-ip";r=1;t=\d+$/);
  assert.equal((await server.fetch('/api/hello')).status, 200);
  assert.equal((await server.fetch('/api/hello')).status, 429);
  assert.equal((await server.fetch('/unlimited')).status, 200);
});

test('another Worker asks for a decision by service binding', async (t) => {
  const server = await startSluicegate(t, {
    limits: { policies: [{ name: 'pages', algorithm: 'token-bucket', limit: 100, window: '1d', identity: 'header:x-customer' }] },
    services: {
      reports: {
        script: source('check-from-worker/worker.js'),
        bindings: { SLUICEGATE: { service: 'sluicegate' }, SLUICEGATE_TOKEN: TOKEN },
      },
    },
  });
  const report = (pages, customer = 'acme') =>
    server.fetch(`/?pages=${pages}`, { worker: 'reports', headers: { 'x-customer': customer } });
  assert.equal((await report(60)).text(), '60 pages for acme, 40 left\n');
  const refused = await report(60);
  assert.deepEqual([refused.status, refused.text()], [429, 'no: limit\n']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.deepEqual([(await report(101)).status, (await report(101)).text()], [403, 'no: cost-exceeds-limit\n']);
  assert.equal((await report('1.5')).status, 422);
  assert.equal((await report(60, 'other')).text(), '60 pages for other, 40 left\n');
});

test('the crate limits a native program', async () => {
  const run = promisify(execFile);
  const { stdout } = await run('cargo', ['run', '--quiet', '--example', 'native'], { cwd: here('..') });
  assert.equal(stdout, 'alice: 3 of 5 sent, then wait 500 ms\nbob: 3 of 5 sent, then wait 500 ms\nalice, 500 ms later: sent\n');
});
