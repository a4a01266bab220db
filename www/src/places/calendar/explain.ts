// The odd things as sentences, with the local times they happened at.

import { type Chart, type Jump, jumpAt, jumpsWithin, type Mark, type Row, secondTime } from './chart';
import { cityOf, zoneName } from './zone';
import { date, DAY_MS, dayMonth, days, hours, list, MONTHS, ordinal, sameDay, size, time, timeBeside, weekday, WEEKDAYS } from './words';

export interface Note {
  kind: Exclude<Mark, 'exact'> | 'length';
  title: string;
  text: string;
  /** Which row's start it is about, where it is one. */
  row: number | null;
}

const utc = (atMs: number, beside: number): string => {
  const text = timeBeside(atMs, beside);
  return text.includes(' on ') ? text.replace(' on ', ' UTC on ') : `${text} UTC`;
};

/** `23.5 h long, 30 min less than usual`, `743 h long, 1 h less than 31 d`. */
export function lengthWords(row: Row): string {
  const less = row.lengthMs - row.usualMs;
  const usual = row.usualMs > 27 * DAY_MS ? days(row.usualMs) : 'usual';
  return `${hours(row.lengthMs)} long${less ? `, ${size(less)} ${less < 0 ? 'less' : 'more'} than ${usual}` : ''}`;
}

/** `On Sunday 14 March 2021 clocks in New York go from 02:00 to 03:00.` */
function jumpWords(city: string, { fromLocal, toLocal }: Jump): string {
  const to = toLocal < fromLocal ? 'back to' : 'to';
  const day = `${weekday(fromLocal)} ${date(fromLocal)}`;
  if (sameDay(fromLocal, toLocal)) return `On ${day} clocks in ${city} go from ${time(fromLocal)} ${to} ${time(toLocal)}.`;
  return `Clocks in ${city} go from ${time(fromLocal)} on ${day} ${to} ${time(toLocal)} on ${weekday(toLocal)} ${date(toLocal)}.`;
}

function gapNote(zone: string, before: Row | undefined, row: Row, jump: Jump, at: number): Note {
  const { slot, startMs } = row.period;
  const begins = `${timeBeside(jump.toLocal, jump.fromLocal)} ${zoneName(zone, startMs)}, which is ${utc(startMs, jump.toLocal)}`;
  const same = before && before.lengthMs === row.lengthMs && before.usualMs === row.usualMs;
  const lengths = same
    ? `${before.period.slot} and ${slot} are both ${lengthWords(row)}.`
    : `${before ? `${before.period.slot} is ${lengthWords(before)}; ` : ''}${slot} is ${lengthWords(row)}.`;
  return {
    kind: 'gap',
    title: `${time(row.anchor)} on ${date(row.anchor)} never comes`,
    text: `${jumpWords(cityOf(zone), jump)} ${time(row.anchor)} never happens, so the period ${slot} begins when the gap closes: at ${begins}. ${lengths}`,
    row: at,
  };
}

function repeatNote(zone: string, row: Row, jump: Jump, at: number): Note {
  const { slot, startMs } = row.period;
  const again = secondTime(row, jump);
  const when = (atMs: number) => `${utc(atMs, row.anchor)} (${zoneName(zone, atMs)})`;
  return {
    kind: 'repeat',
    title: `${time(row.anchor)} on ${date(row.anchor)} comes twice`,
    text: `${jumpWords(cityOf(zone), jump)} ${time(row.anchor)} comes at ${when(startMs)} and again at ${when(again)}. The period ${slot} begins at the first; the second does not begin it again. It is ${lengthWords(row)}.`,
    row: at,
  };
}

function missingNote(zone: string, before: Row | undefined, row: Row, at: number): Note {
  const jump = jumpAt(zone, row);
  const happened = jump ? `${jumpWords(cityOf(zone), jump)} ` : '';
  const none = row.missing.length === 1 ? 'no such period' : 'no such periods';
  const ends = before ? `${before.period.slot} ends and ${row.period.slot} begins` : `${row.period.slot} begins`;
  return {
    kind: 'missing',
    title: `${list(row.missing)} ${row.missing.length === 1 ? 'is' : 'are'} not there`,
    text: `${happened}Nobody lived through ${list(row.missing)}, so there is ${none}: ${ends} at the same instant, ${utc(row.period.startMs, row.anchor)}, and no empty period is opened in between.`,
    row: at,
  };
}

