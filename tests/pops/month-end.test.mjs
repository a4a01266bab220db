// A month ends in a tenant's zone, by the ledger's wall clock alone: points of presence stand on both sides of the
// boundary by their own, and each unit is booked in one period.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { skewUnavailable, startPops, until } from './harness.mjs';
import { tenants } from './support/tenants.mjs';

const HOUR = 3_600_000;

/** In the order of time: the ledger's clock goes ahead from one to the next. */
const ENDS = [
  {
    zone: 'America/Asuncion', what: 'the first midnight of the month does not exist', boundary: Date.UTC(2023, 9, 1, 4),
    month: { slot: '2023-09', start: '2023-09-01T00:00:00-04:00', end: '2023-10-01T01:00:00-03:00', reset_local: '2023-10-01 01:00:00 America/Asuncion' },
    next: { slot: '2023-10', start: '2023-10-01T01:00:00-03:00', end: '2023-11-01T00:00:00-03:00', reset_local: '2023-11-01 00:00:00 America/Asuncion' },
    third: '2023-11',
    // Two months pass without a request.
    fourth: { slot: '2024-02', at: Date.UTC(2024, 1, 5), skipped: 2 },
  },
  {
    zone: 'Asia/Almaty', what: 'the last hour of the month comes twice', boundary: Date.UTC(2024, 1, 29, 19),
    month: { slot: '2024-02', start: '2024-02-01T00:00:00+06:00', end: '2024-03-01T00:00:00+05:00', reset_local: '2024-03-01 00:00:00 Asia/Almaty' },
    next: { slot: '2024-03', start: '2024-03-01T00:00:00+05:00', end: '2024-04-01T00:00:00+05:00', reset_local: '2024-04-01 00:00:00 Asia/Almaty' },
    third: '2024-04',
    fourth: { slot: '2024-05', at: Date.UTC(2024, 4, 5), skipped: 0 },
  },
  {
    zone: 'America/Los_Angeles', what: 'clocks go back on its first day', boundary: Date.UTC(2026, 10, 1, 7),
    month: { slot: '2026-10', start: '2026-10-01T00:00:00-07:00', end: '2026-11-01T00:00:00-07:00', reset_local: '2026-11-01 00:00:00 America/Los_Angeles' },
    next: { slot: '2026-11', start: '2026-11-01T00:00:00-07:00', end: '2026-12-01T00:00:00-08:00', reset_local: '2026-12-01 00:00:00 America/Los_Angeles' },
    third: '2026-12',
    fourth: { slot: '2027-01', at: Date.UTC(2027, 0, 5), skipped: 0 },
  },
];

const limits = {
  tenant_header: 'x-tenant', time_limit: '20s', shards: 1,
  policies: [{ name: 'monthly', algorithm: 'calendar-quota', limit: 1, period: { unit: 'month', time_zone: 'UTC' }, identity: 'tenant' }],
};

/** Puts a process's wall clock at `at`. */
const showing = (one, at) => one.clock.set(at - Date.now());

/** Kills the ledger and starts it again. It starts by the true time: workerd refuses to run before its configuration's date. */
async function restartLedger(pops) {
  const { ledger, network } = pops;
  const { offset } = ledger.clock;
  network.set({ partition: 'refuse' });
  await ledger.kill9();
  await ledger.clock.set(0);
  await ledger.start();
  await ledger.clock.set(offset);
  network.heal();
}

/** Checks of one tenant, with what was let through counted by the serial that the answer names. */
class Meter {
  bySerial = {};

  constructor(id) {
    this.id = id;
  }

  async take(pop, cost = 1) {
    const result = await pop.check('monthly', this.id, cost);
    if (result.allowed) this.bySerial[result.serial] = (this.bySerial[result.serial] ?? 0) + cost;
    return result;
  }

  /** Takes once the ledger is in reach. */
  allowed(pop, cost) {
    return until(() => this.take(pop, cost), ({ allowed }) => allowed, { what: `${cost} units at ${pop.name}` });
  }

  /** Takes until the answers are about `serial`. */
  until(pop, serial) {
    return until(() => this.take(pop), (result) => result.serial === serial, { every: 100, what: `period ${serial} at ${pop.name}` });
  }
}

/** Waits until nothing is under way between the points of presence and the ledger. */
async function settled(pops) {
  let before = null;
  await until(() => ({ ...pops.network.totals() }), ({ asks, replies, refused, unreachable }) => {
    const quiet = asks === replies + refused + unreachable && asks === before;
    before = asks;
    return quiet;
  }, { every: 400, what: 'quiet on the network' });
}

