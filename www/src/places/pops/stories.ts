// The stories that the page tells: each a run, and claims about its end that the run itself has to bear out.

import type { Frame, SeriesName } from '../../simulator';
import { DEFAULT, type Run } from './run';

/** A claim about the end of a run: the number that the run gives, compared with the one that is claimed. */
export interface Claim {
  name: string;
  /** `{}` stands for the number. */
  says: string;
  value: (frame: Frame) => number;
  is: 'at most' | 'at least' | 'exactly';
  claimed: number;
}

export interface Story {
  name: string;
  title: string;
  /** What happens, and why it is hard. */
  text: string[];
  run: Run;
  claims: Claim[];
}

const series = (frame: Frame, name: SeriesName) => frame.series.find((one) => one.name === name);
const worst = (name: SeriesName) => (frame: Frame) => series(frame, name)?.worst_epoch ?? NaN;
const anywhere = (name: SeriesName) => (frame: Frame) => series(frame, name)?.worst_window ?? NaN;
const admitted = (name: SeriesName) => (frame: Frame) => series(frame, name)?.admitted ?? NaN;
const book = (frame: Frame, serial: number) => frame.books.find((one) => one.serial === serial);

export function holds(claim: Claim, value: number): boolean {
  switch (claim.is) {
    case 'at most': return value <= claim.claimed;
    case 'at least': return value >= claim.claimed;
    case 'exactly': return value === claim.claimed;
  }
}

/** Fifty milliseconds around the truth: what NTP leaves. */
const NEARLY = [0, 20, -30, 45, -50, 10, 40, -15, 35, -40, 5, 25];
const at = (seconds: number) => seconds * 1_000;

