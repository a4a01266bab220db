// Counts what points of presence let through.

const EMPTY = { allowed: 0, units: 0, refused: 0, unavailable: 0, failed: 0 };

export class Admissions {
  #counts = new Map();

  /** Counts one result of a check; null: there was no answer. */
  add(pop, policy, key, cost, result) {
    const name = JSON.stringify([policy, key]);
    const pops = this.#counts.get(name) ?? {};
    this.#counts.set(name, pops);
    const counts = (pops[pop] ??= { ...EMPTY });
    if (result === null) counts.failed += 1;
    else if (result.allowed) {
      counts.allowed += 1;
      counts.units += cost;
    } else if (result.refusal === 'unavailable') counts.unavailable += 1;
    else counts.refused += 1;
  }

  /** {allowed, units, refused, unavailable, failed} over all points of presence, and `pops` with those of each. */
  of(policy, key) {
    const pops = this.#counts.get(JSON.stringify([policy, key])) ?? {};
    const sum = { ...EMPTY };
    for (const counts of Object.values(pops)) for (const field of Object.keys(sum)) sum[field] += counts[field];
    return { ...sum, pops };
  }

  reset() {
    this.#counts.clear();
  }
}
