// npm run pack: set-up, then the npm package into pkg/web/, pkg/bundler/ and pkg/nodejs/, with their sizes.

import { main } from "./lib/run.mjs";
import { setUp } from "./lib/tools.mjs";
import { buildPackages } from "./lib/npm-package.mjs";

await main(async () => {
  await setUp();
  await buildPackages();
});
