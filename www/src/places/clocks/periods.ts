// Periods, asked for once each.

import type { Period } from 'sluicegate-wasm';

/** Most readings lie in the period of the reading before. */
export function cached(periodFor: (wallMs: number) => Period): (wallMs: number) => Period {
  const known: Period[] = [];
  return (wallMs) => {
    const found = known.find(({ startMs, endMs }) => startMs <= wallMs && wallMs < endMs);
    if (found) return found;
    const made = periodFor(wallMs);
    known.unshift(made);
    known.length = Math.min(known.length, 4);
    return made;
  };
}
