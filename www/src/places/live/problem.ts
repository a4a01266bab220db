// Problem details (RFC 9457), and what they mean.

import { list, members, num, text, texts } from './json';

export interface Fault {
  path: string | null;
  detail: string;
}

export interface Problem {
  type: string;
  title: string | null;
  status: number | null;
  detail: string | null;
  violated: string[];
  refusal: string | null;
  faults: Fault[];
}

/** Null for what is no problem document. */
export function readProblem(body: unknown): Problem | null {
  const of = members(body);
  if (!of || (text(of['title']) === null && text(of['detail']) === null && text(of['type']) === null)) return null;
  const faults = list(of['errors']).flatMap((error) => {
    const fault = members(error);
    const detail = text(fault?.['detail']);
    return fault && detail !== null ? [{ path: text(fault['path']), detail }] : [];
  });
  return {
    type: text(of['type']) ?? 'about:blank',
    title: text(of['title']),
    status: num(of['status']),
    detail: text(of['detail']),
    violated: texts(of['violated-policies']),
    refusal: text(of['refusal']),
    faults,
  };
}

const TYPES: Record<string, string> = {
  'about:blank': 'no type of its own: it is what the status says',
  'https://iana.org/assignments/http-problem-types#quota-exceeded': 'a limit is used up (a registered type, so that programs know it whoever answers)',
  'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity': 'the limiter itself is short of something for a while (a registered type)',
};

export const typeInWords = (type: string): string => TYPES[type] ?? 'a type that this page does not know';

const REFUSALS: Record<string, string> = {
  limit: 'the limit is used up for now; waiting helps',
  'cost-exceeds-limit': 'the request costs more than the limit ever lets through at once; waiting does not help',
  blocked: 'this caller is blocked; waiting does not help',
  unavailable: 'the counter or its Ledger was out of reach, and the policy then answers 503 (on_error = "closed")',
};

export const refusalInWords = (refusal: string): string => REFUSALS[refusal] ?? 'a reason that this page does not know';

/** One line for a person: what went wrong, by the problem or else by the status. */
export const inOneLine = (problem: Problem | null, status: number): string =>
  problem?.detail ?? problem?.title ?? `The answer was HTTP ${status}, without a word why.`;
