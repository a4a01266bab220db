// What the last thing that was done to the clocks did to each limiter, in numbers and in words.

import { count, duration, number } from '../../format';
import type { Happened, Lane, Touched } from './record';
import type { Run } from './run';

export interface Effect {
  lane: Exclude<Lane, 'truth'>;
  /** Requests since. */
  asked: number;
  /** Time credited that did not pass; negative for time that passed and was not credited. */
  excessMs: number;
  /** The time that passed, up to its last request. */
  passedMs: number;
  tooMany: number;
  missing: number;
  threw: number;
  /** Allowances opened beyond the periods that began. */
  spareAllowances: number;
  /** How long it will go on to stand still, and whether it is of the kind that does. */
  standsStillMs: number;
  waits: boolean;
  /** What QuotaClock told of. */
  told: string[];
}

export function effectOn(run: Run, touched: Touched, lane: Effect['lane']): Effect {
  const before = touched.before[lane];
  const now = run.tallies[lane];
  const passedMs = now.trueMs - before.trueMs;
  // The first request opens the first period, and that is no event.
  const opened = now.allowances - Math.max(1, before.allowances);
  return {
    lane,
    asked: now.asked - before.asked,
    excessMs: now.creditedMs - before.creditedMs - passedMs,
    passedMs,
    tooMany: now.tooMany - before.tooMany,
    missing: now.missing - before.missing,
    threw: now.threw - before.threw,
    spareAllowances: Math.max(0, opened - (run.begun - touched.begun)),
    standsStillMs: lane === 'shared' ? run.wall.standsStillMs(run.clock.wallMs()) : 0,
    waits: lane === 'shared' && run.options.mark === 'max',
    told: lane === 'exact' ? Object.keys(run.exact.told).filter((kind) => run.exact.told[kind] !== touched.told[kind]) : [],
  };
}

/** What was done, as the beginning of a sentence. */
export function happenedText({ kind, size, slot }: Happened): string {
  switch (kind) {
    case 'step': return `Wall set ${size < 0 ? 'back' : 'ahead'} by ${duration(size)}`;
    case 'suspend': return `Asleep for ${duration(size)}`;
    case 'slew': return size === 0 ? 'Slewing ended' : `Wall slewed, ${Math.abs(size)} ppm ${size < 0 ? 'slow' : 'fast'}`;
    case 'period': return `${slot} begins`;
  }
}

const units = (tokens: number) => number(Math.round(tokens * 10) / 10);

function timeWords(effect: Effect, slept: boolean): string {
  const { lane, excessMs, passedMs, standsStillMs, waits, threw } = effect;
  if (threw > 0) return `Threw in place of a guess, and credited nothing for the jump: ${duration(-excessMs)} are missing.`;
  if (excessMs > 0) return lane === 'exact' ? `Credited ${duration(excessMs)} that did not pass.` : `Refilled by ${duration(excessMs)} that did not pass.`;
  if (standsStillMs > 0) return `Stands still, for ${duration(standsStillMs)} yet.${excessMs < 0 ? ` So far ${duration(-excessMs)} were not credited.` : ''}`;
  if (excessMs < 0 && waits) return `Stood still: ${duration(-excessMs)} that passed were not credited.`;
  if (excessMs < 0 && lane === 'shared') return `Lost the gap in which the clock was set: ${duration(-excessMs)} that passed were not credited.`;
  if (excessMs < 0 && slept && lane === 'alone') return `Slept with the machine: ${duration(-excessMs)} that passed were not credited.`;
  if (excessMs < 0) return `Did not credit ${duration(-excessMs)} that passed.`;
  return `Credited the ${duration(passedMs)} that passed, and nothing else.`;
}

function unitWords({ tooMany, missing, spareAllowances }: Effect): string[] {
  const said: string[] = [];
  if (tooMany > 0) said.push(`${units(tooMany)} ${tooMany === 1 ? 'request' : 'requests'} too many let through.`);
  if (missing > 0) said.push(`${units(missing)} ${missing === 1 ? 'request' : 'requests'} refused that time had paid for.`);
  if (spareAllowances > 0) said.push(`The quota started again: ${count(spareAllowances, 'allowance')} more than periods that began.`);
  return said;
}

function toldWords({ lane, told }: Effect, isJump: boolean): string[] {
  if (lane !== 'exact') return isJump ? ['Nothing in its log.'] : [];
  if (told.length === 0) return [isJump ? 'Within the tolerance: nothing to tell.' : 'Nothing to tell.'];
  const held = told.includes('period-regression') ? ['The period is held.'] : [];
  return [...held, `Told: ${told.join(', ')}.`];
}

/** Two or three short sentences. */
export function effectWords(effect: Effect, events: readonly Happened[]): string[] {
  if (effect.asked === 0) return ['No request since: it does not know yet.'];
  const isJump = events.some(({ kind }) => kind === 'step' || kind === 'suspend');
  const slept = events.some(({ kind }) => kind === 'suspend');
  return [timeWords(effect, slept), ...unitWords(effect), ...toldWords(effect, isJump)];
}
