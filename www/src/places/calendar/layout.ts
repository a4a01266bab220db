// Where things stand in the two pictures: arithmetic only.

import type { Chart, Jump, Row } from './chart';
import { jumpAt, jumpOf, NEAR_MS, secondTime } from './chart';
import { anchorOf } from './slots';
import { HOUR_MS } from './words';
import { localMs, transitions } from './zone';

export interface Bar {
  row: Row;
  x: number;
  width: number;
}

/** The periods side by side, to scale, over a width. */
export function barsOf(chart: Chart, width: number): Bar[] {
  const from = chart.rows[0]?.period.startMs ?? 0;
  const whole = (chart.rows.at(-1)?.period.endMs ?? 1) - from;
  return chart.rows.map((row) => ({ row, x: ((row.period.startMs - from) / whole) * width, width: (row.lengthMs / whole) * width }));
}

/** Where an instant stands among the periods; null outside of them. */
export function placeOf(chart: Chart, atMs: number, width: number): number | null {
  const from = chart.rows[0]?.period.startMs ?? 0;
  const until = chart.rows.at(-1)?.period.endMs ?? 0;
  return atMs >= from && atMs < until ? ((atMs - from) / (until - from)) * width : null;
}

/** A stretch of UTC with one offset, and what the clocks show at its ends. */
export interface Piece {
  fromMs: number;
  untilMs: number;
  fromLocal: number;
  untilLocal: number;
}

/** Local time against UTC around one start. */
export interface Close {
  row: Row;
  fromMs: number;
  untilMs: number;
  lowLocal: number;
  highLocal: number;
  pieces: Piece[];
  /** Changes of the clocks in the picture. */
  jumps: Jump[];
  /** The second time of a local time that comes twice. */
  secondMs: number | null;
  /** Local times that slots stand for, and that the clocks do not show. */
  missing: { slot: string; anchor: number }[];
}

export function closeOf(chart: Chart, row: Row): Close {
  const zone = chart.spec.timeZone;
  const { startMs, startKind } = row.period;
  const jump = startKind === 'repeat' ? jumpAt(zone, row) : null;
  const secondMs = jump && secondTime(row, jump);
  // As far after the second time as before the first.
  const fromMs = startMs - NEAR_MS;
  const untilMs = (secondMs ?? startMs) + NEAR_MS;
  const jumps = transitions(zone, fromMs, untilMs, HOUR_MS).map(jumpOf);
  const ends = [...jumps.map(({ atMs }) => atMs), untilMs];
  const pieces = ends.map((end, at) => {
    const from = at === 0 ? fromMs : (ends[at - 1] ?? fromMs);
    return { fromMs: from, untilMs: end, fromLocal: localMs(zone, from), untilLocal: localMs(zone, end - 1) + 1 };
  });
  const missing = row.missing.map((slot) => ({ slot, anchor: anchorOf(chart.spec, slot) }));
  return {
    row, fromMs, untilMs, pieces, jumps, secondMs, missing,
    lowLocal: Math.min(...pieces.map((piece) => piece.fromLocal)),
    highLocal: Math.max(...pieces.map((piece) => piece.untilLocal)),
  };
}

const STEPS_MS = [0.5, 1, 2, 3, 6, 12, 24].map((step) => step * HOUR_MS);

/** Round instants from one to another, at most so many. */
export function ticks(fromMs: number, untilMs: number, most: number): number[] {
  const step = STEPS_MS.find((each) => (untilMs - fromMs) / each <= most) ?? 48 * HOUR_MS;
  const found: number[] = [];
  for (let at = Math.ceil(fromMs / step) * step; at <= untilMs; at += step) found.push(at);
  return found;
}
