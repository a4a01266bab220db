// Many PoPs, set up by hand.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertQuiet, dataOf, unfold } from './support/browser.mjs';
import { assertBounds, BOOKS, figures, nowOf, playedBy, reach, toEnd } from './support/pops.mjs';
import { siteOfTests } from './support/site.mjs';

const { open } = siteOfTests();
const played = playedBy(open);

describe('the set-up', () => {
  test('a change begins anew, and is in the address', async (t) => {
    const { page, complaints } = await open(t, { hash: '#pops?end=60&skew=0,900&do=0.crash.1.0' });
    await toEnd(page);
    assert.equal(await nowOf(page), 60_000);
    await unfold(page);
    await page.getByLabel('Limit', { exact: true }).fill('7');
    await page.getByLabel('Limit', { exact: true }).press('Enter');
    assert.equal(await nowOf(page), 0);
    assert.match(page.url(), /limit=7/);
    assert.match(page.url(), /do=0\.crash\.1\.0/, 'what befell the old run befalls the new one');
    await toEnd(page);
    const end = await figures(page);
    assert.equal(end.ways.find(({ way }) => way === 'exact').ceiling, '7');
    assertBounds(end, page.url());
    assert.deepEqual(await played(t, page.url()), end);

    await page.getByLabel('The limit is for').selectOption('month');
    assert.equal(await nowOf(page), 0);
    await toEnd(page);
    assert.deepEqual((await figures(page)).ways.map(({ way }) => way), ['shared', 'alone', 'exact']);
    assert.ok((await dataOf(page, BOOKS)).length > 0, 'a month has books');
    assertBounds(await figures(page), page.url());
    assertQuiet(complaints);
  });

  test('all of it is in the address', async (t) => {
    const { page, complaints } = await open(t, { hash: '#pops?end=100&skew=0,900,-120' });
    await unfold(page);
    const fields = { Limit: 45, Window: 20, Tolerance: 12.5, Requests: 300, 'To the Ledger, one way': 35, '… at random on top': 25, 'Messages lost': 2, 'Clocks drift by up to': 5_000, Seed: 77 };
    for (const [label, value] of Object.entries(fields)) {
      const field = page.getByLabel(label, { exact: true });
      const before = page.url();
      await field.fill(String(value));
      await field.press('Enter');
      assert.notEqual(page.url(), before, label);
    }
    for (const [label, value] of [['They come', 'moving'], ['No Ledger in reach', 'open']]) {
      const before = page.url();
      await page.getByLabel(label).selectOption(value);
      assert.notEqual(page.url(), before, label);
    }
    await page.locator('.lane.ledger input[type=range]').press('ArrowRight');
    assert.match(page.url(), /ledger=\d+/);
    await toEnd(page);
    const address = page.url();
    assert.deepEqual(await played(t, address), await figures(page), address);
    const again = await open(t, { hash: new URL(address).hash });
    await unfold(again.page);
    for (const [label, value] of Object.entries(fields)) assert.equal(await again.page.getByLabel(label, { exact: true }).inputValue(), String(value), label);
    assertQuiet(complaints);
  });

  test('what is out of bounds is not taken, and the field says why', async (t) => {
    const { page } = await open(t, { hash: '#pops?limit=50&skew=0,5' });
    await unfold(page);
    for (const [label, wrong, right] of [['Limit', '0', '51'], ['Limit', '10001', '52'], ['Limit', '1.5', '53'], ['Tolerance', '101', '11'], ['Requests', '', '77'], ['Seed', '0', '78']]) {
      const field = page.getByLabel(label, { exact: true });
      const address = page.url();
      await field.fill(wrong);
      await field.press('Enter');
      await page.locator('.setup [role=alert]').waitFor();
      assert.equal(await field.getAttribute('aria-invalid'), 'true', `${label}: ${wrong}`);
      assert.equal(page.url(), address, `${label}: ${wrong}`);
      await field.fill(right);
      await field.press('Enter');
      await page.locator('.setup [role=alert]').waitFor({ state: 'detached' });
      assert.notEqual(page.url(), address, `${label}: ${right}`);
    }
  });

  test('2 and 12 PoPs, and whatever is between', async (t) => {
    const { page, complaints } = await open(t, { hash: '#pops?end=60&window=10&skew=0,900,-120' });
    await unfold(page);
    const slider = page.getByLabel('PoPs', { exact: true });
    for (const [key, pops] of [['End', 12], ['ArrowLeft', 11], ['Home', 2]]) {
      await slider.press(key);
      await page.waitForFunction((many) => document.querySelectorAll('[data-pop]').length === many, pops);
      assert.equal(await nowOf(page), 0);
      await toEnd(page);
      const end = await figures(page);
      assert.equal(end.lanes.length, pops);
      assertBounds(end, page.url());
      assert.deepEqual(await played(t, page.url()), end);
    }
    assertQuiet(complaints);
  });

  test('a slider says how far its clock is ahead; from the start on, moving it is a step', async (t) => {
    const { page } = await open(t, { hash: '#pops?end=60&skew=0,0' });
    const lane = page.locator('[data-pop="1"]');
    const slider = lane.locator('input[type=range]');
    const ahead = () => lane.locator('[data-ahead]').getAttribute('data-ahead').then(Number);
    for (const [key, ms] of [['End', 3_600_000], ['Home', -3_600_000]]) {
      await slider.press(key);
      assert.equal(await ahead(), ms);
      assert.match(page.url(), new RegExp(`skew=0,${ms}`));
    }
    await slider.evaluate((one) => {
      one.value = '0';
      one.dispatchEvent(new Event('input', { bubbles: true }));
      one.dispatchEvent(new Event('change', { bubbles: true }));
    });
    assert.equal(await ahead(), 0);
    await slider.press('ArrowRight');
    const fine = await ahead();
    assert.ok(fine > 0 && fine <= 10, `fine near zero: ${fine} ms`);
    for (let before = fine, presses = 0; presses < 40; presses += 1) {
      await slider.press('ArrowRight');
      assert.ok((await ahead()) > before, `each press moves it on: ${await ahead()} ms after ${before} ms`);
      before = await ahead();
    }
    const there = await ahead();
    assert.doesNotMatch(page.url(), /do=/);

    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await reach(page, 1);
    await page.getByRole('button', { name: 'Pause' }).click();
    await slider.press('End');
    assert.equal(await ahead(), 3_600_000);
    assert.match(page.url(), new RegExp(`do=\\d+\\.step\\.2\\.${3_600_000 - there}$`));
  });
});
