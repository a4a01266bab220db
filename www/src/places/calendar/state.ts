// The settings, what follows from them, and the address.

import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import * as core from '../../engine';
import { query, remember } from '../../route';
import { announce } from '../../parts/announce';
import { reducedMotion } from '../../theme';
import { type Chart, chartOf, noteworthy } from './chart';
import { type Note, notesOf, summary } from './explain';
import { DEFAULTS, instantOf, read, same, type Settings, specOf, write } from './settings';

export { core };

export type Field = keyof Settings;

/** The core's names of the fields. */
const FIELDS: Record<string, Field> = { timeZone: 'zone', unit: 'unit', anchorDay: 'day', anchorWeekday: 'weekday', anchorMonth: 'month', anchorTime: 'time' };

export interface Wrong {
  field: Field;
  message: string;
}

export interface Outcome {
  chart?: Chart;
  notes: Note[];
  wrong: Wrong[];
}

export const settings = signal<Settings>(DEFAULTS);
/** Grows when the settings were replaced as a whole, so that fields drop what was typed and not taken. */
export const edition = signal(0);
/** The present, for what counts down. */
export const now = signal(Date.now());
/** The present that the periods begin with: it moves on when the first one is over. */
const begun = signal(Date.now());

const instant = computed(() => instantOf(settings.value.from));
/** True while the periods begin with the present. */
export const isNow = computed(() => instant.value === null);
export const fromMs = computed(() => instant.value ?? begun.value);

function wrong(error: unknown): Wrong {
  const { code, path = '', message } = error as Partial<core.SluicegateError>;
  const field = FIELDS[path] ?? (code === 'invalid-spec' ? 'zone' : 'from');
  return { field, message: (message ?? String(error)).replace(`${path}: `, '') };
}

export const outcome = computed<Outcome>(() => {
  const isTyped = !Number.isNaN(fromMs.value);
  const from: Wrong[] = isTyped ? [] : [{ field: 'from', message: 'not a date and time such as 2021-03-11 12:00' }];
  try {
    const chart = chartOf(core, specOf(settings.value), isTyped ? fromMs.value : begun.value);
    return isTyped ? { chart, notes: notesOf(chart), wrong: [] } : { notes: [], wrong: from };
  } catch (error) {
    return { notes: [], wrong: [...from, wrong(error)] };
  }
});

/** The slot whose start is looked at closely, as it was chosen. */
const chosen = signal<string | null>(null);
export const choose = (slot: string): void => void (chosen.value = slot);

/** The row whose start is looked at: the chosen one, or the first that is odd. */
export const looked = computed(() => {
  const { chart } = outcome.value;
  if (!chart) return 0;
  const at = chart.rows.findIndex((row) => row.period.slot === chosen.value);
  return at >= 0 ? at : noteworthy(chart);
});

/** A change by hand of some settings. */
export function change(some: Partial<Settings>): void {
  settings.value = { ...settings.value, ...some };
  chosen.value = null;
  remember('calendar', write(settings.value));
  const { chart } = outcome.value;
  if (chart) announce(summary(chart));
}

/** All settings at once. */
export function replace(all: Settings): void {
  change(all);
  edition.value++;
}

function tick(): void {
  now.value = Date.now();
  const first = outcome.peek().chart?.rows[0]?.period;
  const isOver = !first || now.value >= first.endMs || now.value < first.startMs;
  if (isNow.peek() && isOver) begun.value = now.value;
}

/** What the address says, unless it says nothing: then what was set before stays. */
function follow(): void {
  const text = query.peek();
  if (!text) return void (same(settings.peek(), DEFAULTS) || remember('calendar', write(settings.peek())));
  const told = read(text);
  if (same(told, settings.peek())) return;
  settings.value = told;
  chosen.value = null;
  edition.value++;
}

/** Follows the address and the time, as long as the place is open. */
export function useCalendar(): void {
  useEffect(() => {
    follow();
    tick();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => {
    const timer = setInterval(tick, reducedMotion.value ? 60_000 : 1_000);
    return () => clearInterval(timer);
  }, [reducedMotion.value]);
}
