/** How long a period is. A rate below a day is a duration: that is what the bucket measures. */
export type Unit = 'day' | 'week' | 'month' | 'year';

/** Which periods, by whose calendar. */
export interface PeriodSpec {
  unit: Unit;
  /** An IANA name such as `Europe/Paris`, or `UTC`. Offsets such as `+05:30` are refused. */
  timeZone: string;
  /** 1 to 31, for months and years; a month that has no such day begins its period on its last one. Default 1. */
  anchorDay?: number | null;
  /** 1 (Monday) to 7 (Sunday), for weeks. Default 1. */
  anchorWeekday?: number | null;
  /** 1 to 12, for years. Default 1. */
  anchorMonth?: number | null;
  /** Local time of day, `HH:MM` or `HH:MM:SS`. Default `00:00`. */
  anchorTime?: string | null;
}

/**
 * How many instants show the local time that a boundary stands for: one; none, because the clocks jump over
 * it (the boundary is the instant the gap closes); or two, because they are set back over it (it is the first).
 */
export type BoundaryKind = 'exact' | 'gap' | 'repeat';

/** A stretch of a calendar, half-open, in whole milliseconds since 1970. */
export interface Period {
  /** Its name and identity: `2026-02-28` (day), the date of the first day (week), `2026-02`, `2026`. */
  slot: string;
  startMs: number;
  endMs: number;
  startKind: BoundaryKind;
  endKind: BoundaryKind;
}

/** Any object with these methods is a clock source. */
export interface ClockSource {
  /** Milliseconds that never go back, since whenever. */
  monotonicMs(): number;
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** Milliseconds that go on while the machine is suspended. Asked only when the other two disagree. */
  elapsedRealtimeMs?(): number;
}

/** The clocks of the host. */
export interface SystemClock extends ClockSource {
  /**
   * `single-clock` where the host's monotonic clock is its wall clock, as on Cloudflare Workers: then a step
   * back of the wall credits nothing while it lasts, and a step forward cannot be told from time.
   */
  readonly kind: 'two-clock' | 'single-clock';
}

/** The hands of a clock, in milliseconds. */
export interface ClockHands {
  monotonicMs: number;
  wallMs: number;
  /** Without it, the clock has no reader. */
  elapsedRealtimeMs?: number;
}

/** A clock source whose hands are moved by hand, for tests. */
export interface ManualClock extends ClockSource {
  /** Time goes by: moves all hands. */
  advance(ms: number): void;
  /** The wall clock is set, forward or back: moves the wall alone. */
  stepWall(ms: number): void;
  /** The machine sleeps: moves the wall and the suspend-inclusive hand. */
  suspend(ms: number): void;
  /** Sets any hands. */
  set(hands: Partial<ClockHands>): void;
}

/**
 * Who decides when the wall clock ran ahead and no reader can tell a suspend from a step: `ignore` credits
 * what the monotonic clock measured, `credit` what the wall clock moved by, `refuse` throws, once a jump.
 */
export type SuspendPolicy = 'ignore' | 'credit' | 'refuse';

/** By how much the two clocks may disagree before it is an event. */
export interface Tolerance {
  /** Default 250. */
  fixedMs?: number | null;
  /** Millionths of the monotonic time between two readings. Default 500. */
  ppm?: number | null;
}

export interface ClockTrackerOptions {
  suspendPolicy: SuspendPolicy;
  tolerance?: Tolerance | null;
  /** Wall readings before it are refused. Default 2020-01-01; `null` turns the check off. */
  earliestPlausibleWallMs?: number | null;
}

export type ClockAnomalyKind = 'wall-step-back' | 'wall-ahead' | 'suspend' | 'wall-step-forward';
export type AnomalyKind = ClockAnomalyKind | 'period-regression';

/** An event of a clock. */
export interface Anomaly<Kind extends AnomalyKind = AnomalyKind> {
  kind: Kind;
  /** A sentence for the person who reads the log. */
  detail: string;
  /** How long the machine was suspended, where that is known. */
  suspendedMs?: number;
  /** How far the wall clock was set, negative for back, where that is known. */
  steppedMs?: number;
}

export interface Observation {
  /** The time to credit since the reading before. */
  elapsedMs: number;
  anomalies: Anomaly<ClockAnomalyKind>[];
}

export interface QuotaSpec {
  /** Units in each period, a whole number. */
  limit: number;
  period: PeriodSpec;
}

