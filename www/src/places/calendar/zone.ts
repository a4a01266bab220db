// What the clocks of a zone show. Intl gives the offset at an instant; the rest is arithmetic.

const offsets = new Map<string, Intl.DateTimeFormat>();
const names = new Map<string, Intl.DateTimeFormat[]>();

/** `en` alone knows only the names of America's zones. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-IN'];

function formatter(zone: string): Intl.DateTimeFormat {
  const known = offsets.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  offsets.set(zone, made);
  return made;
}

/** Local time less UTC at an instant, in milliseconds. */
export function offsetMs(zone: string, atMs: number): number {
  const text = formatter(zone).format(atMs);
  const found = /(?:GMT|UTC)(?:([+\-−])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (!found) throw new Error(`no offset in "${text}"`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = found;
  const size = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000;
  return sign === undefined || sign === '+' ? size : -size;
}

/** What the clocks show, in milliseconds as if they showed UTC. */
export const localMs = (zone: string, atMs: number): number => atMs + offsetMs(zone, atMs);

const two = (value: number): string => String(value).padStart(2, '0');

/** `−04:00`, `+13:00`, `−04:56:02`. */
export function offsetText(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  const rest = seconds % 60;
  return `${ms < 0 ? '−' : '+'}${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}${rest ? `:${two(rest)}` : ''}`;
}

/** How people call the zone's time then: `EDT`, or `UTC+13` where it has no letters. */
export function zoneName(zone: string, atMs: number): string {
  let known = names.get(zone);
  if (!known) {
    known = LOCALES.map((locale) => new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: 'short' }));
    names.set(zone, known);
  }
  for (const each of known) {
    const name = each.formatToParts(atMs).find((part) => part.type === 'timeZoneName')?.value ?? '';
    if (/^[A-Z]{2,5}$/.test(name)) return name;
  }
  return `UTC${offsetText(offsetMs(zone, atMs)).replace(/^([+−])0/, '$1').replace(/:00$/, '')}`;
}

/** The place in a zone's name: `Buenos Aires`. */
export const cityOf = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');

/** The zone that this browser is in. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** When the offset of a zone changes, and from what to what. */
export interface Transition {
  atMs: number;
  beforeMs: number;
  afterMs: number;
}

/**
 * The changes of offset after `fromMs`, up to and with `untilMs`. Looks once a `stepMs`, which has to be
 * shorter than the shortest time between two changes that undo each other: a week, in all of history.
 */
export function transitions(zone: string, fromMs: number, untilMs: number, stepMs = 86_400_000): Transition[] {
  const found: Transition[] = [];
  let low = fromMs;
  let before = offsetMs(zone, low);
  while (low < untilMs) {
    const high = Math.min(low + stepMs, untilMs);
    const after = offsetMs(zone, high);
    if (after !== before) found.push({ atMs: bisect(zone, low, high), beforeMs: before, afterMs: after });
    low = high;
    before = after;
  }
  return found;
}

/** The first instant in `(lowMs, highMs]` that no longer has the offset of `lowMs`. */
function bisect(zone: string, lowMs: number, highMs: number): number {
  const before = offsetMs(zone, lowMs);
  let low = lowMs;
  let high = highMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}
