// A tenant's books, as the tenants API tells them.

import { list, members, num, text, texts, type Members } from './json';

export interface Usage {
  limit: number;
  used: number;
  outstanding: number;
  remaining: number;
  serial: number;
  slot: string;
  start: string;
  end: string;
  resetLocal: string;
  isHeld: boolean;
  isPartial: boolean;
}

/** What became of the units of one period. */
export interface Book {
  serial: number;
  granted: number;
  spent: number;
  returned: number;
  forfeited: number;
  outstanding: number;
  carried: number;
}

export interface Lease {
  fence: string;
  pop: string;
  amount: number;
  spent: number;
  forfeited: number;
  isOpen: boolean;
}

export interface Audit {
  book: Book;
  limit: number;
  /** What the Ledger says: all its books agree. */
  isConsistent: boolean;
  faults: string[];
  leases: Lease[];
  settled: number;
}

export interface Entry {
  at: string;
  policy: string;
  event: string;
  of: Members;
}

export interface Settings {
  policy: string;
  limit: number;
  period: Members;
  isConfigured: boolean;
}

const whole = (of: Members, name: string): number => num(of[name]) ?? 0;
const word = (of: Members, name: string): string => text(of[name]) ?? '';

export function readUsage(body: unknown): Usage | null {
  const of = members(body);
  if (!of || num(of['remaining']) === null || num(of['serial']) === null) return null;
  return {
    limit: whole(of, 'limit'),
    used: whole(of, 'used'),
    outstanding: whole(of, 'outstanding'),
    remaining: whole(of, 'remaining'),
    serial: whole(of, 'serial'),
    slot: word(of, 'slot'),
    start: word(of, 'start'),
    end: word(of, 'end'),
    resetLocal: word(of, 'reset_local'),
    isHeld: of['held'] === true,
    isPartial: of['partial'] === true,
  };
}

const bookOf = (of: Members): Book => ({
  serial: whole(of, 'serial'),
  granted: whole(of, 'granted'),
  spent: whole(of, 'spent'),
  returned: whole(of, 'returned'),
  forfeited: whole(of, 'forfeited'),
  outstanding: whole(of, 'outstanding'),
  carried: whole(of, 'carried'),
});

export function readAudit(body: unknown): Audit | null {
  const of = members(body);
  if (!of || num(of['granted']) === null || typeof of['consistent'] !== 'boolean') return null;
  const leases = list(of['leases']).flatMap((value) => {
    const lease = members(value);
    if (!lease) return [];
    return [{ fence: word(lease, 'fence'), pop: word(lease, 'pop'), amount: whole(lease, 'amount'), spent: whole(lease, 'spent'), forfeited: whole(lease, 'forfeited'), isOpen: lease['open'] === true }];
  });
  return { book: bookOf(of), limit: whole(of, 'limit'), isConsistent: of['consistent'], faults: texts(of['faults']), leases, settled: whole(of, 'settled') };
}

export function readSettings(body: unknown): Settings | null {
  const of = members(body);
  const period = members(of?.['period']);
  if (!of || !period || num(of['limit']) === null) return null;
  return { policy: word(of, 'policy'), limit: whole(of, 'limit'), period, isConfigured: of['configured'] === true };
}

/** The log's entries about one quota, the latest first. */
export function readLog(body: unknown, policy: string): Entry[] {
  const entries = list(members(body)?.['entries']).flatMap((value) => {
    const of = members(value);
    return of ? [{ at: word(of, 'at'), policy: word(of, 'policy'), event: word(of, 'event'), of }] : [];
  });
  return entries.filter((entry) => entry.policy === policy).reverse();
}

/** granted = spent + returned + forfeited + outstanding. */
export const partsSum = (book: Book): number => book.spent + book.returned + book.forfeited + book.outstanding;
export const holds = (book: Book): boolean => book.granted === partsSum(book);

export interface ShownBook extends Book {
  slot: string | null;
  isOpen: boolean;
}

/** The open book, and the closed ones that the log still has, the latest first. */
export function booksOf(audit: Audit, log: readonly Entry[]): ShownBook[] {
  const slots = new Map(log.filter(({ event }) => event === 'opened').map(({ of }) => [whole(of, 'serial'), word(of, 'slot')]));
  const named = (book: Book, isOpen: boolean): ShownBook => ({ ...book, slot: slots.get(book.serial) ?? null, isOpen });
  const closed = log.filter(({ event }) => event === 'closed').map(({ of }) => named(bookOf(of), false));
  return [...(audit.book.serial > 0 ? [named(audit.book, true)] : []), ...closed];
}

export const SEGMENTS = ['spent', 'forfeited', 'carried', 'outstanding', 'returned', 'free'] as const;
export interface Segment {
  kind: (typeof SEGMENTS)[number];
  from: number;
  units: number;
}

/**
 * The limit as one bar: what is used, what is out, and what is free. Units that came back are free again,
 * and can have been granted and returned many times, so no more of them is shown than is free.
 */
export function barOf(book: Book, limit: number): { whole: number; segments: Segment[] } {
  const taken = book.spent + book.forfeited + book.carried + book.outstanding;
  const free = Math.max(0, limit - taken);
  const returned = Math.min(book.returned, free);
  const units = { ...book, returned, free: free - returned };
  let from = 0;
  const segments = SEGMENTS.map((kind): Segment => {
    const segment = { kind, from, units: units[kind] };
    from += segment.units;
    return segment;
  });
  return { whole: Math.max(1, limit, taken), segments: segments.filter((segment) => segment.units > 0) };
}

/** One entry of the log as a sentence. */
export function entryInWords({ event, of }: Entry): string {
  switch (event) {
    case 'grant':
      return `${whole(of, 'amount')} units were leased to ${word(of, 'pop')}, of serial ${whole(of, 'serial')}`;
    case 'opened':
      return `period ${word(of, 'slot')} was opened, as serial ${whole(of, 'serial')}`;
    case 'closed':
      return `the book of serial ${whole(of, 'serial')} was closed for good`;
    case 'settings':
      return `settings were put: ${of['limit'] === null || of['limit'] === undefined ? 'the policy’s limit' : `limit ${whole(of, 'limit')}`}${members(of['period']) ? ', a calendar of its own' : ''}`;
    case 'deleted':
      return 'the settings of its own were removed';
    case 'reopened':
      return `serial ${whole(of, 'serial')} was opened by hand, with ${whole(of, 'used')} units used`;
    default:
      return event;
  }
}
