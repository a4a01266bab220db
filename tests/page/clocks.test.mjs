// Two clocks: every story shows what it claims, by the page's own count and by one made here, and replays from its address.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { replay } from './support/buckets.mjs';
import { assertQuiet, dataOf, settled } from './support/browser.mjs';
import { siteOfTests } from './support/site.mjs';

const { open } = siteOfTests();

const figures = async (page) => (await dataOf(page, '[data-figure]')).map(({ lane, figure, value }) => `${lane} ${figure} ${value}`);
const valueOf = async (page, lane, figure) => Number(await page.locator(`[data-lane=${lane}][data-figure=${figure}]`).getAttribute('data-value'));
const hand = async (page, name) => Number(await page.locator(`[data-hand=${name}]`).getAttribute('data-value'));
const log = (page) => dataOf(page, '.clocks-log [data-kind]');
const button = (page, name) => page.getByRole('button', { name, exact: true });

/** The naive buckets and the perfect one of `replay`, beside those on the page. */
async function assertCounted(page, when) {
  const params = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
  const counted = replay(params);
  for (const lane of ['shared', 'alone', 'truth']) {
    const there = { admitted: await valueOf(page, lane, 'admitted'), refused: await valueOf(page, lane, 'refused') };
    assert.deepEqual(there, counted[lane], `${when}: ${lane}, ${page.url()}`);
  }
}

test('each story shows what it claims, and replays from its address', async (t) => {
  const { page, complaints } = await open(t, { hash: '#clocks' });
  const other = await open(t, { hash: '#clocks' });
  const stories = (await dataOf(page, '[data-story]')).map((one) => one.story);
  assert.ok(stories.length >= 8, `${stories.length}`);
  for (const name of stories) {
    await page.locator(`[data-story="${name}"]`).click();
    assert.equal(await page.locator('[data-told]').getAttribute('data-told'), name);
    const claims = await dataOf(page, '[data-claim]');
    assert.ok(claims.length >= 3, `${name}: ${claims.length} claims`);
    for (const { claim, expected, actual, holds } of claims) assert.deepEqual([actual, holds], [expected, 'true'], `${name}, ${claim}`);
    await assertCounted(page, name);

    const there = await figures(page);
    await other.page.goto('about:blank');
    await other.page.goto(page.url());
    await other.page.locator('[data-told] [data-claim]').first().waitFor();
    assert.deepEqual(await figures(other.page), there, `${name} by its address`);
    assert.deepEqual(await dataOf(other.page, '[data-claim]'), claims, `${name} by its address`);
    assert.deepEqual(await log(other.page), await log(page), `${name} by its address`);

    await other.page.goto('about:blank');
    await other.page.goto(page.url().replace(/\?.*/, `?story=${name}`));
    await other.page.locator('[data-told] [data-claim]').first().waitFor();
    assert.deepEqual(await figures(other.page), there, `${name} by its name alone`);
  }
  assertQuiet([...complaints, ...other.complaints]);
});

