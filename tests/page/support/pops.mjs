// Reading "Many PoPs".

import assert from 'node:assert/strict';
import { assertQuiet, dataOf } from './browser.mjs';

export const BOOKS = 'tr[data-serial]';

export const nowOf = (page) => page.locator('[data-now]').getAttribute('data-now').then(Number);

/** Lets the run go on to its end, as fast as it can. */
export async function toEnd(page) {
  await page.getByRole('button', { name: 'To the end' }).click();
  await page.getByRole('button', { name: 'Play again' }).waitFor();
}

export const speed = (page, times) => page.locator('.transport label', { hasText: new RegExp(`^${times}×$`) }).click();

export const claims = (page) => dataOf(page, '[data-claim]');

/** In the page: what each lane says. */
const lanes = (all) =>
  all.map((one) => ({
    ahead: one.querySelector('[data-ahead]').dataset.ahead,
    clock: one.querySelector('.clock').innerText,
    holds: one.querySelector('.holds').innerText,
  }));

/** Every number that the place shows: the ways of counting, the lanes, the books, the counters. */
export async function figures(page) {
  return {
    now: await nowOf(page),
    ways: await dataOf(page, 'tr[data-way]'),
    shown: await page.locator('table.ways tbody').innerText(),
    lanes: await page.locator('[data-pop]').evaluateAll(lanes),
    ledger: await page.locator('.lane.ledger').innerText(),
    books: await dataOf(page, BOOKS),
    counters: await page.locator('.pops dl.figures').innerText(),
  };
}

/** Waits until the run is at a true time, or past it. */
export const reach = (page, ms) => page.waitForFunction((least) => Number(document.querySelector('[data-now]').dataset.now) >= least, ms);

/** Gives a function that plays the run of an address in a browser's new context to its end, and returns the figures there. */
export const playedBy = (open) => async (t, address) => {
  const { page, complaints } = await open(t, { hash: new URL(address).hash });
  await toEnd(page);
  const end = await figures(page);
  assertQuiet(complaints);
  return end;
};

/** Bounds that sluicegate states hold in each run, whatever is done to it. */
export function assertBounds({ ways, books }, run) {
  for (const { way, ceiling, worstEpoch } of ways) {
    if (ceiling !== '') assert.ok(Number(worstEpoch) <= Number(ceiling), `${way}: ${worstEpoch} of ${ceiling}, ${run}`);
  }
  assert.ok(ways.some(({ way, ceiling }) => way === 'exact' && ceiling !== ''), run);
  for (const book of books) assert.equal(book.addsUp, 'true', `serial ${book.serial}, ${run}`);
}
