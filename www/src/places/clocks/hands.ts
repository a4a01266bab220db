// The hands of the clock as distances from the time that really passed.

import { duration } from '../../format';
import type { Run } from './run';

/** Where a distance lies on the scale, from 0 to 100: by its logarithm, so that 250 ms and 6 h are both seen. */
export function place(ms: number): number {
  const far = Math.log10(1 + Math.abs(ms) / 100) / Math.log10(1 + DAY_MS / 100);
  return 50 + 46 * Math.sign(ms) * Math.min(1, far);
}

const DAY_MS = 86_400_000;
export const TICKS = [
  [-21_600_000, '−6 h'], [-60_000, '−1 min'], [-1_000, ''], [0, 'true time'], [1_000, ''], [60_000, '+1 min'], [21_600_000, '+6 h'],
] as const;

/** What a slewed clock may gain or lose: 500 millionths, as in the tolerance. */
const SLEW = 0.0005;

export interface Hand {
  name: 'monotonic' | 'wall' | 'reader';
  /** Since the start. */
  readingMs: number;
  /** Less the time that really passed. */
  offMs: number;
}

export function handsOf(run: Run): Hand[] {
  const { clock, trueMs } = run;
  const hand = (name: Hand['name'], readingMs: number): Hand => ({ name, readingMs, offMs: readingMs - trueMs });
  const hands = [hand('monotonic', clock.monotonicMs()), hand('wall', clock.wallMs() - run.startMs)];
  if (clock.elapsedRealtimeMs) hands.push(hand('reader', clock.elapsedRealtimeMs()));
  return hands;
}

/** What can be told from the hands alone. */
export function verdict(run: Run): string {
  const { apartMs, clock } = run;
  const asleepMs = clock.elapsedRealtimeMs ? clock.elapsedRealtimeMs() - clock.monotonicMs() : null;
  if (asleepMs !== null && (asleepMs !== 0 || apartMs !== 0)) {
    const set = apartMs - asleepMs;
    const settled = set === 0 ? 'the wall was not set' : `the wall was set ${set < 0 ? 'back' : 'ahead'} by ${duration(set)}`;
    return `The reader settles it: ${asleepMs === 0 ? 'no sleep' : `${duration(asleepMs)} asleep`}, and ${settled}.`;
  }
  if (apartMs === 0) return 'The two clocks agree. So far as a program can see, nothing happened.';
  if (Math.abs(apartMs) <= run.clock.monotonicMs() * SLEW) return `The wall is ${duration(apartMs)} ${apartMs < 0 ? 'behind' : 'ahead'}: no more than slewing may do in this time.`;
  if (apartMs < 0) return `The wall is ${duration(apartMs)} behind. No sleep makes a wall clock lose time: it was set back.`;
  return `The wall is ${duration(apartMs)} ahead. A sleep of ${duration(apartMs)} and a step of ${duration(apartMs)} look exactly like this, and want the opposite.`;
}

/** In days and hours where it is long, else in its two largest units. */
export function length(ms: number): string {
  const hours = Math.floor(Math.abs(ms) / 3_600_000);
  if (hours < 48) return duration(ms);
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${hours / 24} d`;
}

/** Hours, minutes and seconds since the start: `6:00:16.0`. */
export function sinceStart(ms: number): string {
  const sign = ms < 0 ? '−' : '';
  const tenths = Math.floor(Math.abs(ms) / 100);
  const [hours, minutes, seconds] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60, ((tenths % 600) / 10).toFixed(1)];
  const two = (text: string | number, length: number) => String(text).padStart(length, '0');
  return hours ? `${sign}${hours}:${two(minutes, 2)}:${two(seconds, 4)}` : `${sign}${minutes}:${two(seconds, 4)}`;
}

const shapes = new Map<string, Intl.DateTimeFormat>();

/** Date and time in a zone: `31 Mar 2026, 23:59:52`. */
export function wallText(ms: number, zone: string): string {
  let shape = shapes.get(zone);
  if (!shape) {
    shape = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'medium', timeStyle: 'medium' });
    shapes.set(zone, shape);
  }
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? shape.format(ms) : '–';
}
