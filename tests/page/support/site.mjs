// What most files of tests need: the page on a plain file server and one browser, from before the first test to after
// the last.

import { after, before } from 'node:test';
import { openPage, startBrowser } from './browser.mjs';
import { serveFiles } from './files.mjs';

/** Gives `open(options)`, as openPage does, of the page; what is opened for a test is closed with it. */
export function siteOfTests(how) {
  const held = {};
  before(async () => {
    held.files = await serveFiles(how);
    held.browser = await startBrowser();
  });
  after(async () => {
    await held.browser?.close();
    held.files?.close();
  });
  return {
    get url() {
      return held.files.url;
    },
    get files() {
      return held.files;
    },
    get browser() {
      return held.browser;
    },
    async open(t, options) {
      const opened = await openPage(held.browser, held.files.url, options);
      t.after(opened.close);
      return opened;
    },
  };
}
