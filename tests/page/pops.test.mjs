// Many PoPs: every story ends as it claims, and a run that is shared is the same run.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertQuiet, dataOf, settled } from './support/browser.mjs';
import { assertBounds, claims, figures, nowOf, playedBy, reach, speed, toEnd } from './support/pops.mjs';
import { siteOfTests } from './support/site.mjs';

const { open } = siteOfTests();
const played = playedBy(open);

const story = (page, name) => page.locator(`[data-story="${name}"]`);

/** Which figure of the table a claim of that name is about, where its name says so: `shared-worst`. */
const COLUMNS = { worst: 'worstEpoch', anywhere: 'worstWindow', early: 'early', admitted: 'admitted', refused: 'refused', unavailable: 'unavailable' };

/** What is claimed and what is there, by the numbers alone. */
function isKept({ claimed, actual }) {
  const [, how, number] = /^(at most|at least|exactly) (-?[\d.]+)$/.exec(claimed);
  return { 'at most': Number(actual) <= Number(number), 'at least': Number(actual) >= Number(number), exactly: Number(actual) === Number(number) }[how];
}

test('each story comes to the end that it claims, and shared by its address it is the same', async (t) => {
  const { page, complaints } = await open(t, { hash: '#pops' });
  const names = (await dataOf(page, '[data-story]')).map((one) => one.story);
  assert.ok(names.length > 0);
  let compared = 0;
  for (const name of names) {
    await story(page, name).click();
    await toEnd(page);
    assert.equal(await story(page, name).getAttribute('aria-pressed'), 'true');
    const told = await claims(page);
    assert.ok(told.length > 0, `${name} claims something`);
    const end = await figures(page);
    for (const claim of told) {
      assert.ok(isKept(claim), `${name}, ${claim.claim}: ${claim.claimed} is claimed, ${claim.actual} is there`);
      assert.equal(claim.holds, 'true', `${name}, ${claim.claim}`);
      const [way, what] = claim.claim.split('-');
      const row = end.ways.find((one) => one.way === way);
      if (!row || !(what in COLUMNS)) continue;
      assert.equal(claim.actual, row[COLUMNS[what]], `${name}, ${claim.claim}: as in the table`);
      compared += 1;
    }
    for (const { serial, addsUp } of end.books) assert.equal(addsUp, 'true', `${name}, serial ${serial}`);
    assert.match(page.url(), new RegExp(`#pops\\?story=${name}$`));
    assert.deepEqual(await played(t, page.url()), end, name);
  }
  assert.ok(compared > 0, 'claims were compared with the table');
  assertQuiet(complaints);
});

test('until its end a story claims nothing', async (t) => {
  const { page } = await open(t, { hash: '#pops' });
  assert.deepEqual([...new Set((await claims(page)).map(({ holds }) => holds))], ['open']);
});

describe('what is done by hand', () => {
  for (const [what, hash] of [['a window', '#pops?skew=0,900,-120,40&end=400&window=20'], ['a month', '#pops?counts=month&limit=1000&rate=1000&end=400&skew=0,900,-120,40']]) {
    test(`is in the address, with its time: ${what}`, async (t) => {
      const { page, complaints } = await open(t, { hash });
      const target = page.getByLabel('At', { exact: true });
      await speed(page, 10);
      await page.getByRole('button', { name: 'Play', exact: true }).click();
      await reach(page, 7_001);
      await target.selectOption({ label: 'PoP 2' });
      await page.getByRole('button', { name: 'Step', exact: true }).click();
      await reach(page, 16_003);
      await page.getByRole('button', { name: 'Cut it off' }).click();
      await speed(page, 30);
      await target.selectOption({ label: 'the Ledger' });
      await page.getByRole('button', { name: 'Freeze its clock' }).click();
      await reach(page, 30_000);
      await target.selectOption({ label: 'PoP 1' });
      await page.getByRole('button', { name: 'Crash' }).click();
      await page.locator('[data-pop="3"] input[type=range]').press('ArrowLeft');
      const address = page.url();
      assert.equal(address.match(/\d+\.(step|cut|freeze|crash)\.[L\d]+\.-?\d+/g)?.length, 5, address);
      await toEnd(page);
      assert.equal(page.url(), address);
      const end = await figures(page);
      assertBounds(end, address);
      assertQuiet(complaints);

      assert.deepEqual(await played(t, address), end, `as fast as it can: ${address}`);
      const slow = await open(t, { hash: new URL(address).hash, reducedMotion: 'no-preference' });
      await speed(slow.page, 10);
      await reach(slow.page, 9_000);
      await speed(slow.page, 60);
      await toEnd(slow.page);
      assert.deepEqual(await figures(slow.page), end, `by itself, and at other speeds: ${address}`);

      await page.getByRole('button', { name: 'Play again' }).click();
      await toEnd(page);
      assert.deepEqual(await figures(page), end, `again: ${address}`);
    });
  }

  test('a mishap in the middle of a story makes it a run of one’s own', async (t) => {
    const { page } = await open(t, { hash: '#pops' });
    assert.match(page.url(), /story=/);
    await page.getByRole('button', { name: 'Crash' }).click();
    assert.doesNotMatch(page.url(), /story=/);
    assert.equal((await claims(page)).length, 0);
    assert.equal(await page.locator('[data-story][aria-pressed=true]').count(), 0);
  });
});

test('a run is over at its end, and can be taken from the start again', async (t) => {
  const { page } = await open(t, { hash: '#pops?end=30&window=10&skew=0,5,9' });
  const first = await figures(page);
  await toEnd(page);
  assert.equal(await nowOf(page), 30_000);
  for (const name of ['Step', 'Crash', 'Cut it off', 'Freeze its clock', 'To the end']) assert.ok(await page.getByRole('button', { name, exact: true }).isDisabled(), name);
  await page.getByRole('button', { name: 'From the start' }).click();
  await settled(page);
  assert.deepEqual(await figures(page), first);
});
