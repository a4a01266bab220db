// What a run is made with. All of it is in the address, and nothing else decides what happens.

import type { SuspendPolicy } from 'sluicegate-wasm';

export interface Options {
  policy: SuspendPolicy;
  /** Whether the clock source has a suspend-inclusive hand. */
  reader: boolean;
  /** The fixed part of the tolerance. */
  toleranceMs: number;
  capacity: number;
  refillPerSecond: number;
  /** Requests a second of monotonic time; 0 for those sent by hand only. */
  requestsPerSecond: number;
  quotaLimit: number;
  unit: 'day' | 'month';
  zone: string;
  /** Where the wall clock stands at the start. */
  start: 'middle' | 'end';
  /** What the bucket on the wall clock keeps as the time of its last refill. */
  mark: 'now' | 'max';
}

export const DEFAULTS: Options = {
  policy: 'ignore',
  reader: false,
  toleranceMs: 250,
  capacity: 20,
  refillPerSecond: 5,
  requestsPerSecond: 5,
  quotaLimit: 1_000,
  unit: 'month',
  zone: 'America/Los_Angeles',
  start: 'end',
  mark: 'now',
};

export const POLICIES = ['ignore', 'credit', 'refuse'] as const;
export const UNITS = ['day', 'month'] as const;
export const STARTS = ['middle', 'end'] as const;
export const MARKS = ['now', 'max'] as const;

/** Rates whose gaps are whole milliseconds. */
export const RATES = [0, 1, 2, 5, 10, 20] as const;

/** How long before the end of the period a run begins, with `start: 'end'`. */
export const BEFORE_END_MS = 30_000;

/** What each number may be. */
export const BOUNDS = {
  toleranceMs: [0, 60_000],
  capacity: [1, 1_000],
  refillPerSecond: [0, 1_000],
  quotaLimit: [0, 1_000_000],
} as const;

const within = (text: string | null, [least, most]: readonly [number, number], otherwise: number, step = 1): number => {
  const value = text === null || text.trim() === '' ? NaN : Number(text);
  // In tenths by division: 0.3 is the number nearest to it, 3 * 0.1 is not.
  return value >= least && value <= most ? Math.round(value / step) / Math.round(1 / step) : otherwise;
};

const oneOf = <T extends string>(text: string | null, all: readonly T[], otherwise: T): T => all.find((one) => one === text) ?? otherwise;

/** Options from an address; what is missing or wrong there is as usual. */
export function optionsFrom(params: URLSearchParams): Options {
  return {
    policy: oneOf(params.get('policy'), POLICIES, DEFAULTS.policy),
    reader: params.get('reader') === 'yes',
    toleranceMs: within(params.get('tolerance'), BOUNDS.toleranceMs, DEFAULTS.toleranceMs),
    capacity: within(params.get('capacity'), BOUNDS.capacity, DEFAULTS.capacity),
    refillPerSecond: within(params.get('refill'), BOUNDS.refillPerSecond, DEFAULTS.refillPerSecond, 0.1),
    requestsPerSecond: RATES.find((rate) => String(rate) === params.get('rate')) ?? DEFAULTS.requestsPerSecond,
    quotaLimit: within(params.get('quota'), BOUNDS.quotaLimit, DEFAULTS.quotaLimit),
    unit: oneOf(params.get('unit'), UNITS, DEFAULTS.unit),
    zone: params.get('zone') || DEFAULTS.zone,
    start: oneOf(params.get('start'), STARTS, DEFAULTS.start),
    mark: oneOf(params.get('mark'), MARKS, DEFAULTS.mark),
  };
}

/** Puts what differs from the usual into `params`. */
export function writeOptions(options: Options, params: URLSearchParams): void {
  const put = (name: string, value: string | number, usual: string | number) => {
    if (value !== usual) params.set(name, String(value));
  };
  put('policy', options.policy, DEFAULTS.policy);
  if (options.reader) params.set('reader', 'yes');
  put('tolerance', options.toleranceMs, DEFAULTS.toleranceMs);
  put('capacity', options.capacity, DEFAULTS.capacity);
  put('refill', options.refillPerSecond, DEFAULTS.refillPerSecond);
  put('rate', options.requestsPerSecond, DEFAULTS.requestsPerSecond);
  put('quota', options.quotaLimit, DEFAULTS.quotaLimit);
  put('unit', options.unit, DEFAULTS.unit);
  put('zone', options.zone, DEFAULTS.zone);
  put('start', options.start, DEFAULTS.start);
  put('mark', options.mark, DEFAULTS.mark);
}
