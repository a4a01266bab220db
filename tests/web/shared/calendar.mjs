// calendar_cases.jsonl and bug_period.jsonl, by periodFor.

import { check, LeftOut, refused, runAll, same } from './report.mjs';

/**
 * What a runtime with tz data of 2026f says, per zone of a case that depends on it. A runtime that says
 * otherwise has older data, and the case is left out.
 */
const NEW_ENOUGH = {
  'America/Vancouver': ['2026-12-15T00:00:00Z', 'GMT-07:00'],
  'America/Edmonton': ['2026-12-15T00:00:00Z', 'GMT-06:00'],
  'America/Winnipeg': ['2026-12-15T00:00:00Z', 'GMT-05:00'],
  'America/Havana': ['2026-11-02T00:00:00Z', 'GMT-04:00'],
  'Europe/Chisinau': ['2024-03-31T00:30:00Z', 'GMT+02:00'],
};

/** The runtime's own word for an offset, without this package in between. */
function offsetText(timeZone, instant) {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(new Date(instant));
  return parts.find(({ type }) => type === 'timeZoneName').value;
}

function needsNewData(zone) {
  check(zone in NEW_ENOUGH, `there is no probe for ${zone}`);
  const [instant, wanted] = NEW_ENOUGH[zone];
  const found = offsetText(zone, instant);
  if (found !== wanted) throw new LeftOut(`this runtime's tz data is too old: ${zone} is at ${found} on ${instant}, by 2026f at ${wanted}`);
}

function matches(period, wanted, [startKind, endKind]) {
  same('slot', period.slot, wanted.slot);
  same('start', period.startMs, wanted.start_ms);
  same('end', period.endMs, wanted.end_ms);
  same('start kind', period.startKind, wanted[startKind]);
  same('end kind', period.endKind, wanted[endKind]);
  same('length', period.endMs - period.startMs, wanted.length_ms);
}

/** The period, which must also be that of its own first and last millisecond. */
function find(api, spec, wallMs) {
  const period = api.periodFor(spec, wallMs);
  const text = JSON.stringify(period);
  same('the period of its start', JSON.stringify(api.periodFor(spec, period.startMs)), text);
  same('the period of its last millisecond', JSON.stringify(api.periodFor(spec, period.endMs - 1)), text);
  same('the first of periods()', JSON.stringify(api.periods(spec, wallMs, 1)[0]), text);
  return period;
}

export function calendarCases(api, cases) {
  return runAll('calendar_cases', cases, (one) => {
    if (one.tz_sensitive) needsNewData(one.zone);
    const { day, weekday, month, time } = one.anchor;
    const spec = { unit: one.unit, timeZone: one.zone, anchorDay: day, anchorWeekday: weekday, anchorMonth: month, anchorTime: time };
    matches(find(api, spec, one.instant_ms), one, ['start_kind', 'end_kind']);
  });
}

export function bugPeriod(api, cases) {
  return runAll('bug_period', cases, ({ spec, wall_ms: wallMs, expect, tz_sensitive: sensitive }) => {
    if (sensitive) needsNewData(spec.timeZone);
    const answers = [expect, ...(expect.or ?? [])];
    const faults = [];
    for (const wanted of answers) {
      try {
        if (wanted.error) refused(() => api.periodFor(spec, wallMs), wanted.error, wanted.path_ends_with);
        else matches(find(api, spec, wallMs), wanted, ['startKind', 'endKind']);
        return;
      } catch (error) {
        faults.push(error.message);
      }
    }
    throw new Error(faults.join('; or '));
  });
}
