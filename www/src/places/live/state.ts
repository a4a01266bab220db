// What the place shows, as signals. Secrets are here only: never in the address, never stored.

import { computed, signal } from '@preact/signals';
import { limiter } from '../../limiter';
import { query, remember } from '../../route';
import { ask, type Asked, type Question } from './ask';
import { FASTEST, SLOWEST } from './pacer';
import { comesBackWhole, firstKey, readPolicies, type Policies, type Policy } from './policies';
import { inOneLine, readProblem } from './problem';
import { headerOf, isToken, pathOf, type Faults, type Target } from './target';

export type Mode = 'gateway' | 'check';

export const mode = signal<Mode>('gateway');
export const path = signal('/api/hello');
export const headerName = signal('');
export const headerValue = signal('');
export const policyName = signal('');
export const keys = signal<Record<string, string[]>>({});
export const cost = signal(1);
export const peek = signal(false);
export const rate = signal(5);

export const token = signal<string | null>(null);
export const tokenFault = signal<string | null>(null);
export const opening = signal(false);
export const policies = signal<Policies | null>(null);

/** When the limiter answered last, and since when it has not. */
export const lastAnswerMs = signal<number | null>(null);
export const silentSinceMs = signal<number | null>(null);

/** The policy that is chosen for checks. */
export const policy = computed<Policy | null>(() => {
  const all = policies.value?.policies ?? [];
  return all.find(({ name }) => name === policyName.value) ?? all[0] ?? null;
});

/** The key of the chosen policy, a text for each part of its identity. */
export const key = computed<string[]>(() => {
  const chosen = policy.value;
  if (!chosen) return [];
  return keys.value[chosen.identity.join()] ?? chosen.identity.map(firstKey);
});

export const wholeAgain = (name: string): boolean => comesBackWhole(policies.peek()?.policies.find((one) => one.name === name));

/** What would be sent now, or what is wrong with it. */
export const target = computed<Target | { faults: Faults }>(() => {
  if (mode.value === 'check') {
    const [chosen, secret] = [policy.value, token.value];
    if (!chosen || secret === null) return { faults: { policy: 'a check needs the token' } };
    return { kind: 'check', policy: chosen.name, key: key.value, cost: cost.value, peek: peek.value, token: secret };
  }
  const where = pathOf(path.value, location.origin);
  const header = headerOf(headerName.value, headerValue.value);
  const faults: Faults = { ...('fault' in where && { path: where.fault }), ...('fault' in header && header.fault) };
  if ('fault' in where || 'fault' in header) return { faults };
  return { kind: 'gateway', path: where.path, header: header.header };
});

/** Asks, and notes whether there was an answer. */
export async function askLimiter(question: Question): Promise<Asked> {
  const asked = await ask(question);
  if (asked.answer) {
    lastAnswerMs.value = asked.endMs;
    silentSinceMs.value = null;
  } else {
    silentSinceMs.value ??= asked.endMs;
  }
  return asked;
}

export const api = (): string => limiter.peek()?.api ?? '';

/** Takes a token, if the limiter does. */
export async function useToken(typed: string): Promise<void> {
  const given = typed.trim();
  if (!isToken(given)) {
    tokenFault.value = given === '' ? 'type the token first' : 'a token has no blanks and no letters beyond ASCII';
    return;
  }
  opening.value = true;
  const { answer } = await askLimiter({ method: 'GET', path: `${api()}/v1/policies`, token: given });
  opening.value = false;
  const told = answer?.status === 200 ? readPolicies(answer.body) : null;
  if (told) {
    policies.value = told;
    token.value = given;
    tokenFault.value = null;
  } else if (!answer) {
    tokenFault.value = 'The limiter did not answer. Try again.';
  } else {
    tokenFault.value = answer.status === 200 ? 'This limiter does not list its policies: it is older than the page.' : inOneLine(readProblem(answer.body), answer.status);
  }
}

export function forget(): void {
  token.value = null;
  tokenFault.value = null;
  policies.value = null;
  keys.value = {};
  mode.value = 'gateway';
}

/** What the address may know: no token, no key and no header's value, for those can be secrets too. */
export function readAddress(): void {
  const told = new URLSearchParams(query.peek());
  if (told.get('send') === 'check') mode.value = 'check';
  const where = told.get('path');
  if (where && 'path' in pathOf(where, location.origin)) path.value = where;
  headerName.value = told.get('header') ?? headerName.peek();
  policyName.value = told.get('policy') ?? policyName.peek();
  const perSecond = Number(told.get('rate'));
  if (perSecond >= SLOWEST && perSecond <= FASTEST) rate.value = Math.round(perSecond * 2) / 2;
}

export function writeAddress(): void {
  const told = new URLSearchParams();
  if (mode.value === 'check') told.set('send', 'check');
  if (path.value !== '/api/hello') told.set('path', path.value.replace(/\?.*/s, ''));
  if (headerName.value) told.set('header', headerName.value);
  if (policy.value && mode.value === 'check') told.set('policy', policy.value.name);
  if (rate.value !== 5) told.set('rate', String(rate.value));
  remember('live', told);
}