async function crosses(pops, { zone, boundary, month, next, third, fourth }) {
  const [a, b] = pops.all;
  const id = zone.toLowerCase();
  const meter = new Meter(id);
  const books = tenants(pops.ledger);
  const usage = async () => (await books.usage(id)).json();
  const log = async (kind) => (await books.log(id)).json().entries.filter(({ event }) => event === kind);
  const named = ({ slot, start, end, reset_local: reset }) => ({ slot, start, end, reset_local: reset, start_ms: Date.parse(start), end_ms: Date.parse(end) });
  const assertUsage = async (expected) => {
    const seen = await usage();
    for (const [field, value] of Object.entries(expected)) assert.deepEqual([field, seen[field]], [field, value]);
  };

  // By its own clock POP-A is in the next month already, and POP-B stays in this one.
  await showing(pops.ledger, boundary - HOUR);
  await Promise.all([showing(a, boundary + HOUR), showing(b, boundary - 2 * HOUR)]);
  assert.equal((await a.tenants.put(id, { limit: 1_000, period: { unit: 'month', time_zone: zone } })).status, 200);
  for (const pop of [a, b, a, b]) {
    const { serial, slot, start_ms: startMs, end_ms: endMs } = await meter.take(pop);
    assert.deepEqual([serial, slot, startMs, endMs], [1, month.slot, Date.parse(month.start), boundary]);
  }
  await assertUsage({ ...named(month), serial: 1, limit: 1_000, held: false, partial: false });

  // The month ends while both are busy, and POP-B does not hear of it.
  b.link.set({ partition: 'refuse' });
  await showing(pops.ledger, boundary - 1_500);
  await meter.until(a, 2);
  for (let late = 0; late < 3; late += 1) {
    const { serial, slot } = await meter.take(b);
    assert.deepEqual([serial, slot], [1, month.slot], 'it spends what it has of the month before');
  }
  await assertUsage({ ...named(next), serial: 2, limit: 1_000, held: false, partial: false });
  b.link.heal();
  await meter.until(b, 2);
  for (const pop of [a, b]) assert.equal((await meter.take(pop, 40)).serial, 2);

  // A step back does not reopen the month, also where nothing is in memory.
  const position = pops.ledger.log.position;
  await showing(pops.ledger, boundary - HOUR);
  assert.deepEqual([(await meter.take(a, 40)).serial, (await meter.take(b, 40)).serial], [2, 2]);
  await assertUsage({ ...named(next), serial: 2, held: true });
  await pops.ledger.log.waitFor(/"sluicegate":"period-regression"/, { after: position });
  await restartLedger(pops);
  for (const pop of [a, b]) assert.equal((await meter.allowed(pop, 40)).serial, 2);
  await assertUsage({ ...named(next), serial: 2, held: true });
  await showing(pops.ledger, boundary + HOUR);
  assert.equal((await meter.take(a, 40)).serial, 2);
  await assertUsage({ ...named(next), serial: 2, held: false });
  await settled(pops);
  const { spent, outstanding, consistent } = (await books.audit(id)).json();
  assert.ok(consistent && spent <= meter.bySerial[2] && spent + outstanding >= meter.bySerial[2], `${spent} and ${outstanding} for ${meter.bySerial[2]}`);

  // Steps ahead open the next ones. A book is closed for good when the second period after it opens.
  for (const { serial, slot, at } of [{ serial: 3, slot: third, at: Date.parse(next.end) + HOUR }, { serial: 4, ...fourth }]) {
    await showing(pops.ledger, at);
    for (const pop of [a, b]) {
      // More than is in hand, so that the ledger is asked.
      const told = await meter.allowed(pop, 20);
      assert.deepEqual([told.serial, told.slot], [serial, slot]);
    }
    await settled(pops);
  }
  const opened = await log('opened');
  assert.deepEqual(opened.map(({ serial, slot, skipped }) => [serial, slot, skipped]), [[1, month.slot, 0], [2, next.slot, 0], [3, third, 0], [4, fourth.slot, fourth.skipped]]);
  const closed = await log('closed');
  assert.deepEqual(closed.map(({ serial, spent: units, forfeited, outstanding: out }) => [serial, units, forfeited, out]), [[1, meter.bySerial[1], 0, 0], [2, meter.bySerial[2], 0, 0]], 'as the answers said');
}

test('the end of a month', { skip: skewUnavailable }, async (t) => {
  const pops = await startPops(t, { pops: ['POP-A', 'POP-B'], limits, ledger: { skewMs: 0 } });
  for (const end of ENDS) await t.test(`${end.zone}: ${end.what}`, () => crosses(pops, end));
});

test('units that nobody accounts for in time are forfeited with the book of their period, and in no other', { skip: skewUnavailable }, async (t) => {
  const boundary = Date.UTC(2027, 6, 1);
  const pops = await startPops(t, { pops: ['POP-A', 'POP-B'], limits, ledger: { skewMs: boundary - HOUR - Date.now() } });
  const [a, b] = pops.all;
  const meter = new Meter('acme');
  const books = tenants(pops.ledger);
  await a.tenants.put('acme', { limit: 1_000, period: { unit: 'month', time_zone: 'UTC' } });
  for (const pop of [a, b]) assert.equal((await meter.take(pop)).serial, 1);
  await b.kill9();
  for (const [serial, at] of [[2, boundary + HOUR], [3, Date.UTC(2027, 7, 5)]]) {
    await showing(pops.ledger, at);
    assert.equal((await meter.take(a, 20)).serial, serial);
    await settled(pops);
  }
  const closed = async () => (await books.log('acme')).json().entries.filter(({ event }) => event === 'closed').map(({ serial, spent, forfeited }) => [serial, spent, forfeited]);
  assert.deepEqual(await closed(), [[1, 1, 10]], 'the lease that POP-B had');

  await b.start();
  const position = pops.ledger.log.position;
  assert.equal((await meter.take(b, 20)).serial, 3);
  await settled(pops);
  const line = await pops.ledger.log.waitFor(/"sluicegate":"unknown-fences"/, { after: position });
  const { adopted, rejected } = JSON.parse(line.slice(line.indexOf('{')));
  assert.deepEqual([adopted, rejected], [0, 1], 'what POP-B had is in no book any more');
  const { consistent, granted } = (await books.audit('acme')).json();
  const grants = (await books.log('acme')).json().entries.filter(({ event, serial }) => event === 'grant' && serial === 3);
  assert.deepEqual([consistent, granted], [true, grants.reduce((sum, { amount }) => sum + amount, 0)]);
  assert.deepEqual(await closed(), [[1, 1, 10]]);
});
