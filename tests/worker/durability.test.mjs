// What is counted outlives a restart, an eviction and a crash; a crash loses at most what the settings say.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startSluicegate } from './harness.mjs';
import { rateLimit } from './support/fields.mjs';
import { check, limitsOf, policy, remaining, totals, until } from './support/limits.mjs';

const LIMIT = 100_000;
const ME = '203.0.113.7';
const ALGORITHMS = [
  policy('fixed', LIMIT),
  policy('sliding', LIMIT, { algorithm: 'sliding-window', sub_windows: 4 }),
  policy('log', 1_000, { algorithm: 'sliding-log' }),
  policy('bucket', LIMIT, { algorithm: 'token-bucket', burst: LIMIT }),
];

/** Waits until the flush timer has written everything. */
async function written(server) {
  let before = -1;
  await until(() => totals(server), ({ flushes }) => {
    const quiet = flushes === before;
    before = flushes;
    return quiet;
  }, { every: 700, what: 'a last flush' });
}

const takeAll = (server, cost) => check(server, ALGORITHMS.map(({ name }) => [name, ME, cost]));
const leftOfAll = async (server) => {
  const answer = await check(server, ALGORITHMS.map(({ name }) => [name, ME]), { peek: true });
  return answer.json().results.map(({ limit, remaining: left }) => limit - left);
};

