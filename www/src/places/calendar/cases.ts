// Calendars worth a look, each with what it is to show. The past does not change with the next edition of the zone data.

import type { Chart } from './chart';
import { DEFAULTS, type Settings } from './settings';
import { hours } from './words';

/** A number that the case's text promises, and where it is found. */
export interface Promised {
  name: string;
  says: string;
  expected: string;
  actual: (chart: Chart) => string;
}

export interface Case {
  name: string;
  title: string;
  /** Under the title, in a word or two. */
  where: string;
  text: string;
  settings: Settings;
  promises: readonly Promised[];
}

const row = (chart: Chart, slot: string) => chart.rows.find(({ period }) => period.slot === slot);

const start = (slot: string, expected: string, says: string): Promised => ({
  name: `start-${slot}`,
  says,
  expected,
  actual: (chart) => {
    const at = row(chart, slot)?.period.startMs;
    return at === undefined ? 'no such period' : `${new Date(at).toISOString().slice(0, 16)}Z`;
  },
});

const length = (slot: string, expected: string): Promised => ({
  name: `length-${slot}`,
  says: `${slot} has ${expected}`,
  expected,
  actual: (chart) => {
    const found = row(chart, slot);
    return found ? hours(found.lengthMs) : 'no such period';
  },
});

const kind = (slot: string, expected: string, says: string): Promised => ({
  name: `kind-${slot}`,
  says,
  expected,
  actual: (chart) => row(chart, slot)?.period.startKind ?? 'no such period',
});

const settings = (zone: string, unit: string, more: Partial<Settings>): Settings => ({ ...DEFAULTS, zone, unit, ...more });

