// What is sent: a request through the gateway, or a check.

import type { Question } from './ask';

export type Target =
  | { kind: 'gateway'; path: string; header: readonly [string, string] | null }
  | { kind: 'check'; policy: string; key: readonly string[]; cost: number; peek: boolean; token: string };

/** What is wrong, by the field that it is wrong with. */
export type Faults = Partial<Record<'path' | 'header' | 'value' | 'policy', string>>;

/** A path on this origin. Everything that a browser would take for another host's address is refused. */
export function pathOf(typed: string, origin: string): { path: string } | { fault: string } {
  const trimmed = typed.trim();
  if (!trimmed.startsWith('/')) return { fault: 'a path begins with a slash' };
  try {
    const url = new URL(trimmed, origin);
    // Dots can hide them: /.//host/ has them only when it is resolved.
    if (url.origin !== origin || url.pathname.startsWith('//')) return { fault: 'two slashes at the beginning would name another host' };
    return { path: url.pathname + url.search };
  } catch {
    return { fault: 'this is no path' };
  }
}

/** A header as a page may send it; null where none is wanted. */
export function headerOf(name: string, value: string): { header: [string, string] | null } | { fault: Faults } {
  const given = name.trim();
  if (given === '') return value.trim() === '' ? { header: null } : { fault: { header: 'which header has this value?' } };
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(given)) return { fault: { header: 'a header’s name has letters, digits and dashes' } };
  if (value.trim() === '') return { fault: { value: 'a value, or no header at all' } };
  try {
    // A browser drops without a word what a page may not set.
    const headers = new Request('/', { headers: { [given]: value } }).headers;
    if (!headers.has(given)) return { fault: { header: `browsers let no page set ${given}` } };
  } catch {
    return { fault: { value: 'this cannot stand in a header' } };
  }
  return { header: [given, value.trim()] };
}

/** True for what can be sent as a bearer token. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(text);

export function questionOf(target: Target, api: string): Question {
  if (target.kind === 'gateway') return { method: 'GET', path: target.path, headers: target.header ? [target.header] : [] };
  const { policy, key, cost, peek, token } = target;
  const limit = { policy, key: key.length === 1 ? key[0] : key, cost };
  return { method: 'POST', path: `${api}/v1/check`, token, json: { limits: [limit], ...(peek && { peek }) } };
}

/** For people. */
export function inWords(target: Target): string {
  if (target.kind === 'gateway') return `GET ${target.path}`;
  const { policy, cost, peek } = target;
  return `${peek ? 'peek at' : 'check'} ${policy}${cost === 1 ? '' : `, cost ${cost}`}`;
}

/** Two targets with the same of it are counted by the same counters. */
export const counterOf = (target: Target): string =>
  JSON.stringify(target.kind === 'gateway' ? ['gateway', target.path, target.header] : ['check', target.policy, target.key]);
