// The periods of a specification with what is odd about each: what the pictures, the table and the words are made from.

import type { BoundaryKind, Period, PeriodSpec } from '../../engine';
import { anchorOf, isClamped, missingBetween, usualMs } from './slots';
import { offsetMs, type Transition, transitions } from './zone';
import { DAY_MS, HOUR_MS } from './words';

/** What is special about a period's start. `missing`: the slot before it does not exist. */
export type Mark = 'exact' | 'clamped' | 'missing' | BoundaryKind;

export interface Row {
  period: Period;
  /** The slot of the period before it. */
  before: string;
  /** The local time that its start stands for. */
  anchor: number;
  lengthMs: number;
  /** Its length if no clock were ever changed. */
  usualMs: number;
  mark: Mark;
  /** Slots between the one before it and it, that nobody lived through. */
  missing: string[];
  isClamped: boolean;
}

export interface Chart {
  spec: PeriodSpec;
  /** Where it was asked to begin; the first period has it inside. */
  fromMs: number;
  rows: Row[];
  /** The one after the last, for what is said of its start. */
  after: Row;
}

/** The part of the core that is needed here. */
export type Core = Pick<typeof import('../../engine'), 'periods' | 'periodFor' | 'QuotaClock' | 'manualClock'>;

export const SHOWN = 14;

function rowOf(spec: PeriodSpec, period: Period, before: string): Row {
  const missing = missingBetween(spec, before, period.slot);
  const clamped = isClamped(spec, period.slot);
  return {
    period,
    before,
    anchor: anchorOf(spec, period.slot),
    lengthMs: period.endMs - period.startMs,
    usualMs: usualMs(spec, period.slot),
    mark: period.startKind !== 'exact' ? period.startKind : missing.length ? 'missing' : clamped ? 'clamped' : 'exact',
    missing,
    isClamped: clamped,
  };
}

/** Throws what the core throws. */
export function chartOf(core: Core, spec: PeriodSpec, fromMs: number): Chart {
  const periods = core.periods(spec, fromMs, SHOWN + 1);
  let before = core.periodFor(spec, (periods[0]?.startMs ?? fromMs) - 1).slot;
  const rows = periods.map((period) => {
    const row = rowOf(spec, period, before);
    before = period.slot;
    return row;
  });
  const after = rows.pop();
  if (!after) throw new Error('no periods');
  return { spec, fromMs, rows, after };
}

/** A change of the clocks so near a start is seen beside it. */
export const NEAR_MS = 3 * HOUR_MS;

/** The row whose start is worth a look: the first odd one, or one beside a change of the clocks, else the next reset. */
export function noteworthy(chart: Chart): number {
  const odd = chart.rows.findIndex((row) => row.mark === 'gap' || row.mark === 'repeat' || row.mark === 'missing');
  if (odd >= 0) return odd;
  const near = chart.rows.findIndex((row, at) => at > 0 && transitions(chart.spec.timeZone, row.period.startMs - NEAR_MS, row.period.startMs + NEAR_MS, HOUR_MS).length > 0);
  if (near >= 0) return near;
  const clamped = chart.rows.findIndex((row, at) => at > 0 && row.isClamped);
  return clamped >= 0 ? clamped : 1;
}

/** The change of the clocks that a start lies in, and the local times it goes from and to. */
export interface Jump extends Transition {
  /** What the clocks would show at that instant, had they not been changed, and what they do show. */
  fromLocal: number;
  toLocal: number;
}

export const jumpOf = (transition: Transition): Jump => ({
  ...transition,
  fromLocal: transition.atMs + transition.beforeMs,
  toLocal: transition.atMs + transition.afterMs,
});

/** How long a local time can take to come again: clocks were never set back by more than a day. */
const LONGEST_REPEAT_MS = 26 * HOUR_MS;

/** The jump behind a start: into which its local time falls, or that brings its local time a second time. */
export function jumpAt(zone: string, row: Row): Jump | null {
  const { startMs, startKind } = row.period;
  if (startKind === 'repeat') {
    const back = transitions(zone, startMs, startMs + LONGEST_REPEAT_MS, HOUR_MS).map(jumpOf);
    return back.find((jump) => jump.toLocal <= row.anchor && row.anchor < jump.fromLocal) ?? null;
  }
  const before = offsetMs(zone, startMs - 1);
  const after = offsetMs(zone, startMs);
  return before === after ? null : jumpOf({ atMs: startMs, beforeMs: before, afterMs: after });
}

/** The second time that the clocks show the start's local time. */
export const secondTime = (row: Row, jump: Jump): number => row.anchor - jump.afterMs;

/** The changes within a period, its start not among them. */
export function jumpsWithin(zone: string, row: Row): Jump[] {
  const { startMs, endMs } = row.period;
  const step = row.lengthMs > 100 * DAY_MS ? 6 * DAY_MS : DAY_MS;
  return transitions(zone, startMs, endMs - 1, step).map(jumpOf);
}
