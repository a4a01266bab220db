// What fails between points of presence and their ledger, on real processes: whatever does, no limit is passed and no
// unit is lost sight of.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { problem, retryAfter } from '../worker/support/fields.mjs';
import { randomOf, skewUnavailable, startPops, TOKEN, until } from './harness.mjs';
import { tenants } from './support/tenants.mjs';

const HOUR = 3_600_000;
const CHUNK = 5;
/** A window that does not end during a test, unless the test runs at the one moment in a month. */
const LONG = '30d';

const window = (name, limit, more = {}) => ({
  name, algorithm: 'fixed-window', scope: 'global', limit, window: LONG, tolerance: 0, on_error: 'closed', identity: 'tenant', ...more,
});
/** Holds `burst`, and gains so little that none of it comes during a test. */
const bucket = (name, burst, more = {}) => ({
  name, algorithm: 'token-bucket', scope: 'global', burst, limit: 1, window: LONG, on_error: 'closed', identity: 'tenant', ...more,
});
const monthly = (limit) => ({ name: 'monthly', algorithm: 'calendar-quota', limit, period: { unit: 'month', time_zone: 'UTC' }, identity: 'tenant' });

/** `timeLimit` is long unless a test is about time: the machine may be busy. */
function start(t, policies, { names = ['POP-A', 'POP-B'], timeLimit = '20s', ...options } = {}) {
  const limits = { tenant_header: 'x-tenant', time_limit: timeLimit, shards: 1, lease_chunk: CHUNK, policies };
  return startPops(t, { pops: names, limits, ...options });
}

/** Of the ledger itself, past the network. Conservation is asserted each time that it is looked at. */
async function audit(pops, id = 'acme') {
  const answer = await tenants(pops.ledger).audit(id);
  assert.equal(answer.status, 200, answer.text());
  const books = answer.json();
  const { granted, spent, returned, forfeited, outstanding, limit, consistent, faults } = books;
  assert.deepEqual([consistent, faults], [true, []]);
  assert.equal(granted, spent + returned + forfeited + outstanding);
  assert.ok(spent + forfeited + outstanding <= limit, JSON.stringify(books));
  return books;
}

/** Units that a point of presence has out, as the ledger knows. */
const outAt = ({ leases }, name) => leases.filter(({ pop, open }) => pop === name && open).reduce((sum, { amount, spent, forfeited }) => sum + amount - spent - forfeited, 0);

/** Takes all of the quota that can be had at `among`; returns the books when only `out` units are still out. */
async function useUp(pops, { id = 'acme', among = pops.all, out = 0 } = {}) {
  const round = (cost) => Promise.all(among.map((pop) => pop.check('monthly', id, cost)));
  for (const cost of [50, 10]) await until(() => round(cost), (results) => results.every(({ refusal }) => refusal === 'limit'), { every: 0, what: `the last ${cost} units` });
  await until(async () => {
    const results = await round(1);
    const books = await audit(pops, id);
    return { taken: results.some(({ allowed }) => allowed), left: books.limit - books.spent - books.forfeited - books.outstanding, out: books.outstanding };
  }, (seen) => !seen.taken && seen.left === 0 && seen.out === out, { every: 100, deadline: 40_000, what: 'an end of the quota' });
  return audit(pops, id);
}

/** Checks one after the other until one is not allowed; returns how many were, and the first that was not. */
async function drain(pop, policy, id = 'acme') {
  for (let allowed = 0; ; allowed += 1) {
    const result = await pop.check(policy, id);
    if (!result.allowed) return { allowed, last: result };
  }
}

/** Asks until the ledger is in reach again; what is let through on the way is counted. */
const reached = (pop, policy, id = 'acme') => until(() => pop.check(policy, id), ({ decided_by: by }) => by === 'counter', { every: 200, what: `an answer of the ledger at ${pop.name}` });

const units = (pops, policy = 'monthly', id = 'acme') => pops.admissions.of(policy, id).units;

