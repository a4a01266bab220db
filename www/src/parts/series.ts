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
  shared: { name: 'shared', colour: '--shared', title: 'One bucket, many clocks', says: 'One shared bucket; whoever answers refills it by the time on its own machine since the last stamp, and stamps it anew.' },
  alone: { name: 'alone', colour: '--alone', title: 'Each PoP alone', says: 'Every PoP has the whole limit to itself and knows nothing of the others.' },
  tolerant: { name: 'tolerant', colour: '--tolerant', title: 'sluicegate, tolerant', says: 'Caps and epochs from one Ledger; a stated part of the limit may be handed out ahead of need.' },
  exact: { name: 'exact', colour: '--exact', title: 'sluicegate, exact', says: 'The same with tolerance 0: nothing is handed out ahead of need, so more requests wait for the Ledger.' },
};

/** A quota is counted in other ways than a window: what stands beside sluicegate there. */
const OF_MONTHS: Partial<Record<SeriesName, Pick<Way, 'title' | 'says'>>> = {
  shared: { title: 'One counter, many calendars', says: 'One shared counter; whoever answers looks up the month on its own machine.' },
  exact: { title: 'sluicegate, exact', says: 'Leases with fences; the Ledger alone opens and closes the months.' },
};

const wayOf = (name: SeriesName, counts: 'window' | 'month') => (counts === 'month' ? OF_MONTHS[name] : undefined) ?? WAYS[name];

export const titleOf = (name: SeriesName, counts: 'window' | 'month'): string => wayOf(name, counts).title;
export const saysOf = (name: SeriesName, counts: 'window' | 'month'): string => wayOf(name, counts).says;
