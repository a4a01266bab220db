// The skew drill: points of presence and a ledger whose clocks disagree, by up to two hours, and traffic above every
// limit at all of them. Beside it, on the same traffic and clocks, two naive limiters.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { isBuilt, randomOf, skewUnavailable, startPops, TOKEN, until } from './harness.mjs';
import { Epochs } from './support/epochs.mjs';
import { askNaive, naiveModules } from './support/naive.mjs';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const TOLERANCE = 0.1;
const NAMES = ['POP-A', 'POP-B', 'POP-C'];

/** How far ahead of the true time the ledger is and each point of presence. */
const COMBINATIONS = [
  { ledger: 0, pops: [0, SECOND, -SECOND] },
  { ledger: 0, pops: [25 * SECOND, -25 * SECOND, 60 * SECOND] },
  { ledger: 0, pops: [-60 * SECOND, HOUR, -HOUR] },
  { ledger: HOUR, pops: [0, -25 * SECOND, -HOUR] },
  { ledger: -HOUR, pops: [SECOND, 60 * SECOND, HOUR] },
  { ledger: -25 * SECOND, pops: [-60 * SECOND, 25 * SECOND, -SECOND] },
];

/** `cost` is that of every request; `epochs`: how many are to be seen used up, at least. */
const WINDOWS = [
  { seconds: 7, limit: 12, cost: 1, epochs: 3 },
  { seconds: 45, limit: 20, cost: 1, epochs: 2 },
  { seconds: 60, limit: 50, cost: 3, epochs: 2 },
  { seconds: 90, limit: 100, cost: 5, epochs: 2 },
].map((window) => ({ ...window, windowMs: window.seconds * SECOND, slack: Math.floor(TOLERANCE * window.limit) }));

/** Windows of 45, 60 and 90 s begin together this often, and traffic begins so long before such a moment. */
const COMMON_MS = 180 * SECOND;
const LEAD_MS = 12 * SECOND;
const PAUSE_MS = 200;
/** On a machine that is too slow to use all up in that time there is another boundary of each. */
const DEADLINE_MS = 110 * SECOND;

const policy = ({ seconds, limit }, tolerance) => ({
  name: `${seconds}s-${tolerance}`,
  algorithm: 'fixed-window',
  scope: 'global',
  window: `${seconds}s`,
  limit,
  tolerance,
  identity: 'tenant',
  on_error: 'closed',
});

const QUOTA = 1_000;
const REQUESTS = 2_000;
/** So many of them come last, one by one: units that are out at a point of presence return within ten seconds. */
const LAST = 100;

/** The period ends in half a month by whatever clock. */
const monthly = {
  name: 'monthly',
  algorithm: 'calendar-quota',
  limit: QUOTA,
  period: { unit: 'month', time_zone: 'UTC', anchor_day: ((new Date().getUTCDate() + 13) % 28) + 1 },
  identity: 'tenant',
};

const limits = {
  tenant_header: 'x-tenant',
  time_limit: '20s',
  policies: [...WINDOWS.flatMap((window) => [policy(window, TOLERANCE), policy(window, 0)]), monthly],
  rules: [],
};

const hours = (ms) => (Math.abs(ms) >= HOUR ? `${ms / HOUR} h` : `${ms / SECOND} s`);
const titleOf = ({ ledger, pops }) => `ledger ${hours(ledger)}, points of presence ${pops.map(hours).join(', ')}`;

/** Starts the processes, with the ledger's clock shortly before windows of 45, 60 and 90 s begin. */
async function start(t, { ledger, pops: skews }) {
  const modules = naiveModules();
  const pops = await startPops(t, {
    limits,
    modules,
    ledger: { skewMs: ledger },
    pops: NAMES.map((name, at) => ({ name, skewMs: skews[at] })),
  });
  // All of them by the same: what they disagree by stays.
  const ahead = (LEAD_MS + Date.now() + ledger) % COMMON_MS;
  await Promise.all(pops.processes.map((one) => one.clock.step(COMMON_MS - ahead)));
  return pops;
}