describe('between points of presence and their ledger', { concurrency: 3 }, () => {
  describe('the ledger', { concurrency: 1 }, () => {
    test('is down: each policy does what its on_error says, a quota spends what is in hand; and then it is up again', async (t) => {
      const policies = [window('open', 10, { on_error: 'open' }), window('closed', 10), window('local', 9, { on_error: 'local' }), monthly(1_000)];
      const pops = await start(t, policies);
      const [a, b] = pops.all;
      for (const pop of [a, b, a]) for (const { name } of policies) assert.equal((await pop.check(name, 'acme')).decided_by, 'counter');
      const { outstanding } = await audit(pops);
      await pops.ledger.kill9();

      for (let again = 0; again < 15; again += 1) {
        const { status, decided_by: by, remaining } = await a.check('open', 'acme');
        assert.deepEqual([status, by, remaining], [200, 'on-error', null]);
      }
      const { last: closed } = await drain(a, 'closed');
      assert.deepEqual([closed.status, closed.refusal, closed.decided_by], [503, 'unavailable', 'on-error']);
      for (const pop of [a, b]) {
        const { allowed, last } = await drain(pop, 'local');
        assert.deepEqual([pop.name, allowed, last.status, last.refusal, last.decided_by], [pop.name, 5, 429, 'limit', 'local'], 'half of 9, rounded up');
      }
      let inHand = 0;
      for (const pop of [a, b]) {
        const { allowed, last } = await drain(pop, 'monthly');
        inHand += allowed;
        assert.deepEqual([last.status, last.refusal, last.decided_by, last.serial], [503, 'unavailable', 'on-error', 1]);
      }
      assert.ok(inHand > 0 && inHand <= outstanding, `${inHand} of ${outstanding}`);
      const answer = await a.fetch('/v1/check', { token: TOKEN, json: { limits: [{ policy: 'monthly', key: 'acme' }] } });
      assert.ok(answer.status === 503 && retryAfter(answer) >= 1);
      problem(await a.tenants.usage('acme'), 503);
      assert.equal((await a.fetch('/healthz')).status, 200);

      await pops.ledger.start();
      for (const pop of [a, b]) for (const { name } of policies) await reached(pop, name);
      await Promise.all([drain(a, 'closed'), drain(b, 'closed')]);
      assert.ok(units(pops, 'closed') <= 10, `${units(pops, 'closed')}`);
      const books = await useUp(pops);
      assert.deepEqual([books.forfeited, books.spent, units(pops)], [0, 1_000, 1_000]);
    });

    test('is down: a bucket does what its on_error says, and is not filled again by that', async (t) => {
      const policies = [bucket('open', 50, { on_error: 'open' }), bucket('closed', 50), bucket('local', 9, { on_error: 'local' })];
      const pops = await start(t, policies);
      const [a, b] = pops.all;
      for (const pop of [a, b, a]) for (const { name } of policies) assert.equal((await pop.check(name, 'acme')).decided_by, 'counter');
      await pops.ledger.kill9();

      for (const pop of [a, b]) {
        const open = await until(() => pop.check('open', 'acme'), ({ decided_by: by }) => by === 'on-error', { every: 0, what: 'an end of the tokens in hand' });
        assert.deepEqual([open.status, open.allowed, open.remaining], [200, true, null]);
        for (let again = 0; again < 60; again += 1) assert.equal((await pop.check('open', 'acme')).status, 200);
        const { last: closed } = await drain(pop, 'closed');
        assert.deepEqual([closed.status, closed.refusal, closed.decided_by, closed.remaining], [503, 'unavailable', 'on-error', null]);
        const { last: local } = await drain(pop, 'local');
        const { status, refusal, decided_by: by, retry_after_basis: basis, limit } = local;
        assert.deepEqual([pop.name, status, refusal, by, basis, limit], [pop.name, 429, 'limit', 'local', 'monotonic-refill', 5], 'half of 9, rounded up');
        // What it held of the Ledger's tokens, and then its part.
        const { units: had } = pops.admissions.of('local', 'acme').pops[pop.name];
        assert.ok(had >= 5 && had <= 9 + 5, `${had}`);
      }

      await pops.ledger.start();
      for (const pop of [a, b]) for (const { name } of policies) await reached(pop, name);
      await until(async () => {
        await Promise.all([drain(a, 'closed'), drain(b, 'closed')]);
        return units(pops, 'closed');
      }, (taken) => taken >= 50, { every: 500, deadline: 90_000, what: 'a return of the tokens that were out' });
      await Promise.all([drain(a, 'closed'), drain(b, 'closed')]);
      assert.equal(units(pops, 'closed'), 50);
    });

    for (const step of [0, -HOUR]) {
      test(`hangs${step ? ', while the clock of a point of presence stands still' : ''}: every request is answered in its time, and what was late is not lost`, { skip: step ? skewUnavailable : false }, async (t) => {
        const policies = [window('open', 500, { on_error: 'open' }), window('closed', 500), monthly(1_000)];
        const pops = await start(t, policies, { timeLimit: '1s' });
        const [a, b] = pops.all;
        for (const pop of [a, b]) for (const { name } of policies) await reached(pop, name);
        if (step) await a.clock.step(step);
        process.kill(pops.ledger.pid, 'SIGSTOP');
        t.after(() => pops.ledger.pid && process.kill(pops.ledger.pid, 'SIGCONT'));

        const timed = async (pop, policy) => {
          const started = performance.now();
          const result = await pop.check(policy, 'acme');
          return { policy, ...result, ms: performance.now() - started };
        };
        const results = [];
        for (let wave = 0; wave < 3; wave += 1) {
          results.push(...(await Promise.all(Array.from({ length: 24 }, (_, at) => timed(pops.all[at % 2], policies[at % 3].name)))));
        }
        // A second for a decision, and the machine may be busy; a hang without an end would be ten minutes.
        for (const { policy, ms } of results) assert.ok(ms < 6_000, `${policy}: ${ms} ms`);
        const of = (policy) => results.filter((result) => result.policy === policy).map(({ status }) => status);
        assert.deepEqual([...new Set(of('open'))], [200]);
        assert.deepEqual([...new Set(of('closed'))], [503]);
        assert.ok(of('monthly').includes(503) && of('monthly').every((status) => [200, 503].includes(status)), `${of('monthly')}`);
        problem(await a.tenants.usage('acme'), 503);

        process.kill(pops.ledger.pid, 'SIGCONT');
        for (const pop of [a, b]) for (const { name } of policies) await reached(pop, name);
        const books = await useUp(pops);
        const gaveUp = pops.admissions.of('monthly', 'acme').unavailable;
        assert.deepEqual([books.forfeited, books.spent], [0, 1_000]);
        assert.ok(units(pops) <= 1_000 && units(pops) + gaveUp >= 1_000, `${units(pops)} and ${gaveUp} without an answer`);
        for (const pop of pops.all) {
          const [{ requests_waiting: waiting, ledgers_out_of_reach: out }] = (await pop.report()).counters;
          assert.deepEqual([pop.name, waiting, out], [pop.name, 0, 0]);
        }
      });
    }

    test('is killed between a grant and its reply: the grant returns, or is obeyed, and never counts twice', async (t) => {
      const pops = await start(t, [window('exact', 10), monthly(1_000)]);
      const [a, b] = pops.all;
      assert.equal((await a.check('monthly', 'acme')).allowed, true);
      for (const [policy, cost] of [['monthly', 30], ['exact', 4]]) {
        const lost = a.link.hold({ way: 'reply' });
        const first = a.check(policy, 'acme', cost);
        await lost.arrived();
        await pops.ledger.kill9();
        lost.drop();
        await delay(10);
        a.link.heal(); // So that the one who asked need not wait until it gives up.
        const { status, refusal } = await first;
        assert.deepEqual([policy, status, refusal], [policy, 503, 'unavailable']);
        await pops.ledger.start();
        await reached(a, policy);
      }
      const afterLoss = await until(() => audit(pops), ({ returned }) => returned >= 21, { deadline: 10_000, what: 'a return of the grant that was lost' });
      assert.equal(afterLoss.forfeited, 0);

      // The reply itself was only late: the ledger that comes back stands by it.
      const late = a.link.hold({ way: 'reply', when: ({ body }) => JSON.parse(body).leases?.items.some(({ want }) => want >= 40) });
      const second = a.check('monthly', 'acme', 60);
      await late.arrived();
      await pops.ledger.kill9();
      await pops.ledger.start();
      late.release();
      assert.equal((await second).status, 200);
      await audit(pops);

      await Promise.all([drain(a, 'exact'), drain(b, 'exact')]);
      assert.ok(units(pops, 'exact') <= 10, `${units(pops, 'exact')}`);
      const books = await useUp(pops);
      assert.deepEqual([books.forfeited, books.spent, units(pops)], [0, 1_000, 1_000]);
    });
  });

  describe('messages', { concurrency: 2 }, () => {
    test('that are repeated, late and overtaken change nothing', async (t) => {
      const faults = { repeat: 0.5, repeatMs: [0, 80], askMs: [0, 20], replyMs: [0, 40], reorder: 0.3, reorderMs: [20, 120] };
      const policies = [window('exact', 40), window('tolerant', 50, { tolerance: 0.1 }), monthly(300)];
      const pops = await start(t, policies, { names: ['POP-A', 'POP-B', 'POP-C'], network: faults });
      const [exact, tolerant] = await Promise.all([
        pops.flood('exact', 'acme', { times: 90 }),
        pops.flood('tolerant', 'acme', { times: 90 }),
        pops.flood('monthly', 'acme', { times: 60, cost: 3 }),
      ]);
      assert.equal(exact.units, 40);
      assert.ok(tolerant.units >= 50 && tolerant.units <= 55, `${tolerant.units}`);
      await audit(pops);
      const { repeated, reordered } = pops.network.totals();
      assert.ok(repeated > 10 && reordered > 10, `${repeated} repeated, ${reordered} overtaken`);
      pops.network.heal();
      const books = await useUp(pops);
      assert.deepEqual([books.forfeited, books.spent, units(pops)], [0, 300, 300]);
      assert.deepEqual([(await pops.flood('exact', 'acme', { times: 6 })).units], [0]);
    });

    test('that do not get through for one of three: it spends what it has, and the others go on', async (t) => {
      const pops = await start(t, [window('exact', 30), monthly(1_000)], { names: ['POP-A', 'POP-B', 'POP-C'] });
      const [a, b, c] = pops.all;
      for (const pop of pops.all) for (const policy of ['exact', 'monthly']) assert.equal((await pop.check(policy, 'acme')).allowed, true);
      b.link.set({ partition: 'refuse' });
      const out = outAt(await audit(pops), 'POP-B');
      assert.equal(out, 10, 'a hundredth of the limit');
      const { allowed: inHand, last } = await drain(b, 'monthly');
      assert.deepEqual([inHand, last.status, last.refusal], [9, 503, 'unavailable']);
      assert.deepEqual((await drain(b, 'exact')).last.status, 503);

      const apart = await useUp(pops, { among: [a, c], out });
      assert.deepEqual([outAt(apart, 'POP-B'), apart.spent, units(pops)], [out, 990, 1_000]);
      assert.equal((await pops.flood('exact', 'acme', { times: 60, pops: [a, c] })).units, 27);

      b.link.heal();
      const books = await useUp(pops);
      assert.deepEqual([books.forfeited, books.spent, units(pops)], [0, 1_000, 1_000]);
      assert.equal((await pops.flood('exact', 'acme', { times: 6 })).units, 0);
    });

    for (const seed of [1, 2]) {
      test(`that are lost at random, while processes are killed: every limit holds at every moment (seed ${seed})`, async (t) => {
        const faults = { seed, dropAsk: 0.15, dropReply: 0.15, repeat: 0.2, repeatMs: [0, 200], replyMs: [0, 60], reorder: 0.2, reorderMs: [20, 300] };
        const policies = [window('short', 20, { window: '4s', tolerance: 0.1 }), window('exact', 40), monthly(1_000)];
        const pops = await start(t, policies, { timeLimit: '500ms', network: faults });
        const random = randomOf(seed);
        const byEpoch = new Map();
        let running = true;
        const traffic = async () => {
          while (running) {
            const pop = pops.all[Math.floor(random() * 2)];
            const [policy, cost] = [['short', 1], ['exact', 1], ['monthly', 1], ['monthly', 1 + Math.floor(random() * 12)]][Math.floor(random() * 4)];
            const result = await pop.check(policy, 'acme', cost).catch(() => delay(50, null));
            await delay(random() * 20);
            if (result?.allowed && policy === 'short') byEpoch.set(result.epoch, (byEpoch.get(result.epoch) ?? 0) + 1);
          }
        };
        const lanes = Array.from({ length: 5 }, traffic);
        let kills = 0;
        for (const victim of [pops.all[0], pops.ledger, pops.all[1]]) {
          for (let look = 0; look < 4; look += 1) {
            await delay(350 + random() * 200);
            await audit(pops);
          }
          if (victim !== pops.ledger) kills += 1;
          await victim.kill9();
          await delay(random() * 300);
          await victim.start();
        }
        await delay(1_000);
        running = false;
        await Promise.all(lanes);

        const { dropped_asks: asks, dropped_replies: replies } = pops.network.totals();
        assert.ok(asks + replies > 5, `${asks} asks and ${replies} replies were lost`);
        assert.ok(byEpoch.size > 1 && byEpoch.size < 12, `${byEpoch.size} epochs`);
        for (const [epoch, admitted] of byEpoch) assert.ok(admitted <= 22, `${admitted} in epoch ${epoch}`);
        assert.ok(units(pops, 'exact') <= 40 && units(pops, 'exact') > 0, `${units(pops, 'exact')}`);
        assert.ok((await audit(pops)).spent > 0);

        pops.network.heal();
        const books = await useUp(pops);
        assert.equal(books.spent + books.forfeited, 1_000);
        assert.ok(books.forfeited <= kills * CHUNK + kills * 12, `${books.forfeited} units were forfeited by ${kills} kills`);
        assert.ok(units(pops) <= 1_000, `${units(pops)}`);
      });
    }
  });

  describe('a point of presence', { concurrency: 1 }, () => {
    test('is killed with leases: a chunk is forfeited at most, the rest returns with it, or stays out', async (t) => {
      const pops = await start(t, [monthly(1_000)], { names: ['POP-A', 'POP-B', 'POP-C'] });
      const [a, b, c] = pops.all;
      for (const pop of [a, b]) for (let at = 0; at < 3; at += 1) assert.equal((await pop.check('monthly', 'acme')).allowed, true);
      const last = performance.now();
      await Promise.all([a.kill9(), b.kill9()]);
      // After two seconds it would have written back what it did not spend.
      const inTime = performance.now() - last < 1_500;
      const dead = await audit(pops);
      assert.deepEqual([outAt(dead, 'POP-A'), outAt(dead, 'POP-B'), dead.forfeited], [10, 10, 0], 'nobody has said yet what became of them');

      await a.start();
      assert.equal((await a.check('monthly', 'acme')).allowed, true);
      const books = await useUp(pops, { among: [a, c], out: 10 });
      assert.equal(outAt(books, 'POP-B'), 10);
      assert.ok(books.forfeited <= CHUNK && (books.forfeited > 0 || !inTime), `${books.forfeited} were forfeited`);
      assert.equal(books.spent + books.forfeited, 990);
      const { pops: at } = pops.admissions.of('monthly', 'acme');
      const taken = at['POP-A'].units + at['POP-C'].units;
      assert.ok(taken >= books.spent && taken <= books.spent + books.forfeited, `${taken} were taken, ${books.spent} spent, ${books.forfeited} forfeited`);

      await b.start();
      const whole = await useUp(pops);
      assert.equal(whole.spent + whole.forfeited, 1_000);
      assert.ok(whole.forfeited <= 2 * CHUNK, `${whole.forfeited} were forfeited`);
      assert.ok(units(pops) <= 1_000 && units(pops) >= 1_000 - 2 * CHUNK, `${units(pops)}`);
    });

    test('gives back what it took for a request that is refused after all: it can take it again, and nobody takes it twice', async (t) => {
      const pops = await start(t, [window('exact', 10), monthly(5)]);
      const [a, b] = pops.all;
      assert.equal((await b.check('monthly', 'acme', 5)).allowed, true);
      const hold = a.link.hold({ way: 'reply', when: ({ body }) => JSON.parse(body).leases });
      const limits = [{ policy: 'exact', key: 'acme', cost: 10 }, { policy: 'monthly', key: 'acme' }];
      const refused = a.fetch('/v1/check', { token: TOKEN, json: { limits } });
      await hold.arrived();
      assert.equal((await b.check('exact', 'acme')).status, 429, 'all of it is taken as yet');
      hold.release();
      assert.equal((await refused).status, 429);
      assert.equal((await a.check('exact', 'acme', 4)).allowed, true);
      assert.equal((await b.check('exact', 'acme')).status, 429, 'its cap stays with it until the epoch ends');
      assert.equal((await a.check('exact', 'acme', 6)).allowed, true);
      assert.equal((await a.check('exact', 'acme')).status, 429);
    });

    test('is killed when it was idle: nothing is forfeited, and its leases return though nobody asks it', async (t) => {
      const pops = await start(t, [monthly(1_000)], { names: ['POP-A'] });
      const [a] = pops.all;
      for (let at = 0; at < 3; at += 1) assert.equal((await a.check('monthly', 'acme')).allowed, true);
      assert.equal((await audit(pops)).outstanding, 10);
      await delay(3_500); // After two seconds it writes back what it did not spend.
      await a.kill9();
      await a.start();
      const books = await until(() => audit(pops), ({ outstanding }) => outstanding === 0, { every: 500, deadline: 30_000, what: 'a return of the lease' });
      assert.deepEqual([books.spent, books.forfeited, books.returned], [3, 0, 7]);
      assert.deepEqual(a.log.matching(/alarm handler canceled/), [], 'the alarm that stood by for it has run');
    });

    test('leaves memory when it is idle, as its ledger does: nothing is forfeited, and nothing stays out', async (t) => {
      const pops = await start(t, [window('exact', 20), monthly(1_000)]);
      for (const [at, pop] of pops.all.entries()) {
        for (let again = 0; again <= 2 + at; again += 1) assert.equal((await pop.check('monthly', 'acme')).allowed, true);
        assert.equal((await pop.check('exact', 'acme', 4)).allowed, true);
      }
      const grants = async () => (await tenants(pops.ledger).log('acme')).json().entries.filter(({ event }) => event === 'grant');
      const starts = async () => new Set((await grants()).map(({ fence }) => fence.split('-')[0]));
      assert.equal((await starts()).size, 1);
      await pops.evict();
      const books = await until(() => audit(pops), ({ outstanding }) => outstanding === 0, { every: 250, deadline: 30_000, what: 'a return of the leases' });
      assert.deepEqual([books.spent, books.forfeited, units(pops)], [7, 0, 7]);

      await delay(3_000); // The alarm that stood by for the return comes all the same.
      await pops.evict();
      for (const pop of pops.all) {
        const [{ quotas, cap_keys: keys, asks_sent: asks }] = (await pop.report()).counters;
        assert.deepEqual([quotas, keys, asks], [0, 0, 0], `${pop.name} has begun anew`);
      }
      assert.equal((await pops.all[0].check('monthly', 'acme')).allowed, true);
      assert.equal((await starts()).size, 2, 'the ledger has begun anew, and marks its fences so');
      const after = await pops.flood('exact', 'acme', { times: 30 });
      assert.ok(after.units <= 12, `8 and ${after.units}`);
      assert.equal((await audit(pops)).forfeited, 0);
    });
  });
});