export const CASES: readonly Case[] = [
  {
    name: 'new-york-gap',
    title: '02:30 never comes',
    where: 'New York, daily',
    text: 'A day that begins at 02:30. On 14 March 2021 clocks skip from 02:00 to 03:00, and that morning has no 02:30.',
    settings: settings('America/New_York', 'day', { time: '02:30', from: '2021-03-08T12:00Z' }),
    promises: [
      start('2021-03-14', '2021-03-14T07:00Z', '2021-03-14 begins when the gap closes, at 07:00 UTC'),
      kind('2021-03-14', 'gap', 'its start is called a gap'),
      length('2021-03-13', '23.5 h'),
      length('2021-03-14', '23.5 h'),
    ],
  },
  {
    name: 'new-york-repeat',
    title: '01:30 comes twice',
    where: 'New York, daily',
    text: 'A day that begins at 01:30. On 7 November 2021 clocks go back from 02:00 to 01:00, and 01:30 is there at 05:30 and at 06:30 UTC.',
    settings: settings('America/New_York', 'day', { time: '01:30', from: '2021-11-01T12:00Z' }),
    promises: [
      start('2021-11-07', '2021-11-07T05:30Z', '2021-11-07 begins at the first, 05:30 UTC'),
      kind('2021-11-07', 'repeat', 'its start is called a repeat'),
      length('2021-11-07', '25 h'),
    ],
  },
  {
    name: 'anchor-31',
    title: 'The 31st, in February',
    where: 'UTC, monthly',
    text: 'A month that begins on the 31st. Half of the months are too short; the anchor gives way and comes back.',
    settings: settings('UTC', 'month', { day: 31, from: '2027-01-31T12:00Z' }),
    promises: [
      start('2027-02', '2027-02-28T00:00Z', '2027-02 begins on 28 February'),
      start('2027-03', '2027-03-31T00:00Z', '2027-03 begins on 31 March again'),
      start('2028-02', '2028-02-29T00:00Z', '2028-02, in a leap year, on 29 February'),
    ],
  },
  {
    name: 'apia',
    title: 'A dropped day',
    where: 'Apia, daily',
    text: 'Samoa moved to the other side of the date line: 29 December 2011 was followed by 31 December.',
    settings: settings('Pacific/Apia', 'day', { from: '2011-12-24T12:00Z' }),
    promises: [
      {
        name: 'missing-2011-12-30',
        says: 'there is no period 2011-12-30',
        expected: 'no such period',
        actual: (chart) => row(chart, '2011-12-30')?.period.slot ?? 'no such period',
      },
      start('2011-12-31', '2011-12-30T10:00Z', '2011-12-31 begins at 10:00 UTC on 30 December'),
      length('2011-12-29', '24 h'),
    ],
  },
  {
    name: 'lord-howe',
    title: 'A half-hour gap',
    where: 'Lord Howe, daily',
    text: 'Summer time on Lord Howe Island is half an hour: on 6 October 2024 clocks skip from 02:00 to 02:30. A day from 02:15 falls into it.',
    settings: settings('Australia/Lord_Howe', 'day', { time: '02:15', from: '2024-09-30T12:00Z' }),
    promises: [
      start('2024-10-06', '2024-10-05T15:30Z', '2024-10-06 begins at 02:30, which is 15:30 UTC'),
      length('2024-10-05', '23.75 h'),
      length('2024-10-06', '23.75 h'),
    ],
  },
  {
    name: 'asuncion',
    title: 'No midnight',
    where: 'Asunción, monthly',
    text: 'The plainest quota there is: a month, from midnight. But in 2023 summer in Paraguay began on 1 October at 00:00, with 01:00.',
    settings: settings('America/Asuncion', 'month', { from: '2023-05-15T00:00Z' }),
    promises: [
      start('2023-10', '2023-10-01T04:00Z', '2023-10 begins at 01:00, which is 04:00 UTC'),
      kind('2023-10', 'gap', 'its start is called a gap'),
      length('2023-10', '743 h'),
    ],
  },
  {
    name: 'havana',
    title: 'Two midnights',
    where: 'Havana, monthly',
    text: 'A month from midnight again. On 1 November 2020 clocks in Cuba went from 01:00 back to 00:00, so the month had two midnights to begin at.',
    settings: settings('America/Havana', 'month', { from: '2020-07-15T00:00Z' }),
    promises: [
      start('2020-11', '2020-11-01T04:00Z', '2020-11 begins at the first, 04:00 UTC'),
      kind('2020-11', 'repeat', 'its start is called a repeat'),
      length('2020-11', '721 h'),
    ],
  },
  {
    name: 'almaty',
    title: 'An hour more, for good',
    where: 'Almaty, monthly',
    text: 'Kazakhstan gave up a time zone: at the end of 29 February 2024 clocks went from 24:00 back to 23:00, and stayed there.',
    settings: settings('Asia/Almaty', 'month', { from: '2023-09-15T00:00Z' }),
    promises: [
      length('2024-02', '697 h'),
      start('2024-03', '2024-02-29T19:00Z', '2024-03 begins at the midnight that counts, 19:00 UTC'),
      kind('2024-03', 'exact', 'which comes only once'),
    ],
  },
  {
    name: 'casablanca',
    title: 'A clock for Ramadan',
    where: 'Casablanca, weekly',
    text: 'Morocco sets its clocks back for Ramadan and ahead after it, on other dates each year: 10 March and 14 April in 2024. A week from Sunday 02:30 meets both.',
    settings: settings('Africa/Casablanca', 'week', { weekday: 7, time: '02:30', from: '2024-02-14T12:00Z' }),
    promises: [
      kind('2024-03-10', 'repeat', '2024-03-10 begins in a repeat'),
      length('2024-03-10', '169 h'),
      kind('2024-04-14', 'gap', '2024-04-14 begins in a gap'),
      length('2024-04-14', '167.5 h'),
    ],
  },
  {
    name: 'leap-day',
    title: 'Every 29 February',
    where: 'UTC, yearly',
    text: 'A year that begins on a date that three years out of four do not have.',
    settings: settings('UTC', 'year', { month: 2, day: 29, from: '2024-06-01T00:00Z' }),
    promises: [
      start('2025', '2025-02-28T00:00Z', '2025 begins on 28 February'),
      start('2028', '2028-02-29T00:00Z', '2028 begins on 29 February again'),
      length('2027', '8,784 h'),
    ],
  },
];
