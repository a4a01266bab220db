// Dates, times and lengths as words. Local times are milliseconds as if they were UTC.

import { duration } from '../../format';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const;
export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

const two = (value: number): string => String(value).padStart(2, '0');
const monthOf = (local: number): string => MONTHS[new Date(local).getUTCMonth()] ?? '';

/** `14 March`. */
export const dayMonth = (local: number): string => `${new Date(local).getUTCDate()} ${monthOf(local)}`;

/** `14 March 2021`. */
export const date = (local: number): string => `${dayMonth(local)} ${new Date(local).getUTCFullYear()}`;

/** `14 Mar`. */
export const shortDay = (local: number): string => `${new Date(local).getUTCDate()} ${monthOf(local).slice(0, 3)}`;

/** `14 Mar 2021`. */
export const shortDate = (local: number): string => `${shortDay(local)} ${new Date(local).getUTCFullYear()}`;

/** `Sunday`. */
export const weekday = (local: number): string => WEEKDAYS[(new Date(local).getUTCDay() + 6) % 7] ?? '';

/** `02:30`, with seconds where there are any. */
export function time(local: number): string {
  const at = new Date(local);
  const seconds = at.getUTCSeconds();
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${seconds ? `:${two(seconds)}` : ''}`;
}

export const sameDay = (a: number, b: number): boolean => Math.floor(a / DAY_MS) === Math.floor(b / DAY_MS);

/** The time, and the date where it is not that of `beside`. */
export const timeBeside = (local: number, beside: number): string => (sameDay(local, beside) ? time(local) : `${time(local)} on ${date(local)}`);

/** `1st`, `22nd`, `31st`. */
export function ordinal(value: number): string {
  const ending = value % 100 >= 11 && value % 100 <= 13 ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' } as Record<number, string>)[value % 10];
  return `${value}${ending ?? 'th'}`;
}

const exactHours = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** `23.5 h`, `8,760 h`. */
export const hours = (ms: number): string => `${exactHours.format(ms / HOUR_MS)} h`;

/** Whole days as `31 d`. */
export const days = (ms: number): string => `${exactHours.format(ms / DAY_MS)} d`;

/** `1 h`, `30 min`, `44 min 30 s`, without a sign. */
export const size = (ms: number): string => (Math.abs(ms) < HOUR_MS ? duration(ms) : hours(Math.abs(ms)));

/** `+1 h`, `−0.5 h`; nothing for no difference. */
export const difference = (ms: number): string => (ms === 0 ? '' : `${ms < 0 ? '−' : '+'}${hours(Math.abs(ms))}`);

const together = new Intl.ListFormat('en', { type: 'conjunction' });

/** `a, b, and c`. */
export const list = (items: readonly string[]): string => together.format(items);

const PARTS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

/** `89 days, 3 hours and 12 minutes`: the seconds only in the last hour, and nothing that is zero. */
export function inWords(ms: number): string {
  let rest = Math.max(0, Math.ceil(ms / 1_000) * 1_000);
  if (rest === 0) return 'no time';
  const smallest = rest < HOUR_MS ? 1_000 : 60_000;
  const parts: string[] = [];
  for (const [unit, name] of PARTS) {
    if (unit < smallest) break;
    const whole = Math.floor(rest / unit);
    rest -= whole * unit;
    if (whole) parts.push(`${whole.toLocaleString('en')} ${name}${whole === 1 ? '' : 's'}`);
  }
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '');
}
