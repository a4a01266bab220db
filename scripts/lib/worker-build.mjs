// Builds the worker: cargo, wasm-bindgen, wasm-opt and esbuild, by worker-build, into build/.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { BUILD, crateSources, Stamp, withBuildLock } from "./build-stamp.mjs";
import { ROOT } from "./cache.mjs";
import { cargoBinary } from "./cargo-tools.mjs";
import { dim, say, Told } from "./log.mjs";
import { CARGO_BAR_ENV, quietly } from "./run.mjs";
import { toolEnv } from "./tools.mjs";

const OUTPUTS = [join(BUILD, "index.js"), join(BUILD, "index_bg.wasm")];
const ARGS = ["--release", "--features", "worker"];

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(0)} KB`;

function report() {
  const wasm = readFileSync(OUTPUTS[1]);
  say(dim(`  build/index_bg.wasm ${kilobytes(wasm.length)}, gzipped ${kilobytes(gzipSync(wasm).length)}`));
}

/** Builds the worker unless build/ is up to date. Set-up has to be done. */
export async function buildWorker({ force = false } = {}) {
  if (process.env.SLUICEGATE_NO_BUILD === "1" && OUTPUTS.every(existsSync)) return say("the worker in build/ is used as it is");
  return withBuildLock(() => buildIfNeeded(force));
}

async function buildIfNeeded(force) {
  const stamp = new Stamp(join(BUILD, ".stamp.json"), [ARGS, cargoBinary("worker-build")]);
  if (!force && (await stamp.isUpToDate())) return say("the worker in build/ is up to date");
  stamp.remove();
  const before = Date.now();
  await quietly("building the worker", cargoBinary("worker-build"), ARGS, {
    cwd: ROOT,
    env: toolEnv({ ...CARGO_BAR_ENV, RUST_BACKTRACE: "0" }),
    log: join(BUILD, "worker-build.log"),
    pass: (line) => /^warning: .* generated \d+ warning/.test(line),
    tail: 80,
    success: "worker built",
  });
  if (!OUTPUTS.every((path) => existsSync(path) && statSync(path).mtimeMs >= before - 2_000)) {
    throw new Told(`worker-build ended well but did not write ${OUTPUTS.join(" and ")}`);
  }
  report();
  const sources = await crateSources("release");
  if (sources) await stamp.write({ sources, outputs: OUTPUTS });
}
