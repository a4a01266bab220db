// Everything by the keyboard alone.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertQuiet, dataOf, PLACES, unfold } from './support/browser.mjs';
import { press, tabTo, walk } from './support/keyboard.mjs';
import { siteOfTests } from './support/site.mjs';
import { USE } from './support/ways.mjs';

const { open } = siteOfTests();

describe('Tab reaches every control, and each shows that it has the focus', () => {
  for (const place of PLACES) {
    test(place, async (t) => {
      const { page } = await open(t, { hash: `#${place}` });
      const walks = [await walk(page)];
      await USE[place](page);
      await unfold(page);
      walks.push(await walk(page));
      for (const { missed, unseen, reached } of walks) {
        assert.deepEqual({ missed, unseen }, { missed: [], unseen: [] });
        assert.ok(reached > 10, `${reached} were reached`);
      }
    });
  }
});

describe('without a mouse', () => {
  test('a meaning opens with Enter and with Space, and closes with Escape, where the focus stays', async (t) => {
    const { page } = await open(t, { hash: '#clocks' });
    const term = page.locator('main .term').first();
    const meaning = page.locator('.meaning:popover-open');
    for (const key of ['Enter', 'Space']) {
      await press(page, term, key);
      await meaning.waitFor();
      await page.keyboard.press('Escape');
      await meaning.waitFor({ state: 'detached' });
      assert.ok(await term.evaluate((one) => one === document.activeElement));
    }
    await press(page, term, 'Enter');
    await page.keyboard.press('Tab');
    assert.ok(!(await term.evaluate((one) => one === document.activeElement)), 'and it is no trap');
  });

  test('from place to place, and light and dark', async (t) => {
    const { page, complaints } = await open(t);
    await press(page, page.locator('nav a[href="#calendar"]'), 'Enter');
    await page.locator('.place.calendar').waitFor();
    await tabTo(page, page.locator('.head input:checked'));
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    assertQuiet(complaints);
  });

  test('pops: a story, to its end, a step, a slider', async (t) => {
    const { page, complaints } = await open(t, { hash: '#pops' });
    const now = () => page.locator('[data-now]').getAttribute('data-now').then(Number);
    const story = page.locator('[data-story]').first();
    await press(page, story, 'Enter');
    await page.waitForFunction(() => Number(document.querySelector('[data-now]').dataset.now) > 0);
    await press(page, page.getByRole('button', { name: 'Pause' }), 'Space');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();

    const ahead = () => page.locator('[data-pop="0"] [data-ahead]').getAttribute('data-ahead').then(Number);
    await page.getByLabel('Its clock steps').selectOption('-250');
    const before = await ahead();
    await press(page, page.getByRole('button', { name: 'Step', exact: true }), 'Enter');
    assert.equal(await ahead(), before - 250);
    assert.match(page.url(), /do=[^&]*\.step\.1\.-250/);

    const slider = page.locator('[data-pop="1"] input[type=range]');
    await tabTo(page, slider);
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowRight');
    assert.match(page.url(), /\.step\.2\.\d+/);

    await press(page, page.getByRole('button', { name: 'To the end' }), 'Enter');
    const again = page.getByRole('button', { name: 'Play again' });
    await again.waitFor();
    const end = await now();
    await press(page, again, 'Enter');
    await page.waitForFunction((most) => Number(document.querySelector('[data-now]').dataset.now) < most, end);
    assertQuiet(complaints);
  });

  test('clocks: a story, and moves of its own', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks' });
    await press(page, page.locator('[data-story=hour]'), 'Enter');
    assert.equal(await page.locator('[data-told]').getAttribute('data-told'), 'hour');
    const asked = async () => (await dataOf(page, '[data-lane=exact][data-figure=admitted], [data-lane=exact][data-figure=refused]')).reduce((sum, { value }) => sum + Number(value), 0);
    const before = await asked();
    await press(page, page.getByRole('button', { name: 'Send 10' }), 'Space');
    assert.equal(await asked(), before + 10);
    await press(page, page.getByRole('button', { name: 'Sleep 6 h' }), 'Enter');
    assert.match(page.url(), /moves=[^&]*,q10,z21600000$/);
    assertQuiet(complaints);
  });

  test('calendar: a zone from the list', async (t) => {
    const { page, complaints } = await open(t, { hash: '#calendar' });
    const zone = page.getByRole('combobox', { name: /Time zone/ });
    await tabTo(page, zone);
    await page.keyboard.type('kolk');
    await page.getByRole('option', { name: /Asia\/(Kolkata|Calcutta)/ }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const chosen = await zone.getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`[id="${chosen}"]`).getAttribute('aria-selected'), 'true');
    await page.keyboard.press('Enter');
    assert.match(page.url(), /zone=Asia\/(Kolkata|Calcutta)/);
    assert.equal(await zone.getAttribute('aria-expanded'), 'false');

    await page.keyboard.type('paris');
    await page.keyboard.press('Escape');
    assert.match(await zone.inputValue(), /Asia\/(Kolkata|Calcutta)/, 'Escape takes back what was typed');
    await page.keyboard.press('Tab');
    assert.ok(!(await zone.evaluate((one) => one === document.activeElement)), 'and it is no trap');

    await press(page, page.locator('[data-case=havana]'), 'Enter');
    assert.equal(await page.locator('tr[data-slot="2020-11"]').getAttribute('data-mark'), 'repeat');
    await press(page, page.locator('[data-act=step]'), 'Space');
    assert.equal(await page.locator('[data-back]').getAttribute('data-back'), 'true');
    assertQuiet(complaints);
  });
});
