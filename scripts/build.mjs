// npm run build: set-up, then the worker into build/ and the page into build/www/. It is also wrangler's build command
// (wrangler.toml), so `wrangler dev` and `wrangler deploy` build by themselves. `--force` builds even if nothing
// changed; `--worker` leaves out the page.

import { main } from "./lib/run.mjs";
import { buildPage, isServed } from "./lib/page-build.mjs";
import { setUp } from "./lib/tools.mjs";
import { buildWorker } from "./lib/worker-build.mjs";

await main(async (args) => {
  await setUp();
  const force = args.includes("--force");
  await buildWorker({ force });
  if (!args.includes("--worker") && isServed()) await buildPage({ force });
});
