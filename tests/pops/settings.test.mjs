// The settings of a tenant change while its quota is in use: no second quota, no empty period, and points of presence
// hear of it in time.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { skewUnavailable, startPops, until } from './harness.mjs';
import { tenants } from './support/tenants.mjs';

const NOON = Date.UTC(2027, 5, 15, 12);
const DEFAULT = 1_000;
/** A point of presence in use asks at least every 5 s; the rest is for a busy machine. */
const SOON_MS = 9_000;

const limits = {
  tenant_header: 'x-tenant', time_limit: '20s', shards: 1,
  policies: [{ name: 'monthly', algorithm: 'calendar-quota', limit: DEFAULT, period: { unit: 'month', time_zone: 'UTC' }, identity: 'tenant' }],
};

/** It is noon in the middle of June, at the ledger. */
const start = (t) => startPops(t, { pops: ['POP-A', 'POP-B'], limits, ledger: { skewMs: NOON - Date.now() } });

const usage = async (pops, id) => (await tenants(pops.ledger).usage(id)).json();
const units = (pops, id) => pops.admissions.of('monthly', id).units;

async function assertUsage(pops, id, expected) {
  const seen = await usage(pops, id);
  for (const [field, value] of Object.entries(expected)) assert.deepEqual([id, field, seen[field]], [id, field, value]);
}

/** Takes one by one at both until nothing more comes, and nothing is out. */
async function useUp(pops, id) {
  await until(async () => {
    const results = await Promise.all(pops.all.map((pop) => pop.check('monthly', id)));
    const { remaining, outstanding } = await usage(pops, id);
    return { taken: results.some(({ allowed }) => allowed), remaining, outstanding };
  }, (seen) => !seen.taken && seen.remaining === 0 && seen.outstanding === 0, { every: 20, deadline: 40_000, what: 'an end of the quota' });
  const audit = (await tenants(pops.ledger).audit(id)).json();
  assert.deepEqual([audit.consistent, audit.granted], [true, audit.spent + audit.returned + audit.forfeited + audit.outstanding]);
  return audit;
}

/** Checks at `pop` until an answer is as wanted; asserts that this does not take longer than it should. */
async function soon(pop, id, wanted, what) {
  const started = performance.now();
  const result = await until(() => pop.check('monthly', id), wanted, { every: 250, what });
  assert.ok(performance.now() - started < SOON_MS, `${what} took ${performance.now() - started} ms`);
  return result;
}