/** What one window's limits admitted: by epoch of each tolerance, and of the naive limiters. */
class Seen {
  rough = new Epochs();
  exact = new Epochs();
  bucket = 0;
  alone = new Map();

  isEnough(epochs) {
    return [this.rough, this.exact].every((one) => one.used(NAMES.length).length >= epochs);
  }
}

/** One request after the other for all limits of one window at one point of presence, until `isDone()`. */
async function ask(pops, pop, window, seen, isDone) {
  const { seconds, limit, cost, windowMs } = window;
  while (!isDone()) {
    const [rough, exact, naive] = await Promise.all([
      pop.check(`${seconds}s-${TOLERANCE}`, 'acme', cost).catch(() => null),
      pop.check(`${seconds}s-0`, 'acme', cost).catch(() => null),
      askNaive(pop, { key: `${seconds}s`, cost, limit, windowMs }),
    ]);
    seen.rough.add(pop.name, cost, rough);
    seen.exact.add(pop.name, cost, exact);
    seen.bucket += naive.bucket ? cost : 0;
    const epoch = Math.floor((Date.now() + pops.ledger.clock.offset) / windowMs);
    seen.alone.set(epoch, (seen.alone.get(epoch) ?? 0) + (naive.alone ? cost : 0));
    if (!rough?.allowed && !exact?.allowed) await delay(PAUSE_MS);
  }
}

/** Sends traffic until every limit was used up often enough. Returns what was seen by window, and for how long it went on. */
async function traffic(pops) {
  const seen = WINDOWS.map(() => new Seen());
  const started = performance.now();
  const isDone = () => performance.now() - started > DEADLINE_MS || WINDOWS.every(({ epochs }, at) => seen[at].isEnough(epochs));
  await Promise.all(pops.all.flatMap((pop) => WINDOWS.map((window, at) => ask(pops, pop, window, seen[at], isDone))));
  return { seen, tookMs: performance.now() - started };
}

const shown = (epochs) => epochs.all.map(({ admitted }) => admitted).join(' ');

/** A limit of `limit` that may be passed by `slack` kept to that in every epoch, and was reached in those that were used up. */
function kept(epochs, { seconds, limit, cost, slack, epochs: least }) {
  for (const { epoch, admitted } of epochs.all) {
    assert.ok(admitted <= limit + slack, `${seconds} s: ${admitted} of ${limit} + ${slack} in epoch ${epoch}`);
  }
  const used = epochs.used(NAMES.length);
  assert.ok(used.length >= least, `${seconds} s: ${used.length} epochs were used up`);
  // Who is refused does not fit what is left, and nothing is taken but by a request that was let through or lost.
  for (const { epoch, admitted } of epochs.used()) {
    assert.ok(admitted + epochs.lost > limit - cost, `${seconds} s: refused after ${admitted} of ${limit} in epoch ${epoch}`);
  }
  assert.ok(epochs.lost <= (epochs.sent * cost) / 100, `${seconds} s: ${epochs.lost} units of ${epochs.sent} requests had no answer`);
}

const skip = skewUnavailable || (!isBuilt() && 'the worker is not built');

describe('the skew drill', { concurrency: 3, skip }, () => {
  for (const combination of COMBINATIONS) {
    test(titleOf(combination), async (t) => {
      const pops = await start(t, combination);
      const { seen, tookMs } = await traffic(pops);
      const { asks } = pops.network.totals();
      t.diagnostic(`${Math.round(tookMs / SECOND)} s of traffic, ${asks} messages; admitted by epoch:`);
      for (const [at, window] of WINDOWS.entries()) {
        const { rough, exact, bucket, alone } = seen[at];
        const mostAlone = Math.max(...alone.values());
        const bound = Math.ceil(window.limit + (window.limit * tookMs) / window.windowMs);
        t.diagnostic(
          `${String(window.seconds).padStart(2)} s, ${window.limit}: +${window.slack}: ${shown(rough)} | +0: ${shown(exact)} | ${rough.sent} sent | ` +
          `naive bucket ${bucket} where ${bound} may | each alone up to ${mostAlone} in an epoch`,
        );
      }
      for (const [at, window] of WINDOWS.entries()) {
        const { rough, exact, bucket, alone } = seen[at];
        kept(rough, window);
        kept(exact, { ...window, slack: 0 });
        // On the same traffic: more than a bucket may give in that time, and more than a window may by far.
        assert.ok(bucket > window.limit + (window.limit * tookMs) / window.windowMs, `the shared bucket kept to ${window.limit} per ${window.seconds} s`);
        assert.ok(Math.max(...alone.values()) > window.limit + window.slack, `each alone kept to ${window.limit} per ${window.seconds} s together`);
      }
    });
  }
});

