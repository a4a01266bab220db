// The limiters that one writes first, each on one clock, and one on a clock that does not exist.

import type { Options } from './options';

/** What a limiter said to one request, and what it did before. */
export interface Answer {
  allowed: boolean;
  refusal: 'bucket' | 'quota' | null;
  /** The time that it took to have passed since the request before. */
  creditedMs: number;
  /** Tokens after the refill, before the request took one. */
  level: number;
  /** The period that the request counts in, and what is used of it with this request. */
  slot: string;
  used: number;
}

type Sizes = Pick<Options, 'capacity' | 'refillPerSecond' | 'quotaLimit'>;

/** The name of the period that a wall reading lies in. */
export type SlotOf = (wallMs: number) => string;

abstract class Naive {
  protected tokens: number;
  protected slot = '';
  protected used = 0;

  constructor(protected readonly sizes: Sizes, protected last: number) {
    this.tokens = sizes.capacity;
  }

  protected refilled(elapsedMs: number): number {
    return Math.min(this.sizes.capacity, this.tokens + (elapsedMs / 1_000) * this.sizes.refillPerSecond);
  }

  protected open(slot: string): void {
    if (slot === this.slot) return;
    this.slot = slot;
    this.used = 0;
  }

  /** Takes one unit from both or from neither. */
  protected take(creditedMs: number): Answer {
    const level = this.tokens;
    const refusal = this.used >= this.sizes.quotaLimit ? 'quota' : level < 1 ? 'bucket' : null;
    if (!refusal) {
      this.tokens -= 1;
      this.used += 1;
    }
    return { allowed: !refusal, refusal, creditedMs, level, slot: this.slot, used: this.used };
  }
}

/** All from `Date.now()`. */
export class WallLimiter extends Naive {
  constructor(sizes: Sizes, private readonly mark: Options['mark'], private readonly slotOf: SlotOf, wallMs: number) {
    super(sizes, wallMs);
  }

  ask(now: number): Answer {
    const elapsed = Math.max(0, now - this.last);
    this.tokens = this.refilled(elapsed);
    this.last = this.mark === 'now' ? now : Math.max(this.last, now);
    this.open(this.slotOf(now));
    return this.take(elapsed);
  }

  /** Tokens that a request would find. */
  level(now: number): number {
    return this.refilled(Math.max(0, now - this.last));
  }

  /** How far the wall has to go until this bucket refills again. */
  standsStillMs(now: number): number {
    return Math.max(0, this.last - now);
  }
}

const DAY_MS = 86_400_000;

/** All from `performance.now()`: a month is thirty days since the start, for want of a calendar. */
export class MonotonicLimiter extends Naive {
  private begun = 0;
  private readonly periodMs: number;

  constructor(sizes: Sizes, unit: Options['unit']) {
    super(sizes, 0);
    this.periodMs = unit === 'day' ? DAY_MS : 30 * DAY_MS;
  }

  ask(now: number): Answer {
    const elapsed = now - this.last;
    this.tokens = this.refilled(elapsed);
    this.last = now;
    if (now - this.begun >= this.periodMs) this.begun += this.periodMs;
    this.open(`from ${this.begun}`);
    return this.take(elapsed);
  }

  level(now: number): number {
    return this.refilled(now - this.last);
  }
}

/** A bucket on the time that really passed and a quota by the true date: what the others are measured by. */
export class PerfectLimiter extends Naive {
  constructor(sizes: Sizes, private readonly slotOf: SlotOf, private readonly startMs: number) {
    super(sizes, 0);
  }

  protected override refilled(elapsedMs: number): number {
    return exact(super.refilled(elapsedMs));
  }

  ask(trueMs: number): Answer {
    const elapsed = trueMs - this.last;
    this.tokens = this.refilled(elapsed);
    this.last = trueMs;
    this.open(this.slotOf(this.startMs + trueMs));
    return this.take(elapsed);
  }

  level(trueMs: number): number {
    return this.refilled(trueMs - this.last);
  }
}

/** Rates are tenths and times whole milliseconds, so levels are ten-thousandths: rounding takes away only what binary fractions added. */
export const exact = (tokens: number): number => Math.round(tokens * 1e6) / 1e6;
