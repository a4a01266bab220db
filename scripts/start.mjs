// npm start: set-up, build, then `wrangler dev` on http://127.0.0.1:8787 (the address is in wrangler.toml).
// Arguments go on to wrangler: npm start -- --port 9000. What the Durable Objects store is on disk under
// .wrangler/state and survives a restart. Ctrl-C ends it all.

import { step } from "./lib/log.mjs";
import { isStopping, main, show } from "./lib/run.mjs";
import { setUp, wrangler } from "./lib/tools.mjs";
import { ROOT } from "./lib/cache.mjs";
import { buildWorker } from "./lib/worker-build.mjs";

await main(async (args) => {
  await setUp();
  await buildWorker();
  step("starting wrangler dev; it rebuilds when a file under src/ changes, Ctrl-C stops it");
  const { file, args: before, env } = wrangler();
  // With a terminal wrangler reads keys from it, and must stay in the terminal's process group for that.
  const terminal = Boolean(process.stdin.isTTY);
  const code = await show(file, [...before, "dev", ...args], {
    cwd: ROOT,
    env,
    group: !terminal,
    stdin: terminal ? "inherit" : "ignore",
  });
  return isStopping() ? 0 : code;
});
