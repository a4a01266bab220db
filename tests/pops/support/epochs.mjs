// What was let through of one limit, in units, and the requests that were refused, by epoch.

const NOTHING = { admitted: 0, refused: 0 };

export class Epochs {
  /** Units of requests that were neither: the ledger or the point of presence did not answer in time. */
  lost = 0;
  sent = 0;
  #epochs = new Map();

  /** Counts one result of a check; null: there was no answer. */
  add(pop, cost, result) {
    this.sent += 1;
    const { epoch, allowed, refusal, decided_by: by } = result ?? { refusal: 'unavailable' };
    if (refusal === 'unavailable' || by === 'on-error') {
      this.lost += cost;
      return;
    }
    if (!Number.isSafeInteger(epoch)) throw new Error(`${pop} names no epoch, but ${epoch}`);
    const counts = this.#epochs.get(epoch) ?? { epoch, ...NOTHING, pops: {} };
    this.#epochs.set(epoch, counts);
    const own = (counts.pops[pop] ??= { ...NOTHING });
    for (const one of [counts, own]) {
      if (allowed) one.admitted += cost;
      else one.refused += 1;
    }
  }

  /** {epoch, admitted, refused, pops}, the first epoch first. */
  get all() {
    return [...this.#epochs.values()].sort((one, other) => one.epoch - other.epoch);
  }

  /** The epochs in which at least `pops` points of presence have refused: no unit was left then. */
  used(pops = 1) {
    return this.all.filter((one) => Object.values(one.pops).filter(({ refused }) => refused > 0).length >= pops);
  }
}
