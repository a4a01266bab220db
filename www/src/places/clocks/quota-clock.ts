// sluicegate's QuotaClock on the manual clock, and what it told.

import type { Anomaly, ClockTracker, Decision, ManualClock, QuotaClock, QuotaClockOptions } from 'sluicegate-wasm';
import { exact, type Answer } from './naive';
import type { Options } from './options';

/** What of the package is used here: handed in, so that this runs wherever the package does. */
export interface Engine {
  QuotaClock: new (options: QuotaClockOptions) => QuotaClock;
  ClockTracker: typeof ClockTracker;
  manualClock: typeof import('sluicegate-wasm').manualClock;
  periodFor: typeof import('sluicegate-wasm').periodFor;
}

/** What was thrown in place of a decision. */
export interface Fault {
  code: string;
  message: string;
  /** The time that had really passed. */
  atMs: number;
}

export interface Logged extends Anomaly {
  /** The time that had really passed, and what the wall showed. */
  atMs: number;
  wallMs: number;
  /** How often it was told in a row. */
  times: number;
}

/** The log keeps so many entries. */
const LONGEST_LOG = 100;

export const quotaClockOptions = (options: Options): Omit<QuotaClockOptions, 'clock'> => ({
  capacity: options.capacity,
  refillPerSecond: options.refillPerSecond,
  suspendPolicy: options.policy,
  tolerance: { fixedMs: options.toleranceMs },
  quota: { limit: options.quotaLimit, period: { unit: options.unit, timeZone: options.zone } },
});

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'error');

export class Exact {
  /** Newest first. */
  readonly log: Logged[] = [];
  /** Of each kind, how many. */
  readonly told: Record<string, number> = {};
  /** On the last request; none where it threw. */
  decision: Decision | null = null;
  /** The last exception, however long ago. */
  fault: Fault | null = null;
  private readonly limiter: QuotaClock;
  /** The same tracker on the same readings: a decision does not say how much time it credited. */
  private readonly tracker: ClockTracker;
  private atMs = 0;

  constructor(engine: Engine, private readonly options: Options, private readonly clock: ManualClock) {
    this.limiter = new engine.QuotaClock({ ...quotaClockOptions(options), clock, onAnomaly: (anomaly) => this.note(anomaly) });
    this.tracker = new engine.ClockTracker({ suspendPolicy: options.policy, tolerance: { fixedMs: options.toleranceMs } });
    this.credit();
  }

  /** Nothing where it threw. */
  ask(trueMs: number): Answer | null {
    this.atMs = trueMs;
    let decision: Decision;
    try {
      decision = this.limiter.tryConsume();
    } catch (error) {
      this.decision = null;
      this.fault = { code: codeOf(error), message: error instanceof Error ? error.message : String(error), atMs: trueMs };
      this.credit();
      return null;
    }
    this.decision = decision;
    const refusal = decision.allowed ? null : decision.refusal === 'bucket' ? 'bucket' : 'quota';
    return {
      allowed: decision.allowed,
      refusal,
      creditedMs: this.credit(),
      // Where it was allowed there was one at least, and how many matters to nobody.
      level: refusal === 'bucket' ? this.stored().tokens : decision.tokensRemaining + 1,
      slot: decision.period?.slot ?? '',
      used: this.options.quotaLimit - (decision.quotaRemaining ?? 0),
    };
  }

  /** Tokens as of the last request, and what the monotonic clock has measured since. Asks nothing, so it changes nothing. */
  level(): number {
    const { tokens, atMs } = this.stored();
    return exact(Math.min(this.options.capacity, tokens + ((this.clock.monotonicMs() - atMs) / 1_000) * this.options.refillPerSecond));
  }

  free(): void {
    this.limiter.free();
    this.tracker.free();
  }

  private stored(): { tokens: number; atMs: number } {
    const { bucket, marks } = this.limiter.snapshot();
    return { tokens: bucket.tokens + Number(bucket.part) / Number(bucket.parts), atMs: marks?.monotonicMs ?? 0 };
  }

  private credit(): number {
    try {
      const { clock } = this;
      return this.tracker.observe({ monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }, clock.elapsedRealtimeMs).elapsedMs;
    } catch {
      return 0;
    }
  }

  private note(anomaly: Anomaly): void {
    this.told[anomaly.kind] = (this.told[anomaly.kind] ?? 0) + 1;
    const newest = this.log[0];
    const seen = { ...anomaly, atMs: this.atMs, wallMs: this.clock.wallMs() };
    // A held period is told with each request: one line is enough.
    if (newest?.kind === 'period-regression' && anomaly.kind === newest.kind) this.log[0] = { ...seen, times: newest.times + 1 };
    else this.log.unshift({ ...seen, times: 1 });
    this.log.length = Math.min(this.log.length, LONGEST_LOG);
  }
}
