// The page as plain files: at the root and below a path, and from a server that does not know the type of wasm.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertQuiet, goTo, openPage, startBrowser } from './support/browser.mjs';
import { serveFiles } from './support/files.mjs';
import { USE } from './support/ways.mjs';

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser?.close());

for (const [where, how] of [
  ['at the root', {}],
  ['below a path', { base: '/docs/a%20limiter/' }],
  ['by a server that does not know wasm', { knowsWasm: false }],
]) {
  describe(where, () => {
    let files;
    before(async () => (files = await serveFiles(how)));
    after(() => files?.close());

    test('three places compute, and Live says what it lacks', async (t) => {
      const statuses = new Map();
      const prepare = (opened) => opened.on('response', (response) => statuses.set(new URL(response.url()).pathname, response.status()));
      const { page, complaints, close } = await openPage(browser, files.url, { prepare });
      t.after(close);
      await USE.pops(page);
      assert.ok(Number(await page.locator('tr[data-way=exact]').getAttribute('data-admitted')) > 0);
      await goTo(page, 'clocks');
      await USE.clocks(page);
      await goTo(page, 'calendar');
      await USE.calendar(page);
      assert.equal(await page.locator('tr[data-slot]').count(), 14);

      await goTo(page, 'live');
      await page.locator('[data-limiter=absent]').waitFor();
      assert.match(await page.locator('[data-limiter=absent]').innerText(), /npm start/);
      assert.match(await page.locator('.foot').innerText(), /plain files/);
      const asked = files.asked.length;
      await USE.live(page);
      assert.equal(files.asked.length, asked, 'it asks nobody');
      assertQuiet(complaints);

      await page.locator('.foot a').click();
      await page.waitForURL(/licenses\.txt$/);
      assert.ok(statuses.size > 10, `${statuses.size} files`);
      const { pathname } = new URL(files.url);
      for (const [path, status] of statuses) assert.deepEqual([path.startsWith(pathname), status], [true, 200], path);
    });
  });
}

describe('what keeps strangers out', () => {
  test('its own policy, where a server sends none', async (t) => {
    const files = await serveFiles();
    t.after(files.close);
    const { page, close } = await openPage(browser, files.url);
    t.after(close);
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
    for (const part of ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'", "connect-src 'self'", "font-src 'self'"]) assert.ok(policy.includes(part), policy);
    await page.evaluate(() => {
      globalThis.broken = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => globalThis.broken.push(effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'globalThis.ran = true';
      document.head.append(script);
      fetch(`http://${location.hostname}:1/`).catch(() => {});
    });
    await page.waitForFunction(() => globalThis.broken.length >= 2, null, { timeout: 5_000 }).catch(() => {});
    assert.deepEqual(await page.evaluate(() => [globalThis.ran === true, globalThis.broken.sort()]), [false, ['connect-src', 'script-src-elem']]);
    const markup = await (await fetch(files.url)).text();
    assert.doesNotMatch(markup, /\sstyle=|<script(?![^>]*\ssrc=)|<style|\son\w+=|https?:\/\//, 'nothing inline, nothing of another host');
  });

  test('no file of the page names another host to fetch from', async (t) => {
    const files = await serveFiles();
    t.after(files.close);
    const { close } = await openPage(browser, files.url);
    t.after(close);
    const text = await Promise.all(files.asked.filter((path) => /\.(js|css)$/.test(path)).map(async (path) => [path, await (await fetch(new URL(path, files.url))).text()]));
    assert.ok(text.length > 2);
    for (const [path, content] of text) assert.doesNotMatch(content, /(?:import\(|fetch\(|url\(|from)\s*["'`]?(?:https?:)?\/\//, path);
  });
});
