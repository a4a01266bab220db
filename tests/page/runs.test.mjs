// Runs that are strange, and what the place says of them: nothing that is not so, and nothing that stops it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertQuiet, goTo } from './support/browser.mjs';
import { figures, toEnd } from './support/pops.mjs';
import { siteOfTests } from './support/site.mjs';

const { open } = siteOfTests();

const wayOf = (end, name) => end.ways.find(({ way }) => way === name);
const row = (page, name) => page.locator(`tr[data-way=${name}]`);
const endOf = async (t, hash) => {
  const { page, complaints } = await open(t, { hash });
  await toEnd(page);
  assertQuiet(complaints);
  return { page, end: await figures(page) };
};

describe('what is said of a run', () => {
  test('a bucket under clocks that agree is not called wrong', async (t) => {
    const { page, end } = await endOf(t, '#pops?skew=0,0,0');
    const worst = Number(wayOf(end, 'shared').worstEpoch);
    assert.ok(worst > 60 && worst <= 120, `it begins full, and refills meanwhile: ${worst}`);
    assert.doesNotMatch(await row(page, 'shared').innerText(), /more than may be/);
    assert.match(await row(page, 'alone').innerText(), /more than may be/, 'the limit three times');
  });

  test('a bucket under clocks that disagree is', async (t) => {
    const { page } = await endOf(t, '#pops?skew=0,60000,-60000');
    assert.match(await row(page, 'shared').innerText(), /more than may be/);
  });

  test('where PoPs go on without a Ledger, no bound is stated', async (t) => {
    const partition = 'skew=0,30,-30,10,-10,20&do=190000.cut.3.90000';
    const { end: closed } = await endOf(t, `#pops?${partition}`);
    assert.deepEqual([wayOf(closed, 'tolerant').bound, wayOf(closed, 'exact').bound], ['66', '60']);
    for (const way of ['tolerant', 'exact']) assert.ok(Number(wayOf(closed, way).worstEpoch) <= Number(wayOf(closed, way).bound));
    const { page, end } = await endOf(t, `#pops?on_error=open&${partition}`);
    assert.ok(Number(wayOf(end, 'exact').worstEpoch) > 60);
    for (const way of ['tolerant', 'exact']) assert.equal(wayOf(end, way).bound, 'none', await row(page, way).innerText());
  });

  test('requests that nobody answered are counted', async (t) => {
    // While the timers of the PoP that is cut off stand still, callers give up; afterwards its asks are given up.
    const { end } = await endOf(t, '#pops?skew=0,0&end=120&do=10000.cut.1.60000,10000.step.1.-60000');
    const { admitted, refused, unavailable, unanswered } = wayOf(end, 'exact');
    assert.ok(Number(unavailable) > 0 && Number(unanswered) > Number(unavailable), JSON.stringify([unavailable, unanswered]));
    const alone = wayOf(end, 'alone');
    assert.equal(Number(admitted) + Number(refused) + Number(unanswered), Number(alone.admitted) + Number(alone.refused), 'no request is missing');
  });
});

describe('a run and its address', () => {
  test('mishaps that last no time do not stop it', async (t) => {
    const { end } = await endOf(t, '#pops?skew=0,0&end=60&do=1000.freeze.1.0,2000.cut.2.0,3000.crash.1.5,4000.step.1.0');
    assert.equal(end.now, 60_000);
  });

  test('a burst is not larger than the simulator takes', async (t) => {
    const { end } = await endOf(t, '#pops?skew=0,0&rate=20000&window=600&traffic=bursts&limit=100&end=700');
    assert.equal(end.now, 700_000);
  });

  test('a run is still there when one comes back from another place', async (t) => {
    const { page } = await open(t, { hash: '#pops?skew=0,0,77&end=60&seed=9' });
    const address = page.url();
    await goTo(page, 'live');
    await goTo(page, 'pops');
    assert.equal(page.url(), address);
    await page.locator('.wordmark').click();
    await page.waitForFunction((same) => location.href === same, address);
    assert.equal(await page.locator('[data-pop="2"] [data-ahead]').getAttribute('data-ahead'), '77');
  });

  test('an address that is put in again is opened again', async (t) => {
    const { page } = await open(t, { hash: '#pops?story=burst' });
    await page.locator('[data-story=partition]').click();
    await page.evaluate(() => (location.hash = '#pops?story=burst'));
    await page.locator('[data-story=burst][aria-pressed=true]').waitFor();
    assert.match(page.url(), /story=burst$/);
  });

  test('what befell a run befalls it again when its set-up is changed, until that is undone', async (t) => {
    const { page } = await open(t, { hash: '#pops?story=partition' });
    await page.locator('.setup > summary').click();
    await page.getByLabel('No Ledger in reach').selectOption('open');
    await toEnd(page);
    assert.ok(Number(wayOf(await figures(page), 'exact').worstEpoch) > 70, 'all that came to the one that is cut off');
    await page.getByRole('button', { name: 'Begin again without mishaps' }).click();
    await toEnd(page);
    assert.equal(wayOf(await figures(page), 'exact').worstEpoch, '60');
  });

  test('buttons that have nothing left to do keep the focus', async (t) => {
    const { page } = await open(t, { hash: '#pops?skew=0,0&end=30' });
    const button = page.getByRole('button', { name: 'To the end' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Play again' }).waitFor();
    assert.ok(await button.evaluate((one) => one === document.activeElement));
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
  });
});
