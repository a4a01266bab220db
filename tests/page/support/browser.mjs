// A real Chromium, and pages in it that may not complain.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.SLUICEGATE_CHROME ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A phone of a usual size. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
export const DESK = { viewport: { width: 1280, height: 900 } };

export async function startBrowser() {
  return chromium.launch({ executablePath: EXECUTABLE, headless: true, args: FLAGS });
}

/**
 * Opens a page. Whatever it says in the console, throws, or asks of another host is in `complaints`. Animations play
 * by themselves unless `reducedMotion` is asked for; most tests do, and start what they want to see.
 */
export async function openPage(browser, url, { hash = '', options = DESK, colorScheme = 'light', reducedMotion = 'reduce', locale = 'en-GB', timezoneId = 'Europe/Berlin' } = {}) {
  const context = await browser.newContext({ ...options, colorScheme, reducedMotion, locale, timezoneId });
  const page = await context.newPage();
  const complaints = [];
  const origin = new URL(url).origin;
  page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin && asked.protocol !== 'data:' && asked.protocol !== 'blob:') complaints.push(`asked ${asked.host}`);
  });
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  await page.addInitScript({ path: AXE });
  await page.goto(`${url}${hash}`);
  await page.locator('main h1').waitFor();
  return { page, complaints, close: () => context.close() };
}

/** What axe finds, as lines that say where. */
export async function axe(page) {
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target.join(' ')}: ${node.any[0]?.message ?? node.failureSummary ?? ''}`));
}

/** How far a page is wider than its window. */
export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

export function assertQuiet(complaints) {
  assert.deepEqual(complaints, []);
}
