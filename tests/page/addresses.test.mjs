// Whatever stands in the address, each place is there, works, and complains of nothing.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { numbers } from '../web/shared/random.mjs';
import { assertQuiet, heading, settled } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';

const SEED = Number(process.env.SLUICEGATE_SEED ?? 20261130);
const ROUNDS = 40;
/** As many are opened anew; the others follow in an open page, as when someone edits the address. */
const ANEW = 6;

/** What each place reads, with values that mean something. */
const WORDS = {
  pops: {
    story: ['ahead', 'month'], counts: ['window', 'month'], limit: ['60', '1', '10000'], window: ['5', '60', '600'], tolerance: ['0', '1000000'], ledger: ['-3600000', '900'], drift: ['100000'],
    rate: ['1', '20000'], latency: ['1', '400'], jitter: ['0', '400'], loss: ['300000'], seed: ['1', '4294967295'], end: ['10', '7200'], on_error: ['open', 'closed', 'local'],
    traffic: ['random', 'bursts', 'moving', 'one'], skew: ['0,0', '0,1,2,3,4,5,6,7,8,9,10,11,12', '-3600000,3600000,5'], do: ['0.step.1.-60000', '5000.crash.L.0,5000.cut.2.90000', '1000.freeze.1.7200000'],
  },
  clocks: {
    story: ['ntp', 'hour', 'midnight'], policy: ['ignore', 'credit', 'refuse'], reader: ['yes', 'no'], tolerance: ['0', '60000'], capacity: ['1', '1000'], refill: ['0', '0.1', '1000'], rate: ['0', '20'],
    quota: ['0', '1000000'], unit: ['day', 'month'], zone: ['UTC', 'Asia/Kolkata', 'Mars/Base'], start: ['middle', 'end'], mark: ['now', 'max'], show: ['quota', 'tokens'],
    moves: ['a20000,w-250,a5000', 'z86400000,q100', 's1000,a1800000', 'w-34560000000,a1,w34560000000,q1', 'q10,a1000,x5'],
  },
  calendar: {
    zone: ['UTC', 'America/New_York', 'Pacific/Apia', 'Antarctica/Troll'], unit: ['day', 'week', 'month', 'year'], day: ['1', '31', '29'], weekday: ['1', '7'], month: ['2', '12'],
    time: ['00:00', '23:59:59', '02:30'], from: ['2021-03-11T12:00Z', '0001-01-01T00:00Z', '9999-12-31T00:00Z', '1970-01-01T00:00Z'],
  },
  live: { send: ['check', 'gateway'], path: ['/api/hello', '/login?x=1'], header: ['x-api-key'], policy: ['per-ip'], rate: ['0.5', '20'] },
};

const ODD = ['', ' ', '0', '-1', '1.5', '1e309', 'NaN', 'Infinity', '999999999999999', '-999999999999999', '9007199254740993', 'null', 'undefined', '__proto__', 'toString', '%', '%00', '%ff', '%E2%80%AE', '\u{1f550}', '<b>x</b>', '"\'`', '../..', '//example.com/', 'javascript:alert(1)', ',,,', '....', '.'.repeat(3_000), '1,'.repeat(2_000), 'a1,'.repeat(900)];

function addressOf(random, place) {
  const words = WORDS[place];
  const names = [...Object.keys(words), 'unknown', 'constructor', ''];
  const value = (name) => (random.whole(0, 1) === 0 && words[name] ? random.pick(words[name]) : random.pick(ODD));
  const parts = Array.from({ length: random.whole(1, 6) }, () => {
    const name = random.pick(names);
    return `${name}=${value(name)}`;
  });
  return `#${place}?${parts.join(random.pick(['&', '&', '&', '?', '#']))}`;
}

/** That the place is whole, and that its controls do something. */
const WHOLE = {
  pops: (page) => page.locator('tr[data-way]').first().waitFor(),
  clocks: (page) => page.locator('[data-figure=admitted]').first().waitFor(),
  calendar: (page) => page.locator('tr[data-slot], .controls .error').first().waitFor(),
  live: (page) => page.locator('[data-limiter=absent]').waitFor(),
};

/** From any state back to one that is known. */
const REPAIR = {
  pops: (page) => page.locator('[data-story]').first().click(),
  clocks: (page) => page.locator('[data-story]').first().click(),
  calendar: (page) => page.locator('[data-case]').first().click(),
  live: (page) => page.getByLabel('Retry-After').fill('5'),
};

const { open } = siteOfTests();

describe('addresses that nobody wrote', () => {
  for (const place of Object.keys(WORDS)) {
    test(`${place} takes ${ROUNDS} of them`, async (t) => {
      const random = numbers(SEED);
      const { page, complaints } = await open(t, { hash: `#${place}` });
      const title = await heading(page).textContent();
      for (let round = 0; round < ROUNDS; round += 1) {
        const hash = addressOf(random, place);
        await page.evaluate((next) => (location.hash = next), hash);
        if (round % Math.ceil(ROUNDS / ANEW) === 0) await page.reload();
        const said = `${hash.slice(0, 200)}, with seed ${SEED}`;
        await WHOLE[place](page).catch((error) => assert.fail(`${said}: ${error.message}`));
        await settled(page);
        assert.equal(await heading(page).textContent(), title, said);
        assert.deepEqual(complaints, [], said);
        assert.equal(await page.locator('main > .notice').count(), 0, said);
      }
      await REPAIR[place](page);
      await WHOLE[place](page);
      assertQuiet(complaints);
    });
  }
});
