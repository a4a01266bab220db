// The harness does what the tests with many points of presence rely on. The workers are stand-ins (support/stand-in).

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { randomOf, skewUnavailable, startPops, until } from './harness.mjs';
import { modulesOf } from '../worker/harness.mjs';

const standIn = modulesOf(path.join(path.dirname(fileURLToPath(import.meta.url)), 'support/stand-in'));
const limits = { policies: [{ name: 'many', limit: 1_000 }, { name: 'few', limit: 10 }] };

const start = (t, { names = ['POP-A', 'POP-B'], ...options } = {}) => startPops(t, { pops: names, limits, modules: standIn, ...options });

/** How many messages a Ledger object has got since it was made. */
const heard = async (pops, key) => (await pops.ledger.ask(`tenant/${key}`)).json().messages;

describe('the harness for many points of presence', { concurrency: 3 }, () => {
  test('all of them reach one Ledger, messages arrive as they were sent, and everything is counted', async (t) => {
    const pops = await start(t, { names: ['POP-A', 'POP-B', 'POP-C'], network: { record: true } });
    const flood = await pops.flood('few', 'acme', { times: 30 });
    assert.deepEqual([flood.allowed, flood.units, flood.refused, flood.unavailable, flood.failed], [10, 10, 20, 0, 0]);
    assert.deepEqual(Object.keys(flood.pops).sort(), ['POP-A', 'POP-B', 'POP-C']);
    assert.deepEqual(pops.admissions.of('few', 'acme'), flood);
    assert.equal(pops.admissions.of('few', 'other').allowed, 0);

    const { asks, replies, ask_bytes: bytes } = pops.network.totals();
    assert.deepEqual([asks, replies], [30, 30]);
    assert.equal(bytes, pops.network.messages.reduce((sum, { body }) => sum + body.length, 0));
    const [message] = pops.network.messages;
    assert.deepEqual([message.method, message.url, message.ledger], ['POST', 'https://ledger/ask', 'tenant/acme']);
    assert.equal(message.headers['x-stand-in'], 'yes');
    assert.equal(JSON.parse(message.body).policy, 'few');
    assert.equal(JSON.parse(message.reply.body).allowed, true);
  });

  test('the edge reaches the Ledger over the same network, and a tenant of one place is one of all', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    const policy = 'few';
    assert.deepEqual((await a.tenants.get('acme', { policy })).json(), { policy, limit: 10 });
    assert.deepEqual((await a.tenants.put('acme', { limit: 3 }, { policy })).json(), { policy, limit: 3 });
    assert.deepEqual((await b.tenants.get('acme', { policy })).json(), { policy, limit: 3 });
    assert.equal((await pops.flood('few', 'acme', { times: 8 })).allowed, 3);
    assert.deepEqual((await b.tenants.usage('acme', { policy })).json(), { limit: 3, used: 3 });
    assert.equal((await a.tenants.audit('acme')).json().reduce((sum, { takes }) => sum + takes, 0), 3);
    assert.deepEqual((await pops.ledger.ask('tenant/acme', 'https://ledger/usage?policy=few')).json(), { limit: 3, used: 3 });

    b.link.set({ partition: 'refuse' });
    assert.equal((await b.tenants.get('acme')).status, 503);
    assert.equal((await a.tenants.get('acme')).status, 200);
  });

  test('each process has a clock of its own, from the start and while it runs', { skip: skewUnavailable }, async (t) => {
    const pops = await start(t, { names: [{ name: 'POP-A', skewMs: 3_600_000 }, 'POP-B'], ledger: { skewMs: -60_000 } });
    const [a, b] = pops.all;
    const near = (actual, expected) => assert.ok(Math.abs(actual - Date.now() - expected) < 10_000, `${actual - Date.now()} is not near ${expected}`);
    const popClock = async (pop) => (await pop.report()).now;
    near(await popClock(a), 3_600_000);
    near(await popClock(b), 0);
    near((await a.check('many', 'k')).ledger_now, -60_000);
    await b.clock.set(900_000);
    near(await popClock(b), 900_000);
    near(await popClock(a), 3_600_000);
    await pops.ledger.clock.step(7_200_000);
    near((await b.check('many', 'k')).ledger_now, 7_140_000);
    await a.restart();
    near(await popClock(a), 3_600_000);
  });

  test('storage outlives a kill of each process, and the others find the ledger again', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    assert.equal((await a.check('few', 'k', 4)).remaining, 6);
    assert.equal((await a.report()).boot, 1);

    await pops.ledger.kill9();
    assert.equal((await b.check('few', 'k')).refusal, 'unavailable');
    assert.equal(b.link.counts.unreachable, 1);
    await pops.ledger.start();
    assert.deepEqual(await b.check('few', 'k').then(({ allowed, remaining }) => ({ allowed, remaining })), { allowed: true, remaining: 5 });

    await a.kill9();
    await assert.rejects(a.check('few', 'k'));
    assert.equal(pops.admissions.of('few', 'k').failed, 1);
    await a.start();
    assert.equal((await a.check('few', 'k')).remaining, 4);
    assert.equal((await a.report()).boot, 2);
  });

  test('objects that nothing asks leave memory', async (t) => {
    const pops = await start(t, { names: ['POP-A'] });
    await pops.pop('POP-A').check('many', 'k');
    await pops.evict();
    assert.equal((await pops.pop('POP-A').report()).boot, 2);
    assert.equal(await heard(pops, 'k'), 0);
  });

  test('a lost ask does nothing, a lost reply leaves what was done', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    a.link.set({ dropAsk: 1 });
    assert.equal((await a.check('few', 'k')).refusal, 'unavailable');
    assert.equal((await b.check('few', 'k', 0)).remaining, 10);
    a.link.set({ dropAsk: 0, dropReply: 1 });
    assert.equal((await a.check('few', 'k')).refusal, 'unavailable');
    assert.equal((await b.check('few', 'k', 0)).remaining, 9);
    a.link.heal();
    assert.equal((await a.check('few', 'k')).remaining, 8);
    const { dropped_asks: asks, dropped_replies: replies, replies: answered } = a.link.counts;
    assert.deepEqual([asks, replies, answered], [1, 1, 1]);
  });

  test('a partition refuses or hangs, for one place or for all, until it is healed', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    const timed = async (pop) => {
      const started = performance.now();
      const { allowed, refusal } = await pop.check('many', 'k');
      return { allowed, refusal, ms: performance.now() - started };
    };
    await timed(a);
    a.link.set({ partition: 'refuse' });
    const refused = await timed(a);
    assert.equal(refused.refusal, 'unavailable');
    assert.ok(refused.ms < 600, `${refused.ms} ms`); // The stand-in waits for 700 ms.
    assert.equal((await timed(b)).allowed, true);

    const late = b.link.hold({ way: 'reply' });
    const cut = timed(b);
    await late.arrived();
    pops.network.set({ partition: 'hang' });
    late.release();
    assert.equal((await cut).refusal, 'unavailable'); // Also what is on its way is lost.
    b.link.resetCounts();
    const hung = await Promise.all([timed(a), timed(b)]);
    for (const { refusal, ms } of hung) assert.ok(refusal === 'unavailable' && ms > 600, `${refusal} after ${ms} ms`);
    pops.network.heal();
    assert.deepEqual((await Promise.all([timed(a), timed(b)])).map(({ allowed }) => allowed), [true, true]);
    assert.deepEqual([a.link.counts.refused, a.link.counts.hung, b.link.counts.hung], [1, 1, 1]);
  });

  test('a repeated ask reaches the ledger twice, and is taken once', async (t) => {
    const pops = await start(t);
    const [a] = pops.all;
    pops.network.set({ repeat: 1 });
    const flood = await pops.flood('few', 'k', { times: 20 });
    assert.equal(flood.allowed, 10);
    assert.equal(a.link.counts.repeated, 10);
    pops.network.heal();
    await until(() => heard(pops, 'k'), (count) => count === 40, { what: 'twice 20 messages', deadline: 2_000 });
    assert.equal((await a.check('few', 'k', 0)).remaining, 0);
  });

  test('faults meet the messages that were chosen, and delays are kept to, each way', async (t) => {
    const pops = await start(t);
    const [a] = pops.all;
    await a.check('many', 'k');
    a.link.set({ dropAsk: 1, only: ({ url }) => url === 'https://elsewhere/' });
    assert.equal((await a.check('many', 'k')).allowed, true); // Faults are for chosen messages, if so wanted.
    a.link.heal();
    a.link.set({ askMs: 120, replyMs: [200, 220] });
    const started = performance.now();
    assert.equal((await a.check('many', 'k')).allowed, true);
    assert.ok(performance.now() - started >= 315, 'it was too soon');
  });

  test('a message that is held arrives after later ones, even when nobody waits for its reply any more', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    const hold = a.link.hold({ way: 'ask' });
    const first = a.check('few', 'k', 9);
    const [message] = await hold.arrived();
    assert.equal(JSON.parse(message.body).cost, 9);
    assert.equal((await b.check('few', 'k', 2)).allowed, true);
    assert.equal((await a.check('few', 'k', 1)).allowed, true); // Only one was to be held.
    assert.equal((await first).refusal, 'unavailable');
    const before = await heard(pops, 'k');
    hold.release();
    await until(() => heard(pops, 'k'), (count) => count === before + 1, { what: 'the message that was held' });
    assert.equal((await b.check('few', 'k', 0)).remaining, 7); // It came late, and 9 did not fit any more.

    const reply = a.link.hold({ way: 'reply' });
    const second = a.check('few', 'k', 1);
    await reply.arrived();
    assert.equal((await b.check('few', 'k', 0)).remaining, 6);
    reply.release();
    assert.equal((await second).allowed, true);
    await assert.rejects(a.link.hold().arrived(1, 50), /0 of 1 messages were held within 50 ms/);
  });

  test('chance overtakes messages, and a seed repeats what it decides', async (t) => {
    const pops = await start(t, { network: { reorder: 1, reorderMs: 150 } });
    const [a] = pops.all;
    let firstIsIn = false;
    const first = a.check('many', 'k').finally(() => (firstIsIn = true));
    await until(() => a.link.counts.reordered, (count) => count === 1);
    a.link.set({ reorder: 0 });
    assert.equal((await a.check('many', 'k')).remaining, 999);
    assert.equal(firstIsIn, false);
    assert.equal((await first).remaining, 998);

    a.link.set({ dropAsk: 0.5 });
    await pops.flood('many', 'k', { times: 40, concurrency: 40, pops: [a] });
    const { dropped_asks: dropped } = a.link.counts;
    assert.ok(dropped > 8 && dropped < 32, `${dropped} of 40 were dropped`); // Outside of it once in 10,000 seeds.
    const draw = (seed) => Array.from({ length: 5 }, randomOf(seed));
    assert.deepEqual(draw('1/POP-A'), draw('1/POP-A'));
    assert.notDeepEqual(draw('1/POP-A'), draw('1/POP-B'));
    assert.ok(draw('x').every((number) => number >= 0 && number < 1));
  });

  test('a point of presence joins later, and a fault that no link has is an error', async (t) => {
    const pops = await start(t, { network: { askMs: 5 } });
    const c = await pops.join({ name: 'POP-C' });
    assert.equal((await c.check('few', 'k')).remaining, 9);
    assert.equal(pops.pop('POP-C'), c);
    assert.throws(() => pops.pop('POP-D'), /there is no POP-D, but POP-A, POP-B, POP-C/);
    assert.throws(() => pops.network.set({ dropask: 1 }), /no fault dropask/);
  });
});
