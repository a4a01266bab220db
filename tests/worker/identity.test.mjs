// Who is counted together and who apart.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { startSluicegate } from './harness.mjs';
import { problem, rateLimit } from './support/fields.mjs';
import { limitsOf, policy, remaining } from './support/limits.mjs';

/** Starts with one policy "p" of limit 9; `left(options)` sends a request and says what is left. */
async function counting(t, more, settings) {
  const server = await startSluicegate(t, { limits: limitsOf([policy('p', 9, more)], settings) });
  return { server, left: async (options) => rateLimit(await server.fetch('/p', options))?.[0].r };
}

test('addresses: IPv4 by itself, IPv6 by its /64, and mapped ones as the IPv4 address they stand for', async (t) => {
  const { server, left } = await counting(t);
  assert.equal(await left({ ip: '203.0.113.7' }), 8);
  assert.equal(await left({ ip: '203.0.113.8' }), 8);
  assert.equal(await left({ ip: '203.0.113.7' }), 7);
  assert.equal(await left({ ip: '::ffff:203.0.113.7' }), 6);
  assert.equal(await left({ ip: '::FFFF:cb00:7107' }), 5);
  assert.equal(await left({ ip: '64:ff9b::203.0.113.7' }), 4);
  assert.equal(await remaining(server, 'p', '::ffff:203.0.113.7'), 4, 'a key given to a check is normalised the same way');

  assert.equal(await left({ ip: '2001:db8:1:2::1' }), 8);
  assert.equal(await left({ ip: '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff' }), 7);
  assert.equal(await left({ ip: '2001:db8:1:3::1' }), 8);
  assert.equal(await remaining(server, 'p', '2001:db8:1:2::abcd'), 7);
});

test('the IPv6 prefix is a setting', async (t) => {
  const { left } = await counting(t, {}, { ipv6_prefix: 48 });
  assert.equal(await left({ ip: '2001:db8:1:2::1' }), 8);
  assert.equal(await left({ ip: '2001:db8:1:3::1' }), 7);
  assert.equal(await left({ ip: '2001:db8:2:3::1' }), 8);
});

test('only cf-connecting-ip says who asks', async (t) => {
  const { left } = await counting(t);
  const forged = { 'x-forwarded-for': '198.51.100.1', 'x-real-ip': '198.51.100.1', forwarded: 'for=198.51.100.1', 'true-client-ip': '198.51.100.1' };
  assert.equal(await left({}), 8);
  assert.equal(await left({ headers: forged }), 7);
});

test('a header, whatever its name is spelt like and with blanks around it', async (t) => {
  const { server, left } = await counting(t, { identity: 'header:X-Api-Key' });
  assert.equal(await left({ headers: { 'x-api-key': 'alpha' } }), 8);
  assert.equal(await left({ headers: { 'X-API-KEY': '  alpha ' }, ip: '198.51.100.1' }), 7);
  assert.equal(await left({ headers: { 'x-api-key': 'Alpha' } }), 8, 'values keep their case');
  assert.equal(await remaining(server, 'p', 'alpha'), 7);
});

test('without the identity: one counter for all such, a refusal with 400, or no count, as on_missing says', async (t) => {
  const policies = ['shared', 'refuse', 'skip'].map((name) => policy(name, 9, { identity: 'header:x-key', on_missing: name }));
  const server = await startSluicegate(t, { limits: limitsOf(policies) });
  const left = async (name, value, ip) => rateLimit(await server.fetch(`/${name}`, { ip, headers: value === undefined ? {} : { 'x-key': value } }))?.[0].r;
  assert.equal(await left('shared', undefined, '198.51.100.1'), 8);
  assert.equal(await left('shared', '   ', '198.51.100.2'), 7, 'a blank one is missing too');
  assert.equal(await left('shared', 'k', '198.51.100.2'), 8);

  const refused = await server.fetch('/refuse');
  const { detail } = problem(refused, 400);
  assert.match(detail, /"refuse" counts by "header:x-key"/);
  assert.equal(await left('refuse', 'k'), 8);

  for (let request = 0; request < 12; request += 1) {
    const answer = await server.fetch('/skip');
    assert.deepEqual([answer.status, rateLimit(answer)], [200, null]);
  }
  assert.equal(await left('skip', 'k'), 8);
});

test('without cf-connecting-ip, or with one that is no address, the address is missing', async (t) => {
  const { left } = await counting(t);
  assert.equal(await left({ ip: null }), 8);
  assert.equal(await left({ ip: 'not an address' }), 7);
  assert.equal(await left({ ip: '203.0.113.7' }), 8);
});

test('combinations count every pair apart, and no separator in a value makes two pairs meet', async (t) => {
  const { server, left } = await counting(t, { identity: ['header:x-a', 'header:x-b'] });
  const pair = (a, b) => left({ headers: { 'x-a': a, 'x-b': b } });
  assert.equal(await pair('1', '2'), 8);
  assert.equal(await pair('1', '3'), 8);
  assert.equal(await pair('1', '2'), 7);
  for (const [a, b] of [['1:2', '3'], ['1', '2:3'], ['12', '3'], ['1', '23'], ['1,2', '3'], ['1', '2,3'], ['2', '1']]) {
    assert.equal(await pair(a, b), 8, `${a} and ${b}`);
  }
  assert.equal(await remaining(server, 'p', ['1', '2']), 7);
});

test('the path, in its normal form, and the tenant by its header', async (t) => {
  const limits = {
    tenant_header: 'x-tenant',
    policies: [policy('by-path', 9, { identity: 'path' }), policy('by-tenant', 9, { identity: 'tenant' })],
    rules: [{ path: '/paths/*', policies: ['by-path'] }, { path: '/tenants/*', policies: ['by-tenant'] }],
  };
  const server = await startSluicegate(t, { limits });
  const left = async (path, headers) => rateLimit(await server.fetch(path, { headers }))[0].r;
  assert.equal(await left('/paths/a'), 8);
  assert.equal(await left('/paths//%61/?query=1'), 7);
  assert.equal(await left('/paths/b'), 8);
  assert.equal(await left('/tenants/a', { 'x-tenant': 'one' }), 8);
  assert.equal(await left('/tenants/b', { 'x-tenant': 'one' }), 7);
  assert.equal(await left('/tenants/b', { 'x-tenant': 'two' }), 8);
});

test('two policies over the same identity count apart', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('one', 9), policy('two', 9)]) });
  assert.equal(rateLimit(await server.fetch('/one'))[0].r, 8);
  assert.equal(rateLimit(await server.fetch('/two'))[0].r, 8);
});

test('what is stored names nobody', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('p', 9, { identity: ['ip', 'header:x-key'] })], { flush_hits: 1 }) });
  await server.fetch('/p', { ip: '203.0.113.77', headers: { 'x-key': 'a-very-secret-key' } });
  await server.stop();
  const files = readdirSync(server.disk, { recursive: true }).filter((name) => /\.sqlite/.test(name));
  assert.ok(files.length > 0);
  for (const file of files) {
    const content = readFileSync(path.join(server.disk, file)).toString('latin1');
    for (const secret of ['203.0.113.77', 'a-very-secret-key', Buffer.from([203, 0, 113, 77]).toString('latin1')]) assert.ok(!content.includes(secret), file);
  }
});
