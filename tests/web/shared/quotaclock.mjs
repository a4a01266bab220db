// bug_quotaclock.jsonl: QuotaClock step by step.

import { check, NOT_IN_JSON, refused, runAll, same, thrownBy } from './report.mjs';

/** A value of the corpus as JavaScript has it. */
function value(written) {
  if (typeof written !== 'string') return written;
  if (written.startsWith('str:')) return written.slice(4);
  return written in NOT_IN_JSON ? NOT_IN_JSON[written] : written;
}

const values = (options) => Object.fromEntries(Object.entries(options).map(([name, written]) => [name, value(written)]));

function merged(options, change) {
  const all = { ...options };
  for (const [name, part] of Object.entries(change ?? {})) {
    all[name] = typeof part === 'object' && part !== null && name !== 'period' ? merged(all[name], part) : part;
  }
  return all;
}

function compare(found, wanted, path) {
  if (typeof wanted === 'object' && wanted !== null && ('min' in wanted || 'max' in wanted)) {
    const { min = -Infinity, max = Infinity } = wanted;
    check(found >= min && found <= max, `${path} is ${found}, should be from ${min} to ${max}`);
  } else if (typeof wanted === 'object' && wanted !== null) {
    for (const [name, part] of Object.entries(wanted)) compare(found?.[name], part, `${path}.${name}`);
  } else {
    same(path, found, wanted);
  }
}

function checkAnomalies(kinds, { includes = [], none = false } = {}) {
  for (const kind of includes) check(kinds.includes(kind), `${kind} is not reported, but [${kinds}]`);
  check(!none || kinds.length === 0, `[${kinds}] are reported`);
}

/** One case: a limiter, its clock, and what it has said so far. */
class Play {
  constructor(api, { options, clock }) {
    this.api = api;
    this.options = options;
    this.clock = api.manualClock(clock);
    this.kinds = [];
    this.snapshots = {};
    if (options !== null) this.limiter = new api.QuotaClock(this.all(options));
  }

  all(options) {
    return { ...values(options), clock: this.clock, onAnomaly: ({ kind }) => this.kinds.push(kind) };
  }

  restore({ from, clock, options_change: change }) {
    this.clock = this.api.manualClock(clock);
    this.options = merged(this.options, change);
    // As it comes back from a disk.
    const snapshot = JSON.parse(JSON.stringify(this.snapshots[from]));
    this.limiter = this.api.QuotaClock.restore(snapshot, this.all(this.options));
  }

  /** Does one step; gives the decision, where it makes one. */
  act(step) {
    switch (step.do) {
      case 'tryConsume': return this.limiter.tryConsume(value(step.cost));
      case 'peek': return this.limiter.peek();
      case 'construct': return new this.api.QuotaClock(this.all(step.options));
      case 'snapshot': this.snapshots[step.as] = this.limiter.snapshot(); return undefined;
      case 'restore': return this.restore(step);
      case 'set': return this.clock.set(step.hands);
      case 'advance': case 'stepWall': case 'suspend': return this.clock[step.do](step.ms);
      default: throw new Error(`there is no step ${step.do}`);
    }
  }

  step(step, here) {
    this.kinds.length = 0;
    if (step.throws) {
      if (step.throws.any) thrownBy(() => this.act(step));
      else refused(() => this.act(step), step.throws.code, step.throws.path_ends_with);
      checkAnomalies(this.kinds, step.anomalies);
      return;
    }
    const decision = this.act(step);
    const { anomalies, ...wanted } = step.expect ?? {};
    compare(decision, wanted, here);
    checkAnomalies(this.kinds, anomalies ?? step.anomalies);
  }

  steps(steps, before = '') {
    for (const [at, step] of steps.entries()) {
      const times = step.do === 'repeat' ? step.times : 1;
      for (let time = 0; time < times; time += 1) {
        if (step.do === 'repeat') this.steps(step.steps, `${before}${at}.`);
        else this.#within(step, `${before}${at} ${step.do}`);
      }
    }
  }

  #within(step, here) {
    try {
      this.step(step, here);
    } catch (error) {
      throw error.message.startsWith(here) ? error : new Error(`${here}: ${error.message}`);
    }
  }
}

export function bugQuotaclock(api, cases) {
  return runAll('bug_quotaclock', cases, (one) => {
    let play;
    try {
      play = new Play(api, one);
    } catch (error) {
      if (one.constructor_may_throw && error.code === one.constructor_may_throw) return;
      throw error;
    }
    play.steps(one.steps);
  });
}
