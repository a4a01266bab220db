// The package for the web in headless Chrome: the corpus, and its calendar against the browser's own Temporal.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { judge } from '../shared/judge.mjs';
import { startChrome } from './browser.mjs';

const SEED = Number(process.env.SLUICEGATE_SEED ?? 20261130);
const ROUNDS = 100;

describe('in Chrome', () => {
  const cleanUp = [];
  let page;
  let chrome;

  before(async () => {
    chrome = await startChrome(cleanUp);
    page = await chrome.open();
  });
  after(async () => {
    for (const work of cleanUp.reverse()) await work();
  });

  test('every case of the corpus', async (t) => {
    t.diagnostic(`Chrome ${chrome.version}`);
    judge(t, await page.evaluate(async () => {
      const { runCorpus } = await import('/tests/web/shared/corpus.mjs');
      return runCorpus(api, load);
    }));
  });

  test('random periods are those of Temporal, in every zone the browser has', async (t) => {
    const account = await page.evaluate(async ({ rounds, seed }) => {
      const { compareWithTemporal } = await import('/tests/web/shared/temporal.mjs');
      return compareWithTemporal(api, { zones: Intl.supportedValuesOf('timeZone'), rounds, seed });
    }, { rounds: ROUNDS, seed: SEED });
    const { compared, exact, gap, repeat, differ } = account;
    t.diagnostic(`${compared} periods compared with seed ${SEED}; boundaries: ${exact} exact, ${gap} gap, ${repeat} repeat`);
    assert.deepEqual(differ.slice(0, 5), [], `${differ.length} of ${compared} differ`);
    assert.ok(compared >= 400 * ROUNDS, 'every zone was compared');
    assert.ok(gap > 1_000 && repeat > 200, 'gaps and repeats were met');
  });

  test('systemClock() is two clocks, and a limiter on it works', async () => {
    const found = await page.evaluate(() => {
      const clock = api.systemClock();
      const limiter = new api.QuotaClock({ capacity: 2, refillPerSecond: 0, suspendPolicy: 'ignore', clock });
      return [clock.kind, ...[1, 2, 3].map(() => limiter.tryConsume().allowed)];
    });
    assert.deepEqual(found, ['two-clock', true, true, false]);
  });

  test('procUptimeElapsedRealtime() says that there is none', async () => {
    const found = await page.evaluate(() => {
      try {
        return api.procUptimeElapsedRealtime();
      } catch ({ code, message }) {
        return { code, message };
      }
    });
    assert.equal(found.code, 'unsupported');
    assert.match(found.message, /Node on Linux/);
  });

  test('a limiter before the package is loaded is an error that says so', async () => {
    const unloaded = await chrome.open({ loaded: false });
    const message = await unloaded.evaluate(() => {
      try {
        return String(new api.QuotaClock({}));
      } catch (error) {
        return error.message;
      }
    });
    assert.match(message, /not loaded yet/);
  });

  test('nothing was complained about in the console', () => assert.deepEqual(chrome.complaints, []));
});
