// The levels of all buckets over true time, as the picture draws them.

import { happenedText } from './effects';
import { sinceStart } from './hands';
import { LANES, type Lane } from './record';
import type { Run } from './run';

export type Span = 'all' | 'minute';

/** What is drawn: tokens in each bucket, or units used of each quota. */
export type What = 'tokens' | 'quota';

export interface Mark {
  x: number;
  /** Of a sleep, which takes the same room however long it was. */
  width: number;
  text: string;
}

/** Null where nothing runs. */
type Level = number | null;

export interface Picture {
  x: number[];
  levels: Record<Lane, Level[]>;
  max: number;
  /** The most that there can be, or that is worth the room. */
  top: number;
  marks: Mark[];
  /** Places of the axis to label, so many seconds apart, with the true time there: `0:12`. */
  ticks: (step: number) => { x: number; text: string }[];
}

const SHORTEST_S = 12;
const MINUTE_MS = 60_000;
const MOST_TICKS = 100;
/** Of the picture's width. */
const SLEEP_SHARE = 0.07;

export function pictureOf(run: Run, what: What, span: Span): Picture {
  const { samples, events, awakeMs } = run;
  const fromMs = span === 'minute' ? Math.max(0, awakeMs - MINUTE_MS) : 0;
  const first = firstFrom(samples.awakeMs, fromMs);
  const sleepsBefore = samples.sleeps[first] ?? 0;
  const length = Math.max(SHORTEST_S, (awakeMs - fromMs) / 1_000);
  const width = length * SLEEP_SHARE;
  const at = (ms: number, sleeps: number) => (ms - fromMs) / 1_000 + width * (sleeps - sleepsBefore);
  const seen = events.filter((event) => event.awakeMs >= fromMs && event.sleeps >= sleepsBefore);
  const max = length + width * (run.sleeps - sleepsBefore);
  const drawn = lines(run, what, first, at, width);
  return {
    ...drawn,
    max,
    top: what === 'tokens' ? run.options.capacity : quotaTop(run.options.quotaLimit, drawn.levels),
    marks: seen.map((event) => ({ x: at(event.awakeMs, event.sleeps), width: event.kind === 'suspend' ? width : 0, text: happenedText(event) })),
    ticks: (step) => ticksOf(run, fromMs, step, at, max),
  };
}

type At = (awakeMs: number, sleeps: number) => number;

/** The limit, or twice what is used where that is little of it. */
function quotaTop(limit: number, used: Record<Lane, Level[]>): number {
  let highest = 0;
  for (const lane of LANES) for (const level of used[lane]) highest = Math.max(highest, level ?? 0);
  return Math.max(1, highest > limit / 2 ? limit : 2 * highest);
}

function lines(run: Run, what: What, first: number, at: At, width: number): Pick<Picture, 'x' | 'levels'> {
  const { samples } = run;
  const values = what === 'tokens' ? samples.levels : samples.used;
  const picture: Pick<Picture, 'x' | 'levels'> = { x: [], levels: { shared: [], alone: [], exact: [], truth: [] } };
  const add = (x: number, level: (lane: Lane) => Level) => {
    picture.x.push(x);
    for (const lane of LANES) picture.levels[lane].push(level(lane));
  };
  let sleeps = samples.sleeps[first] ?? 0;
  for (let index = first; index < samples.awakeMs.length; index++) {
    const [ms, slept] = [samples.awakeMs[index] ?? 0, samples.sleeps[index] ?? 0];
    const level = (lane: Lane) => values[lane][index] ?? null;
    // Machines do nothing in a sleep; true time goes on in it, and has soon filled any bucket.
    if (slept > sleeps) add(at(ms, sleeps) + width / 20, (lane) => (lane === 'truth' ? level(lane) : null));
    sleeps = slept;
    add(at(ms, slept), level);
  }
  return picture;
}

/** In each stretch between two sleeps, the multiples of `step`. */
function ticksOf(run: Run, fromMs: number, step: number, at: At, max: number): { x: number; text: string }[] {
  const ticks: { x: number; text: string }[] = [];
  const sleeps = run.events.filter(({ kind }) => kind === 'suspend');
  const stepMs = Math.max(1, Math.round(step * 1_000));
  let [asleepMs, passed] = [0, 0];
  for (let ms = Math.ceil(fromMs / stepMs) * stepMs; ticks.length < MOST_TICKS; ms += stepMs) {
    for (let next = sleeps[passed]; next && next.awakeMs <= ms; next = sleeps[passed]) {
      asleepMs += next.size;
      passed += 1;
    }
    const x = at(ms, passed);
    // A label at the very edge would be cut off.
    if (x > max * 0.97) break;
    ticks.push({ x, text: sinceStart(ms + asleepMs).replace(/\.0$/, '') });
  }
  return ticks;
}

/** The first of ascending numbers that is not smaller. */
function firstFrom(sorted: readonly number[], least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
