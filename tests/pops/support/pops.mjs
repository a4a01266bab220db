// Many points of presence and one ledger, each a workerd of its own with a clock of its own, and between them a
// network that can fail.

import { builtModules, compatibility, skewUnavailable, TOKEN } from '../../worker/harness.mjs';
import { Server } from '../../worker/support/server.mjs';
import { Admissions } from './admissions.mjs';
import { Network, URL_HEADER } from './network.mjs';
import { tenants } from './tenants.mjs';
import { popModules, routerModules } from './wiring.mjs';

export class Pop extends Server {
  #admissions;

  constructor({ name, link, admissions, ...options }) {
    super(options);
    this.name = name;
    /** Its way to the ledger, with the faults on it. */
    this.link = link;
    this.#admissions = admissions;
    this.tenants = tenants(this);
  }

  /** Asks POST /v1/check for one limit. The result has {status, allowed, refusal, remaining, ...}; it is counted. */
  async check(policy, key, cost = 1, { peek, ...options } = {}) {
    let answer;
    try {
      answer = await this.fetch('/v1/check', { token: TOKEN, json: { limits: [{ policy, key, cost }], peek }, ...options });
    } catch (error) {
      this.#admissions.add(this.name, policy, key, cost, null);
      throw error;
    }
    const [result] = answer.json().results ?? [];
    if (!result) throw new Error(`${this.name}: check answered ${answer.status}: ${answer.text()}`);
    if (!peek) this.#admissions.add(this.name, policy, key, cost, result);
    return { status: answer.status, ...result };
  }

  /** GET /v1/pop. */
  async report() {
    return (await this.fetch('/v1/pop', { token: TOKEN })).json();
  }
}

class LedgerProcess extends Server {
  /** GET of a Ledger object by its name, such as "shard/0": past the network and its faults. */
  async ask(name, url = 'https://ledger/report') {
    return this.fetch(`/${encodeURIComponent(name)}`, { worker: 'router', headers: { [URL_HEADER]: url } });
  }
}

/** The clock stands at `ms` ahead of the true time, where clocks can be moved. */
function skewOf(ms = 0) {
  if (skewUnavailable && ms !== 0) throw new Error(skewUnavailable);
  return skewUnavailable ? false : ms;
}

const worker = (modules, objects, { limits, vars = {} }) => ({
  modules,
  objects,
  bindings: { SLUICEGATE_TOKEN: TOKEN, LIMITS: { json: limits }, ...vars },
  compatibility: compatibility(),
});

function ledgerProcess({ skewMs, modules, limits, vars }) {
  const objects = { POP_COUNTER: 'PopCounter', LEDGER: 'Ledger' };
  const sluicegate = worker(modules, objects, { limits, vars: { ...vars, POP_NAME: 'LEDGER' } });
  const router = { modules: routerModules(), bindings: { LEDGER: { namespace: 'Ledger', script: 'sluicegate' } }, compatibility: compatibility() };
  return new LedgerProcess({ workers: { sluicegate, router }, skew: skewOf(skewMs) });
}

export class Pops {
  admissions = new Admissions();
  #pops = new Map();
  #options;

  constructor({ pops, limits, ledger = {}, network = {}, modules = builtModules() }) {
    const { seed = 1, record, ...faults } = network;
    this.#options = { pops, limits, modules, faults };
    this.ledger = ledgerProcess({ limits, modules, ...ledger });
    this.network = new Network({ ledgerPort: () => this.ledger.port('router'), seed, record });
  }

  async start() {
    await this.network.start();
    for (const one of this.#options.pops) this.#add(one);
    await Promise.all(this.processes.map((one) => one.start()));
    return this;
  }

  /** A point of presence that joins later. */
  async join(one) {
    return this.#add(one).start();
  }

  #add(one) {
    const { limits, modules, faults } = this.#options;
    const { name, skewMs, ...own } = typeof one === 'string' ? { name: one } : one;
    const vars = { ...own.vars, POP_NAME: name, POPS_NETWORK: this.network.url };
    const its = worker(popModules(own.modules ?? modules), { POP_COUNTER: 'PopCounter' }, { limits, ...own, vars });
    const link = this.network.link(name);
    link.set(faults);
    const pop = new Pop({ name, link, admissions: this.admissions, workers: { sluicegate: its }, skew: skewOf(skewMs) });
    this.#pops.set(name, pop);
    return pop;
  }

  /** All points of presence. */
  get all() {
    return [...this.#pops.values()];
  }

  get processes() {
    return [this.ledger, ...this.all];
  }

  pop(name) {
    const pop = this.#pops.get(name);
    if (!pop) throw new Error(`there is no ${name}, but ${[...this.#pops.keys()].join(', ')}`);
    return pop;
  }

  /**
   * Sends `times` checks, `concurrency` at once, to `pops` in turn. Returns what was let through of them, as
   * `Admissions.of` does. A check that gets no answer counts as failed.
   */
  async flood(policy, key, { times, cost = 1, concurrency = 8, pops = this.all, ...options }) {
    const own = new Admissions();
    let next = 0;
    const lane = async () => {
      while (next < times) {
        const pop = pops[next % pops.length];
        next += 1;
        const result = await pop.check(policy, key, cost, options).catch((error) => {
          if (/check answered/.test(error.message)) throw error;
          return null;
        });
        own.add(pop.name, policy, key, cost, result);
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, times) }, lane));
    return own.of(policy, key);
  }

  /** Waits until every object that nothing asks has left memory, in all processes. */
  evict() {
    return this.ledger.evict();
  }

  async close() {
    await Promise.all(this.processes.map((one) => one.close()));
    await this.network.close();
  }
}

/**
 * Starts a ledger and points of presence, and ends them with the test.
 *
 * - `pops`: names, or {name, skewMs, limits, vars, modules}
 * - `limits`: the value of LIMITS, for all of them unless they have their own
 * - `ledger`: {skewMs, limits, vars, modules}
 * - `network`: the faults of all links at first (see link.mjs), `seed` for what chance decides, and `record: true`
 *   to keep every message in `pops.network.messages`
 * - `modules`: another worker than the one that was built
 *
 * Each of `pops.all` and `pops.ledger` is a process with a disk of its own: kill9(), stop(), start(), restart(),
 * and `clock.set(ms)` or `clock.step(ms)` while it runs.
 */
export async function startPops(t, options) {
  const pops = new Pops(options);
  t?.after(async () => {
    if (t.error) {
      for (const one of pops.processes) t.diagnostic(`the log of ${one.name ?? 'LEDGER'} says:\n${one.log.tail()}`);
      t.diagnostic(`the network has counted ${JSON.stringify(pops.network.totals())}`);
    }
    await pops.close();
  });
  try {
    return await pops.start();
  } catch (error) {
    if (!t) await pops.close();
    throw error;
  }
}
