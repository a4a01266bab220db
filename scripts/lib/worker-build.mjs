// Builds the worker: cargo, wasm-bindgen, wasm-opt and esbuild, by worker-build, into build/.
// A stamp in build/ remembers the inputs (as cargo names them), so that a second build of the same
// sources - wrangler runs the build command whenever it starts - returns at once.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT, withLock } from "./cache.mjs";
import { cargoBinary } from "./cargo-tools.mjs";
import { dim, say, Told } from "./log.mjs";
import { CARGO_BAR_ENV, capture, quietly } from "./run.mjs";
import { WASM_TARGET } from "./rust.mjs";
import { toolEnv } from "./tools.mjs";

const OUT = join(ROOT, "build");
const STAMP = join(OUT, ".stamp.json");
const OUTPUTS = [join(OUT, "index.js"), join(OUT, "index_bg.wasm")];
const ARGS = ["--release", "--features", "worker"];

/** Always inputs, besides the sources that cargo lists. */
const FIXED = ["Cargo.toml", "Cargo.lock", "tools/package-lock.json", "rust-toolchain.toml", "rust-toolchain", ".cargo/config.toml"];

async function fingerprint(sources) {
  const hash = createHash("sha256");
  hash.update((await capture("rustc", ["--version"], { cwd: ROOT })).stdout);
  hash.update(JSON.stringify([ARGS, cargoBinary("worker-build"), cargoBinary("wasm-bindgen-cli"), process.env.RUSTFLAGS ?? ""]));
  for (const path of [...FIXED.map((name) => join(ROOT, name)), ...sources, ...OUTPUTS]) {
    hash.update(`\n${path}\n`);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** The source files of the last build, from the dependency file that cargo writes beside the library. */
async function sourcesOfLastBuild() {
  const { code, stdout } = await capture("cargo", ["metadata", "--no-deps", "--offline", "--format-version", "1"], { cwd: ROOT });
  if (code !== 0) return null;
  const { target_directory: target, packages } = JSON.parse(stdout);
  const own = packages.find((one) => one.manifest_path === join(ROOT, "Cargo.toml"));
  const library = own?.targets.find((one) => one.kind.includes("cdylib"));
  if (!library) return null;
  const file = join(target, WASM_TARGET, "release", `${library.name.replaceAll("-", "_")}.d`);
  if (!existsSync(file)) return null;
  const [, list] = readFileSync(file, "utf8").split(/:\s(.*)/s);
  // Spaces inside a path are written "\ ".
  return list.split("\n")[0].split(/(?<!\\)\s+/).filter(Boolean).map((path) => path.replaceAll("\\ ", " "));
}

async function isUpToDate() {
  try {
    const { sources, print } = JSON.parse(readFileSync(STAMP, "utf8"));
    return OUTPUTS.every(existsSync) && (await fingerprint(sources)) === print;
  } catch {
    return false;
  }
}

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(0)} KB`;

function report() {
  const wasm = readFileSync(OUTPUTS[1]);
  say(dim(`  build/index_bg.wasm ${kilobytes(wasm.length)}, gzipped ${kilobytes(gzipSync(wasm).length)}`));
}

/** Builds the worker unless build/ is up to date. Set-up has to be done. */
export async function buildWorker({ force = false } = {}) {
  if (process.env.SLUICEGATE_NO_BUILD === "1" && OUTPUTS.every(existsSync)) return say("the worker in build/ is used as it is");
  // Two builds in one clone would take away each other's files.
  const clone = createHash("sha256").update(ROOT).digest("hex").slice(0, 12);
  return withLock(`build-${clone}`, () => buildIfNeeded(force));
}

async function buildIfNeeded(force) {
  if (!force && (await isUpToDate())) return say("the worker in build/ is up to date");
  rmSync(STAMP, { force: true });
  const before = Date.now();
  await quietly("building the worker", cargoBinary("worker-build"), ARGS, {
    cwd: ROOT,
    env: toolEnv({ ...CARGO_BAR_ENV, RUST_BACKTRACE: "0" }),
    log: join(OUT, "worker-build.log"),
    pass: (line) => /^warning: .* generated \d+ warning/.test(line),
    tail: 80,
    success: "worker built",
  });
  if (!OUTPUTS.every((path) => existsSync(path) && statSync(path).mtimeMs >= before - 2_000)) {
    throw new Told(`worker-build ended well but did not write ${OUTPUTS.join(" and ")}`);
  }
  report();
  const sources = await sourcesOfLastBuild();
  if (sources) writeFileSync(STAMP, JSON.stringify({ sources, print: await fingerprint(sources) }));
}
