// What the pictures are drawn from: one column for each thing that is sampled, over true time.

import type { SeriesName } from '../../simulator';

/** In the order of a sample's row. */
export const SAMPLED: readonly SeriesName[] = ['shared', 'alone', 'tolerant', 'exact'];
const PER_POP = 5;

export const FLAGS = { cutOff: 1, clockFrozen: 2, objectFrozen: 4, gone: 8, waits: 16, full: 32 } as const;

export interface PopColumns {
  admitted: number[];
  refused: number[];
  unavailable: number[];
  epoch: (number | null)[];
  flags: number[];
}

export class History {
  readonly seconds: number[] = [];
  readonly units: Record<SeriesName, (number | null)[]> = { shared: [], alone: [], tolerant: [], exact: [] };
  readonly pops: PopColumns[];

  constructor(pops: number) {
    this.pops = Array.from({ length: pops }, () => ({ admitted: [], refused: [], unavailable: [], epoch: [], flags: [] }));
  }

  /** Takes in rows as `World.samples()` gives them. */
  add(rows: Float64Array): void {
    const width = 1 + SAMPLED.length + PER_POP * this.pops.length;
    for (let row = 0; row + width <= rows.length; row += width) this.#row(rows.subarray(row, row + width));
  }

  #row(row: Float64Array): void {
    this.seconds.push((row[0] ?? 0) / 1_000);
    SAMPLED.forEach((name, at) => this.units[name].push(some(row[1 + at])));
    this.pops.forEach((pop, index) => {
      const at = 1 + SAMPLED.length + PER_POP * index;
      pop.admitted.push(row[at] ?? 0);
      pop.refused.push(row[at + 1] ?? 0);
      pop.unavailable.push(row[at + 2] ?? 0);
      pop.epoch.push(some(row[at + 3]));
      pop.flags.push(row[at + 4] ?? 0);
    });
  }
}

const some = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);
