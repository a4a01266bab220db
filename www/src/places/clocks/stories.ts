// Short stories: options, moves, and what they show, in numbers that are measured when the story is played.

import type { Move } from './moves';
import { DEFAULTS, type Options } from './options';
import type { Run } from './run';

export interface Claim {
  name: string;
  /** Says what is claimed; the numbers stand beside it. */
  says: string;
  expected: number | string;
  actual: number | string;
  unit?: 'ms' | 'signed ms';
}

/** Plays the story's moves under other options and looks at the end. */
export type Replay = <T>(changed: Partial<Options>, look: (run: Run) => T) => T;

export interface Story {
  id: string;
  title: string;
  /** What the picture shows; tokens unless told otherwise. */
  shows?: 'quota';
  group: 'The wall is set' | 'The machine sleeps' | 'The month turns';
  text: string;
  options: Options;
  moves: Move[];
  claims: (run: Run, replay: Replay) => Claim[];
}

const HOUR = 3_600_000;
const wait = (ms: number): Move => ({ kind: 'advance', ms });
const step = (ms: number): Move => ({ kind: 'step', ms });
const sleep = (ms: number): Move => ({ kind: 'suspend', ms });
const send = (requests: number): Move => ({ kind: 'send', requests });
const slew = (ppm: number): Move => ({ kind: 'slew', ppm });

/** Away from the end of the period, with a quota that plays no part. */
const calm: Options = { ...DEFAULTS, start: 'middle' };
/** More requests than the refill lets through: the bucket is always near empty. */
const busy: Options = { ...calm, requestsPerSecond: 10 };

type Ours = 'shared' | 'alone' | 'exact';
/** Credited and did not pass, and the other way round. */
const excess = (run: Run, lane: Ours) => run.tallies[lane].creditedMs - run.tallies[lane].trueMs;
const lost = (run: Run, lane: Ours) => run.tallies[lane].trueMs - run.tallies[lane].creditedMs;
const told = (run: Run, kind: string) => run.exact.told[kind] ?? 0;
const toldAtAll = (run: Run) => Object.values(run.exact.told).reduce((sum, times) => sum + times, 0);
const newest = (run: Run, kind: string) => run.exact.log.find((anomaly) => anomaly.kind === kind);

const wall: readonly Story[] = [
  {
    id: 'ntp',
    title: 'NTP steps back 250 ms',
    group: 'The wall is set',
    text: 'Ten requests a second, ten tokens a second: the bucket is level. Half way the wall clock is set back by a quarter of a second. A bucket that '
      + 'waits for its last reading to come round again stands still for 250 ms. It is 2.5 tokens short from then on, and of five requests at the end it refuses three. Nothing is in its log.',
    options: { ...calm, capacity: 10, refillPerSecond: 10, requestsPerSecond: 10, toleranceMs: 100, mark: 'max' },
    moves: [send(5), wait(5_000), step(-250), wait(5_000), send(5)],
    claims: (run, replay) => [
      { name: 'stood-still', says: 'The wall bucket stood still for', expected: 250, actual: lost(run, 'shared'), unit: 'ms' },
      { name: 'missing', says: 'Tokens that it is short of', expected: 2.5, actual: run.tallies.shared.missing },
      { name: 'refused', says: 'Of the last 5 requests, refused by it alone', expected: 3, actual: run.tallies.truth.admitted - run.tallies.shared.admitted },
      { name: 'keeps-now', says: 'Had it kept “now” instead: one gap between requests lost', expected: 100, actual: replay({ mark: 'now' }, (other) => lost(other, 'shared')), unit: 'ms' },
      { name: 'exact-lost', says: 'QuotaClock lost', expected: 0, actual: lost(run, 'exact'), unit: 'ms' },
      { name: 'told', says: 'and told of a step of', expected: -250, actual: newest(run, 'wall-step-back')?.steppedMs ?? 'nothing', unit: 'signed ms' },
    ],
  },
  {
    id: 'hour',
    title: 'An hour from nowhere',
    group: 'The wall is set',
    text: 'More requests than tokens: every bucket is empty. Then somebody corrects the wall clock by an hour. The wall bucket takes the hour for time and is '
      + 'full at once: it lets 19 requests through that nothing had paid for. QuotaClock with “ignore” lets through none; with “credit” it would make the same mistake.',
    options: busy,
    moves: [wait(10_000), step(HOUR), wait(6_000)],
    claims: (run, replay) => [
      { name: 'from-nowhere', says: 'Time that the wall bucket credited and that did not pass', expected: HOUR, actual: excess(run, 'shared'), unit: 'ms' },
      { name: 'too-many', says: 'Requests it let through unpaid', expected: 19, actual: run.tallies.shared.tooMany },
      { name: 'exact-too-many', says: 'QuotaClock, “ignore”', expected: 0, actual: run.tallies.exact.tooMany },
      { name: 'credit-too-many', says: 'QuotaClock, had it been “credit”', expected: 19, actual: replay({ policy: 'credit' }, (other) => other.tallies.exact.tooMany) },
      { name: 'told', says: 'Times that it told of wall-ahead', expected: 1, actual: told(run, 'wall-ahead') },
    ],
  },
  {
    id: 'slew',
    title: 'A slewed clock is no event',
    group: 'The wall is set',
    text: 'A clock that is a little off is not set but slewed: here it runs 400 millionths fast. Nothing asks for twenty minutes, and by then the clocks are 480 ms '
      + 'apart, more than the 250 ms that may be. The tolerance grows with the time between two requests, by 500 millionths, so nobody is woken.',
    options: { ...calm, requestsPerSecond: 0 },
    moves: [slew(400), send(20), wait(1_200_000), send(20)],
    claims: (run) => [
      { name: 'apart', says: 'The clocks are apart by', expected: 480, actual: run.apartMs, unit: 'ms' },
      { name: 'told', says: 'Anomalies told', expected: 0, actual: toldAtAll(run) },
      { name: 'exact-excess', says: 'Time that QuotaClock credited too much', expected: 0, actual: excess(run, 'exact'), unit: 'ms' },
      { name: 'wall-excess', says: 'The wall bucket', expected: 480, actual: excess(run, 'shared'), unit: 'ms' },
    ],
  },
];