describe('what a hand does', () => {
  test('is what the hands and the log show', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks?rate=0&moves=q1,a10000' });
    const apart = () => hand(page, 'apart');
    assert.equal(await apart(), 0);
    await button(page, '−250 ms').click();
    assert.deepEqual([await hand(page, 'wall'), await hand(page, 'monotonic'), await apart()], [-250, 0, -250]);
    assert.deepEqual(await log(page), [], 'nobody has asked yet');
    await button(page, '+1 s').click();
    await button(page, 'Send 1').click();
    assert.equal(await apart(), -250);

    await button(page, '−1 h').click();
    await button(page, 'Send 1').click();
    const [{ kind, stepped }] = await log(page);
    assert.deepEqual([kind, stepped], ['wall-step-back', '-3600000']);
    await button(page, '+1 h').click();
    await button(page, 'Send 1').click();
    assert.equal((await log(page))[0].kind, 'wall-ahead');
    assert.equal(await apart(), -250);

    await button(page, 'Sleep 6 h').click();
    assert.deepEqual([await hand(page, 'monotonic'), await apart()], [-21_600_000, 21_600_000 - 250]);
    await assertCounted(page, 'by hand');
    assert.match(page.url(), /moves=q1,a10000,w-250,a1000,q1,w-3600000,q1,w3600000,q1,z21600000$/);
    assertQuiet(complaints);
  });

  test('with a reader a sleep and a step are told apart', async (t) => {
    const { page } = await open(t, { hash: '#clocks?rate=0&reader=yes&moves=q1,a10000,z21600000,w3600000,q1' });
    const told = Object.fromEntries((await log(page)).map((one) => [one.kind, [one.suspended, one.stepped]]));
    assert.equal(told.suspend[0], '21600000');
    assert.equal(told['wall-step-forward'][1], '3600000');
    assert.equal(await hand(page, 'reader'), 0);
  });

  test('slews the wall, and nobody is told', async (t) => {
    const { page } = await open(t, { hash: '#clocks?rate=0&moves=q1' });
    await page.locator('.clocks-moves label', { hasText: '+400 ppm' }).click();
    for (let times = 0; times < 5; times += 1) await button(page, '+10 s').click();
    await button(page, 'Send 10').click();
    assert.equal(await hand(page, 'wall'), 20, '400 millionths of 50 s');
    assert.deepEqual(await log(page), []);
  });

  test('under another policy the same moves are played again', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks?story=lid-ignore' });
    const outcome = {};
    for (const policy of ['ignore', 'credit', 'refuse']) {
      await page.locator('.clocks-options label', { hasText: policy }).click();
      await settled(page);
      outcome[policy] = [await valueOf(page, 'exact', 'too-many'), await valueOf(page, 'exact', 'missing'), (await log(page)).length > 0];
      assert.match(page.url(), policy === 'ignore' ? /#clocks\?(?!.*policy=)/ : new RegExp(`policy=${policy}`));
    }
    assert.deepEqual(outcome.credit, [0, 0, true], 'it was a sleep, and credit credits it');
    for (const policy of ['ignore', 'refuse']) assert.ok(outcome[policy][1] > 0, `${policy} does not`);
    assert.equal(await page.locator('.clocks-fault').getAttribute('data-code'), 'ambiguous-jump', 'refuse says so');
    assertQuiet(complaints);
  });

  test('a run played in real time is in the address too, and replays', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks?rate=20' });
    await page.locator('.clocks-moves label', { hasText: /^60×$/ }).click();
    await button(page, 'Play').click();
    await button(page, '−1 h').click();
    await page.waitForFunction(() => Number(document.querySelector('[data-lane=exact][data-figure=admitted]').dataset.value) > 100);
    await button(page, 'Pause').click();
    const there = await figures(page);
    const again = await open(t, { hash: new URL(page.url()).hash });
    assert.deepEqual(await figures(again.page), there);
    await assertCounted(page, 'played');
    assertQuiet(complaints);
  });

  test('a run has an end, and begins afresh', async (t) => {
    const { page } = await open(t, { hash: '#clocks?rate=20&moves=a1800000' });
    for (const name of ['Play', '+1 s', 'Send 1', 'Sleep 6 h']) assert.ok(await button(page, name).isDisabled(), name);
    await button(page, 'Start afresh').click();
    assert.ok(await button(page, 'Play').isEnabled());
    assert.match(page.url(), /moves=q10,a10000$/);
  });

  test('a zone that does not exist is refused with words, and the run stays', async (t) => {
    const { page, complaints } = await open(t, { hash: '#clocks?story=midnight' });
    const there = await figures(page);
    const zone = page.getByLabel('Time zone of the quota');
    await zone.fill('Mars/Base');
    await zone.press('Enter');
    await page.locator('.clocks-options [role=alert]').waitFor();
    assert.deepEqual(await figures(page), there);
    await zone.fill('Asia/Kolkata');
    await zone.press('Enter');
    await page.locator('.clocks-options [role=alert]').waitFor({ state: 'detached' });
    assert.match(page.url(), /zone=Asia\/Kolkata/);
    assertQuiet(complaints);
  });
});