export interface QuotaClockOptions extends ClockTrackerOptions {
  /** The most tokens the bucket holds, a whole number. */
  capacity: number;
  /** May be a fraction, or 0 for a bucket that never refills. */
  refillPerSecond: number;
  /** Default: a full bucket. */
  initialTokens?: number | null;
  quota?: QuotaSpec | null;
  clock: ClockSource;
  /** Called once for each anomaly, after the decision it belongs to has been made. */
  onAnomaly?: ((anomaly: Anomaly) => void) | null;
}

/** `cost-exceeds-*`: waiting does not help, the cost is more than is ever let through at once. */
export type Refusal = 'bucket' | 'quota' | 'cost-exceeds-capacity' | 'cost-exceeds-quota';

/** A measured duration, or a count-down to a calendar boundary, which moves when the wall clock is corrected. */
export type RetryAfterBasis = 'monotonic-refill' | 'wall-period';

export interface Decision {
  allowed: boolean;
  tokensRemaining: number;
  /** `null` without a quota. */
  quotaRemaining: number | null;
  /** `null` where the request was allowed, or where waiting does not help. */
  retryAfterMs: number | null;
  retryAfterBasis: RetryAfterBasis | null;
  refusal: Refusal | null;
  /** The period that the request counts in; `null` without a quota. */
  period: Period | null;
  /** Periods that went by unopened just before this one, at most 4. */
  skippedPeriods: number;
}

/**
 * What `QuotaClock.restore` goes on from: plain data that survives `JSON.stringify`, with the bucket to the
 * last fraction of a token, the open period and what is used of it, and the last readings.
 */
export interface QuotaClockSnapshot {
  readonly version: number;
  readonly bucket: { readonly tokens: number; readonly part: string; readonly parts: string };
  readonly quota: { readonly open: object | null; readonly used: number };
  readonly marks: { readonly monotonicMs: number; readonly wallMs: number } | null;
}

export type ErrorCode =
  | 'ambiguous-jump' | 'monotonic-regression' | 'implausible-wall' | 'reader-regression' | 'non-finite'
  | 'invalid-spec' | 'invalid-cost' | 'reentrant-call' | 'unsupported';

/** What is thrown. An exception of your own clock, reader or listener is passed on as it is. */
export interface SluicegateError extends Error {
  code: ErrorCode;
  /** With `invalid-spec`, the field that is wrong: `quota.period.anchorDay`. Empty for the whole value. */
  path?: string;
}

/** A token bucket on the monotonic clock and a calendar quota on the wall clock, in one decision. */
export class QuotaClock {
  /** Reads the clock once, so that the time from now on counts. */
  constructor(options: QuotaClockOptions);
  /** Goes on from a snapshot, under the same options or others. The time in between is not credited. */
  static restore(snapshot: QuotaClockSnapshot, options: QuotaClockOptions): QuotaClock;
  /** Takes `cost` (default 1) from the bucket and the quota, or from neither. */
  tryConsume(cost?: number): Decision;
  /** What `tryConsume(cost)` would say now. Takes nothing and opens no period. */
  peek(cost?: number): Decision;
  snapshot(): QuotaClockSnapshot;
  /** Gives its memory back now. Never needed: the garbage collector does it too. */
  free(): void;
}

/** The two-clock reconciliation alone: turns pairs of readings into the time that really passed. */
export class ClockTracker {
  constructor(options: ClockTrackerOptions);
  /** The first readings are the base and credit 0. The reader is asked when the two readings disagree. */
  observe(readings: { monotonicMs: number; wallMs: number }, readElapsedRealtimeMs?: (() => number) | null): Observation;
  /** Gives its memory back now. Never needed: the garbage collector does it too. */
  free(): void;
}

/** The period that an instant lies in. */
export function periodFor(spec: PeriodSpec, wallMs: number): Period;
/** `count` periods in a row (at most 10,000), from the one that an instant lies in. */
export function periods(spec: PeriodSpec, fromWallMs: number, count: number): Period[];
/** `performance.now()` and `Date.now()`. */
export function systemClock(): SystemClock;
/** A clock for tests. */
export function manualClock(hands: ClockHands): ManualClock;
/** A reader over `/proc/uptime`, for `elapsedRealtimeMs` of a clock source. Throws where there is none. */
export function procUptimeElapsedRealtime(): () => number;