const lid = (policy: Options['policy'], text: string, claims: Story['claims']): Story => ({
  id: `lid-${policy}`,
  title: `The lid was shut: ${policy}`,
  group: 'The machine sleeps',
  text,
  options: { ...busy, policy },
  moves: [wait(10_000), sleep(6 * HOUR), wait(6_000)],
  claims,
});

const machine: readonly Story[] = [
  lid('ignore', 'The buckets are empty and the machine sleeps for six hours. The monotonic clock sleeps with it, so a bucket on it wakes up empty and refuses 19 requests '
    + 'that six hours had paid for. QuotaClock sees a wall that ran ahead, as after a step; “ignore” believes the monotonic clock, and is as wrong. The wall bucket '
    + 'gets this one right: it would have believed anything.', (run) => [
    { name: 'alone-lost', says: 'Time that the monotonic bucket did not credit', expected: 6 * HOUR, actual: lost(run, 'alone'), unit: 'ms' },
    { name: 'alone-missing', says: 'Requests it refused that time had paid for', expected: 19, actual: run.tallies.alone.missing },
    { name: 'exact-missing', says: 'QuotaClock, “ignore”', expected: 19, actual: run.tallies.exact.missing },
    { name: 'wall-missing', says: 'The wall bucket', expected: 0, actual: run.tallies.shared.missing },
    { name: 'told', says: 'Times that QuotaClock told of wall-ahead', expected: 1, actual: told(run, 'wall-ahead') },
  ]),
  lid('credit', 'The same six hours under “credit”, which believes the wall: QuotaClock wakes up full, and lets through what it should. On a laptop that is the better guess. '
    + 'It stays a guess: “An hour from nowhere” looks no different to it.', (run, replay) => [
    { name: 'exact-lost', says: 'Time that QuotaClock did not credit', expected: 0, actual: lost(run, 'exact'), unit: 'ms' },
    { name: 'exact-missing', says: 'Requests it refused that time had paid for', expected: 0, actual: run.tallies.exact.missing },
    { name: 'ignore-missing', says: 'Had it been “ignore”', expected: 19, actual: replay({ policy: 'ignore' }, (other) => other.tallies.exact.missing) },
    { name: 'admitted', says: 'Let through in all, as by a perfect clock', expected: 118, actual: run.tallies.exact.admitted },
  ]),
  lid('refuse', 'The same six hours under “refuse”, for where no answer is better than a guess. The first request after the sleep gets the exception ambiguous-jump '
    + 'in place of a decision, once. Nothing is credited for the jump, and the requests after it are decided as usual.', (run) => [
    { name: 'threw', says: 'Requests that got an exception', expected: 1, actual: run.tallies.exact.threw },
    { name: 'code', says: 'Its code', expected: 'ambiguous-jump', actual: run.exact.fault?.code ?? 'none' },
    { name: 'decided', says: 'Requests decided, of 160', expected: 159, actual: run.tallies.exact.asked - run.tallies.exact.threw },
    { name: 'exact-missing', says: 'Requests refused that time had paid for', expected: 19, actual: run.tallies.exact.missing },
  ]),
  {
    id: 'reader',
    title: 'A reader settles it',
    group: 'The machine sleeps',
    text: 'Six hours of sleep and a step of one hour, between the same two requests: the wall is seven hours ahead. A third clock that goes on in a sleep, and that nobody '
      + 'sets, takes the two apart. The six hours are credited and the one is not, whatever the policy says, for there is nothing left to guess.',
    options: { ...busy, reader: true },
    moves: [wait(10_000), sleep(6 * HOUR), step(HOUR), wait(6_000)],
    claims: (run, replay) => [
      { name: 'apart', says: 'The wall is ahead of the monotonic clock by', expected: 7 * HOUR, actual: run.apartMs, unit: 'ms' },
      { name: 'suspended', says: 'QuotaClock told of a sleep of', expected: 6 * HOUR, actual: newest(run, 'suspend')?.suspendedMs ?? 'nothing', unit: 'ms' },
      { name: 'stepped', says: 'and of a step of', expected: HOUR, actual: newest(run, 'wall-step-forward')?.steppedMs ?? 'nothing', unit: 'ms' },
      { name: 'exact-excess', says: 'Time that it credited wrongly', expected: 0, actual: excess(run, 'exact'), unit: 'ms' },
      { name: 'any-policy', says: 'Under “credit” and “refuse”, together', expected: 0, unit: 'ms',
        actual: replay({ policy: 'credit' }, (other) => Math.abs(excess(other, 'exact'))) + replay({ policy: 'refuse' }, (other) => Math.abs(excess(other, 'exact'))) },
      { name: 'wall-excess', says: 'The wall bucket credited too much', expected: HOUR, actual: excess(run, 'shared'), unit: 'ms' },
    ],
  },
  {
    id: 'unseen',
    title: 'A sleep that nobody sees',
    group: 'The machine sleeps',
    text: 'What QuotaClock cannot do. Six hours of sleep and a step back of six hours, between the same two requests: both clocks show that nothing happened, and the reader '
      + 'is not asked. 19 requests are refused that time had paid for. Four seconds later the clock is set back by one more second; now they disagree, the reader is asked, '
      + 'and the six hours come in late.',
    options: { ...busy, reader: true },
    moves: [wait(10_000), sleep(6 * HOUR), step(-6 * HOUR), wait(4_000), step(-1_000), wait(4_000)],
    claims: (run) => [
      { name: 'missing', says: 'Requests that QuotaClock refused and time had paid for', expected: 19, actual: run.tallies.exact.missing },
      { name: 'suspended', says: 'The sleep that it told of, four seconds late', expected: 6 * HOUR, actual: newest(run, 'suspend')?.suspendedMs ?? 'nothing', unit: 'ms' },
      { name: 'exact-excess', says: 'Time that it credited wrongly, in the end', expected: 0, actual: excess(run, 'exact'), unit: 'ms' },
      { name: 'alone-lost', says: 'Time that the monotonic bucket never credits', expected: 6 * HOUR, actual: lost(run, 'alone'), unit: 'ms' },
    ],
  },
];

