// Wall clocks step by hours while requests come: at a point of presence, at the ledger, at both. No key waits for a
// clock, no limit is passed, quotas stay exact, and each step is reported with its size.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { totals } from '../worker/support/limits.mjs';
import { isBuilt, skewUnavailable, startPops, until } from './harness.mjs';
import { Epochs } from './support/epochs.mjs';

const HOUR = 3_600_000;
const WINDOW_MS = 5_000;
const LIMIT = 10;
const QUOTA = 400;
/** How much later than told something may be seen, on a busy machine. Far from an hour. */
const LATE_MS = 5_000;
/** DESIGN 4, E3: whose clock stands still follows after so many refusals. One more may be under way. */
const MOST_REFUSED = 64 + 1;
const PAUSE_MS = 50;
/** Back, ahead of where it was, and back again. */
const STEPS = [-HOUR, 2 * HOUR, -HOUR];

const window = { algorithm: 'fixed-window', scope: 'global', window: `${WINDOW_MS / 1_000}s`, limit: LIMIT, identity: 'tenant', on_error: 'closed' };
const period = { unit: 'month', time_zone: 'UTC', anchor_day: ((new Date().getUTCDate() + 13) % 28) + 1 };
const limits = {
  tenant_header: 'x-tenant',
  time_limit: '20s',
  shards: 1,
  policies: [
    { ...window, name: 'exact', tolerance: 0 },
    { ...window, name: 'rough', tolerance: 0.2 },
    { name: 'monthly', algorithm: 'calendar-quota', limit: QUOTA, period, identity: 'tenant' },
  ],
  rules: [],
};

/** One limit, what was sent to it and what came of it. */
class Watched {
  epochs = new Epochs();
  results = [];

  constructor(name, key, { most = LIMIT, at }) {
    Object.assign(this, { name, key, most, at });
  }

  /** Puts one request to `pop`, and waits for `pauseMs` if it was refused. */
  async ask(pops, pop, pauseMs = PAUSE_MS) {
    const sent = Date.now();
    const open = Math.floor((sent + pops.ledger.clock.offset) / WINDOW_MS);
    const result = await pop.check(this.name, this.key).catch(() => null);
    this.epochs.add(pop.name, 1, result);
    if (result?.epoch) this.results.push({ pop: pop.name, sent, heard: Date.now(), open, ...result });
    if (!result?.allowed) await delay(pauseMs);
    return result;
  }

  /** The epochs since `since` in which each point of presence that asks was refused. */
  usedSince(since) {
    const fresh = new Set(this.results.filter(({ sent }) => sent >= since).map(({ epoch }) => epoch));
    return this.epochs.used(this.at.length).filter(({ epoch }) => fresh.has(epoch)).length;
  }

  /** The most refusals in one epoch at `pop` that were sent after the ledger had left it. */
  mostLate(pop) {
    const late = new Map();
    for (const { pop: by, allowed, epoch, open } of this.results) {
      if (by === pop && !allowed && epoch < open) late.set(epoch, (late.get(epoch) ?? 0) + 1);
    }
    return Math.max(0, ...late.values());
  }

  /** For how long no new epoch was heard of, at most, from `since` to `until`. */
  longestEpoch(since, until) {
    const heard = new Map();
    for (const { epoch, heard: at } of this.results) if (at <= until && !heard.has(epoch)) heard.set(epoch, at);
    const times = [since, ...[...heard.values()].filter((at) => at > since), until];
    return Math.max(...times.slice(1).map((at, n) => at - times[n]));
  }
}

/** Asks for all limits at the places where that is done, until `signal` is aborted. */
function traffic(pops, watched, signal) {
  const lane = async (one, pop) => {
    while (!signal.aborted) await one.ask(pops, pop);
  };
  return Promise.all(watched.flatMap((one) => one.at.map((name) => lane(one, pops.pop(name)))));
}

