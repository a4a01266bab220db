// Set-up as a whole, and the environment in which builds and tests find the tools.

import { delimiter, dirname } from "node:path";
import { mkdirSync } from "node:fs";
import { CACHE, LOGS } from "./cache.mjs";
import { cargoBinary, ensureCargoTools } from "./cargo-tools.mjs";
import { binaryenFolder, ensureNodeModules, ensureNpmTools, esbuild, wasmOpt, wranglerNode, wranglerScript } from "./npm-tools.mjs";
import { ensureRust } from "./rust.mjs";
import { ensureCompilerPackages } from "./system.mjs";

/** Does all set-up that building and serving need. Takes well under a second when nothing is missing. */
export async function setUp() {
  mkdirSync(CACHE, { recursive: true });
  mkdirSync(LOGS, { recursive: true });
  await ensureCompilerPackages();
  await ensureRust();
  await ensureNpmTools();
  await ensureNodeModules();
  await ensureCargoTools();
}

/**
 * The environment for everything that is run. worker-build looks at its three _BIN variables only, never
 * at PATH; wasm-pack looks at PATH only. Tests and benchmarks start wrangler with SLUICEGATE_NODE and
 * SLUICEGATE_WRANGLER (or with `wrangler()` below).
 */
export function toolEnv(more = {}) {
  const folders = [dirname(cargoBinary("wasm-bindgen-cli", "wasm-bindgen")), dirname(cargoBinary("wasm-pack")), binaryenFolder()];
  return {
    ...process.env,
    WASM_BINDGEN_BIN: cargoBinary("wasm-bindgen-cli", "wasm-bindgen"),
    WASM_OPT_BIN: wasmOpt(),
    ESBUILD_BIN: esbuild(),
    PATH: [...folders, process.env.PATH].join(delimiter),
    SLUICEGATE_NODE: wranglerNode(),
    SLUICEGATE_WRANGLER: wranglerScript(),
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
    // Takes placeholder values for request.cf instead of asking Cloudflare for real ones.
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    ...more,
  };
}

/** How to run the pinned wrangler: `spawn(file, [...args, "dev"], { env })`. */
export function wrangler() {
  return { file: wranglerNode(), args: [wranglerScript()], env: toolEnv() };
}
