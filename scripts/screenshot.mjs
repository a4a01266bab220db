// npm run screenshot: builds the page and takes the pictures in the README, light and dark: the first story at its end.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/cache.mjs";
import { done } from "./lib/log.mjs";
import { buildPage } from "./lib/page-build.mjs";
import { main } from "./lib/run.mjs";
import { ensureBrowser, which } from "./lib/system.mjs";
import { setUp } from "./lib/tools.mjs";

const FOLDER = join(ROOT, "docs");
const SIZE = { width: 1280, height: 1180 };

await main(async () => {
  await setUp();
  await ensureBrowser();
  await buildPage();
  process.env.SLUICEGATE_CHROME ??= which("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome") ?? "";
  const { serveFiles } = await import("../tests/page/support/files.mjs");
  const { openPage, startBrowser } = await import("../tests/page/support/browser.mjs");
  mkdirSync(FOLDER, { recursive: true });
  const [files, browser] = [await serveFiles(), await startBrowser()];
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await openPage(browser, files.url, { options: { viewport: SIZE }, colorScheme });
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: "Play again" }).waitFor();
    const path = join(FOLDER, `page-${colorScheme}.png`);
    await page.screenshot({ path });
    await close();
    done(path);
  }
  await browser.close();
  files.close();
});
