// The four ways of counting: each has its name and its colour, wherever it is.

import type { SeriesName } from '../simulator';

export interface Way {
  name: SeriesName;
  colour: `--${SeriesName}`;
  title: string;
  /** One sentence: how it counts. */
  says: string;
}

export const WAYS: Record<SeriesName, Way> = {
  shared: { name: 'shared', colour: '--shared', title: 'One bucket, many clocks', says: 'One shared bucket; whoever answers stamps it with the time on its own machine.' },
  alone: { name: 'alone', colour: '--alone', title: 'Each PoP alone', says: 'Every PoP has the whole limit to itself and knows nothing of the others.' },
  tolerant: { name: 'tolerant', colour: '--tolerant', title: 'sluicegate, with a tolerance', says: 'Caps and epochs from one Ledger; a stated part of the limit may be handed out ahead of need.' },
  exact: { name: 'exact', colour: '--exact', title: 'sluicegate, exact', says: 'The same with tolerance 0: never past the limit, and more requests wait for the Ledger.' },
};
