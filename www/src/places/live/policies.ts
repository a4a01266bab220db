// What GET /v1/policies tells: the limits that there are, and which requests they hold for.

import { count, duration, number } from '../../format';
import { list, members, num, text, texts } from './json';

export interface Period {
  unit: string;
  timeZone: string;
}

export interface Policy {
  name: string;
  algorithm: string;
  isGlobal: boolean;
  limit: number;
  windowMs: number | null;
  period: Period | null;
  tolerancePpm: number | null;
  burst: number | null;
  /** What it counts by: `ip`, `header:x-api-key`, `path`, `tenant`; several have all to be equal. */
  identity: string[];
  onError: string | null;
  isShadow: boolean;
}

export interface Rule {
  methods: string[];
  path: string | null;
  policies: string[];
  isAllow: boolean;
}

export interface Policies {
  policies: Policy[];
  rules: Rule[];
}

/** Null when it is no such list. */
export function readPolicies(body: unknown): Policies | null {
  const of = members(body);
  if (!of || !Array.isArray(of['policies'])) return null;
  return { policies: list(of['policies']).flatMap(readPolicy), rules: list(of['rules']).flatMap(readRule) };
}

const oneOrMore = (value: unknown): string[] => (typeof value === 'string' ? [value] : texts(value));

function readPolicy(value: unknown): Policy[] {
  const of = members(value);
  const name = text(of?.['name']);
  if (!of || name === null) return [];
  const period = members(of['period']);
  return [{
    name,
    algorithm: text(of['algorithm']) ?? '',
    isGlobal: of['scope'] === 'global',
    limit: num(of['limit']) ?? 0,
    windowMs: num(of['window_ms']),
    period: period && { unit: text(period['unit']) ?? 'period', timeZone: text(period['time_zone']) ?? 'UTC' },
    tolerancePpm: num(of['tolerance_ppm']),
    burst: num(of['burst']),
    identity: oneOrMore(of['identity']),
    onError: text(of['on_error']),
    isShadow: of['shadow'] === true,
  }];
}

function readRule(value: unknown): Rule[] {
  const of = members(value);
  if (!of) return [];
  return [{ methods: oneOrMore(of['method']), path: text(of['path']), policies: texts(of['policies']), isAllow: of['allow'] === true }];
}

/** Its limit comes back all at once, when a window or a period ends. */
export const comesBackWhole = (policy: Policy | undefined): boolean => policy?.algorithm === 'fixed-window' || policy?.algorithm === 'calendar-quota';

const ALGORITHMS: Record<string, string> = {
  'fixed-window': 'a fixed window',
  'sliding-window': 'a sliding window',
  'sliding-log': 'a log of every unit',
  'token-bucket': 'a token bucket',
  'calendar-quota': 'a calendar quota',
};

const WINDOWS: Record<number, string> = { 1_000: 'second', 60_000: 'minute', 3_600_000: 'hour' };
const window = (ms: number): string => WINDOWS[ms] ?? duration(ms);

/** `60 per minute, in a fixed window`. */
export function limitInWords(policy: Policy): string {
  const per = policy.period ? `per ${policy.period.unit} in ${policy.period.timeZone}` : `per ${window(policy.windowMs ?? 0)}`;
  const kind = ALGORITHMS[policy.algorithm] ?? policy.algorithm;
  const holds = policy.algorithm === 'token-bucket' && policy.burst !== null ? ` that holds ${number(policy.burst)}` : '';
  return `${number(policy.limit)} ${per}, ${policy.algorithm === 'calendar-quota' ? 'as' : 'in'} ${kind}${holds}`;
}

/** Where it is counted, and by how much it can be passed. */
export function scopeInWords(policy: Policy): string {
  if (policy.period) return 'one quota over all PoPs, exact';
  if (!policy.isGlobal) return 'each PoP counts alone';
  if (policy.algorithm === 'token-bucket') return 'one bucket over all PoPs';
  const over = Math.floor((policy.limit * (policy.tolerancePpm ?? 0)) / 1_000_000);
  return over === 0 ? 'one limit over all PoPs, never passed' : `one limit over all PoPs, passed by ${count(over, 'unit')} at the very most`;
}

const ON_ERROR: Record<string, string> = {
  open: 'lets requests through when its counter is out of reach',
  closed: 'answers 503 when its counter is out of reach',
  local: 'goes on with its part of the limit when its Ledger is out of reach',
};

export const onErrorInWords = (policy: Policy): string => ON_ERROR[policy.onError ?? ''] ?? '';

/** `the header x-api-key`. */
export function identityInWords(part: string): string {
  if (part.startsWith('header:')) return `the header ${part.slice('header:'.length)}`;
  return part === 'ip' ? 'the address' : `the ${part}`;
}

/** A key to begin with: an address from the range for documentation, or a made-up name. */
export function firstKey(part: string): string {
  if (part === 'ip') return '203.0.113.7';
  return part === 'path' ? '/api/hello' : 'demo';
}

/** Paths for which something is counted, to choose from. */
export function examplePaths(rules: readonly Rule[]): string[] {
  const paths = rules.filter((rule) => !rule.isAllow && takesGet(rule)).map(({ path }) => path ?? '/');
  return [...new Set(paths.map((path) => (path.endsWith('/*') ? `${path.slice(0, -1)}hello` : path)))];
}

const takesGet = (rule: Rule): boolean => rule.methods.length === 0 || rule.methods.some((method) => method.toUpperCase() === 'GET');
