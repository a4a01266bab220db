// What the first view costs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { PLACES } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';

const BUDGET = 300_000;

const { open } = siteOfTests();

/** Opens a place without a cache, and sums up all that came until it can be used: each as gzip makes it. */
async function weigh(t, place, ready) {
  const coming = [];
  const prepare = (page) => page.on('response', (response) => coming.push(response.body().then((body) => [new URL(response.url()).pathname, gzipSync(body, { level: 9 }).length])));
  const { page } = await open(t, { hash: `#${place}`, prepare });
  await page.locator(ready).first().waitFor();
  await page.waitForLoadState('networkidle');
  // The browser asks for the icon as often as it likes.
  const parts = [...new Map(await Promise.all(coming))];
  const sum = parts.reduce((total, [, bytes]) => total + bytes, 0);
  t.diagnostic(`${place}: ${(sum / 1_000).toFixed(1)} KB: ${parts.map(([path, bytes]) => `${path} ${(bytes / 1_000).toFixed(1)}`).join(', ')}`);
  return { sum, paths: parts.map(([path]) => path) };
}

const READY = { pops: '[data-claim]', clocks: '[data-figure]', calendar: 'tr[data-slot]', live: '[data-limiter]' };

for (const place of PLACES) {
  test(`${place} is there after less than ${BUDGET / 1_000} KB, font and wasm included`, async (t) => {
    const { sum, paths } = await weigh(t, place, READY[place]);
    assert.ok(sum < BUDGET, `${sum} bytes: ${paths}`);
    assert.ok(paths.some((path) => path.endsWith('.woff2')), 'with the font');
    const wasm = paths.filter((path) => path.endsWith('.wasm')).map((path) => path.slice(1));
    assert.deepEqual(wasm, { pops: ['simulator_bg.wasm'], live: [] }[place] ?? ['sluicegate_bg.wasm'], 'the wasm that the place needs, and no other');
  });
}
