// A run: all that decides what happens in the simulated world. It is in the address, and the same run replays exactly.

import type { ClockSpec, Fault, Frame, Machine, Stream, WorldSpec } from '../../simulator';

export const PATTERNS = ['random', 'bursts', 'moving', 'one'] as const;
export type Pattern = (typeof PATTERNS)[number];
export const ON_ERROR = ['closed', 'open', 'local'] as const;

/** A machine: a point of presence by its index, or the Ledger. */
export type Target = number | 'ledger';

/** Something that a viewer, or a story, has go wrong at a true time. */
export interface Mishap {
  at_ms: number;
  kind: 'step' | 'freeze' | 'cut' | 'crash';
  target: Target;
  /** Milliseconds: how far the clock steps, or how long it lasts. 0 for a crash. */
  ms: number;
}

export interface Run {
  counts: 'window' | 'month';
  limit: number;
  window_s: number;
  /** Millionths of the limit. */
  tolerance_ppm: number;
  on_error: (typeof ON_ERROR)[number];
  /** How far each point of presence's clock is ahead at the start, in milliseconds. */
  skews_ms: number[];
  ledger_ms: number;
  /** Millionths by which clocks are fast, in turn. */
  drift_ppm: number;
  pattern: Pattern;
  per_minute: number;
  latency_ms: number;
  jitter_ms: number;
  loss_ppm: number;
  seed: number;
  end_s: number;
  mishaps: Mishap[];
}

export const BOUNDS = {
  pops: [2, 12],
  limit: [1, 10_000],
  window_s: [5, 600],
  per_minute: [1, 20_000],
  skew_ms: [-3_600_000, 3_600_000],
  latency_ms: [1, 400],
  jitter_ms: [0, 400],
  loss_ppm: [0, 300_000],
  seed: [1, 4_294_967_295],
  end_s: [10, 7_200],
  mishaps: 60,
  burst: 5_000,
  mishap_ms: 7_200_000,
} as const;

export const DEFAULT: Run = {
  counts: 'window',
  limit: 60,
  window_s: 60,
  tolerance_ppm: 100_000,
  on_error: 'closed',
  skews_ms: [0, 900, -120, 40],
  ledger_ms: 0,
  drift_ppm: 0,
  pattern: 'random',
  per_minute: 200,
  latency_ms: 20,
  jitter_ms: 10,
  loss_ppm: 0,
  seed: 1,
  end_s: 600,
  mishaps: [],
};

/** 1 April 2026, 00:00 UTC: a window, a day and a month begin. */
const MIDNIGHT = Date.UTC(2026, 3, 1);
/** A month is watched around its end. */
export const MONTH_LEFT_MS = 60_000;

const machine = (target: Target): Machine => (target === 'ledger' ? { ledger: 0 } : { pop: target });

export function faultOf({ kind, target, ms }: Mishap): Fault {
  const at = machine(target);
  switch (kind) {
    case 'step': return { step: { machine: at, ms } };
    case 'freeze': return { freeze: { machine: at, for_ms: ms } };
    case 'cut': return { 'cut-off': { machine: at, for_ms: ms } };
    case 'crash': return { crash: { machine: at } };
  }
}

/** Requests in one burst. */
export const burstOf = (run: Run): number => Math.min(BOUNDS.burst, Math.max(1, Math.round((run.per_minute * run.window_s * 0.9) / 60)));

function traffic(run: Run): Stream[] {
  const until_ms = run.end_s * 1_000;
  const window_ms = run.window_s * 1_000;
  const gap = (perMinute: number) => Math.max(50, Math.round(60_000_000 / Math.max(perMinute, 0.1)));
  const whole: Pick<Stream, 'from_ms' | 'until_ms'> = { from_ms: 0, until_ms };
  const random = (perMinute: number): Stream => ({ ...whole, pace: { random: { gap_us: gap(perMinute) } }, place: 'anywhere' });
  switch (run.pattern) {
    case 'random': return [random(run.per_minute)];
    case 'moving': return [{ ...whole, pace: { random: { gap_us: gap(run.per_minute) } }, place: { moving: { stay_ms: 5_000 } } }];
    case 'one': return [{ ...whole, pace: { random: { gap_us: gap(run.per_minute) } }, place: { pop: 0 } }];
    case 'bursts': {
      // Nine tenths come within a second around each boundary between two windows, the rest at any time.
      const requests = burstOf(run);
      const bursts: Stream = { ...whole, pace: { bursts: { every_ms: window_ms, first_ms: window_ms - 500, requests, spread_ms: 1_000 } }, place: 'anywhere' };
      return [bursts, random(run.per_minute / 10)];
    }
  }
}

export function specOf(run: Run): WorldSpec {
  const drifts = [1, -1, 0.5, -0.5];
  const clock = (offset_ms: number, at: number): ClockSpec => ({ offset_ms, drift_ppm: Math.round(run.drift_ppm * (drifts[at % drifts.length] ?? 0)) });
  return {
    seed: run.seed,
    starts_at_ms: run.counts === 'month' ? MIDNIGHT - MONTH_LEFT_MS : MIDNIGHT,
    limit: run.limit,
    counts: run.counts === 'month' ? { period: 'month' } : { window_ms: run.window_s * 1_000 },
    tolerance_ppm: run.tolerance_ppm,
    on_error: run.on_error,
    pops: run.skews_ms.map(clock),
    ledger: { offset_ms: run.ledger_ms, drift_ppm: 0 },
    network: { latency_ms: run.latency_ms, jitter_ms: run.jitter_ms, loss_ppm: run.loss_ppm },
    traffic: traffic(run),
    sample_ms: sampleMs(run),
  };
}

/** About 1,500 samples whatever the length: as many as a wide screen has columns. */
export const sampleMs = (run: Run): number => Math.min(5_000, Math.max(50, Math.round((run.end_s * 1_000) / 1_500 / 50) * 50));

/** The most that the tolerant limit lets through in one epoch, `L + S`; null where there is none. */
export const ceilingOf = (frame: Frame | null): number | null => frame?.series.find(({ name }) => name === 'tolerant')?.ceiling ?? null;

/**
 * The most that sluicegate promises for one epoch. With `on_error` open or local a point of presence that reaches no
 * Ledger goes on without it, and so does the promise.
 */
export const promised = (run: Run, ceiling: number | null): number | null => (run.counts === 'month' || run.on_error === 'closed' ? ceiling : null);

export const nameOf = (target: Target): string => (target === 'ledger' ? 'the Ledger' : `PoP ${target + 1}`);
