// npm run build: set-up, then the worker into build/. It is also wrangler's build command (wrangler.toml),
// so `wrangler dev` and `wrangler deploy` build by themselves. `--force` builds even if nothing changed.

import { main } from "./lib/run.mjs";
import { setUp } from "./lib/tools.mjs";
import { buildWorker } from "./lib/worker-build.mjs";

await main(async (args) => {
  await setUp();
  await buildWorker({ force: args.includes("--force") });
});
