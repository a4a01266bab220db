// The header fields of limits, read as structured fields (RFC 9651) and said in words part by part.

import { isInnerList, parseList, serializeItem, type BareItem, type Item, type Parameters } from 'structured-headers';
import { count, duration, number } from '../../format';

/** A piece of a field as it stands there, and what it says. */
export interface Part {
  text: string;
  says: string;
}

export interface FieldReading {
  /** As it is usually written: `RateLimit-Policy`. */
  name: string;
  value: string;
  /** For each member of the list its parts; of what is no list, the whole. */
  items: Part[][];
  isStructured: boolean;
  /** Why it could not be read; null where it could. */
  fault: string | null;
}

export interface FieldLimit {
  policy: string;
  limit: number | null;
  remaining: number | null;
}

/** True for a policy whose limit comes back all at once, where that is known. */
export type ComesBackWhole = (policy: string) => boolean;

const NAMES: Record<string, string> = {
  ratelimit: 'RateLimit',
  'ratelimit-policy': 'RateLimit-Policy',
  'retry-after': 'Retry-After',
  'content-type': 'Content-Type',
  'content-length': 'Content-Length',
  'cache-control': 'Cache-Control',
  'www-authenticate': 'WWW-Authenticate',
  allow: 'Allow',
};

export const fieldName = (name: string): string => NAMES[name.toLowerCase()] ?? name;

/** Everything that is to be explained, in the order in which it is best read. */
const EXPLAINED = ['ratelimit-policy', 'ratelimit', 'retry-after', 'content-type', 'cache-control', 'www-authenticate', 'allow'];

export function readFields(fields: readonly (readonly [string, string])[], whole: ComesBackWhole = () => false): { known: FieldReading[]; others: string[] } {
  const periods = periodsIn(fields);
  const isWhole = (policy: string) => periods.has(policy) || whole(policy);
  const known = EXPLAINED.flatMap((name) => fields.filter(([given]) => given.toLowerCase() === name).map(([, value]) => readField(name, value, isWhole)));
  const others = fields.filter(([name]) => !EXPLAINED.includes(name.toLowerCase())).map(([name, value]) => `${fieldName(name)}: ${value}`);
  return { known, others };
}

/** The policies that say themselves that they are for a period: its limit comes back when that ends. */
function periodsIn(fields: readonly (readonly [string, string])[]): Set<string> {
  const items = fields.filter(([name]) => name.toLowerCase() === 'ratelimit-policy').flatMap(([, value]) => itemsOf(value));
  return new Set(items.flatMap(([name, parameters]) => (typeof name === 'string' && parameters.has('sluicegate-period') ? [name] : [])));
}

function readField(name: string, value: string, whole: ComesBackWhole): FieldReading {
  const isStructured = ['ratelimit', 'ratelimit-policy'].includes(name.toLowerCase());
  const reading = (items: Part[][], fault: string | null = null): FieldReading => ({ name: fieldName(name), value, items, isStructured, fault });
  switch (name.toLowerCase()) {
    case 'ratelimit':
      return structured(value, reading, (policy, parameters) => rateLimitParts(parameters, whole(policy)));
    case 'ratelimit-policy':
      return structured(value, reading, (_, parameters) => policyParts(parameters));
    default:
      return reading([[{ text: value, says: plain(name.toLowerCase(), value) }]]);
  }
}

function structured(value: string, reading: (items: Part[][], fault?: string) => FieldReading, parts: (policy: string, parameters: Parameters) => Part[]): FieldReading {
  try {
    const items = parseList(value).map((member): Part[] => {
      if (isInnerList(member)) return [{ text: '(…)', says: 'a list within the list, which these fields do not have' }];
      const [name, parameters] = member as Item;
      if (typeof name !== 'string') return [{ text: written(name), says: 'names a policy by something else than a text, which these fields do not have' }];
      return [{ text: written(name), says: 'the policy' }, ...parts(name, parameters)];
    });
    return reading(items);
  } catch (error) {
    return reading([], error instanceof Error ? error.message : 'it is no structured field');
  }
}

