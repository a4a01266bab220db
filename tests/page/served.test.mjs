// The page as `npm start` serves it, and "Live" against the very limiter that does.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, assertQuiet, dataOf, goTo, heading, openPage, PHONE, PLACES, startBrowser, unfold } from './support/browser.mjs';
import { walk } from './support/keyboard.mjs';
import { npmStart, TOKEN } from './support/start.mjs';

const LIMIT = 5;
const QUOTA = 40;
const LIMITS = {
  policies: [
    { name: 'few', algorithm: 'fixed-window', limit: LIMIT, window: '1h', identity: 'header:x-api-key' },
    { name: 'monthly', algorithm: 'calendar-quota', limit: QUOTA, period: { unit: 'month', time_zone: 'Europe/Paris' }, identity: 'header:x-api-key' },
    { name: 'everywhere', algorithm: 'fixed-window', scope: 'global', tolerance: 0, limit: 100, window: '1m', identity: 'ip' },
  ],
  rules: [
    { path: '/api/*', policies: ['few'] },
    { path: '/quota/*', policies: ['monthly'] },
  ],
};

let server;
let browser;

before(async () => {
  server = await npmStart(LIMITS);
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  if (server) assert.deepEqual(await server.stop(), { code: 130, left: [] }, 'it ends as Ctrl-C ends a program, and leaves no process');
});

const live = async (t, { hash = '#live', ...options } = {}) => {
  const opened = await openPage(browser, server.url, { hash, refusals: [401, 403, 404, 422, 429], ...options });
  t.after(opened.close);
  await opened.page.locator('.live-access').waitFor();
  return opened;
};

const act = (page, what) => page.locator(`[data-do=${what}]`).click();
const count = async (page, outcome) => Number(await page.locator(`[data-count=${outcome}]`).getAttribute('data-value'));
const answered = (page, outcome, many) => page.waitForFunction(([name, least]) => Number(document.querySelector(`[data-count=${name}]`).dataset.value) >= least, [outcome, many]);
const book = async (page, name) => Number(await page.locator(`[data-book=${name}]`).getAttribute('data-value'));
const usage = async (page, name) => Number(await page.locator(`[data-usage=${name}]`).getAttribute('data-value'));

async function giveToken(page, token = TOKEN) {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Use it' }).click();
}

async function withHeader(page, path, key) {
  await page.getByLabel('Path').fill(path);
  await page.getByLabel('Header', { exact: true }).fill('x-api-key');
  await page.getByLabel('Its value').fill(key);
  await page.getByLabel('Its value').press('Enter');
}

describe('what is served', () => {
  test('leads from / to the page, with headers that give nothing away', async () => {
    const home = await fetch(server.origin, { redirect: 'manual' });
    assert.deepEqual([home.status, home.headers.get('location')], [302, '/page/']);
    for (const path of ['', 'app.js', 'app.css', 'limiter.json', 'simulator_bg.wasm']) {
      const answer = await fetch(server.url + path);
      assert.equal(answer.status, 200, path);
      const policy = answer.headers.get('content-security-policy');
      for (const part of ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) assert.ok(policy.includes(part), `${path}: ${policy}`);
      assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:|\*/, path);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer', path);
    }
    assert.equal((await fetch(`${server.url}simulator_bg.wasm`)).headers.get('content-type'), 'application/wasm');
    const { version } = await (await fetch(`${server.origin}/healthz`)).json();
    assert.deepEqual(await (await fetch(`${server.url}limiter.json`)).json(), { api: '', version });
  });

  test('all places, without a word in the console', async (t) => {
    const { page, complaints, close } = await openPage(browser, server.url);
    t.after(close);
    for (const place of PLACES.slice(1)) await goTo(page, place);
    assert.match(await heading(page).textContent(), /limiter/);
    assert.match(await page.locator('.foot').innerText(), /Served by sluicegate \d+\.\d+/);
    const licences = await page.request.get(`${server.url}licenses.txt`);
    assert.equal(licences.status(), 200);
    assertQuiet(complaints);
  });
});

