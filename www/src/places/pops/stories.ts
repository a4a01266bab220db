// The stories that the page tells: each a run, and claims about its end that the run itself has to bear out.

import type { Frame, SeriesName } from '../../simulator';
import { DEFAULT, type Run } from './run';

/** A claim about the end of a run: the number that the run gives, compared with the one that is claimed. */
export interface Claim {
  name: string;
  /** `{}` stands for the number. */
  says: string;
  value: (frame: Frame) => number;
  is: 'at most' | 'at least' | 'exactly';
  claimed: number;
}

export interface Story {
  name: string;
  title: string;
  /** What happens, and why it is hard. */
  text: string[];
  run: Run;
  claims: Claim[];
}

const of = (frame: Frame, name: SeriesName) => frame.series.find((series) => series.name === name);
const worst = (name: SeriesName) => (frame: Frame) => of(frame, name)?.worst_epoch ?? NaN;

export function holds(claim: Claim, value: number): boolean {
  switch (claim.is) {
    case 'at most': return value <= claim.claimed;
    case 'at least': return value >= claim.claimed;
    case 'exactly': return value === claim.claimed;
  }
}

export const STORIES: readonly Story[] = [
  {
    name: 'ahead',
    title: 'A pod 900 ms ahead',
    text: ['Twelve places share one limit of 60 a minute.'],
    run: { ...DEFAULT, skews_ms: [0, 20, -30, 45, -50, 10, 900, -15, 35, -40, 5, 25], per_minute: 240 },
    claims: [
      { name: 'shared-worst', says: 'The shared bucket let {} through in one window.', value: worst('shared'), is: 'at least', claimed: 61 },
      { name: 'exact-worst', says: 'sluicegate let at most {} through.', value: worst('exact'), is: 'at most', claimed: 60 },
    ],
  },
];

export const storyNamed = (name: string | null): Story | null => STORIES.find((story) => story.name === name) ?? null;