const written = (value: BareItem): string => serializeItem([value, new Map()]);

const said = (parameters: Parameters, words: (key: string, value: BareItem) => string | null): Part[] =>
  [...parameters].map(([key, value]) => ({
    text: value === true ? key : `${key}=${written(value)}`,
    says: words(key, value) ?? 'a parameter that this page does not know',
  }));

const units = (value: number): string => count(value, 'unit');
const seconds = (value: number): string => duration(value * 1_000);

/** `r` and `t` are draft 11's names, `a` and `w` those of the text after it. */
function rateLimitParts(parameters: Parameters, comesBackWhole: boolean): Part[] {
  const left = parameters.get('r') ?? parameters.get('a');
  return said(parameters, (key, value) => {
    if (key === 'pk') return 'names the counter among those of the policy';
    if (typeof value !== 'number') return null;
    if (key === 'r' || key === 'a') return value === 0 ? 'nothing is left' : `${units(value)} left`;
    if (key === 't' || key === 'w') return comesBackWhole ? `the whole limit is free again in ${seconds(value)}` : `${left === 0 ? 'the next unit is free' : 'more is free'} in ${seconds(value)}`;
    return null;
  });
}

function policyParts(parameters: Parameters): Part[] {
  return said(parameters, (key, value) => {
    switch (key) {
      case 'q':
        return typeof value === 'number' ? `the limit: ${units(value)}` : null;
      case 'w':
        return typeof value === 'number' ? `the window that the limit is for: ${seconds(value)}` : null;
      case 'sluicegate-burst':
        return typeof value === 'number' ? `a bucket that holds ${number(value)} at most: so many can come at once; the limit is what it refills by` : null;
      case 'sluicegate-period':
        return typeof value === 'string' ? `the limit is for one ${value} of the calendar, which has no constant length and so no w` : null;
      case 'qu':
        return 'what the limit counts';
      case 'pk':
        return 'names the counter among those of the policy';
      default:
        return null;
    }
  });
}

function plain(name: string, value: string): string {
  switch (name) {
    case 'retry-after':
      return /^\d+$/.test(value) ? `the same request fits in ${seconds(Number(value))}; rounded up, so it is never early` : 'not before this time';
    case 'content-type':
      if (value.startsWith('application/problem+json')) return 'the body says what is wrong, for programs (RFC 9457)';
      return value.startsWith('application/json') ? 'the body is JSON' : 'what the body is';
    case 'cache-control':
      return value === 'no-store' ? 'nobody keeps this answer: it is about this request at this moment' : 'how long the answer may be kept';
    case 'www-authenticate':
      return 'what the route wants to see: a bearer token';
    case 'allow':
      return 'the methods that the route takes';
    default:
      return '';
  }
}

/** What both fields say of each policy; nothing for what cannot be read. */
export function limitsOf(rateLimit: string | null, rateLimitPolicy: string | null): FieldLimit[] {
  const limits = new Map<string, FieldLimit>();
  const note = (value: string | null, take: (limit: FieldLimit, parameters: Parameters) => void) => {
    for (const [name, parameters] of itemsOf(value)) {
      if (typeof name !== 'string') continue;
      const limit = limits.get(name) ?? { policy: name, limit: null, remaining: null };
      take(limit, parameters);
      limits.set(name, limit);
    }
  };
  const numeric = (value: BareItem | undefined) => (typeof value === 'number' ? value : null);
  note(rateLimitPolicy, (limit, parameters) => (limit.limit = numeric(parameters.get('sluicegate-burst')) ?? numeric(parameters.get('q'))));
  note(rateLimit, (limit, parameters) => (limit.remaining = numeric(parameters.get('r')) ?? numeric(parameters.get('a'))));
  return [...limits.values()];
}

function itemsOf(value: string | null): Item[] {
  if (value === null) return [];
  try {
    return parseList(value).filter((member): member is Item => !isInnerList(member));
  } catch {
    return [];
  }
}