/** Spends the quota slowly at both places, and the rest of it fast when `signal` is aborted. Returns how many units it got. */
async function spend(pops, signal) {
  let allowed = 0;
  let sent = 0;
  const one = async () => {
    sent += 1;
    const result = await pops.all[sent % pops.all.length].check('monthly', 'acme');
    allowed += result.allowed ? 1 : 0;
    return result;
  };
  while (!signal.aborted) {
    if (allowed < QUOTA / 2) await one();
    await delay(2 * PAUSE_MS);
  }
  await until(async () => {
    await Promise.all(Array.from({ length: 10 }, one));
    return { allowed, sent };
  }, ({ allowed: units }) => units >= QUOTA, { every: 2 * PAUSE_MS, deadline: 60_000, what: `${QUOTA} units` });
  for (let more = 0; more < 20; more += 1) assert.deepEqual(await one().then(({ status, refusal }) => [status, refusal]), [429, 'limit']);
  return allowed;
}

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 60_000, `${actual} ms is not near ${expected} ms`);
const STEP = /"sluicegate":"clock-step"/;
const stepsIn = (log) => log.matching(STEP).map((line) => JSON.parse(line.slice(line.indexOf('{'))));

/** A process has logged steps like those `expected`, with their kind and size, and no others. */
async function logged(server, expected) {
  const kinds = (steps) => new Set(steps.map(({ kind, stepped_ms: ms }) => `${kind} ${Math.round(ms / HOUR)}`));
  const wanted = new Set(expected.map((ms) => `${ms < 0 ? 'wall-step-back' : 'wall-ahead'} ${ms / HOUR}`));
  await until(() => [...kinds(stepsIn(server.log))].sort(), (seen) => seen.length >= wanted.size, { what: 'the lines about the steps' });
  assert.deepEqual(kinds(stepsIn(server.log)), wanted);
  for (const { level } of stepsIn(server.log)) assert.equal(level, 'warn');
}

const counted = ({ steps_back: back, steps_ahead: ahead }) => ({ back, ahead });
const expectedOf = (steps) => ({ back: steps.filter((ms) => ms < 0).length, ahead: steps.filter((ms) => ms > 0).length });

/** What the point of presence says of its clock. */
async function popSteps(pop, steps) {
  const seen = await totals(pop);
  assert.deepEqual(counted(seen), expectedOf(steps), `${pop.name} has counted each step once`);
  if (steps.length > 0) near(seen.counters[0].last_step_ms, steps.at(-1));
}

/** What the Ledger objects say of theirs. */
async function ledgerSteps(pops, steps) {
  const names = new Set(pops.network.messages.map(({ ledger }) => ledger));
  assert.ok(names.size >= 2, `${names.size} ledgers were asked`);
  for (const name of names) {
    const seen = (await pops.ledger.ask(name)).json();
    assert.deepEqual(counted(seen), expectedOf(steps), `${name} has counted each step once`);
    if (steps.length > 0) near(seen.last_step_ms, steps.at(-1));
  }
}

/**
 * Steps the clocks of some processes, one step after the other, under traffic above all limits; `ofStep(phase)` looks
 * at what was seen since each. Then the quota is spent to its end.
 */
async function drill(t, steppers, ofStep) {
  const pops = await startPops(t, { limits, pops: ['POP-A', 'POP-B'], network: { record: true } });
  const watched = [
    new Watched('exact', 'acme', { at: ['POP-A', 'POP-B'] }),
    new Watched('rough', 'acme', { at: ['POP-A', 'POP-B'], most: LIMIT * 1.2 }),
    new Watched('exact', 'a', { at: ['POP-A'] }),
    new Watched('exact', 'b', { at: ['POP-B'] }),
  ];
  const end = new AbortController();
  const asked = traffic(pops, watched, end.signal);
  const spent = spend(pops, end.signal);
  const failed = Promise.all([asked, spent]);
  const seen = async (since) => {
    const usedOf = () => watched.map((one) => one.usedSince(since));
    await Promise.race([failed, until(usedOf, (used) => used.every((epochs) => epochs >= 3), { deadline: 60_000, every: 200, what: 'three epochs, used up' })]);
  };
  const done = [];
  try {
    await seen(0);
    for (const step of STEPS) {
      const since = Date.now();
      await Promise.all(steppers(pops).map((one) => one.clock.step(step)));
      done.push(step);
      const stepped = Date.now();
      await seen(stepped);
      await ofStep({ pops, watched, step, since, until: Date.now(), done, say: (text) => t.diagnostic(`${step / HOUR} h: ${text}`) });
    }
  } finally {
    end.abort();
  }
  await asked;
  for (const { name, key, most, epochs, results } of watched) {
    const counts = epochs.all.map(({ admitted }) => admitted);
    t.diagnostic(`${name} for ${key}: ${counts.join(' ')}; ${epochs.lost} without an answer`);
    assert.ok(Math.max(...counts) <= most, `${name} for ${key}: ${Math.max(...counts)} in one epoch`);
    for (const { epoch, admitted } of epochs.used()) assert.ok(admitted + epochs.lost >= LIMIT, `${name} for ${key}: refused after ${admitted} in epoch ${epoch}`);
    for (const pop of ['POP-A', 'POP-B']) {
      const told = results.filter(({ pop: by }) => by === pop).map(({ epoch }) => epoch);
      assert.deepEqual(told, told.toSorted((one, other) => one - other), `${pop} goes back to no epoch`);
    }
  }
  assert.equal(await spent, QUOTA);
  const usage = async () => (await pops.pop('POP-B').tenants.usage('acme')).json();
  const { used } = await until(usage, ({ outstanding }) => outstanding === 0, { deadline: 40_000, every: 500, what: 'the return of all units' });
  const audit = (await pops.pop('POP-B').tenants.audit('acme')).json();
  assert.deepEqual([used, audit.spent, audit.forfeited, audit.consistent], [QUOTA, QUOTA, 0, true]);
  return pops;
}

