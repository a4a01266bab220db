// Counts what points of presence let through.

const EMPTY = { allowed: 0, units: 0, refused: 0, unavailable: 0, failed: 0 };

export class Admissions {
  #counts = new Map();

  /** Counts one result of a check; null: there was no answer. */
  add(pop, policy, key, cost, result) {
    const name = JSON.stringify([policy, key]);
    const { pops, epochs } = this.#counts.get(name) ?? { pops: {}, epochs: {} };
    this.#counts.set(name, { pops, epochs });
    const counts = (pops[pop] ??= { ...EMPTY });
    if (result === null) counts.failed += 1;
    else if (result.allowed) {
      counts.allowed += 1;
      counts.units += cost;
      const { epoch = null } = result;
      if (epoch !== null) epochs[epoch] = (epochs[epoch] ?? 0) + cost;
    } else if (result.refusal === 'unavailable') counts.unavailable += 1;
    else counts.refused += 1;
  }

  /**
   * {allowed, units, refused, unavailable, failed} over all points of presence, `pops` with those of each, and
   * `epochs` with the units let through in each window that has been told: what a limit bounds.
   */
  of(policy, key) {
    const { pops, epochs } = this.#counts.get(JSON.stringify([policy, key])) ?? { pops: {}, epochs: {} };
    const sum = { ...EMPTY };
    for (const counts of Object.values(pops)) for (const field of Object.keys(sum)) sum[field] += counts[field];
    return { ...sum, pops, epochs };
  }

  reset() {
    this.#counts.clear();
  }
}
