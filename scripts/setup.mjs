// npm run setup: brings all tools and installs the npm packages of the clone; builds nothing.
// `npm run setup -- --browser` brings Chromium and chromedriver too, as the tests need them.

import { CACHE } from "./lib/cache.mjs";
import { done, duration } from "./lib/log.mjs";
import { main } from "./lib/run.mjs";
import { ensureBrowser } from "./lib/system.mjs";
import { setUp } from "./lib/tools.mjs";

await main(async (args) => {
  const started = Date.now();
  await setUp();
  if (args.includes("--browser")) await ensureBrowser();
  done(`set-up is complete (${duration(Date.now() - started)}); the tools are in ${CACHE}`);
});
