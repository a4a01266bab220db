// What an answer says, in one shape whichever way it was asked for.

import { fieldOf, type Answer, type Asked } from './ask';
import { limitsOf } from './fields';
import { list, members, num, text } from './json';
import { readProblem, type Problem } from './problem';

export const OUTCOMES = ['allowed', 'refused', 'unavailable', 'error'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What one policy said. What nobody told is null. */
export interface LimitSaid {
  policy: string;
  limit: number | null;
  remaining: number | null;
  resetMs: number | null;
  retryAfterMs: number | null;
  basis: string | null;
  refusal: string | null;
  decidedBy: string | null;
  wouldRefuse: boolean | null;
  pop: string | null;
  epoch: number | null;
  slot: string | null;
  serial: number | null;
  startMs: number | null;
  endMs: number | null;
}

export interface Sample {
  id: number;
  /** Grows when something else is asked for: numbers before and after are not of the same counter. */
  series: number;
  /** What was asked for, for people: `GET /api/hello`. */
  asked: string;
  isCheck: boolean;
  outcome: Outcome;
  endMs: number;
  latencyMs: number;
  answer: Answer | null;
  problem: Problem | null;
  limits: LimitSaid[];
  retryAfterMs: number | null;
}

export type Whose = Pick<Sample, 'id' | 'series' | 'asked' | 'isCheck'>;

export function sampleOf(whose: Whose, { answer, latencyMs, endMs }: Asked): Sample {
  const problem = answer && readProblem(answer.body);
  const checked = answer && whose.isCheck ? checkResults(answer.body) : null;
  const limits = checked?.limits ?? (answer ? announced(answer) : []);
  const outcome = !answer ? 'error' : checked ? checkOutcome(answer.status, checked) : whose.isCheck ? 'error' : passedOutcome(answer, problem);
  return { ...whose, outcome, endMs, latencyMs, answer, problem, limits, retryAfterMs: answer && waitOf(answer, limits) };
}

const NOTHING: LimitSaid = {
  policy: '', limit: null, remaining: null, resetMs: null, retryAfterMs: null, basis: null, refusal: null, decidedBy: null,
  wouldRefuse: null, pop: null, epoch: null, slot: null, serial: null, startMs: null, endMs: null,
};

interface Checked {
  allowed: boolean;
  limits: LimitSaid[];
}

/** The body that answers a check; null when it is none. */
function checkResults(body: unknown): Checked | null {
  const of = members(body);
  if (!of || typeof of['allowed'] !== 'boolean' || !Array.isArray(of['results'])) return null;
  return { allowed: of['allowed'], limits: list(of['results']).flatMap(readResult) };
}

function readResult(value: unknown): LimitSaid[] {
  const of = members(value);
  const policy = text(of?.['policy']);
  if (!of || policy === null) return [];
  return [{
    policy,
    limit: num(of['limit']),
    remaining: num(of['remaining']),
    resetMs: num(of['reset_ms']),
    retryAfterMs: num(of['retry_after_ms']),
    basis: text(of['retry_after_basis']),
    refusal: text(of['refusal']),
    decidedBy: text(of['decided_by']),
    wouldRefuse: typeof of['would_refuse'] === 'boolean' ? of['would_refuse'] : null,
    pop: text(of['pop']),
    epoch: num(of['epoch']),
    slot: text(of['slot']),
    serial: num(of['serial']),
    startMs: num(of['start_ms']),
    endMs: num(of['end_ms']),
  }];
}

function checkOutcome(status: number, { allowed, limits }: Checked): Outcome {
  if (allowed) return 'allowed';
  if (status === 503 || limits.every(({ refusal }) => refusal === null || refusal === 'unavailable')) return 'unavailable';
  return 'refused';
}

/**
 * A refusal of the limiter says that it is one. Any other answer came from behind it, or from the limiter
 * about something else than a limit: the latter has no limit fields.
 */
function passedOutcome(answer: Answer, problem: Problem | null): Outcome {
  if (problem?.refusal) return problem.refusal === 'unavailable' ? 'unavailable' : 'refused';
  if (answer.status >= 500) return 'error';
  return answer.redirects || answer.status < 400 || fieldOf(answer, 'ratelimit') !== null ? 'allowed' : 'error';
}

const announced = (answer: Answer): LimitSaid[] =>
  limitsOf(fieldOf(answer, 'ratelimit'), fieldOf(answer, 'ratelimit-policy')).map((limit) => ({ ...NOTHING, ...limit }));

function waitOf(answer: Answer, limits: readonly LimitSaid[]): number | null {
  const waits = limits.flatMap(({ retryAfterMs }) => (retryAfterMs === null ? [] : [retryAfterMs]));
  if (waits.length > 0) return Math.max(...waits);
  const field = fieldOf(answer, 'retry-after');
  return field !== null && /^\d+$/.test(field) ? Number(field) * 1_000 : null;
}

/** The limit that is looked at: the one that was chosen, where the answer has it. */
export const watchedOf = (sample: Sample, policy: string | null): LimitSaid | null =>
  sample.limits.find((limit) => limit.policy === policy) ?? (policy === null ? sample.limits[0] : undefined) ?? null;