export const STORIES: readonly Story[] = [
  {
    name: 'ahead',
    title: 'A machine 900 ms ahead',
    text: [
      'Twelve PoPs hold one limit: 60 a minute. Their clocks agree within 50 ms, but the machine of PoP 7 was moved to another host and is now 900 ms ahead. After five minutes three more are moved.',
      'A shared bucket refills by the time since its last stamp. Each time a fast machine answers after a slow one it sees 900 ms that nobody waited for, and nearly a whole token appears. Its clients get more, and how much more depends on who answers.',
    ],
    run: { ...DEFAULT, skews_ms: NEARLY.map((skew, pop) => (pop === 6 ? 900 : skew)), per_minute: 240, mishaps: [1, 4, 9].map((target) => ({ at_ms: at(300), kind: 'step', target, ms: 900 })) },
    claims: [
      { name: 'shared-admitted', says: 'In ten minutes a right bucket lets 660 through at most: 60 at once, and 60 a minute. This one let {} through.', value: admitted('shared'), is: 'at least', claimed: 800 },
      { name: 'alone-worst', says: 'Each PoP alone is no limit at all: {} in one window.', value: worst('alone'), is: 'at least', claimed: 200 },
      { name: 'tolerant-worst', says: 'sluicegate with 10 % tolerance: {} in its worst window, and it says so beforehand.', value: worst('tolerant'), is: 'at most', claimed: 66 },
      { name: 'exact-worst', says: 'sluicegate with none: {}.', value: worst('exact'), is: 'exactly', claimed: 60 },
    ],
  },
  {
    name: 'frozen',
    title: 'A clock that stands still',
    text: [
      'At 2:30 the clock of PoP 3 is set back by a minute. A Durable Object never sees its clock go back: it stands still until the wall has caught up, and its timers with it. At 5:30 the same happens to the Ledger.',
      'The bucket gets a minute of refill whenever another PoP answers after PoP 3. sluicegate needs no timer and no time of the PoP: epochs come with the answers of the Ledger, and the Ledger keeps a clock of its own that never goes back and never waits.',
    ],
    run: { ...DEFAULT, skews_ms: [0, 40, -30, 20, -10, 30], per_minute: 180, mishaps: [{ at_ms: at(150), kind: 'step', target: 2, ms: -60_000 }, { at_ms: at(330), kind: 'step', target: 'ledger', ms: -60_000 }] },
    claims: [
      { name: 'shared-admitted', says: 'The bucket let {} through where 660 may.', value: admitted('shared'), is: 'at least', claimed: 1_200 },
      { name: 'exact-worst', says: 'sluicegate: never more than {} in a window.', value: worst('exact'), is: 'exactly', claimed: 60 },
      { name: 'epochs', says: 'The Ledger opened {} windows in ten minutes, none twice.', value: (frame) => series(frame, 'exact')?.epochs ?? NaN, is: 'exactly', claimed: 10 },
      { name: 'pop-3', says: 'PoP 3 was not locked out: it let {} of its requests through.', value: (frame) => frame.pops[2]?.admitted.exact ?? NaN, is: 'at least', claimed: 80 },
    ],
  },
  {
    name: 'burst',
    title: 'A burst at the boundary',
    text: [
      'Somebody has learnt when windows begin, and sends nearly everything within a second around each boundary. The clocks of six PoPs are up to half a second apart.',
      'Across one boundary every fixed window lets twice its limit through, and sluicegate is no exception: it says so. What it does not do is multiply that by the number of PoPs, or open a window early because one clock is fast. (Where twice is too much there are sliding windows.)',
    ],
    run: { ...DEFAULT, skews_ms: [0, 400, -300, 500, -450, 200], per_minute: 240, pattern: 'bursts' },
    claims: [
      { name: 'exact-worst', says: 'By its own windows: {}.', value: worst('exact'), is: 'exactly', claimed: 60 },
      { name: 'exact-anywhere', says: 'In any 60 s: {}, which is twice the limit and no more.', value: anywhere('exact'), is: 'at most', claimed: 120 },
      { name: 'tolerant-anywhere', says: 'With the tolerance: {}.', value: anywhere('tolerant'), is: 'at most', claimed: 132 },
      { name: 'alone-anywhere', says: 'Each PoP alone: {}.', value: anywhere('alone'), is: 'at least', claimed: 240 },
    ],
  },
  {
    name: 'late-lease',
    title: 'A lease that comes back late',
    text: [
      'A quota of 1,000 a month, a minute before March ends. At 0:40 PoP 2 is cut off with units of March in its hands. At 1:00 the month closes. At 1:40 PoP 2 is back and reports what it has spent: into which month?',
      'Each lease has a fence, a name that is matched exactly. The report goes into the book of the month that granted it, and cannot touch the one that is open. A shared counter that everybody looks up in a calendar of their own begins the month again and again while the clocks, 40 s apart, disagree about the date.',
    ],
    run: { ...DEFAULT, counts: 'month', limit: 1_000, skews_ms: [0, 20_000, -20_000, 1_500], per_minute: 900, end_s: 180, mishaps: [{ at_ms: at(40), kind: 'cut', target: 1, ms: at(60) }] },
    claims: [
      { name: 'shared-worst', says: 'The shared counter let {} through in one month.', value: worst('shared'), is: 'at least', claimed: 1_200 },
      { name: 'exact-worst', says: 'sluicegate: {} of 1,000.', value: worst('exact'), is: 'exactly', claimed: 1_000 },
      { name: 'late-outstanding', says: 'Of March {} units are still out: the late report has been booked.', value: (frame) => book(frame, 1)?.outstanding ?? NaN, is: 'exactly', claimed: 0 },
      { name: 'late-difference', says: 'Between March by the books and what was really let through is a difference of {}.', value: (frame) => Math.abs((book(frame, 1)?.spent ?? NaN) - (book(frame, 1)?.admitted ?? NaN)), is: 'exactly', claimed: 0 },
    ],
  },
  {
    name: 'partition',
    title: 'A partition',
    text: [
      'From 3:10 to 4:40 PoP 3 reaches nobody. It cannot ask for more, so somebody has to decide beforehand what is to happen then. Here it is on_error = "local": go on alone, with the limit divided by the number of PoPs.',
      'This gives up the bound, by a number that is known: one sixth of the limit for the PoP that is alone. "closed" refuses instead, "open" lets everything through: choose them in the set-up below, and the same partition happens again. The others notice nothing.',
    ],
    run: { ...DEFAULT, skews_ms: [0, 30, -30, 10, -10, 20], on_error: 'local', mishaps: [{ at_ms: at(190), kind: 'cut', target: 2, ms: at(90) }] },
    claims: [
      { name: 'alone-there', says: 'PoP 3 let {} through on its own.', value: (frame) => series(frame, 'exact')?.by_on_error ?? NaN, is: 'at least', claimed: 10 },
      { name: 'exact-worst', says: 'So the worst window is {}: 60, and the 10 of PoP 3.', value: worst('exact'), is: 'at most', claimed: 70 },
      { name: 'tolerant-worst', says: 'With the tolerance: {}.', value: worst('tolerant'), is: 'at most', claimed: 76 },
      { name: 'none-locked', says: 'Requests that got no answer at all: {}.', value: (frame) => frame.totals.exact.gave_up, is: 'exactly', claimed: 0 },
    ],
  },
];

export const storyNamed = (name: string | null): Story | null => STORIES.find((story) => story.name === name) ?? null;
