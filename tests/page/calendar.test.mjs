// Calendar: what the place shows is what Temporal says, for the calendars worth a look and for others.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Temporal } from '@js-temporal/polyfill';
import { numbers } from '../web/shared/random.mjs';
import { periodByTemporal } from '../web/shared/temporal.mjs';
import { assertQuiet, dataOf, settled } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';

const SEED = Number(process.env.SLUICEGATE_SEED ?? 20261130);
const HOUR = 3_600_000;
const { open } = siteOfTests();

before(() => (globalThis.Temporal = Temporal));

/** The specification and the instant that the address says. */
function asked(page) {
  const params = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
  const number = (name) => (params.has(name) ? Number(params.get(name)) : undefined);
  const spec = { unit: params.get('unit'), timeZone: params.get('zone'), anchorDay: number('day'), anchorWeekday: number('weekday'), anchorMonth: number('month'), anchorTime: params.get('time') ?? undefined };
  return { spec, fromMs: Date.parse(params.get('from')) };
}

const nextDate = (slot, unit) => ({ day: (date) => date.add({ days: 1 }), week: (date) => date.add({ weeks: 1 }) })[unit](Temporal.PlainDate.from(slot)).toString();

/** The slots' names follow each other, but where a day was dropped. */
function isAfterMissing(spec, beforeSlot, slot) {
  return (spec.unit === 'day' || spec.unit === 'week') && nextDate(beforeSlot, spec.unit) !== slot;
}

function isClamped({ unit, anchorDay = 1, anchorMonth = 1 }, slot) {
  if (unit !== 'month' && unit !== 'year') return false;
  return Temporal.PlainYearMonth.from(unit === 'month' ? slot : { year: Number(slot), month: anchorMonth }).daysInMonth < anchorDay;
}

/** The rows that the table should have. */
function expected({ spec, fromMs }) {
  const rows = [];
  let period = periodByTemporal(spec, fromMs);
  let slotBefore = periodByTemporal(spec, period.startMs - 1).slot;
  while (rows.length < 14) {
    const { slot, startMs, endMs, startKind } = period;
    const odd = isAfterMissing(spec, slotBefore, slot) ? 'missing' : isClamped(spec, slot) ? 'clamped' : 'exact';
    rows.push({ slot, start: String(startMs), end: String(endMs), hours: String((endMs - startMs) / HOUR), kind: startKind, mark: startKind === 'exact' ? odd : startKind });
    slotBefore = slot;
    period = periodByTemporal(spec, endMs);
  }
  return rows;
}

const shown = (page) => dataOf(page, 'tr[data-slot]');

async function assertAsTemporal(page, when) {
  const wanted = asked(page);
  assert.deepEqual(await shown(page), expected(wanted), when);
  const lengths = (await shown(page)).map(({ hours }) => Number(hours) * HOUR);
  const odd = (await shown(page)).filter(({ mark }) => mark !== 'exact').length;
  const figures = (await dataOf(page, '.periods .figures dd')).map(({ value }) => Number(value));
  assert.deepEqual(figures, [Math.min(...lengths), Math.max(...lengths), odd], when);
}

describe('the calendars worth a look', () => {
  test('show what they promise, and what Temporal says', async (t) => {
    const { page, complaints } = await open(t, { hash: '#calendar' });
    const cases = (await dataOf(page, '[data-case]')).map((one) => one.case);
    assert.ok(cases.length >= 8, `${cases.length}`);
    const marks = new Set();
    for (const name of cases) {
      await page.locator(`[data-case="${name}"]`).click();
      await page.locator(`[data-claim^="${name}/"]`).first().waitFor();
      for (const { claim, expected: promised, actual, holds } of await dataOf(page, `[data-claim^="${name}/"]`)) {
        assert.deepEqual([actual, holds], [promised, 'true'], claim);
      }
      await assertAsTemporal(page, name);
      for (const { mark } of await shown(page)) marks.add(mark);
      assert.equal(await page.locator('.timeline g.boundary .mark, .timeline .sign .mark').count(), (await shown(page)).filter(({ mark }) => mark !== 'exact').length, `${name}: marks in the picture`);
    }
    assert.deepEqual([...marks].sort(), ['clamped', 'exact', 'gap', 'missing', 'repeat'], 'each kind of start was met');
    assertQuiet(complaints);
  });
});