/** How a quota's requests are spread: at which point of presence number `n` is made, and how many at once. */
const PATTERNS = {
  'all at one, then all at another': { at: (n) => (n < 700 ? 0 : 1), atOnce: 8 },
  'a moving client': { at: (n) => Math.floor(n / 45) % NAMES.length, atOnce: 1 },
  'bursts of parallel requests': { at: (n) => Math.floor(randomOf(Math.floor(n / 50))() * NAMES.length), atOnce: 50 },
};

const sum = (results, count) => results.reduce((total, result) => total + count(result), 0);

/** Sends all requests of a tenant; returns their results in order, null for one that had no answer. */
async function spend(pops, tenant, { at, atOnce }) {
  const results = [];
  const one = async () => {
    const n = results.push(null) - 1;
    results[n] = await pops.all[at(n)].check('monthly', tenant).catch(() => null);
  };
  while (results.length < REQUESTS - LAST) {
    await Promise.all(Array.from({ length: Math.min(atOnce, REQUESTS - LAST - results.length) }, one));
  }
  const admitted = () => sum(results, (result) => (result?.allowed ? 1 : 0));
  while (results.length < REQUESTS) {
    if (admitted() < QUOTA) await delay(PAUSE_MS);
    await one();
  }
  return results;
}

/** All of a tenant's units are used, by all accounts, and who comes now is told when there are more. */
async function isUsedUp(pops, tenant) {
  const usage = async () => (await pops.all[0].tenants.usage(tenant)).json();
  const { used, remaining } = await until(usage, ({ outstanding }) => outstanding === 0, { deadline: 40_000, every: 500, what: 'the return of all units' });
  assert.deepEqual({ used, remaining }, { used: QUOTA, remaining: 0 });
  const { granted, spent, returned, forfeited, outstanding, consistent } = (await pops.all[1].tenants.audit(tenant)).json();
  assert.deepEqual({ spent, forfeited, outstanding, consistent }, { spent: QUOTA, forfeited: 0, outstanding: 0, consistent: true });
  assert.equal(granted, spent + returned);
  for (const pop of pops.all) {
    const answer = await pop.fetch('/v1/check', { token: TOKEN, json: { limits: [{ policy: 'monthly', key: tenant }] } });
    const [{ refusal, retry_after_ms: wait, end_ms: end }] = answer.json().results;
    const seconds = Number(answer.headers.get('retry-after'));
    assert.deepEqual([answer.status, refusal], [429, 'limit'], pop.name);
    assert.ok(Math.abs(seconds - wait / SECOND) <= 1, `Retry-After says ${seconds} s, and the result ${wait} ms`);
    // The month is the ledger's, whatever the clock here says.
    const left = end - Date.now() - pops.ledger.clock.offset;
    assert.ok(Math.abs(left - wait) < 60 * SECOND, `${wait} ms are told, and ${left} ms are left`);
  }
}

