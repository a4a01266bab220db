// What a person does first in each place, and what can be read there.

import { settled } from './browser.mjs';

/** Does something that changes most of what is to be seen. */
export const USE = {
  async pops(page) {
    await page.getByRole('button', { name: 'To the end' }).click();
    await page.getByRole('button', { name: 'Play again' }).waitFor();
  },
  async clocks(page) {
    await page.locator('[data-story]').nth(1).click();
    await page.locator('[data-told] [data-claim]').first().waitFor();
  },
  async calendar(page) {
    await page.locator('[data-case]').first().click();
    await page.locator('[data-case][aria-pressed=true]').waitFor();
    await page.locator('[data-act=story]').click();
    await page.locator('[data-entry=ask]').first().waitFor();
  },
  async live(page) {
    await page.getByLabel('RateLimit', { exact: true }).fill('"per-ip";r=0;t=20');
    await page.locator('[data-part="r=0"]').waitFor();
  },
};

/** Everything that could move: texts, values and what is drawn on canvases. */
export async function still(page) {
  await settled(page);
  return page.evaluate(() => {
    const { href } = location;
    const text = document.querySelector('main').innerText;
    const data = [...document.querySelectorAll('main *')].map((one) => JSON.stringify(one.dataset)).filter((each) => each !== '{}');
    const drawn = [...document.querySelectorAll('main canvas')].map((one) => (one.width && one.height ? one.toDataURL() : ''));
    return JSON.stringify({ href, text, data, drawn });
  });
}

/** The first story, or what stands there first, plays; what is told is that it does. */
export const MOVES = {
  pops: (page) => page.locator('[data-now]').getAttribute('data-now'),
  clocks: (page) => page.locator('[data-hand=monotonic] .reading').textContent(),
  calendar: (page) => page.locator('[data-wait]').getAttribute('data-wait'),
};
