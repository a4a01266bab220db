// A tenant's settings while they are being typed, and what would be put.

import { number } from '../../format';
import { members, num, text, type Members } from './json';
import type { Entry, Settings } from './ledger';

export const UNITS = ['day', 'week', 'month', 'year'] as const;
export type Unit = (typeof UNITS)[number];

export interface Draft {
  /** Null: the policy's own. */
  limit: number | null;
  /** Null: the policy's own. */
  period: PeriodDraft | null;
}

export interface PeriodDraft {
  unit: Unit;
  timeZone: string;
  anchorDay: number;
  anchorWeekday: number;
  anchorMonth: number;
  anchorTime: string;
}

/** The anchors that a unit has. */
export const ANCHORS: Record<Unit, readonly ('anchorDay' | 'anchorWeekday' | 'anchorMonth')[]> = {
  day: [],
  week: ['anchorWeekday'],
  month: ['anchorDay'],
  year: ['anchorMonth', 'anchorDay'],
};

export const periodDraft = (period: Members): PeriodDraft => ({
  unit: UNITS.find((unit) => unit === period['unit']) ?? 'month',
  timeZone: text(period['time_zone']) ?? 'UTC',
  anchorDay: num(period['anchor_day']) ?? 1,
  anchorWeekday: num(period['anchor_weekday']) ?? 1,
  anchorMonth: num(period['anchor_month']) ?? 1,
  anchorTime: (text(period['anchor_time']) ?? '00:00').replace(/^(\d\d:\d\d):00$/, '$1'),
});

/**
 * What the tenant has of its own. The settings do not tell which of them are the policy's, the log does; what
 * is older than the log is taken for the tenant's.
 */
export function draftOf({ limit, period, isConfigured }: Settings, log: readonly Entry[]): Draft {
  if (!isConfigured) return { limit: null, period: null };
  const put = log.find(({ event }) => event === 'settings' || event === 'deleted');
  const isOwn = (name: string) => put?.event !== 'settings' || (put.of[name] ?? null) !== null;
  return { limit: isOwn('limit') ? limit : null, period: isOwn('period') ? periodDraft(members(put?.of['period']) ?? period) : null };
}

/** The body of the PUT. A PUT puts all of it: what is absent is the policy's own again. */
export function bodyOf(policy: string, draft: Draft): Members {
  const body: Members = { policy };
  if (draft.limit !== null) body['limit'] = draft.limit;
  if (draft.period) body['period'] = periodBody(draft.period);
  return body;
}

function periodBody(period: PeriodDraft): Members {
  const body: Members = { unit: period.unit, time_zone: period.timeZone };
  const names = { anchorDay: 'anchor_day', anchorWeekday: 'anchor_weekday', anchorMonth: 'anchor_month' } as const;
  for (const anchor of ANCHORS[period.unit]) body[names[anchor]] = period[anchor];
  body['anchor_time'] = period.anchorTime;
  return body;
}

/** `each month from day 1, 00:00, in Europe/Paris`. */
export function periodInWords(period: PeriodDraft): string {
  const { unit, anchorDay, anchorWeekday, anchorMonth, anchorTime, timeZone } = period;
  const from = { day: '', week: `${WEEKDAYS[anchorWeekday - 1] ?? ''}, `, month: `day ${anchorDay}, `, year: `${anchorDay} ${MONTHS[anchorMonth - 1] ?? ''}, ` }[unit];
  return `each ${unit} from ${from}${anchorTime}, in ${timeZone}`;
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
export const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const;

/** What the change would do, for whoever is to confirm it. */
export function changesInWords(before: Settings, draft: Draft): string[] {
  const limit = draft.limit === null ? 'The limit becomes the policy’s own.' : draft.limit === before.limit ? `The limit stays ${number(before.limit)}.` : `The limit goes from ${number(before.limit)} to ${number(draft.limit)}.`;
  const was = periodInWords(periodDraft(before.period));
  const is = draft.period && periodInWords(draft.period);
  const period = is === null ? 'The periods become the policy’s own.' : is === was ? `The periods stay: ${was}.` : `The periods go from ${was}, to ${is}.`;
  return [limit, period];
}