describe('a monthly quota where clocks disagree', { concurrency: 2, skip }, () => {
  const combinations = [
    { ledger: 0, pops: [0, HOUR, -HOUR] },
    { ledger: HOUR, pops: [-HOUR, 25 * SECOND, 0] },
  ];
  for (const combination of combinations) {
    test(`${titleOf(combination)}: ${REQUESTS} requests, spread unevenly, get exactly ${QUOTA} units`, async (t) => {
      const { ledger, pops: skews } = combination;
      const pops = await startPops(t, { limits, ledger: { skewMs: ledger }, pops: NAMES.map((name, at) => ({ name, skewMs: skews[at] })) });
      await Promise.all(Object.entries(PATTERNS).map(async ([name, pattern]) => {
        const started = performance.now();
        const results = await spend(pops, name, pattern);
        const admitted = sum(results, (result) => (result?.allowed ? 1 : 0));
        const lost = sum(results, (result) => (result === null || result.refusal === 'unavailable' ? 1 : 0));
        const each = NAMES.map((pop) => pops.admissions.of('monthly', name).pops[pop]?.allowed ?? 0);
        t.diagnostic(`${name}: ${admitted} of ${results.length} requests in ${Math.round((performance.now() - started) / SECOND)} s, at each ${each.join(' ')}, no answer ${lost}`);
        assert.deepEqual({ admitted, lost }, { admitted: QUOTA, lost: 0 });
        assert.equal(results.length, REQUESTS);
        for (const result of results) {
          if (!result.allowed) assert.deepEqual([result.status, result.refusal, result.retry_after_ms > 0], [429, 'limit', true]);
        }
        await isUsedUp(pops, name);
      }));
    });
  }
});

/** A bucket that is filled in 100 s, as the naive one beside it. */
const BUCKET = { burst: 50, windowMs: 100 * SECOND };
const BUCKET_TRAFFIC_MS = 40 * SECOND;
/** What a bucket may have gained beyond what was measured: clocks are read a little before or after. */
const MARGIN_MS = SECOND;

describe('a token bucket where clocks disagree', { concurrency: 2, skip }, () => {
  for (const { ledger, pops: skews } of [{ ledger: 0, pops: [0, HOUR, -HOUR] }, { ledger: HOUR, pops: [-HOUR, 25 * SECOND, 0] }]) {
    test(`${titleOf({ ledger, pops: skews })}: no more than its burst and its refill by the true clock, and no less than its burst`, async (t) => {
      const { burst, windowMs } = BUCKET;
      const policies = [{ name: 'bucket', algorithm: 'token-bucket', scope: 'global', limit: burst, window: `${windowMs / SECOND}s`, identity: 'tenant', on_error: 'closed' }];
      const pops = await startPops(t, {
        limits: { ...limits, policies, rules: [] },
        modules: naiveModules(),
        ledger: { skewMs: ledger },
        pops: NAMES.map((name, at) => ({ name, skewMs: skews[at] })),
      });
      let naive = 0;
      const started = performance.now();
      const took = () => performance.now() - started;
      const lane = async (pop) => {
        while (took() < BUCKET_TRAFFIC_MS) {
          const [result, beside] = await Promise.all([pop.check('bucket', 'acme').catch(() => null), askNaive(pop, { key: 'bucket', limit: burst, windowMs })]);
          naive += beside.bucket ? 1 : 0;
          if (!result?.allowed) await delay(PAUSE_MS / 2);
        }
      };
      await Promise.all(pops.all.flatMap((pop) => [lane(pop), lane(pop)]));
      const elapsed = took();
      const { units, failed, unavailable, refused, pops: each } = pops.admissions.of('bucket', 'acme');
      const gained = (elapsed * burst) / windowMs;
      const most = burst + ((elapsed + MARGIN_MS) * burst) / windowMs;
      t.diagnostic(`${units} of ${Math.floor(most)} in ${Math.round(elapsed)} ms, at each ${NAMES.map((name) => each[name]?.units ?? 0).join(' ')}; ${refused} refused, ${failed + unavailable} without an answer; naive bucket ${naive}`);
      assert.ok(units <= most, `${units} of ${most}`);
      assert.ok(units >= burst + gained / 2, `${units}, of ${burst} and ${gained}`);
      assert.ok(refused > 0 && failed + unavailable <= (units + refused) / 100, `${failed + unavailable} had no answer`);
      assert.ok(naive > most, `the shared bucket admitted only ${naive}`);
    });
  }
});
