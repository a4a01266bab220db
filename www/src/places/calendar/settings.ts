// What is chosen, and how it stands in the address. Values are as they were typed: the core judges them.

import type { PeriodSpec, Unit } from '../../engine';

export interface Settings {
  zone: string;
  unit: string;
  day: number;
  weekday: number;
  month: number;
  time: string;
  /** UTC, `2021-03-11T12:00Z`; empty for now. */
  from: string;
}

export const UNITS = ['day', 'week', 'month', 'year'] as const satisfies readonly Unit[];

export const DEFAULTS: Settings = { zone: 'America/New_York', unit: 'month', day: 1, weekday: 1, month: 1, time: '00:00', from: '' };

export type Anchor = 'day' | 'weekday' | 'month';

/** Which anchors a unit has, beside the time. */
export const ANCHORS: Record<Unit, readonly Anchor[]> = { day: [], week: ['weekday'], month: ['day'], year: ['month', 'day'] };

const NAMES = { day: 'anchorDay', weekday: 'anchorWeekday', month: 'anchorMonth' } as const;

export const anchorsOf = (unit: string): readonly Anchor[] => (Object.hasOwn(ANCHORS, unit) ? ANCHORS[unit as Unit] : []);

/** What the core is given: only what the unit has. */
export function specOf(settings: Settings): PeriodSpec {
  const spec: PeriodSpec = { unit: settings.unit as Unit, timeZone: settings.zone };
  for (const anchor of anchorsOf(settings.unit)) spec[NAMES[anchor]] = settings[anchor];
  if (settings.time) spec.anchorTime = settings.time;
  return spec;
}

/** What one would write in code: without what is the default. */
export function shortSpec(settings: Settings): PeriodSpec {
  const spec = specOf(settings);
  for (const anchor of anchorsOf(settings.unit)) if (settings[anchor] === DEFAULTS[anchor]) delete spec[NAMES[anchor]];
  if (settings.time === DEFAULTS.time) delete spec.anchorTime;
  return spec;
}

/** The address's words; zone and unit are always there, so that a link always means the same. */
export function write(settings: Settings): URLSearchParams {
  const params = new URLSearchParams({ zone: settings.zone, unit: settings.unit });
  for (const anchor of anchorsOf(settings.unit)) if (settings[anchor] !== DEFAULTS[anchor]) params.set(anchor, String(settings[anchor]));
  if (settings.time !== DEFAULTS.time) params.set('time', settings.time);
  if (settings.from) params.set('from', settings.from);
  return params;
}

export function read(query: string): Settings {
  const params = new URLSearchParams(query);
  const text = (name: 'zone' | 'unit' | 'time' | 'from') => params.get(name) ?? DEFAULTS[name];
  const whole = (name: Anchor) => (params.has(name) ? Number(params.get(name) || Number.NaN) : DEFAULTS[name]);
  return { zone: text('zone'), unit: text('unit'), day: whole('day'), weekday: whole('weekday'), month: whole('month'), time: text('time'), from: text('from') };
}

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?\s*(?:Z|UTC)?$/i;

/** The instant that `from` names; null for now, NaN when it names none. */
export function instantOf(from: string): number | null {
  if (from.trim() === '') return null;
  const found = DATE_TIME.exec(from.trim());
  if (!found) return Number.NaN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1).map((part) => Number(part ?? 0));
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  const isReal = at.getUTCMonth() === month - 1 && at.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return isReal ? at.getTime() : Number.NaN;
}

/** How an instant is typed: `2021-03-11T12:00Z`. */
export function typed(atMs: number): string {
  const text = new Date(atMs).toISOString();
  return `${text.slice(0, 16)}${text.slice(17, 19) === '00' ? '' : text.slice(16, 19)}Z`;
}

/** Whether two settings mean the same: what the unit does not have does not count. */
export const same = (a: Settings, b: Settings): boolean => write(a).toString() === write(b).toString();
