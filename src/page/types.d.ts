/** A machine's wall clock at the start. */
export interface ClockSpec {
  /** Milliseconds ahead of true time. */
  offset_ms: number;
  /** Millionths by which it is fast. */
  drift_ppm?: number;
}

/** How requests follow each other. */
export type Pace =
  | { steady: { gap_us: number } }
  | { random: { gap_us: number } }
  | { bursts: { every_ms: number; first_ms: number; requests: number; spread_ms: number } };

/** Where requests come in. */
export type Place = 'anywhere' | { pop: number } | { moving: { stay_ms: number } };

/** Requests of one kind, from one true time to another. */
export interface Stream {
  from_ms: number;
  until_ms: number;
  pace: Pace;
  place: Place;
}

export interface NetworkSpec {
  /** One way, at least. */
  latency_ms: number;
  /** At random on top, up to. */
  jitter_ms: number;
  /** Of a million messages, so many are lost. */
  loss_ppm: number;
}

/** One limit over many points of presence, and what comes in. The same spec gives the same run, everywhere. */
export interface WorldSpec {
  seed: number;
  /** What a right clock reads at the start, in milliseconds since 1970. */
  starts_at_ms: number;
  limit: number;
  /** A window of so many milliseconds, or a calendar period in UTC. */
  counts: { window_ms: number } | { period: 'day' | 'month' };
  /** Of the tolerant limit; the exact one has 0. Not used by a period. */
  tolerance_ppm: number;
  on_error: 'open' | 'closed' | 'local';
  pops: ClockSpec[];
  ledger: ClockSpec;
  network: NetworkSpec;
  traffic: Stream[];
  /** How often a sample is taken, in true time. */
  sample_ms: number;
}

export type Machine = { pop: number } | { ledger: number };

/** Something that goes wrong. */
export type Fault =
  | { step: { machine: Machine; ms: number } }
  | { freeze: { machine: Machine; for_ms: number } }
  | { 'cut-off': { machine: Machine; for_ms: number } }
  | { crash: { machine: Machine } }
  | { split: { machine: Machine; for_ms: number } };

/**
 * `shared`: one state that all machines write with their own time (a bucket's stamp; of a quota, the period).
 * `alone`: each point of presence has the whole limit. `tolerant` and `exact` are sluicegate's; a quota has no
 * `tolerant`.
 */
export type SeriesName = 'shared' | 'alone' | 'tolerant' | 'exact';

/** What one way of counting did so far. Epochs are those of the owner of the limit. */
export interface Series {
  name: SeriesName;
  /** The most it promises in one epoch; `null` where it promises nothing. */
  ceiling: number | null;
  /** Units let through in the epoch (or serial) that is open now. */
  in_epoch: number;
  /** The most in one epoch. */
  worst_epoch: number;
  /** The most in any interval of true time as long as the window; 0 for a quota. */
  worst_window: number;
  decisions: number;
  admitted: number;
  refused: number;
  /** Refused although it would have fitted what was left then. */
  early: number;
  early_for_good: number;
  unavailable: number;
  by_on_error: number;
  waited: number;
  waited_ms: number;
  longest_wait_ms: number;
  epochs: number;
}

/** What a point of presence holds of a limit. */
export interface Held {
  /** The epoch or serial that it counts in; `null` before it was told one. */
  epoch: number | null;
  /** The most it may have taken (of a quota: units in hand and spent of its leases). */
  cap: number;
  /** What it has taken, less what was given back. */
  taken: number;
  /** Whether it knows that the limit is used up. */
  full: boolean;
  /** Requests that wait for the Ledger. */
  waiting: number;
  /** Asks under way. */
  asking: boolean;
  /** True while the Ledger counts as out of reach. */
  out_of_reach: boolean;
}

/** A machine, and the object on it. */
export interface MachineFrame {
  wall_ms: number;
  ahead_ms: number;
  /** The wall clock itself stands still. */
  clock_frozen: boolean;
  /** The object's cheap clock and its timers wait for the wall to catch up after a step back. */
  object_frozen: boolean;
  cut_off: boolean;
  /** Objects in memory: 0 (evicted or crashed), 1, or 2 (split). */
  instances: number;
}

export interface PopFrame extends MachineFrame {
  name: string;
  /** `null` with a quota. */
  tolerant: Held | null;
  exact: Held;
  /** Units let through here in the open epoch, and ever, by the exact limit and by the tolerant one. */
  admitted: { exact_in_epoch: number; exact: number; tolerant_in_epoch: number; tolerant: number };
}

export interface LedgerFrame extends MachineFrame {
  /** The epoch or serial that it opened last; 0 before. */
  epoch: number;
}

/** One serial of a quota, by the Ledger's books. */
export interface SerialBook {
  serial: number;
  slot: string;
  start_ms: number;
  end_ms: number;
  limit: number;
  granted: number;
  spent: number;
  returned: number;
  forfeited: number;
  outstanding: number;
  /** Units that an onlooker saw let through in it. */
  admitted: number;
}

export interface Totals {
  /** Messages from points of presence to Ledgers. */
  asks: number;
  lost: number;
  rows: number;
  gave_up: number;
  starts: number;
  faults: number;
  epochs_back: number;
}

/** Something that happened, for whoever watches: `at_ms` in true time, `event` says what. */
export interface LogEntry {
  at_ms: number;
  event: 'fault' | 'started' | 'evicted' | 'broken' | 'asked' | 'lost' | 'epoch' | 'cap' | 'lease' | 'refused' | 'gave-up';
  [field: string]: unknown;
}

export interface Frame {
  now_ms: number;
  series: Series[];
  pops: PopFrame[];
  ledger: LedgerFrame;
  /** Newest last; empty without a quota. */
  books: SerialBook[];
  /** Of the exact limit's world, and of the tolerant one's. */
  totals: { exact: Totals; tolerant: Totals | null };
  /** Since the last frame, of the tolerant limit's world (of a quota's: the exact), at most 200. Without `refused`. */
  events: LogEntry[];
}

/**
 * Many points of presence in virtual time, twice on the same requests: with a tolerance and without, and the naive
 * limiters beside them.
 */
export class World {
  /** `spec`: a `WorldSpec` as JSON. Throws `invalid-spec` with the path of the field. */
  constructor(spec: string);
  /** Lets everything happen up to that true time; going back does nothing. */
  advance(to_ms: number): void;
  /** A `Fault` as JSON happens now. Throws `invalid-spec`. */
  fail(fault: string): void;
  /** A `Frame` as JSON. */
  frame(): string;
  /**
   * The samples since the last call, row by row. A row: time; units in the open epoch by shared, alone, tolerant, exact
   * (NaN where there is none); then for each point of presence: admitted, refused and unavailable since the last
   * sample (of the tolerant limit, with a quota of the exact one), its epoch (NaN: none), and flags:
   * 1 cut off, 2 wall clock frozen, 4 object frozen, 8 no object in memory, 16 waits for the Ledger, 32 knows that the limit is used up.
   */
  samples(): Float64Array;
  free(): void;
}
