// Time zones by the runtime's Intl: every instant has an answer, and engines may word it differently.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { periodFor, periods } from '../../../pkg/nodejs/sluicegate.js';
import { refused } from '../shared/report.mjs';
import { HOUR, WALL } from './support.mjs';

const day = (timeZone) => ({ unit: 'day', timeZone });

/** Counts the formatters that are made during `work`, each of which may say something else. */
function withIntl(work, { format, refuse = () => false } = {}) {
  const Real = Intl.DateTimeFormat;
  const made = [];
  Intl.DateTimeFormat = class extends Real {
    constructor(locale, options) {
      if (refuse(options)) throw new RangeError('no such thing');
      super(locale, options);
      made.push(options.timeZone);
      if (format) Object.defineProperty(this, 'format', { value: format });
    }
  };
  try {
    work();
  } finally {
    Intl.DateTimeFormat = Real;
  }
  return made;
}

const ZONE = 'Antarctica/Vostok';
const OTHERS = Intl.supportedValuesOf('timeZone').filter((zone) => zone.startsWith('America/')).slice(0, 64);

/** Has the package forget the formatters it keeps, by asking for as many others. */
const forget = () => OTHERS.forEach((zone) => periodFor(day(zone), WALL));

/** What `work` does in a runtime whose Intl is another one; the formatters of that are forgotten after it. */
function elsewhere(intl, work) {
  forget();
  try {
    return withIntl(work, intl);
  } finally {
    forget();
  }
}

describe('zones', () => {
  test('every zone of the runtime has a period at every age, and their days follow each other', () => {
    const ages = [-62_135_596_800_000, -5e13, -1e12, 0, WALL, 4e12, 2e14, 253_402_300_799_999 - 26 * HOUR];
    let zones = 0;
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      for (const at of ages) {
        const [first, second] = periods(day(zone), at, 2);
        assert.ok(first.startMs <= at && at < first.endMs && first.endMs === second.startMs, `${zone} at ${at}`);
      }
      zones += 1;
    }
    assert.ok(zones > 400, `${zones} zones`);
  });

  test('the first and the last millisecond that have a period, on both sides of the world', () => {
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Niue', 'America/New_York', 'Etc/GMT+12', 'Etc/GMT-14']) {
      for (const unit of ['day', 'week', 'month', 'year']) {
        for (const at of [-62_135_596_800_000, 253_402_300_799_999]) {
          const { startMs, endMs } = periodFor({ unit, timeZone: zone }, at);
          assert.ok(startMs <= at && at < endMs, `${unit} in ${zone} at ${at}`);
        }
      }
    }
  });

  test('seconds of local mean time count: New York was 4:56:02 behind until 1883', () => {
    assert.equal(periodFor(day('America/New_York'), Date.UTC(1880, 0, 1, 12)).startMs, Date.UTC(1880, 0, 1, 4, 56, 2));
  });

  test('names are taken in any case, and aliases are zones', () => {
    const wanted = JSON.stringify(periodFor(day('Asia/Kolkata'), WALL));
    for (const name of ['asia/kolkata', 'ASIA/KOLKATA', 'Asia/Calcutta']) assert.equal(JSON.stringify(periodFor(day(name), WALL)), wanted);
    for (const name of ['utc', 'Etc/UTC', 'GMT', 'Zulu']) assert.equal(periodFor(day(name), WALL).startMs, WALL - 10 * HOUR);
  });

  test('UTC asks the runtime nothing, and another zone makes one formatter for good', () => {
    assert.deepEqual(elsewhere({}, () => periods(day('UTC'), WALL, 50)), []);
    assert.deepEqual(elsewhere({}, () => { for (let at = 0; at < 5; at += 1) periods(day(ZONE), WALL, 50); }), [ZONE]);
  });

  test('the formatters that are kept are the last 64', () => {
    const zones = Intl.supportedValuesOf('timeZone').slice(100, 200);
    const visit = (names) => withIntl(() => names.forEach((zone) => periodFor(day(zone), WALL))).length;
    visit(zones);
    assert.equal(visit(zones.slice(-64)), 0);
    assert.equal(visit(zones.slice(0, 36)), 36);
  });

  const WORDS = [
    ['GMT', 0], ['GMT+00:00', 0], ['GMT-00:00', 0], ['5/6/2026, GMT', 0], ['5/6/2026, GMT+05:30', 5.5], ['GMT\u221205:00', -5],
    ['GMT+9', 9], ['1/1/1 B, GMT-04:56:02', -(4 + 56 / 60 + 2 / 3600)],
  ];
  for (const [text, hours] of WORDS) {
    test(`an engine that writes ${JSON.stringify(text)} means ${hours} h`, () => {
      elsewhere({ format: () => text }, () => {
        const { startMs } = periodFor(day(ZONE), WALL);
        assert.equal(startMs, Math.floor((WALL + hours * HOUR) / (24 * HOUR)) * 24 * HOUR - hours * HOUR);
      });
    });
  }

  test('an engine that writes anything else is an error that repeats it, never a period', () => {
    const rubbish = ['', 'EST', 'GMT+', 'GMT+5:', 'GMT+99:00', 'GMT+5:30:00:00', 'GMT 5', 'GMT+5.5', 'UTC+5', 'GMT+-5', undefined, 5];
    for (const text of rubbish) {
      elsewhere({ format: () => text }, () => refused(() => periodFor(day(ZONE), WALL), 'invalid-spec', 'timeZone'));
    }
  });

  test('an offset that no zone can have, or a formatter that throws, is an error too', () => {
    const throwing = () => { throw new Error('no'); };
    for (const format of [() => 'GMT+59:00', () => 'GMT-26:00', throwing]) {
      elsewhere({ format }, () => refused(() => periodFor(day(ZONE), WALL), 'invalid-spec'));
    }
  });

  test('an engine without longOffset is told from an unknown zone', () => {
    const refuse = ({ timeZoneName }) => timeZoneName === 'longOffset';
    elsewhere({ refuse }, () => assert.match(refused(() => periodFor(day(ZONE), WALL), 'invalid-spec').message, /longOffset/));
    const unknown = ({ timeZone }) => timeZone === ZONE;
    elsewhere({ refuse: unknown }, () => assert.match(refused(() => periodFor(day(ZONE), WALL), 'invalid-spec').message, /Vostok/));
  });
});
