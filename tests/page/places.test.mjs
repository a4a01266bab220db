// Each place on a desk and on a phone, light and dark: nothing to complain of, and nothing that axe finds.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, assertQuiet, DESK, NARROW_PX, PHONE, PLACES, unfold } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';
import { USE } from './support/ways.mjs';

const { open } = siteOfTests();

/** Looks at what there is, in light and in dark. */
async function look(page, when) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page, `${when}, ${colorScheme}`);
  }
}

/** Opens a word's meaning, and closes it with Escape. */
async function openTerm(page) {
  const term = page.locator('main .term').first();
  await term.click();
  const meaning = page.locator('.meaning:popover-open');
  await meaning.waitFor();
  assert.ok((await meaning.innerText()).length > 20);
  await assertAccessible(page, 'with a meaning open');
  await page.keyboard.press('Escape');
  await meaning.waitFor({ state: 'detached' });
}

async function noSidewaysScroll(page, widths, when) {
  const { height } = page.viewportSize();
  for (const width of widths) {
    await page.setViewportSize({ width, height });
    await assertNoSidewaysScroll(page, `${when}, ${width} px`);
  }
  await page.setViewportSize({ width: widths[0], height });
}

for (const [device, options, widths] of [['a desk', DESK, [1280, 800]], ['a phone', PHONE, [390, NARROW_PX]]]) {
  describe(`on ${device}`, () => {
    for (const place of PLACES) {
      test(place, async (t) => {
        const { page, complaints } = await open(t, { hash: `#${place}`, options });
        assert.equal(await page.locator('h1').count(), 1);
        assert.equal(await page.title(), `${await page.locator('nav a[aria-current=page]').innerText()} – sluicegate`);
        assert.equal(await page.locator('html').getAttribute('lang'), 'en');
        await look(page, 'the first view');
        await noSidewaysScroll(page, widths, 'the first view');

        await USE[place](page);
        await noSidewaysScroll(page, widths, 'after its use');
        await unfold(page);
        await look(page, 'after its use');
        await noSidewaysScroll(page, widths, 'unfolded');
        await openTerm(page);
        assertQuiet(complaints);
      });
    }
  });
}
