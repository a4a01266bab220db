// Numbers and times as words, the same everywhere on the page.

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** 12,345 or 3.5. */
export const number = (value: number): string => grouped.format(value);

/** One unit, or so many. */
export const count = (value: number, one: string, many = `${one}s`): string => `${number(value)} ${value === 1 ? one : many}`;

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
  [1, 'ms'],
] as const;

/** A length of time in its two largest units: `1 h 30 min`, `12.5 s`, `250 ms`. */
export function duration(ms: number): string {
  const length = Math.abs(Math.round(ms));
  if (length < 1_000) return `${length} ms`;
  if (length < 60_000) return `${number(length / 1_000)} s`;
  const at = UNITS.findIndex(([size]) => length >= size);
  const [size, unit] = UNITS[at]!;
  const [smaller, less] = UNITS[at + 1]!;
  const whole = Math.floor(length / size);
  const rest = Math.floor((length % size) / smaller);
  return rest ? `${whole} ${unit} ${rest} ${less}` : `${whole} ${unit}`;
}

/** A length of time with its direction: `+900 ms`, `−1 h`, `0`. */
export const offset = (ms: number): string => (ms === 0 ? '0' : `${ms > 0 ? '+' : '−'}${duration(ms)}`);

/** What a clock shows, in UTC: `14:03:07.250`. */
export const clockTime = (ms: number): string => (Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(11, 23) : '–');

/** A date and time in UTC: `2026-03-31 23:59:07`. */
export const dateTime = (ms: number): string => (Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(0, 19).replace('T', ' ') : '–');

/** Minutes and seconds since a start: `2:07.5`. */
export function stopwatch(ms: number): string {
  const tenths = Math.floor(ms / 100);
  const minutes = Math.floor(tenths / 600);
  const seconds = ((tenths % 600) / 10).toFixed(1).padStart(4, '0');
  return `${minutes}:${seconds}`;
}
