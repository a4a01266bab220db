// npm run lint: formatting, clippy without a single warning for the native crate, the worker, the npm package and the
// page's wasm, and the types of the page's sources.

import { join } from "node:path";
import { ROOT } from "./lib/cache.mjs";
import { runLayers } from "./lib/layers.mjs";
import { isTerminal } from "./lib/log.mjs";
import { ensureNodeModules } from "./lib/npm-tools.mjs";
import { main, show } from "./lib/run.mjs";
import { ensureComponent, ensureRust, WASM_TARGET } from "./lib/rust.mjs";

const env = { ...process.env, ...(isTerminal ? { CARGO_TERM_COLOR: "always" } : {}) };
const cargo = (...args) => show("cargo", args, { cwd: ROOT, env });
const clippy = (...args) => cargo("clippy", ...args, "--", "-D", "warnings");
const tsc = (...args) => show(process.execPath, [join(ROOT, "node_modules", "typescript", "bin", "tsc"), ...args], { cwd: ROOT, env });

await main(async () => {
  await ensureRust();
  await ensureComponent("rustfmt", "fmt");
  await ensureComponent("clippy", "clippy");
  await ensureNodeModules();
  return runLayers([
    { name: "fmt", title: "cargo fmt --check", run: () => cargo("fmt", "--check") },
    { name: "clippy", title: "clippy, all targets", run: () => clippy("--all-targets") },
    { name: "clippy-worker", title: `clippy for ${WASM_TARGET}, feature worker`, run: () => clippy("--target", WASM_TARGET, "--features", "worker") },
    { name: "clippy-web", title: `clippy for ${WASM_TARGET}, feature web`, run: () => clippy("--target", WASM_TARGET, "--features", "web") },
    { name: "clippy-page", title: `clippy for ${WASM_TARGET}, feature page`, run: () => clippy("--target", WASM_TARGET, "--features", "page") },
    { name: "types", title: "tsc, www", run: () => tsc("--noEmit", "-p", "www") },
  ]);
});
