// The periods by Temporal: the same definition in other hands. start(L) is the first instant whose local time
// is at or past L; Temporal's "compatible" is something else inside a gap, so its two answers and the
// transition between them are used. Dates are Temporal's own arithmetic.

import { numbers } from './random.mjs';

const two = (number) => String(number).padStart(2, '0');

/** Where the local time `local` begins in `zone`, and how. */
function start(local, zone) {
  const earlier = local.toZonedDateTime(zone, { disambiguation: 'earlier' });
  const later = local.toZonedDateTime(zone, { disambiguation: 'later' });
  if (earlier.epochMilliseconds === later.epochMilliseconds) return { at: earlier.epochMilliseconds, kind: 'exact' };
  if (earlier.toPlainDateTime().equals(local)) return { at: earlier.epochMilliseconds, kind: 'repeat' };
  // Inside a gap: "earlier" is before it by the clock and by the instant.
  const closes = earlier.getTimeZoneTransition('next');
  const shows = closes.toPlainDateTime().equals(local) ? 'exact' : 'gap';
  return { at: closes.epochMilliseconds, kind: shows };
}

/** The calendar of a specification: the first date of the slot that is `steps` away from that of `date`. */
const GRIDS = {
  day: (date, steps) => ({ first: date.add({ days: steps }), slot: (first) => first.toString() }),
  week: (date, steps, { anchorWeekday = 1 }) => {
    const back = (date.dayOfWeek - anchorWeekday + 7) % 7;
    return { first: date.subtract({ days: back }).add({ weeks: steps }), slot: (first) => first.toString() };
  },
  month: (date, steps, { anchorDay = 1 }) => {
    const month = date.toPlainYearMonth().add({ months: steps });
    return { first: month.toPlainDate({ day: anchorDay }), slot: () => month.toString() };
  },
  year: (date, steps, { anchorMonth = 1, anchorDay = 1 }) => {
    const year = date.year + steps;
    return { first: Temporal.PlainYearMonth.from({ year, month: anchorMonth }).toPlainDate({ day: anchorDay }), slot: () => String(year).padStart(4, '0') };
  },
};

/** The period that an instant lies in: the last slot that has begun and is not empty. */
export function periodByTemporal(spec, wallMs) {
  const date = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO(spec.timeZone).toPlainDate();
  const time = Temporal.PlainTime.from(spec.anchorTime ?? '00:00');
  const grid = GRIDS[spec.unit];
  const begins = (steps) => {
    const { first, slot } = grid(date, steps, spec);
    return { ...start(first.toPlainDateTime(time), spec.timeZone), slot: slot(first) };
  };
  for (let steps = 3; steps >= -3; steps -= 1) {
    const begun = begins(steps);
    if (begun.at > wallMs) continue;
    const next = begins(steps + 1);
    return { slot: begun.slot, startMs: begun.at, endMs: next.at, startKind: begun.kind, endKind: next.kind };
  }
  throw new Error('no slot has begun');
}

/** An instant near a change of the zone's clocks as often as not, where the trouble is. */
function instant(random, zone) {
  // From 1900 to 2100.
  const anywhere = random.whole(-2_208_988_800, 4_102_444_800) * 1_000;
  if (random.whole(0, 2) === 0) return anywhere;
  const from = Temporal.Instant.fromEpochMilliseconds(anywhere).toZonedDateTimeISO(zone);
  const change = from.getTimeZoneTransition('next') ?? from.getTimeZoneTransition('previous');
  if (change === null) return anywhere;
  const hours = random.whole(-1, 1) * 24 + random.whole(-3, 2);
  return change.epochMilliseconds + hours * 3_600_000 + random.pick([-1, 0, 0, 1, 1_800_000]);
}

/** A specification; its anchor time is near the change of clocks as often as not. */
function specification(random, timeZone, wallMs) {
  const unit = random.pick(['day', 'day', 'week', 'month', 'month', 'year']);
  const local = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO(timeZone);
  const near = random.whole(0, 1) === 0;
  const hour = near ? (local.hour + random.whole(22, 26)) % 24 : random.pick([0, 0, random.whole(0, 23)]);
  const spec = { unit, timeZone, anchorTime: `${two(hour)}:${two(random.pick([0, 0, 30, random.whole(0, 59)]))}:${two(random.pick([0, 0, 59]))}` };
  if (unit === 'week') spec.anchorWeekday = random.whole(1, 7);
  // The day of the instant, so that a boundary is near; or any.
  if (unit === 'month' || unit === 'year') spec.anchorDay = random.pick([local.day, local.day, random.whole(1, 31)]);
  if (unit === 'year') spec.anchorMonth = random.pick([local.month, local.month, random.whole(1, 12)]);
  return spec;
}

/** Compares `rounds` random periods in each zone; says which differ, and how many of each kind were seen. */
export function compareWithTemporal(api, { zones, rounds, seed }) {
  const random = numbers(seed);
  const account = { compared: 0, exact: 0, gap: 0, repeat: 0, differ: [] };
  for (const zone of zones) {
    for (let round = 0; round < rounds; round += 1) {
      const wallMs = instant(random, zone);
      const spec = specification(random, zone, wallMs);
      const [ours, theirs] = [api.periodFor(spec, wallMs), periodByTemporal(spec, wallMs)];
      account.compared += 1;
      account[ours.startKind] += 1;
      account[ours.endKind] += 1;
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) account.differ.push({ spec, wallMs, ours, theirs });
    }
  }
  return account;
}