const ZONES = ['UTC', 'America/New_York', 'Europe/Paris', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Casablanca', 'America/Havana', 'America/Sao_Paulo', 'Pacific/Apia', 'Asia/Tehran', 'Antarctica/Troll', 'America/St_Johns'];

/** Of a time whose rules are settled. */
function address(random) {
  const params = new URLSearchParams({ zone: random.pick(ZONES), unit: random.pick(['day', 'week', 'month', 'year']) });
  params.set('day', random.pick([1, 15, 29, 30, 31]));
  params.set('weekday', random.whole(1, 7));
  params.set('month', random.whole(1, 12));
  params.set('time', `${String(random.whole(0, 4)).padStart(2, '0')}:${random.pick(['00', '15', '30'])}`);
  params.set('from', new Date(Date.UTC(random.whole(1995, 2022), random.whole(0, 11), random.whole(1, 28), random.whole(0, 23))).toISOString().replace(':00.000Z', 'Z'));
  return `#calendar?${params}`;
}

test('any other is as Temporal says', async (t) => {
  const random = numbers(SEED);
  const { page, complaints } = await open(t, { hash: '#calendar' });
  for (let round = 0; round < 30; round += 1) {
    const hash = address(random);
    await page.evaluate((next) => (location.hash = next), hash);
    await settled(page);
    await assertAsTemporal(page, `${hash}, with seed ${SEED}`);
  }
  assertQuiet(complaints);
});

test('the controls, and the address', async (t) => {
  const { page, complaints } = await open(t, { hash: '#calendar' });
  await page.getByRole('combobox', { name: /Time zone/ }).fill('Lord_H');
  await page.keyboard.press('Enter');
  await page.locator('.unit-field label', { hasText: 'week' }).click();
  await page.getByLabel('First day of the week').selectOption('Sunday');
  await page.getByLabel(/At, local time/).fill('02:15');
  await page.getByLabel(/From, in UTC/).fill('2024-09-20 00:00');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.deepEqual(asked(page), { spec: { unit: 'week', timeZone: 'Australia/Lord_Howe', anchorDay: undefined, anchorWeekday: 7, anchorMonth: undefined, anchorTime: '02:15' }, fromMs: Date.UTC(2024, 8, 20) });
  await assertAsTemporal(page);
  const rows = await shown(page);
  const again = await open(t, { hash: new URL(page.url()).hash });
  assert.deepEqual(await shown(again.page), rows, 'the same for whoever gets the link');

  for (const [label, wrong, right] of [[/At, local time/, '25:00', '02:15'], [/From, in UTC/, 'yesterday', '2024-09-20 00:00'], [/From, in UTC/, '2023-02-29 00:00', '2024-09-20 00:00']]) {
    const field = page.getByLabel(label);
    await field.fill(wrong);
    await field.press('Enter');
    await page.locator('.controls [role=alert]').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true', wrong);
    assert.equal(await page.locator('tr[data-slot]').count(), 0, `${wrong}: no periods of another calendar are shown`);
    await field.fill(right);
    await field.press('Enter');
    await page.locator('tr[data-slot]').first().waitFor();
    assert.deepEqual(await shown(page), rows);
  }
  assertQuiet(complaints);
});

test('the next reset is one instant, by three calendars', async (t) => {
  const { page } = await open(t, { hash: '#calendar?zone=Asia/Kathmandu&unit=month&from=2022-05-20T12:00Z', timezoneId: 'America/St_Johns' });
  const [first] = await shown(page);
  const [{ reset, wait }] = await dataOf(page, '[data-reset]');
  assert.equal(reset, first.end);
  assert.equal(Number(wait), Number(first.end) - Date.UTC(2022, 4, 20, 12));
  const texts = await page.locator('.reset time strong').allInnerTexts();
  const at = (zone) => Temporal.Instant.fromEpochMilliseconds(Number(reset)).toZonedDateTimeISO(zone).toPlainTime().toString({ smallestUnit: 'minute' });
  assert.deepEqual(texts.map((text) => text.slice(0, 5)), ['Asia/Kathmandu', 'UTC', 'America/St_Johns'].map(at));
});

describe('if the clock went back now', () => {
  const side = async (page, name) => (await dataOf(page, `[data-side="${name}"]`))[0];
  const claimsOf = async (page, name) => Object.fromEntries((await dataOf(page, `[data-side="${name}"] [data-claim]`)).map(({ claim, holds }) => [claim, holds]));

  test('QuotaClock holds the period, a naive quota begins anew, and one with a count for each counts in what is over', async (t) => {
    const { page, complaints } = await open(t, { hash: '#calendar' });
    for (const name of (await dataOf(page, '[data-case]')).map((one) => one.case)) {
      await page.locator(`[data-case="${name}"]`).click();
      await page.locator('[data-act=restart]').click();
      const { slot } = await side(page, 'exact');
      assert.deepEqual(await side(page, 'exact'), { side: 'exact', slot, used: '4000', admitted: '4000' }, name);

      await page.locator('[data-act=step]').click();
      assert.equal((await side(page, 'exact')).slot, slot, name);
      assert.notEqual((await side(page, 'one')).slot, slot, name);
      assert.deepEqual(await page.locator('[data-anomaly=period-regression]').count(), 1, name);

      await page.locator('[data-act=restart]').click();
      await page.locator('[data-act=story]').click();
      assert.deepEqual(await side(page, 'exact'), { side: 'exact', slot, used: '10000', admitted: '10000' }, name);
      for (const [claim, holds] of Object.entries(await claimsOf(page, 'exact'))) assert.equal(holds, 'true', `${name}, ${claim}`);
      assert.ok(Number((await side(page, 'one')).admitted) > 10_000, name);
      assert.equal((await claimsOf(page, 'one'))['one-within-limit'], 'false', `${name}: and it is said of the naive one`);
    }
    await page.locator('label', { hasText: 'a count per period' }).click();
    await page.locator('[data-side=each]').waitFor();
    assert.ok(Number((await side(page, 'each')).admitted) > 10_000);
    assertQuiet(complaints);
  });
});