describe('settings that change', { skip: skewUnavailable, concurrency: 2 }, () => {
  test('the limit goes down and up: what is admitted in the period never passes the limit in force by more than was out', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    const put = async (pop, limit) => assert.equal((await pop.tenants.put('acme', { limit })).status, 200);
    assert.equal((await a.check('monthly', 'acme', 100)).limit, DEFAULT, 'one that was never set up has what the policy says');
    assert.equal((await b.check('monthly', 'acme')).limit, DEFAULT);

    await put(b, 150);
    await Promise.all([a, b].map((pop) => soon(pop, 'acme', ({ limit }) => limit === 150, `the new limit at ${pop.name}`)));
    assert.equal((await useUp(pops, 'acme')).spent, 150);
    assert.equal(units(pops, 'acme'), 150);

    await put(a, 120);
    await assertUsage(pops, 'acme', { limit: 120, used: 150, remaining: 0, serial: 1 });
    await soon(b, 'acme', ({ limit }) => limit === 120, 'the lower limit');
    assert.equal(units(pops, 'acme'), 150);
    assert.equal((await b.check('monthly', 'acme', 121)).refusal, 'cost-exceeds-limit');

    await put(a, 180);
    await Promise.all([a, b].map((pop) => soon(pop, 'acme', ({ limit }) => limit === 180, `the higher limit at ${pop.name}`)));
    assert.equal((await useUp(pops, 'acme')).spent, 180);
    assert.equal(units(pops, 'acme'), 180);
    await assertUsage(pops, 'acme', { limit: 180, used: 180, outstanding: 0, serial: 1, slot: '2027-06', partial: false });
  });

  test('a limit below what is out stops grants; what is out may be spent', async (t) => {
    const pops = await start(t);
    const [a] = pops.all;
    for (const pop of pops.all) assert.equal((await pop.check('monthly', 'acme')).allowed, true);
    const { used, outstanding } = await usage(pops, 'acme');
    assert.equal((await a.tenants.put('acme', { limit: 5 })).status, 200);
    const flood = await pops.flood('monthly', 'acme', { times: 60, concurrency: 2 });
    assert.ok(flood.refused > 0 && units(pops, 'acme') <= used + outstanding, `${units(pops, 'acme')} of ${used + outstanding}`);
    for (const pop of pops.all) await soon(pop, 'acme', ({ allowed, limit }) => !allowed && limit === 5, `a refusal at ${pop.name}`);
    const audit = (await tenants(pops.ledger).audit('acme')).json();
    assert.deepEqual([audit.granted, audit.consistent], [used + outstanding, true]);
  });

  test('deleted and put again in one period: what was used stays used', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    const own = { limit: 300, period: { unit: 'month', time_zone: 'America/New_York' } };
    const inForce = { serial: 1, slot: '2027-06', start: '2027-06-01T00:00:00-04:00', end: '2027-07-01T00:00:00-04:00', partial: false, held: false };
    assert.equal((await a.tenants.put('acme', own)).status, 200);
    assert.equal((await a.check('monthly', 'acme', 200)).limit, 300);
    for (let again = 0; again < 2; again += 1) {
      assert.equal((await b.tenants.delete('acme')).status, 204);
      assert.deepEqual((await b.tenants.get('acme')).json().configured, false);
      const { used, outstanding, remaining, limit, serial, end_ms: endMs } = await usage(pops, 'acme');
      assert.deepEqual([used + outstanding + remaining, limit, serial, endMs], [DEFAULT, DEFAULT, 1, Date.parse(inForce.end)]);
      assert.ok(used + outstanding >= 200);
      assert.equal((await b.tenants.put('acme', own)).status, 200);
      await assertUsage(pops, 'acme', { ...inForce, limit: 300 });
    }
    assert.equal((await useUp(pops, 'acme')).spent, 300);
    assert.equal(units(pops, 'acme'), 300);

    assert.equal((await a.tenants.delete('acme')).status, 204);
    await pops.ledger.restart({ signal: 'SIGKILL' });
    await assertUsage(pops, 'acme', { limit: DEFAULT, used: 300, serial: 1, end_ms: Date.parse(inForce.end) });
    await soon(b, 'acme', ({ allowed, limit }) => allowed && limit === DEFAULT, "the policy's limit");
  });

  test('another zone, anchor or unit: the open period keeps its end, and at most one part of a period follows', async (t) => {
    const pops = await start(t);
    const [a, b] = pops.all;
    const changes = {
      anchor: { unit: 'month', time_zone: 'UTC', anchor_day: 15 },
      zone: { unit: 'month', time_zone: 'America/Los_Angeles' },
      unit: { unit: 'day', time_zone: 'UTC' },
    };
    for (const [id, period] of Object.entries(changes)) {
      assert.equal((await a.check('monthly', id, 600)).serial, 1);
      assert.equal((await a.tenants.put(id, { period })).status, 200);
      const { used, outstanding } = await usage(pops, id);
      assert.ok(used + outstanding >= 600, 'nothing is given again');
      assert.deepEqual((await b.check('monthly', id, 401)).refusal, 'limit');
      await assertUsage(pops, id, { serial: 1, slot: '2027-06', end_ms: Date.UTC(2027, 6, 1), limit: DEFAULT, partial: false });
    }
    assert.equal((await a.tenants.put('back', { period: changes.anchor })).status, 200);
    assert.equal((await a.check('monthly', 'back', 600)).end_ms, Date.UTC(2027, 6, 15));
    assert.equal((await a.tenants.delete('back')).status, 204);
    await assertUsage(pops, 'back', { serial: 1, slot: '2027-06', end_ms: Date.UTC(2027, 6, 15), partial: false });
    assert.deepEqual((await b.tenants.get('back')).json().period.anchor_day, 1);

    const at = (time) => pops.ledger.clock.set(Date.parse(time) - Date.now());
    const open = async (id, expected) => {
      // More than is in hand, so that the ledger is asked.
      const told = await b.check('monthly', id, expected.limit);
      assert.deepEqual([id, told.allowed, told.serial, told.slot, told.remaining], [id, true, expected.serial, expected.slot, 0]);
      // What POP-A has of the period before, it may spend; of this one nothing is left.
      const refused = await until(() => a.check('monthly', id), (result) => {
        if (result.allowed) assert.ok(result.serial < expected.serial, `${id}: one unit more of period ${result.serial}`);
        return !result.allowed;
      }, { every: 0, what: 'a refusal' });
      assert.deepEqual([id, refused.refusal, refused.serial], [id, 'limit', expected.serial]);
      await assertUsage(pops, id, expected);
    };
    await at('2027-07-01T00:00:01Z');
    await open('anchor', { serial: 2, slot: '2027-06', start: '2027-07-01T00:00:00+00:00', end: '2027-07-15T00:00:00+00:00', partial: true, limit: Math.floor((DEFAULT * 14) / 30) });
    await open('zone', { serial: 2, slot: '2027-06', start: '2027-06-30T17:00:00-07:00', end: '2027-07-01T00:00:00-07:00', partial: true, limit: Math.floor((DEFAULT * 7) / (30 * 24)) });
    await open('unit', { serial: 2, slot: '2027-07-01', start: '2027-07-01T00:00:00+00:00', end: '2027-07-02T00:00:00+00:00', partial: false, limit: DEFAULT });
    await at('2027-07-01T07:00:01Z');
    await open('zone', { serial: 3, slot: '2027-07', start: '2027-07-01T00:00:00-07:00', end: '2027-08-01T00:00:00-07:00', partial: false, limit: DEFAULT });
    await at('2027-07-15T00:00:01Z');
    await open('anchor', { serial: 3, slot: '2027-07', start: '2027-07-15T00:00:00+00:00', end: '2027-08-15T00:00:00+00:00', partial: false, limit: DEFAULT });
    await open('back', { serial: 2, slot: '2027-07', start: '2027-07-15T00:00:00+00:00', end: '2027-08-01T00:00:00+00:00', partial: true, limit: Math.floor((DEFAULT * 17) / 31) });
    await at('2027-08-01T00:00:01Z');
    await open('back', { serial: 3, slot: '2027-08', start: '2027-08-01T00:00:00+00:00', end: '2027-09-01T00:00:00+00:00', partial: false, limit: DEFAULT });
  });
});
