// npm run pops: set-up, build, then one ledger and several points of presence on this machine, each with a wall
// clock of its own. `npm run pops -- --help` explains it.

import { join } from "node:path";
import { ROOT } from "./lib/cache.mjs";
import { Told } from "./lib/log.mjs";
import { HELP, readOptions } from "./lib/pops-options.mjs";
import { servePops } from "./lib/pops.mjs";
import { main, start } from "./lib/run.mjs";

/** Set-up, with or without the build, in a process of its own: what it says goes to stderr. */
function prepare(script, ...args) {
  return new Promise((resolve, reject) => {
    const child = start(process.execPath, [join(ROOT, "scripts", script), ...args], { cwd: ROOT, stdio: ["ignore", 2, 2] });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Told(`${script} failed: there is nothing to start`))));
  });
}

await main(async (args) => {
  const options = readOptions(args);
  if (!options) return void process.stdout.write(HELP);
  // $SLUICEGATE_BUILD names another build, as it does for the tests.
  const other = process.env.SLUICEGATE_BUILD;
  await (other ? prepare("setup.mjs") : prepare("build.mjs", "--worker"));
  await servePops(options, other ?? join(ROOT, "build"));
});
