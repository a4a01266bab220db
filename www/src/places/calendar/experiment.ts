// A real QuotaClock on hands that can be moved, just after a reset, and two naive quotas on the same readings.

import type { Anomaly, ManualClock, PeriodSpec, QuotaClock } from '../../engine';
import type { Core } from './chart';

export const LIMIT = 10_000;
/** Of the new period, when the experiment begins; and of the old one, when it ended. */
export const USED = 4_000;
export const USED_BEFORE = 8_000;
/** How long after the reset it begins, and how far the clock is set back. */
export const AFTER_MS = 5 * 60_000;
export const STEP_MS = 10 * 60_000;
/** One request's cost, and the time between two. */
const PIECE = 500;
const GAP_MS = 100;

/** `one`: a single count, begun anew when the period is another. `each`: a count for each period. */
export type NaiveKind = 'one' | 'each';
export type Counter = 'exact' | NaiveKind;

export interface Standing {
  /** The period that a request would count in now. */
  slot: string;
  used: number;
  /** Units let through since the reset. */
  admitted: number;
}

export type Act = 'begin' | 'back' | 'forward' | 'ask';

export interface Entry {
  act: Act;
  wallMs: number;
  standings: Record<Counter, Standing>;
  /** What this act let through. */
  gained: Record<Counter, number>;
  /** What QuotaClock reported, once for each kind, with how often. */
  anomalies: { anomaly: Anomaly; times: number }[];
}

export class Experiment {
  readonly log: Entry[] = [];
  readonly #clock: ManualClock;
  readonly #limiter: QuotaClock;
  readonly #counts: Map<string, number>;
  #one: { slot: string; used: number };
  #reported: Anomaly[] = [];
  #admitted: Record<Counter, number> = { exact: USED, one: USED, each: USED };

  constructor(
    readonly core: Core,
    readonly spec: PeriodSpec,
    readonly resetMs: number,
  ) {
    this.#clock = core.manualClock({ monotonicMs: 0, wallMs: resetMs + AFTER_MS });
    this.#limiter = new core.QuotaClock({
      // The bucket is not what this is about: it always has enough.
      capacity: 1_000_000_000,
      refillPerSecond: 0,
      suspendPolicy: 'ignore',
      quota: { limit: LIMIT, period: spec },
      clock: this.#clock,
      // A reset of the year 2011 is as good as any other here.
      earliestPlausibleWallMs: null,
      onAnomaly: (anomaly) => this.#reported.push(anomaly),
    });
    this.#limiter.tryConsume(USED);
    const slot = this.#slot();
    const before = core.periodFor(spec, resetMs - 1).slot;
    this.#one = { slot, used: USED };
    this.#counts = new Map([[before, USED_BEFORE], [slot, USED]]);
    this.#note('begin', { ...this.#admitted });
  }

  get isBack(): boolean {
    return this.#clock.wallMs() < this.resetMs;
  }

  /** The wall clock is set back over the reset, or forward again. */
  step(): void {
    const act = this.isBack ? 'forward' : 'back';
    const before = { ...this.#admitted };
    this.#clock.stepWall(act === 'back' ? -STEP_MS : STEP_MS);
    this.#note(act, before);
  }

  /** The tenant asks for a whole limit, in pieces; each counter lets through what it thinks is left. */
  ask(): void {
    const before = { ...this.#admitted };
    for (let asked = 0; asked < LIMIT; asked += PIECE) {
      this.#clock.advance(GAP_MS);
      if (this.#limiter.tryConsume(PIECE).allowed) this.#admitted.exact += PIECE;
      if (this.#askOne()) this.#admitted.one += PIECE;
      if (this.#askEach()) this.#admitted.each += PIECE;
    }
    this.#note('ask', before);
  }

  free(): void {
    this.#limiter.free();
  }

  /** The period by the naive quotas' own reading of the clock. */
  #slot(): string {
    return this.core.periodFor(this.spec, this.#clock.wallMs()).slot;
  }

  #askOne(): boolean {
    const slot = this.#slot();
    if (this.#one.slot !== slot) this.#one = { slot, used: 0 };
    if (this.#one.used + PIECE > LIMIT) return false;
    this.#one.used += PIECE;
    return true;
  }

  #askEach(): boolean {
    const slot = this.#slot();
    const used = this.#counts.get(slot) ?? 0;
    if (used + PIECE > LIMIT) return false;
    this.#counts.set(slot, used + PIECE);
    return true;
  }

  #note(act: Act, before: Record<Counter, number>): void {
    // Looking reports too: what it says of a step that was just made, but not what the requests were told already.
    const told = this.#reported.splice(0);
    const seen = this.#limiter.peek(0);
    const looked = this.#reported.splice(0);
    const slot = this.#slot();
    const { exact, one, each } = this.#admitted;
    const anomalies = new Map<string, { anomaly: Anomaly; times: number }>();
    for (const anomaly of act === 'ask' ? told : looked) {
      anomalies.set(anomaly.kind, { anomaly, times: (anomalies.get(anomaly.kind)?.times ?? 0) + 1 });
    }
    this.log.push({
      act,
      wallMs: this.#clock.wallMs(),
      standings: {
        exact: { slot: seen.period?.slot ?? '', used: LIMIT - (seen.quotaRemaining ?? 0), admitted: exact },
        one: { slot, used: this.#one.slot === slot ? this.#one.used : 0, admitted: one },
        each: { slot, used: this.#counts.get(slot) ?? 0, admitted: each },
      },
      gained: { exact: exact - before.exact, one: one - before.one, each: each - before.each },
      anomalies: [...anomalies.values()],
    });
  }
}

/** Back, ask, forward, ask, back, ask: what a clock that hesitates at a reset does. */
export function story(experiment: Experiment): void {
  if (experiment.isBack) experiment.step();
  for (let times = 0; times < 3; times++) {
    experiment.step();
    experiment.ask();
  }
}