/** All clamped starts in one: they are one rule. */
function clampedNote(chart: Chart): Note | null {
  const clamped = chart.rows.filter((row) => row.isClamped);
  const first = clamped[0];
  if (!first) return null;
  const { spec } = chart;
  const day = ordinal(spec.anchorDay ?? 1);
  const month = spec.unit === 'year' ? MONTHS[(spec.anchorMonth ?? 1) - 1] : 'month';
  const shown = clamped.slice(0, 5).map((row) => (spec.unit === 'year' ? row.period.slot : `${row.period.slot} on ${dayMonth(row.anchor)}`));
  const all = clamped.length > 5 ? `${shown.join(', ')} and so on` : list(shown);
  const at = chart.rows.indexOf(first);
  const next = [...chart.rows.slice(at + 1), chart.after].find((row) => !row.isClamped);
  const back = next ? ` ${next.period.slot} begins on ${dayMonth(next.anchor)} again.` : '';
  return {
    kind: 'clamped',
    title: `The ${day}, where there is none`,
    text: `A ${month} without a ${day} begins its period on its last day: ${all}.${back} Each start is found from the period's name, its slot, and not from the start before it: otherwise one short month would move the anchor for good.`,
    row: at,
  };
}

function lengthNote(zone: string, row: Row): Note {
  const less = row.lengthMs - row.usualMs;
  const jumps = jumpsWithin(zone, row).map((jump) => jumpWords(cityOf(zone), jump));
  return {
    kind: 'length',
    title: `${row.period.slot} has ${size(less)} ${less < 0 ? 'less' : 'more'}`,
    text: `It is ${lengthWords(row)}. ${jumps.join(' ')} The period begins and ends where its dates say; only what lies between is ${less < 0 ? 'shorter' : 'longer'}.`,
    row: null,
  };
}

function startNote(chart: Chart, row: Row, at: number): Note | null {
  const zone = chart.spec.timeZone;
  const before = chart.rows[at - 1];
  if (row.mark === 'missing') return missingNote(zone, before, row, at);
  if (row.mark !== 'gap' && row.mark !== 'repeat') return null;
  const jump = jumpAt(zone, row);
  if (!jump) return null;
  return row.mark === 'gap' ? gapNote(zone, before, row, jump, at) : repeatNote(zone, row, jump, at);
}

/** What there is to say of the periods shown, in their order. */
export function notesOf(chart: Chart): Note[] {
  const notes: Note[] = [];
  const clamped = clampedNote(chart);
  chart.rows.forEach((row, at) => {
    if (clamped?.row === at) notes.push(clamped);
    const start = startNote(chart, row, at);
    if (start) notes.push(start);
    const next = chart.rows[at + 1] ?? chart.after;
    const isExplained = start?.kind === 'gap' || start?.kind === 'repeat' || (next.mark === 'gap' && next !== chart.after);
    if (row.lengthMs !== row.usualMs && !isExplained) notes.push(lengthNote(chart.spec.timeZone, row));
  });
  return notes;
}

/** What a kind of start is. */
export const MARKS: Record<Exclude<Mark, 'exact'>, string> = {
  gap: 'a gap: the clocks jump over it',
  repeat: 'a repeat: the clocks show it twice',
  missing: 'after a slot that is not there',
  clamped: 'on the last day of a month that is too short',
};

/** The periods in a sentence, for whoever does not see them. */
export function summary(chart: Chart): string {
  const counted = new Map<number, number>();
  for (const { lengthMs } of chart.rows) counted.set(lengthMs, (counted.get(lengthMs) ?? 0) + 1);
  const lengths = [...counted].map(([ms, times]) => `${times} of ${hours(ms)}`);
  const odd = chart.rows.flatMap(({ mark, period }) => (mark === 'exact' ? [] : [`${period.slot} begins ${mark === 'gap' || mark === 'repeat' ? 'in ' : ''}${MARKS[mark]}.`]));
  return [`${chart.rows.length} periods in ${cityOf(chart.spec.timeZone)}, from ${chart.rows[0]?.period.slot} to ${chart.rows.at(-1)?.period.slot}: ${list(lengths)}.`, ...odd].join(' ');
}

/** The rule in one sentence, for this specification. */
export function ruleWords(chart: Chart): string {
  const { spec } = chart;
  const day = ordinal(spec.anchorDay ?? 1);
  const which = {
    day: 'of each day',
    week: `of each ${WEEKDAYS[(spec.anchorWeekday ?? 1) - 1]}`,
    month: `on the ${day} of each month`,
    year: `on ${spec.anchorDay ?? 1} ${MONTHS[(spec.anchorMonth ?? 1) - 1]} of each year`,
  }[spec.unit];
  return `A period begins at the first instant whose local time in ${cityOf(spec.timeZone)} is at or past ${spec.anchorTime ?? '00:00'} ${which}.`;
}