describe('counts come back', { concurrency: true }, () => {
  test('after a restart, for every algorithm', async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf(ALGORITHMS, { flush_every: '100ms' }) });
    for (let hit = 0; hit < 5; hit += 1) await takeAll(server, 3);
    await written(server);
    await server.restart();
    assert.deepEqual(await leftOfAll(server), [15, 15, 15, 15]);
    await takeAll(server, 3);
    await written(server);
    await server.restart();
    assert.deepEqual(await leftOfAll(server), [18, 18, 18, 18]);
  });

  test('after an object was idle for ten seconds and dropped from memory', async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf(ALGORITHMS, { shards: 1, flush_every: '100ms' }) });
    for (let hit = 0; hit < 5; hit += 1) await takeAll(server, 2);
    await written(server);
    // Peeks change nothing that is written, so their number in the totals is gone with the memory.
    for (let peek = 0; peek < 20; peek += 1) await leftOfAll(server);
    const { asks: before } = await totals(server);
    await server.evict();
    const { asks: after } = await totals(server);
    assert.ok(after < before, `the object was dropped from memory (${before} asks before, ${after} after)`);
    assert.deepEqual(await leftOfAll(server), [10, 10, 10, 10]);
  });

  test('after a kill -9, all that the flush timer had written', async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf(ALGORITHMS, { flush_every: '100ms' }) });
    for (let hit = 0; hit < 3; hit += 1) await takeAll(server, 1);
    await written(server);
    await server.restart({ signal: 'SIGKILL' });
    assert.deepEqual(await leftOfAll(server), [3, 3, 3, 3]);
  });

  for (const flushHits of [1, 10]) {
    test(`after a kill -9, all but at most flush_hits = ${flushHits} of the requests that were answered`, async (t) => {
      const server = await startSluicegate(t, { limits: limitsOf([policy('fixed', LIMIT)], { flush_hits: flushHits, flush_every: '5s' }) });
      const hits = 57;
      for (let hit = 0; hit < hits; hit += 1) assert.equal((await server.fetch('/fixed')).status, 200);
      await server.restart({ signal: 'SIGKILL' });
      const counted = LIMIT - await remaining(server, 'fixed', ME);
      assert.ok(counted <= hits, `${counted} of ${hits}: nothing is counted twice`);
      assert.ok(counted >= hits - flushHits, `${counted} of ${hits}`);
    });
  }

  test('after a kill -9 amid load, all but at most flush_hits of the requests that were answered', async (t) => {
    const flushHits = 20;
    const server = await startSluicegate(t, { limits: limitsOf([policy('fixed', LIMIT)], { flush_hits: flushHits, flush_every: '5s' }) });
    let sent = 0;
    let answered = 0;
    const client = async () => {
      for (;;) {
        sent += 1;
        try {
          const answer = await server.fetch('/fixed');
          if (answer.status === 200) answered += 1;
        } catch {
          return;
        }
        if (answered >= 400) return;
      }
    };
    const clients = Promise.all(Array.from({ length: 16 }, client));
    await until(async () => answered, (count) => count >= 300, { every: 1 });
    await server.kill9();
    await clients;
    await server.start();
    const counted = LIMIT - await remaining(server, 'fixed', ME);
    assert.ok(counted <= sent, `${counted} counted, ${sent} sent`);
    assert.ok(counted >= answered - flushHits, `${counted} counted, ${answered} answered`);
  });

  test('a key that was refused before a restart is refused after it', async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf([policy('fixed', 2)], { flush_hits: 1 }) });
    for (const status of [200, 200, 429]) assert.equal((await server.fetch('/fixed')).status, status);
    await server.restart({ signal: 'SIGKILL' });
    assert.equal((await server.fetch('/fixed')).status, 429);
  });

  test('many keys come back, and a changed limit holds for what is counted already', async (t) => {
    const limits = (limit) => limitsOf([policy('fixed', limit)], { flush_every: '100ms' });
    const server = await startSluicegate(t, { limits: limits(10) });
    const addresses = Array.from({ length: 500 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    await Promise.all(addresses.map((key, at) => check(server, [['fixed', key, 1 + (at % 5)]])));
    await written(server);
    await server.restart({ change: (workers) => ({ ...workers, sluicegate: { ...workers.sluicegate, bindings: { ...workers.sluicegate.bindings, LIMITS: { json: limits(20) } } } }) });
    const left = await Promise.all(addresses.map((key) => remaining(server, 'fixed', key)));
    assert.deepEqual(left, addresses.map((_, at) => 19 - (at % 5)));
  });

  test('two points of presence count apart, also after a restart', async (t) => {
    const server = await startSluicegate(t, { limits: limitsOf([policy('fixed', 10)], { flush_every: '100ms' }) });
    const hit = async (colo) => rateLimit(await server.fetch('/fixed', { colo }))[0].r;
    assert.deepEqual([await hit('DFW'), await hit('DFW'), await hit('AMS'), await hit('DFW'), await hit('AMS')], [9, 8, 9, 7, 8]);
    const pops = await Promise.all(['DFW', 'AMS'].map((colo) => totals(server, { colo })));
    assert.deepEqual(pops.map(({ pop, decisions }) => [pop, decisions]), [['DFW', 3], ['AMS', 2]]);
    await server.restart();
    await written(server);
    assert.deepEqual(await Promise.all(['DFW', 'AMS'].map((colo) => remaining(server, 'fixed', ME, { colo }))), [7, 8]);
  });
});

test('POP_NAME names the point of presence, whatever the data centre; with neither it is XXX', async (t) => {
  const named = await startSluicegate(t, { limits: limitsOf([policy('fixed', 10)]), vars: { POP_NAME: 'home' } });
  const hit = async (server, colo) => (await check(server, [['fixed', ME]], { colo })).json().results[0];
  const [first, second] = [await hit(named, 'DFW'), await hit(named, 'AMS')];
  assert.deepEqual([first.pop, first.remaining, second.pop, second.remaining], ['home', 9, 'home', 8]);

  const nowhere = await startSluicegate(t, { limits: limitsOf([policy('fixed', 10)]) });
  for (const options of [{ colo: null }, { cf: {} }, { cf: { colo: 7 } }]) {
    const answer = await check(nowhere, [['fixed', ME, 0]], options);
    assert.deepEqual([answer.status, answer.json().results[0].pop], [200, 'XXX']);
  }
});
