// What happened, in sentences; for eyes and for ears.

import { count, duration, number } from '../../format';
import { FASTEST, MOST_SENT, SLOWEST, type Ending } from './pacer';
import { answersOf, type Totals } from './record';
import { watchedOf, type Outcome, type Sample } from './sample';
import type { Progress } from './sender';

const local = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The time of day where the viewer is: `14:03:07`. */
export const localTime = (ms: number): string => local.format(ms);
export const preciseTime = (ms: number): string => `${local.format(ms)}.${String(Math.floor(ms) % 1_000).padStart(3, '0')}`;

/** Latencies are short: `4.2 ms`, `38 ms`, `1.2 s`. */
export const shortly = (ms: number): string => (ms < 10 ? `${ms.toFixed(1)} ms` : duration(ms));

export const perSecond = (rate: number): string => `${number(rate)} a second`;
export const RATES = `${number(SLOWEST)} to ${number(FASTEST)}`;

export const OUTCOME: Record<Outcome, { title: string; says: string }> = {
  allowed: { title: 'Allowed', says: 'within the limit' },
  refused: { title: 'Refused', says: 'past the limit' },
  unavailable: { title: 'Unavailable', says: 'nobody could count' },
  error: { title: 'Errors', says: 'no answer, or neither yes nor no' },
};

const ENDINGS: Record<Ending, string> = {
  asked: 'Stopped',
  done: 'Sent',
  'most-sent': 'Ended after the most that one run sends',
  silence: 'Ended, since no answer came for two minutes',
  hidden: 'Stopped, since the tab was hidden',
  left: 'Stopped, since this place was left',
};

export function progressInWords({ sent, held, inFlight, sinceMs, perSecond: rate, ended }: Progress): string {
  const flight = inFlight > 0 ? `, ${number(inFlight)} in flight` : '';
  const back = held > 0 ? `, ${number(held)} held back` : '';
  if (ended === null) {
    const pace = rate === null ? 'Sending' : `Sending ${perSecond(rate)} since ${localTime(sinceMs)}`;
    return `${pace}: ${number(sent)} of at most ${number(MOST_SENT)} sent${flight}${back}.`;
  }
  return `${ENDINGS[ended]}: ${count(sent, 'request')}${ended === 'done' ? '' : ' sent'}${flight}${back}.`;
}

/** For whoever listens: now and then, and at the end. */
export function summary(totals: Totals, last: Sample | undefined, policy: string | null): string {
  const parts = [`${number(totals.allowed)} allowed`, `${number(totals.refused)} refused`];
  if (totals.unavailable > 0) parts.push(`${number(totals.unavailable)} unavailable`);
  if (totals.error > 0) parts.push(count(totals.error, 'error'));
  const limit = last && watchedOf(last, policy);
  const left = limit && limit.remaining !== null ? ` ${number(limit.remaining)} left of ${limit.policy}.` : '';
  return `${count(answersOf(totals), 'answer')}: ${parts.join(', ')}.${left}`;
}
