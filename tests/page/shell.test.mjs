// What surrounds the places: ways from one to the other, light and dark.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertQuiet, goTo, heading, PLACES, settled } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';

const site = siteOfTests();
const { open } = site;

const colourOf = (page, property) => page.evaluate((name) => getComputedStyle(document.documentElement)[name], property);
const current = (page) => page.locator('nav a[aria-current=page]').getAttribute('href');
const chosenTheme = (page) => page.locator('.head input[type=radio]:checked').getAttribute('value');
const theme = (page, name) => page.locator('.head label', { hasText: name });

describe('from place to place', () => {
  test('by the links in the head, and back by the browser', async (t) => {
    const { page, complaints } = await open(t);
    const seen = [];
    const signs = async () => [await current(page), await heading(page).textContent(), await page.title()];
    seen.push(await signs());
    for (const place of PLACES.slice(1)) {
      await goTo(page, place);
      assert.equal(await current(page), `#${place}`);
      assert.ok(page.url().includes(`#${place}`), page.url());
      assert.equal(await page.locator('h1').count(), 1);
      seen.push(await signs());
    }
    for (const at of [1, 2]) assert.equal(new Set(seen.map((each) => each[at])).size, PLACES.length, 'each has a heading and a title of its own');
    for (const there of seen.slice(0, -1).reverse()) {
      await page.goBack();
      await page.waitForFunction((title) => document.title === title, there[2]);
      await settled(page);
      assert.deepEqual(await signs(), there);
    }
    await page.locator('.wordmark').click();
    assert.equal(await current(page), '#pops');
    assertQuiet(complaints);
  });

  test('a link within the page moves the focus past the head', async (t) => {
    const { page } = await open(t, { hash: '#calendar' });
    await page.keyboard.press('Tab');
    const skip = page.locator('.skip');
    assert.ok(await skip.evaluate((one) => one === document.activeElement && one.getBoundingClientRect().top >= 0), 'it is the first, and seen when it has the focus');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    assert.equal(await current(page), '#calendar', 'and the place stays');
  });

  test('an address that names no place is that of the first', async (t) => {
    const { page, complaints } = await open(t);
    const isFirst = async (hash) => assert.deepEqual([await current(page), (await heading(page).textContent()).slice(0, 9)], ['#pops', 'Many PoPs'], hash);
    for (const hash of ['#nowhere', '#__proto__?story=hour', '#%E0%A4%A']) {
      await page.goto('about:blank');
      await page.goto(`${site.url}${hash}`);
      await heading(page).waitFor();
      await isFirst(hash);
    }
    for (const hash of ['', '#', '#/nowhere?x=1', '#POPS', '#calendarx', '#constructor', '#%', '#?zone=UTC', '#live/x']) {
      await page.evaluate((next) => (location.hash = next), '#live');
      await page.locator('.place.live').waitFor();
      await page.evaluate((next) => (location.hash = next), hash);
      await page.locator('.place.pops').waitFor();
      await isFirst(hash);
    }
    assertQuiet(complaints);
  });

  test('what was set in a place is still set when one comes back', async (t) => {
    const { page } = await open(t, { hash: '#calendar' });
    await page.locator('[data-case=apia]').click();
    const address = page.url();
    await goTo(page, 'clocks');
    await goTo(page, 'calendar');
    // The place is drawn first, and then writes into the address.
    await page.waitForFunction((same) => location.href === same, address);
    assert.equal(await page.locator('[data-case=apia]').getAttribute('aria-pressed'), 'true');
  });
});

describe('light and dark', () => {
  test('are the system’s until one is chosen, and the choice outlives a reload', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks' });
    const light = await colourOf(page, 'backgroundColor');
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await colourOf(page, 'backgroundColor');
    assert.notEqual(dark, light);
    assert.equal(await chosenTheme(page), 'auto');

    await theme(page, 'light').click();
    assert.equal(await colourOf(page, 'backgroundColor'), light);
    await page.reload();
    await heading(page).waitFor();
    assert.deepEqual([await chosenTheme(page), await colourOf(page, 'backgroundColor')], ['light', light]);

    await page.emulateMedia({ colorScheme: 'light' });
    await theme(page, 'dark').click();
    await page.reload();
    await heading(page).waitFor();
    assert.deepEqual([await chosenTheme(page), await colourOf(page, 'backgroundColor')], ['dark', dark]);

    await theme(page, 'auto').click();
    assert.equal(await colourOf(page, 'backgroundColor'), light);
    assert.equal(await page.evaluate(() => localStorage.length), 0, 'nothing is kept that is not needed');
    assertQuiet(complaints);
  });

  test('what is drawn on a canvas follows', async (t) => {
    const { page } = await open(t, { hash: '#clocks' });
    const canvas = page.locator('main canvas').first();
    const before = await canvas.evaluate((one) => one.toDataURL());
    await theme(page, 'dark').click();
    await page.waitForFunction((old) => document.querySelector('main canvas').toDataURL() !== old, before);
  });

  test('where a page may not store anything, the choice holds for the visit', async (t) => {
    const closed = (page) => page.addInitScript(() => Object.defineProperty(globalThis, 'localStorage', { get: () => { throw new DOMException('closed', 'SecurityError'); } }));
    const { page, complaints } = await open(t, { hash: '#clocks', prepare: closed });
    const light = await colourOf(page, 'backgroundColor');
    await theme(page, 'dark').click();
    assert.notEqual(await colourOf(page, 'backgroundColor'), light);
    assertQuiet(complaints);
  });
});

test('a place that does not come says so; the others are there, and it is after another try', async (t) => {
  const { page } = await open(t, { hash: '#calendar' });
  const link = (place) => page.locator(`nav a[href="#${place}"]`);
  for (const [missing, place] of [[/simulator_bg\.wasm$/, 'pops'], [/chunks?\/|chunk-/, 'live']]) {
    await page.route(missing, (route) => route.abort());
    await link(place).click();
    await page.locator('main > [role=alert]').waitFor();
    await page.unroute(missing);
    await link('calendar').click();
    await page.locator('.place.calendar').waitFor();
    await link(place).click();
    await page.locator(`.place.${place}`).waitFor();
    await link('calendar').click();
    await page.locator('.place.calendar').waitFor();
  }
});
