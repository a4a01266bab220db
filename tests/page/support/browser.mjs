// A real Chromium, and pages in it that may not complain.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.SLUICEGATE_CHROME ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export const DESK = { viewport: { width: 1280, height: 900 } };
/** A phone of a usual size. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
/** The narrowest that is sold. */
export const NARROW_PX = 320;

export const PLACES = ['pops', 'clocks', 'calendar', 'live'];

export const startBrowser = () => chromium.launch({ executablePath: EXECUTABLE, headless: true, args: FLAGS });

/** Chrome itself says so in the console, of every answer from 400 on. */
const STATUS = /^Failed to load resource: the server responded with a status of (\d+)/;

/** Whatever a page says in the console, throws, or asks of another host. `refusals`: status codes that a limiter may answer. */
function listen(page, origin, refusals) {
  const complaints = [];
  const isRefusal = (message) => refusals.includes(Number(STATUS.exec(message.text())?.[1])) && new URL(message.location().url).origin === origin;
  page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
  page.on('console', (message) => isRefusal(message) || complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`));
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin && asked.protocol !== 'data:' && asked.protocol !== 'blob:') complaints.push(`asked ${asked.host}`);
  });
  page.on('websocket', (socket) => complaints.push(`asked ${socket.url()}`));
  // What a reload cuts off has not failed.
  page.on('requestfailed', (request) => request.failure()?.errorText === 'net::ERR_ABORTED' || complaints.push(`failed: ${request.url()}: ${request.failure()?.errorText}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return complaints;
}

/**
 * Opens a page, and waits for the place that its address names. What it complains of is in `complaints`. Less motion is
 * asked for unless told otherwise: most tests start what they want to see. `prepare(page)` comes before all else.
 */
export async function openPage(browser, url, { hash = '', options = DESK, colorScheme = 'light', reducedMotion = 'reduce', locale = 'en-GB', timezoneId = 'Europe/Berlin', refusals = [], prepare } = {}) {
  const context = await browser.newContext({ ...options, colorScheme, reducedMotion, locale, timezoneId });
  const page = await context.newPage();
  const complaints = listen(page, new URL(url).origin, refusals);
  await page.addInitScript({ path: AXE });
  await prepare?.(page);
  await page.goto(`${url}${hash}`);
  await heading(page).waitFor();
  return { page, complaints, close: () => context.close() };
}

export const heading = (page) => page.locator('main h1');

/** Goes to a place by its link in the head. */
export async function goTo(page, place) {
  const before = await heading(page).textContent();
  await page.locator(`nav a[href="#${place}"]`).click();
  await page.waitForFunction((old) => ![null, undefined, old].includes(document.querySelector('main h1')?.textContent), before);
}

/** What axe finds, as lines that say where. What fades is looked at when it has faded. */
export async function axe(page) {
  const found = await page.evaluate(async () => {
    const ends = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ends.map((one) => one.finished));
    return globalThis.axe.run(document, { resultTypes: ['violations'] });
  });
  return found.violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target.join(' ')}: ${node.any[0]?.message ?? node.failureSummary ?? ''}`));
}

export const assertAccessible = async (page, when) => assert.deepEqual(await axe(page), [], when);

/** How far a page is wider than its window, and what sticks out. */
const sideways = (page) =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const out = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > clientWidth + 0.5);
    return [`${scrollWidth} px in ${clientWidth} px`, ...out.slice(0, 5).map((one) => `${one.tagName.toLowerCase()}.${one.getAttribute('class') ?? ''}`)];
  });

export async function assertNoSidewaysScroll(page, when) {
  // Pictures follow a new width of the window some frames later.
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  await page.waitForFunction(fits, undefined, { timeout: 5_000 }).catch(() => {});
  assert.deepEqual(await sideways(page), [], when);
}

export const assertQuiet = (complaints) => assert.deepEqual(complaints, []);

/** What elements say in data-* attributes, in their order. */
export const dataOf = (page, selector) => page.locator(selector).evaluateAll((all) => all.map((one) => ({ ...one.dataset })));

/** Opens everything that is folded. */
export const unfold = (page) => page.evaluate(() => document.querySelectorAll('main details').forEach((one) => (one.open = true)));

/** Two frames: what a signal changed has been drawn, and what the drawing changed too. */
export const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
