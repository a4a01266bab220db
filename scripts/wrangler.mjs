// npm run wrangler -- ARGUMENTS: the pinned wrangler with the Node that it needs.
// `npm run deploy` is `wrangler deploy`; add `-- --dry-run` to see what it would send.

import { main, show } from "./lib/run.mjs";
import { setUp, wrangler } from "./lib/tools.mjs";

await main(async (args) => {
  await setUp();
  const { file, args: before, env } = wrangler();
  const terminal = Boolean(process.stdin.isTTY);
  return show(file, [...before, ...args], { env, group: !terminal, stdin: terminal ? "inherit" : "ignore" });
});
