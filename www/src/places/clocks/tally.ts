// What a limiter did, and what of it true time had paid for.

import { exact, type Answer } from './naive';

export class Tally {
  asked = 0;
  admitted = 0;
  refusedByBucket = 0;
  refusedByQuota = 0;
  /** Requests that got an exception in place of a decision. */
  threw = 0;
  /** The time that it took to have passed, and the time that did, both up to its last request. */
  creditedMs = 0;
  trueMs = 0;
  /** Units let through that time had not paid for, not counting those that were missing before. */
  tooMany = 0;
  /** Units that time had paid for, and requests were refused for want of. */
  missing = 0;
  /** How often its quota began, and where it stands. */
  allowances = 0;
  slot = '';
  used = 0;
  /** Let through in each period that really was. */
  readonly inPeriod = new Map<string, number>();
  /** The level that its bucket should have: refilled by true time, drawn on by what it let through. */
  private due: number;
  /** Of what was missing, so much came later. */
  private late = 0;

  constructor(private readonly capacity: number, private readonly refillPerSecond: number) {
    this.due = capacity;
  }

  note(answer: Answer | null, trueMs: number, trueSlot: string): void {
    this.due = exact(Math.min(this.capacity, this.due + ((trueMs - this.trueMs) / 1_000) * this.refillPerSecond));
    this.trueMs = trueMs;
    this.asked += 1;
    if (!answer) {
      this.threw += 1;
      return;
    }
    this.creditedMs += answer.creditedMs;
    if (answer.slot !== this.slot) this.allowances += 1;
    this.slot = answer.slot;
    this.used = answer.used;
    if (answer.allowed) this.admit(trueSlot);
    else if (answer.refusal === 'quota') this.refusedByQuota += 1;
    else this.refuse(answer.level);
  }

  /** Let through in one true period beyond `limit`, over all of them. */
  overQuota(limit: number): number {
    let over = 0;
    for (const admitted of this.inPeriod.values()) over += Math.max(0, admitted - limit);
    return over;
  }

  private admit(trueSlot: string): void {
    this.admitted += 1;
    this.inPeriod.set(trueSlot, (this.inPeriod.get(trueSlot) ?? 0) + 1);
    const unpaid = Math.max(0, 1 - this.due);
    const late = Math.min(unpaid, this.missing - this.late);
    this.late = exact(this.late + late);
    this.tooMany = exact(this.tooMany + unpaid - late);
    this.due = Math.max(0, exact(this.due - 1));
  }

  private refuse(level: number): void {
    this.refusedByBucket += 1;
    if (this.due < 1) return;
    // What a bucket lacks is counted once, and a unit for a request at most.
    const lacking = Math.min(1, Math.max(0, exact(this.due - level)));
    this.missing = exact(this.missing + lacking);
    this.due = exact(this.due - lacking);
  }
}
