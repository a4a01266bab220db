// The body that answers a check, said in words part by part.

import { count, dateTime, duration } from '../../format';
import type { Part } from './fields';
import { refusalInWords } from './problem';
import type { LimitSaid } from './sample';

const DECIDED_BY: Record<string, string> = {
  counter: 'somebody counted: the answer rests on numbers',
  'on-error': 'the counter or the Ledger was out of reach, and the policy’s on_error decided',
  local: 'the Ledger was out of reach, and the PoP went on alone with its part of the limit',
  nobody: 'nothing is known of it, because another limit refused first',
};

const BASES: Record<string, string> = {
  'epoch-window': 'the rest of a counted window',
  'monotonic-refill': 'a bucket’s refill',
  'wall-period': 'the rest of a calendar period',
};

export function resultParts(limit: LimitSaid): Part[] {
  const parts: Part[] = [{ text: `"policy":"${limit.policy}"`, says: 'the policy' }];
  const add = <T>(name: string, value: T | null, says: (value: T) => string) => {
    if (value !== null) parts.push({ text: `"${name}":${JSON.stringify(value)}`, says: says(value) });
  };
  add('limit', limit.limit, (units) => `the most at once: ${count(units, 'unit')}`);
  add('remaining', limit.remaining, (units) => (units === 0 ? 'nothing is left' : `${count(units, 'unit')} left`));
  add('reset_ms', limit.resetMs, (ms) => (ms === 0 ? 'the whole limit is free' : `the whole limit is free again in ${duration(ms)}, if nothing more is taken`));
  add('would_refuse', limit.wouldRefuse, (would) => `a shadow policy: it ${would ? 'would refuse' : 'would let through'}, and never does refuse`);
  add('retry_after_ms', limit.retryAfterMs, (ms) => `the same request fits in ${duration(ms)}, never early`);
  add('retry_after_basis', limit.basis, (basis) => `what that rests on: ${BASES[basis] ?? 'something that this page does not know'}`);
  add('refusal', limit.refusal, refusalInWords);
  add('decided_by', limit.decidedBy, (who) => DECIDED_BY[who] ?? 'a word that this page does not know');
  add('epoch', limit.epoch, () => 'the number of the window that was counted in; a name, not a time');
  add('slot', limit.slot, () => 'the calendar’s name for the open period');
  add('serial', limit.serial, () => 'the open period’s number: it only grows, whatever the clock does');
  add('start_ms', limit.startMs, (ms) => `the period’s first instant: ${dateTime(ms)} UTC`);
  add('end_ms', limit.endMs, (ms) => `the first instant after it: ${dateTime(ms)} UTC`);
  add('pop', limit.pop, () => 'the point of presence that counted');
  return parts;
}
