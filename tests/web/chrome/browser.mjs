// A page in headless Chrome that has loaded the package, and the small server it is loaded from.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { chromium } from 'playwright-core';

const ROOT = new URL('../../../', import.meta.url);
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.jsonl': 'text/plain; charset=utf-8' };
/** Nothing else of the clone is anybody's business. */
const SERVED = /^\/(pkg\/web|tests\/corpus|tests\/web\/shared)\/[\w./-]+$/;
const PAGE = '<!doctype html><title>sluicegate</title>';

const EXECUTABLE = process.env.SLUICEGATE_CHROME ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

async function answer({ url }, response) {
  const { pathname } = new URL(url, 'http://localhost');
  if (pathname === '/') return response.setHeader('content-type', 'text/html').end(PAGE);
  if (pathname === '/favicon.ico') return response.writeHead(204).end();
  if (!SERVED.test(pathname) || pathname.includes('..')) return response.writeHead(404).end();
  try {
    const body = await readFile(new URL(`.${pathname}`, ROOT));
    return response.setHeader('content-type', TYPES[extname(pathname)] ?? 'application/octet-stream').end(body);
  } catch {
    return response.writeHead(404).end();
  }
}

/** Starts Chrome; gives a function that opens a page, with the package in it as `api` unless told otherwise. */
export async function startChrome(cleanUp) {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  cleanUp.push(() => server.close());
  const browser = await chromium.launch({ executablePath: EXECUTABLE, headless: true, args: FLAGS });
  cleanUp.push(() => browser.close());
  const complaints = [];
  const open = async ({ loaded = true } = {}) => {
    const page = await browser.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.evaluate(async (init) => {
      globalThis.api = await import('/pkg/web/sluicegate.js');
      globalThis.load = async (name) => (await fetch(`/tests/corpus/${name}`)).text();
      if (init) await api.default();
    }, loaded);
    return page;
  };
  return { open, complaints, version: browser.version() };
}