const month: readonly Story[] = [
  {
    id: 'midnight',
    title: 'Back over midnight on the 1st',
    shows: 'quota',
    group: 'The month turns',
    text: '40 units a month, resetting at midnight on the 1st in Los Angeles. March is used up, April begins and is used up. Then the clock is set back by 30 s, into March, '
      + 'and passes midnight again. A quota that asks the wall for the month starts again, twice, and lets 120 through in April. QuotaClock holds April, and says period-regression. '
      + 'A quota on the monotonic clock has no April.',
    options: { ...busy, start: 'end', quotaLimit: 40 },
    moves: [wait(42_000), step(-30_000), wait(30_000)],
    claims: (run) => {
      const april = (lane: Ours) => run.tallies[lane].inPeriod.get('2026-04') ?? 0;
      return [
        { name: 'wall-april', says: 'Let through in April, of 40, by the wall’s month', expected: 120, actual: april('shared') },
        { name: 'wall-allowances', says: 'Allowances it opened, for two months', expected: 4, actual: run.tallies.shared.allowances },
        { name: 'exact-april', says: 'QuotaClock let through in April', expected: 40, actual: april('exact') },
        { name: 'held', says: 'Requests for which it held April and said so', expected: 179, actual: told(run, 'period-regression') },
        { name: 'alone-april', says: 'The monotonic clock alone, in April', expected: 0, actual: april('alone') },
      ];
    },
  },
];

export const STORIES: readonly Story[] = [...wall, ...machine, ...month];
export const GROUPS = ['The wall is set', 'The machine sleeps', 'The month turns'] as const;

export const holds = ({ expected, actual }: Claim): boolean => expected === actual;
