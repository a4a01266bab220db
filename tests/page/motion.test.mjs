// What moves by itself: nothing where less motion is asked for, else the first story. The browser's time is moved by hand.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertQuiet, goTo, PLACES } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';
import { MOVES, still } from './support/ways.mjs';

const { open } = siteOfTests();

/** The page's own timers and frames, under our hand from here on. */
const atHand = { prepare: (page) => page.clock.install({ time: '2026-11-18T12:00:00Z' }) };
const LONG_MS = 5_000;

describe('with less motion', () => {
  for (const place of PLACES) {
    test(`${place} stands still`, async (t) => {
      const { page, complaints } = await open(t, { hash: `#${place}`, ...atHand });
      await page.clock.runFor(1_000);
      const before = await still(page);
      await page.clock.runFor(LONG_MS);
      assert.equal(await still(page), before);
      assert.equal(await page.evaluate(() => document.getAnimations().length), 0, 'nor is anything animated');
      assertQuiet(complaints);
    });
  }
});

describe('without', () => {
  for (const [place, reading] of Object.entries(MOVES)) {
    test(`${place} plays by itself`, async (t) => {
      const { page, complaints } = await open(t, { hash: `#${place}`, reducedMotion: 'no-preference', ...atHand });
      const before = await reading(page);
      await page.clock.runFor(LONG_MS);
      assert.notEqual(await reading(page), before);
      assertQuiet(complaints);
    });
  }

  test('a place that was left does not go on', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks', reducedMotion: 'no-preference', ...atHand });
    await page.clock.runFor(LONG_MS);
    await goTo(page, 'calendar');
    await page.clock.runFor(LONG_MS);
    await goTo(page, 'clocks');
    const before = await MOVES.clocks(page);
    await page.clock.runFor(LONG_MS);
    assert.equal(await MOVES.clocks(page), before);
    assertQuiet(complaints);
  });
});
