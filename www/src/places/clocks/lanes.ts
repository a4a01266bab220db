// The limiters by name and colour.

import type { Lane } from './record';

export interface LaneLook {
  lane: Lane;
  title: string;
  /** Where there is no room. */
  short: string;
  colour: `--${'shared' | 'alone' | 'exact' | 'quiet'}`;
  /** Which hands it reads. */
  says: string;
}

export const LOOKS: Record<Lane, LaneLook> = {
  shared: { lane: 'shared', title: 'Bucket on the wall clock', short: 'Wall bucket', colour: '--shared', says: 'Date.now() for everything.' },
  alone: { lane: 'alone', title: 'Bucket on the monotonic clock', short: 'Monotonic bucket', colour: '--alone', says: 'performance.now() for everything.' },
  exact: { lane: 'exact', title: 'QuotaClock', short: 'QuotaClock', colour: '--exact', says: 'Each question to the clock that can answer it.' },
  truth: { lane: 'truth', title: 'A perfect clock', short: 'A perfect clock', colour: '--quiet', says: 'The time that really passed, which no program can read.' },
};

/** Those that exist. */
export const REAL = ['shared', 'alone', 'exact'] as const;
