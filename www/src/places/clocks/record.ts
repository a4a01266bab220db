// What is kept of a run: for whom, what was done to the clocks, and levels over time.

import type { Tally } from './tally';

export const LANES = ['shared', 'alone', 'exact', 'truth'] as const;
export type Lane = (typeof LANES)[number];

/** What was done to the clocks, and when. */
export interface Happened {
  kind: 'step' | 'suspend' | 'slew' | 'period';
  /** Milliseconds, or millionths of a slew. */
  size: number;
  /** Of a period that began by the true clock: its name. */
  slot?: string;
  awakeMs: number;
  /** How many suspends came before. */
  sleeps: number;
  trueMs: number;
}

/** A lane before the clocks were touched. */
export type Before = Pick<Tally, 'creditedMs' | 'trueMs' | 'tooMany' | 'missing' | 'allowances' | 'threw' | 'asked' | 'slot'>;

/** The last time that the clocks were touched. */
export interface Touched {
  events: Happened[];
  before: Record<Lane, Before>;
  /** True periods that had begun. */
  begun: number;
  told: Record<string, number>;
}

/** Levels over time, for the picture. */
export interface Samples {
  awakeMs: number[];
  sleeps: number[];
  levels: Record<Lane, number[]>;
  /** Quota used, in the period that each takes to be the open one. */
  used: Record<Lane, number[]>;
}

export const each = <T>(of: (lane: Lane) => T): Record<Lane, T> => ({ shared: of('shared'), alone: of('alone'), exact: of('exact'), truth: of('truth') });

export const beforeOf = ({ creditedMs, trueMs, tooMany, missing, allowances, threw, asked, slot }: Tally): Before =>
  ({ creditedMs, trueMs, tooMany, missing, allowances, threw, asked, slot });
