// npm start: set-up, build, then `wrangler dev` on http://127.0.0.1:8787 (the address is in wrangler.toml), with the
// page at /page/. Arguments go on to wrangler: npm start -- --port 9000. What the Durable Objects store is on disk under
// .wrangler/state and survives a restart. Ctrl-C ends it all.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { say, step } from "./lib/log.mjs";
import { isStopping, main, show } from "./lib/run.mjs";
import { setUp, wrangler } from "./lib/tools.mjs";
import { ROOT } from "./lib/cache.mjs";
import { buildPage, isServed } from "./lib/page-build.mjs";
import { readToml } from "./lib/toml.mjs";
import { buildWorker } from "./lib/worker-build.mjs";

/** Where the page will be, by wrangler.toml and the arguments; null where wrangler.toml is beyond our reading. */
function pageAddress(args) {
  const options = { ip: { type: "string" }, port: { type: "string" } };
  const { values } = parseArgs({ args, options, strict: false });
  try {
    const { dev = {}, vars = {} } = readToml(join(ROOT, "wrangler.toml"));
    return `http://${values.ip ?? dev.ip ?? "localhost"}:${values.port ?? dev.port ?? 8787}${vars.LIMITS?.prefix ?? ""}/page/`;
  } catch {
    return null;
  }
}

await main(async (args) => {
  await setUp();
  await buildWorker();
  if (isServed()) await buildPage();
  step("starting wrangler dev; it rebuilds when a file under src/ or www/ changes, Ctrl-C stops it");
  const address = isServed() ? pageAddress(args) : null;
  if (address) say(`  the page: ${address}`);
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
