// npm run bench: set-up, build, then bench/run.mjs with the arguments given.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/cache.mjs";
import { Told } from "./lib/log.mjs";
import { main, show } from "./lib/run.mjs";
import { setUp, toolEnv } from "./lib/tools.mjs";
import { buildWorker } from "./lib/worker-build.mjs";

await main(async (args) => {
  const script = join(ROOT, "bench", "run.mjs");
  if (!existsSync(script)) throw new Told("bench/run.mjs is not there.");
  await setUp();
  await buildWorker();
  return show(process.execPath, [script, ...args], { cwd: ROOT, env: toolEnv({ SLUICEGATE_NO_BUILD: "1" }) });
});
