// The answers of the last minutes, and sums over all of them.

import { latencyOf, type Latency } from './stats';
import { OUTCOMES, watchedOf, type Outcome, type Sample } from './sample';

export const SPAN_MS = 180_000;
const MOST_SAMPLES = 5_000;

export type Totals = Record<Outcome, number>;

const nothing = (): Totals => ({ allowed: 0, refused: 0, unavailable: 0, error: 0 });

export class Recording {
  samples: Sample[] = [];
  totals: Totals = nothing();

  add(sample: Sample): void {
    this.totals = { ...this.totals, [sample.outcome]: this.totals[sample.outcome] + 1 };
    this.samples.push(sample);
    const first = this.samples.findIndex(({ endMs }) => endMs >= sample.endMs - SPAN_MS);
    this.samples.splice(0, Math.max(first, this.samples.length - MOST_SAMPLES));
  }

  clear(): void {
    this.samples = [];
    this.totals = nothing();
  }
}

export const answersOf = (totals: Totals): number => OUTCOMES.reduce((sum, outcome) => sum + totals[outcome], 0);

/** The policies that the answers named, the latest first. */
export function policiesOf(samples: readonly Sample[]): string[] {
  const names = new Set<string>();
  for (const sample of [...samples].reverse()) for (const { policy } of sample.limits) names.add(policy);
  return [...names];
}

export interface Line {
  /** Seconds since 1970, as the plot wants them. */
  at: number[];
  left: (number | null)[];
}

/** What was left after each answer; broken where another counter begins. */
export function lineOf(samples: readonly Sample[], policy: string | null): Line {
  const line: Line = { at: [], left: [] };
  let before: Sample | null = null;
  for (const sample of samples) {
    const limit = watchedOf(sample, policy);
    if (limit === null || limit.remaining === null) continue;
    if (before && before.series !== sample.series) {
      line.at.push((sample.endMs - 1) / 1_000);
      line.left.push(null);
    }
    line.at.push(sample.endMs / 1_000);
    line.left.push(limit.remaining);
    before = sample;
  }
  return line;
}

/** The time from sending to the answer's header fields, of those that came. */
export const latencies = (samples: readonly Sample[]): Latency =>
  latencyOf(samples.flatMap(({ answer, latencyMs }) => (answer ? [latencyMs] : [])));
