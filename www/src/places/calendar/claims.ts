// What a way of counting should keep to when the clock goes back, and whether it did.

import { number } from '../../format';
import { type Counter, type Entry, LIMIT } from './experiment';

export interface Claim {
  name: string;
  /** What it should be, and what it is. */
  expected: string;
  actual: string;
  holds: boolean;
  words: string;
}

function held(counter: Counter, entry: Entry, slot: string): Claim {
  const actual = entry.standings[counter].slot;
  const holds = actual === slot;
  return { name: `${counter}-held`, expected: slot, actual, holds, words: holds ? `counts in ${actual}` : `counts in ${actual}, which is over` };
}

/** At the last step back: is what was used before it still used after it? */
function usage(counter: Counter, log: readonly Entry[], step: number): Claim | null {
  const before = log[step - 1]?.standings[counter].used;
  const after = log[step]?.standings[counter].used;
  if (before === undefined || after === undefined) return null;
  const holds = before === after;
  const words = `${number(before)} used before the clock went back, ${number(after)} after it`;
  return { name: `${counter}-usage`, expected: String(before), actual: String(after), holds, words };
}

function within(counter: Counter, entry: Entry): Claim {
  const { admitted } = entry.standings[counter];
  const holds = admitted <= LIMIT;
  const words = holds ? 'within the limit since the reset' : `${number(admitted / LIMIT)} times the limit since the reset`;
  return { name: `${counter}-within-limit`, expected: `<=${LIMIT}`, actual: String(admitted), holds, words };
}

/** Whether the last step back was reported; a naive quota reports nothing. */
function reported(counter: Counter, log: readonly Entry[]): Claim | null {
  const back = log.findLast((entry) => entry.act === 'back');
  if (!back) return null;
  const actual = counter === 'exact' ? back.anomalies.map(({ anomaly }) => anomaly.kind).join(' ') : '';
  const holds = actual.includes('period-regression');
  return { name: `${counter}-reported`, expected: 'period-regression', actual, holds, words: holds ? 'reported as period-regression' : 'reports nothing' };
}

export function claimsOf(counter: Counter, log: readonly Entry[], slot: string): Claim[] {
  const last = log.at(-1);
  if (!last) return [];
  const claims = [held(counter, last, slot), usage(counter, log, log.findLastIndex((entry) => entry.act === 'back')), within(counter, last), reported(counter, log)];
  return claims.filter((claim) => claim !== null);
}