describe('Live', () => {
  test('sends until the limit refuses, and explains what comes', async (t) => {
    const { page, complaints } = await live(t);
    await withHeader(page, '/api/hello', 'until-refused');
    await act(page, 'one');
    await answered(page, 'allowed', 1);
    await page.locator(`[data-field=RateLimit-Policy] [data-part="q=${LIMIT}"]`).waitFor();
    await page.locator(`[data-field=RateLimit] [data-part="r=${LIMIT - 1}"]`).waitFor();

    await act(page, 'ten');
    await answered(page, 'refused', 11 - LIMIT);
    assert.deepEqual([await count(page, 'allowed'), await count(page, 'refused'), await count(page, 'error'), await count(page, 'held')], [LIMIT, 11 - LIMIT, 0, 0]);
    const rows = await dataOf(page, 'tr[data-outcome]');
    assert.equal(rows.length, 11);
    assert.deepEqual([...new Set(rows.map(({ outcome, status }) => `${outcome} ${status}`))].sort(), ['allowed 200', 'refused 429']);
    assert.deepEqual(rows.filter(({ outcome }) => outcome === 'allowed').map(({ remaining }) => Number(remaining)).sort(), [0, 1, 2, 3, 4]);

    await page.locator('tr[data-outcome=refused] button').first().click();
    await page.locator('[data-field=Retry-After]').waitFor();
    assert.match(await page.locator('.live-status').innerText(), /HTTP 429/);
    await page.locator('[data-field=RateLimit] [data-part="r=0"]').waitFor();
    await page.locator('[data-problem] [data-part^=\'"violated-policies"\']').waitFor();
    assert.doesNotMatch(page.url(), /until-refused/, 'a key is not put into the address');
    assertQuiet(complaints);
  });

  test('asks no other host, whatever path is named', async (t) => {
    for (const path of ['//example.org/x', '/.//example.org/x', '/page/../\\\\example.org', 'https://example.org/']) {
      const { page, complaints } = await live(t, { hash: `#live?path=${encodeURIComponent(path)}` });
      assert.equal(await page.getByLabel('Path').inputValue(), '/api/hello', path);
      await page.getByLabel('Path').fill(path);
      await act(page, 'one');
      await page.locator('.live [role=alert], .live .error').first().waitFor();
      assert.equal(await count(page, 'allowed'), 0, path);
      assertQuiet(complaints);
    }
  });

  test('sends at a rate until it is told to stop, or the place is left', async (t) => {
    const { page, complaints } = await live(t, { hash: '#live?rate=20' });
    await withHeader(page, '/api/hello', 'at-a-rate');
    await act(page, 'run');
    await answered(page, 'refused', 3);
    assert.equal(await page.locator('.live-progress').getAttribute('data-running'), 'true');
    await act(page, 'run');
    await page.locator('.live-progress[data-running=false][data-in-flight="0"]').waitFor();
    const sent = Number(await page.locator('.live-progress').getAttribute('data-sent'));
    assert.equal(sent, (await count(page, 'allowed')) + (await count(page, 'refused')));

    await act(page, 'run');
    await answered(page, 'refused', sent + 1 - LIMIT);
    await goTo(page, 'clocks');
    await goTo(page, 'live');
    assert.equal(await page.locator('.live-progress').getAttribute('data-ended'), 'left');
    await act(page, 'clear');
    assert.deepEqual([await count(page, 'allowed'), await count(page, 'refused')], [0, 0]);
    assertQuiet(complaints);
  });

  test('takes the token, and no other; tells of the policies; and forgets it', async (t) => {
    const { page, complaints } = await live(t);
    await giveToken(page, 'not-the-token');
    await page.locator('.live-token [role=alert]').waitFor();
    assert.equal(await page.locator('[data-token=given]').count(), 0);
    await giveToken(page);
    await page.locator('[data-token=given]').waitFor();
    await unfold(page);
    assert.deepEqual((await dataOf(page, '[data-policy-row]')).map((one) => one.policyRow), LIMITS.policies.map(({ name }) => name));
    const kept = await page.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, history.state, document.body.innerHTML]));
    assert.ok(!kept.includes(TOKEN), 'the token is nowhere but in memory');
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByLabel('Token', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('Token', { exact: true }).inputValue(), '');
    await giveToken(page);
    await page.locator('[data-token=given]').waitFor();
    await page.reload();
    await page.getByLabel('Token', { exact: true }).waitFor();
    assertQuiet(complaints);
  });

  test('checks: a decision with what it rests on; a peek takes nothing', async (t) => {
    const { page, complaints } = await live(t);
    await giveToken(page);
    await page.locator('[data-token=given]').waitFor();
    await page.locator('label', { hasText: /^Checks$/ }).click();
    await page.getByLabel('Policy', { exact: true }).selectOption('monthly');
    await page.getByLabel(/^Key/).fill('checked');
    await page.getByLabel('Cost').fill('7');
    await page.getByLabel('Cost').press('Enter');
    await act(page, 'one');
    await answered(page, 'allowed', 1);
    const row = page.locator('tr[data-outcome]').first();
    assert.equal(await row.getAttribute('data-remaining'), String(QUOTA - 7));
    assert.match(await row.innerText(), /\d{4}-\d\d/, 'with the slot');
    await page.getByLabel('Peek').check();
    await act(page, 'one');
    await answered(page, 'allowed', 2);
    assert.equal(await row.getAttribute('data-remaining'), String(QUOTA - 7));
    await page.getByLabel('Peek').uncheck();
    await page.getByLabel('Cost').fill(String(QUOTA));
    await page.getByLabel('Cost').press('Enter');
    await act(page, 'one');
    await answered(page, 'refused', 1);
    assertQuiet(complaints);
  });

  test('the books of a tenant: usage and audit agree; settings are changed after a second thought', async (t) => {
    const { page, complaints } = await live(t);
    await withHeader(page, '/quota/hello', 'acme');
    await act(page, 'ten');
    await answered(page, 'allowed', 10);
    await giveToken(page);
    await page.getByLabel(/^Tenant/).fill('acme');
    await act(page, 'read');
    await page.locator('[data-tenant-shown]').waitFor();

    assert.equal(await usage(page, 'limit'), QUOTA);
    assert.equal((await usage(page, 'used')) + (await usage(page, 'outstanding')) + (await usage(page, 'remaining')), QUOTA);
    assert.ok((await usage(page, 'used')) + (await usage(page, 'outstanding')) >= 10);
    const parts = await Promise.all(['spent', 'returned', 'forfeited', 'outstanding'].map((name) => book(page, name)));
    assert.equal(await book(page, 'granted'), parts.reduce((sum, units) => sum + units, 0));
    assert.ok((await book(page, 'granted')) >= 10);
    assert.equal(await page.locator('[data-equation]').getAttribute('data-equation'), 'holds');
    assert.equal(await page.locator('[data-consistent]').getAttribute('data-consistent'), 'true');
    const segments = (await dataOf(page, '.live-legend [data-segment]')).map(({ value }) => Number(value));
    assert.equal(segments.reduce((sum, units) => sum + units, 0), QUOTA, 'the bar is the limit');

    await unfold(page);
    await page.getByLabel('A limit of its own').check();
    await page.getByLabel('Units per period').fill('60');
    await page.getByLabel('Units per period').press('Enter');
    await act(page, 'put');
    await page.getByRole('button', { name: 'Leave them' }).click();
    assert.equal(await usage(page, 'limit'), QUOTA, 'nothing is changed by asking');
    await act(page, 'put');
    assert.match(await page.locator('dialog[open]').innerText(), /from 40 to 60/);
    await act(page, 'confirm');
    await page.locator('[data-usage=limit][data-value="60"]').waitFor();
    assert.equal(await page.locator('[data-settings]').getAttribute('data-settings'), 'own');

    await page.getByLabel(/^Tenant/).fill('..');
    await act(page, 'read');
    await page.locator('.live-ask [role=alert]').waitFor();
    assertQuiet(complaints);
  });

  test('with everything open axe finds nothing, Tab reaches all of it, and it fits a phone', async (t) => {
    const { page, complaints } = await live(t, { options: PHONE });
    await withHeader(page, '/quota/hello', 'looked-at');
    await act(page, 'ten');
    await answered(page, 'allowed', 10);
    await giveToken(page);
    await page.getByLabel(/^Tenant/).fill('looked-at');
    await act(page, 'read');
    await page.locator('[data-tenant-shown]').waitFor();
    await unfold(page);
    await assertNoSidewaysScroll(page, '390 px');
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await assertAccessible(page, colorScheme);
    }
    const { missed, unseen } = await walk(page);
    assert.deepEqual({ missed, unseen }, { missed: [], unseen: [] });
    await act(page, 'put');
    await page.locator('dialog[open]').waitFor();
    await assertAccessible(page, 'with the question');
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    assertQuiet(complaints);
  });
});