/** The lag of `pop` behind the ledger is what DESIGN 4 says. */
function followed({ watched, say }, names) {
  for (const pop of names) {
    const late = watched.filter(({ at }) => at.includes(pop)).map((one) => one.mostLate(pop));
    say(`${pop}: at most ${late.join(', ')} refusals in an epoch that was over`);
    for (const refusals of late) assert.ok(refusals <= MOST_REFUSED, `${pop} was refused ${refusals} times in an epoch that was over`);
  }
}

/** A new epoch was heard of in time, again and again. */
function opened({ watched, since, until, say }) {
  const longest = watched.map((one) => one.longestEpoch(since, until));
  say(`the longest epochs lasted ${longest.join(', ')} ms`);
  for (const ms of longest) assert.ok(ms <= 2 * WINDOW_MS + LATE_MS, `no epoch began for ${ms} ms`);
}

describe('wall clocks step by hours under traffic', { concurrency: 4, skip: skewUnavailable || (!isBuilt() && 'the worker is not built') }, () => {
  test('at a point of presence: it follows the ledger, and says what its clock did', async (t) => {
    const pops = await drill(t, (all) => [all.pop('POP-A')], async (phase) => {
      followed(phase, ['POP-A', 'POP-B']);
      opened(phase);
      await popSteps(phase.pops.pop('POP-A'), phase.done);
      await popSteps(phase.pops.pop('POP-B'), []);
    });
    await ledgerSteps(pops, []);
    await logged(pops.pop('POP-A'), STEPS);
    assert.deepEqual([stepsIn(pops.pop('POP-B').log), stepsIn(pops.ledger.log)], [[], []]);
  });

  test('at the ledger: the next epoch opens within two windows, none is opened twice, and it says what its clock did', async (t) => {
    const pops = await drill(t, (all) => [all.ledger], async (phase) => {
      opened(phase);
      await ledgerSteps(phase.pops, phase.done);
    });
    for (const pop of pops.all) await popSteps(pop, []);
    await logged(pops.ledger, STEPS);
  });

  test('at all of them at once', async (t) => {
    const pops = await drill(t, (all) => all.processes, async (phase) => {
      opened(phase);
      await ledgerSteps(phase.pops, phase.done);
      for (const pop of phase.pops.all) await popSteps(pop, phase.done);
    });
    for (const one of pops.processes) await logged(one, STEPS);
  });

  test('a point of presence whose clock stands still follows after 64 refusals at the latest', async (t) => {
    const pops = await startPops(t, { limits, pops: ['POP-A'] });
    const pop = pops.pop('POP-A');
    const watched = new Watched('exact', 'a', { at: ['POP-A'] });
    await watched.ask(pops, pop);
    const stopped = Date.now();
    const hold = setInterval(() => void pop.clock.set(stopped - Date.now()), 20);
    t.after(() => clearInterval(hold));
    // Three that it was told of by refusals alone.
    await until(() => watched.ask(pops, pop, 0).then(() => watched.usedSince(stopped)), (epochs) => epochs >= 4, { every: 0, deadline: 90_000, what: 'four epochs, used up' });
    const late = watched.mostLate('POP-A');
    const counts = watched.epochs.all.map(({ admitted }) => admitted);
    t.diagnostic(`${counts.join(' ')} by epoch, ${watched.results.length} requests, at most ${late} refusals in an epoch that was over`);
    assert.ok(late <= MOST_REFUSED, `${late} refusals in an epoch that was over`);
    assert.ok(Math.max(...counts) <= LIMIT, `${Math.max(...counts)} in one epoch`);
    for (const { admitted } of watched.epochs.used()) assert.ok(admitted + watched.epochs.lost >= LIMIT);
    // It did stand still: a clock that runs is never so late.
    assert.ok(late > 2, `only ${late} refusals were late`);
  });

  for (const [where, of] of [['a point of presence', (pops) => pops.pop('POP-A')], ['the ledger', (pops) => pops.ledger]]) {
    test(`at ${where}, back an hour while nobody asks: the first to come is let through when it would have been, or two windows later`, async (t) => {
      const pops = await startPops(t, { limits, pops: ['POP-A'] });
      const pop = pops.pop('POP-A');
      const watched = new Watched('exact', 'a', { at: ['POP-A'] });
      await until(() => watched.ask(pops, pop), (result) => result?.allowed === false, { every: 0 });
      await of(pops).clock.step(-HOUR);
      await delay(WINDOW_MS);
      const started = performance.now();
      const before = watched.results.length;
      await until(() => watched.ask(pops, pop), (result) => result?.allowed, { every: 0, deadline: 30_000, what: 'a unit' });
      const [waited, refused] = [performance.now() - started, watched.results.length - before - 1];
      t.diagnostic(`${refused} refusals, ${Math.round(waited)} ms`);
      if (where === 'the ledger') assert.ok(waited <= 2 * WINDOW_MS + LATE_MS, `${waited} ms`);
      else assert.ok(refused <= MOST_REFUSED && waited <= LATE_MS, `${refused} refusals, ${waited} ms`);
    });
  }

  test('at a point of presence, ahead while it asks: the ledger answers, and nothing is decided without it', async (t) => {
    const policies = ['closed', 'open'].map((onError) => ({ ...window, name: onError, window: '30d', limit: 10_000, tolerance: 0, on_error: onError }));
    const own = { ...limits, time_limit: '1500ms', policies: [...policies, limits.policies.at(-1)] };
    const pops = await startPops(t, { limits: own, pops: ['POP-A'], network: { askMs: 300 } });
    const pop = pops.pop('POP-A');
    const names = own.policies.map(({ name }) => name);
    const wave = () => Promise.all(Array.from({ length: 21 }, (_, at) => pop.check(names[at % names.length], 'acme')));
    await wave();
    for (const step of [1_500, HOUR]) {
      const before = wave();
      await delay(150);
      await pop.clock.step(step);
      for (const { policy, allowed, decided_by: by } of [...(await before), ...(await wave())]) assert.deepEqual([step, policy, allowed, by], [step, policy, true, 'counter']);
    }
    assert.deepEqual(pop.log.matching(/ledger-out-of-reach|counter-unreachable/), []);
    // All of it was asked for: limits of 0 tolerance are.
    assert.ok(pops.network.totals().asks >= 5, `${pops.network.totals().asks}`);
  });

  test('at points of presence, back an hour, and then nobody comes there: what they held returns', async (t) => {
    const [limit, taken] = [1_000, 95];
    const policies = [{ ...limits.policies.at(-1), limit }];
    const pops = await startPops(t, { limits: { ...limits, policies }, pops: ['POP-A', 'POP-B', 'POP-C'] });
    const take = async (pop) => {
      for (let again = 0; again < taken; again += 1) assert.equal((await pop.check('monthly', pop.name)).allowed, true);
      const { granted } = (await pop.tenants.audit(pop.name)).json();
      assert.ok(granted > taken && granted <= taken + 10, `${granted} were granted for ${taken}`);
    };
    const [early, late, other] = pops.all;
    await take(early);
    await delay(3_000); // It has written back by now what it did not spend.
    await take(late);
    await Promise.all([early, late].map((pop) => pop.clock.step(-HOUR)));
    const started = performance.now();
    await Promise.all([early, late].map(async ({ name }) => {
      const rest = () => other.check('monthly', name, limit - taken);
      await until(rest, ({ allowed }) => allowed, { every: 500, deadline: 40_000, what: `the rest of ${name}` });
      t.diagnostic(`${name}: the rest was there after ${Math.round(performance.now() - started)} ms`);
      const { spent, forfeited, outstanding, consistent } = (await other.tenants.audit(name)).json();
      assert.deepEqual([spent + outstanding, forfeited, consistent], [limit, 0, true]);
    }));
  });
});
