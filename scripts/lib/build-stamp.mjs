// When a build may return at once. A stamp remembers the inputs (of Rust as cargo names them) and the outputs of the
// last build: wrangler runs the build command whenever it starts, and mostly nothing has changed.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, withLock } from "./cache.mjs";
import { cargoBinary } from "./cargo-tools.mjs";
import { capture } from "./run.mjs";
import { WASM_TARGET } from "./rust.mjs";

export const BUILD = join(ROOT, "build");

/** Always inputs, besides the sources that cargo lists. */
const FIXED = ["Cargo.toml", "Cargo.lock", "tools/package-lock.json", "rust-toolchain.toml", "rust-toolchain", ".cargo/config.toml"];

/** Runs `work` alone: two builds in one clone would take away each other's files. */
export function withBuildLock(work) {
  const clone = createHash("sha256").update(ROOT).digest("hex").slice(0, 12);
  return withLock(`build-${clone}`, work);
}

/** The source files of the last build of the crate for wasm, from the dependency file that cargo writes beside the library. */
export async function crateSources(profile) {
  const { code, stdout } = await capture("cargo", ["metadata", "--no-deps", "--offline", "--format-version", "1"], { cwd: ROOT });
  if (code !== 0) return null;
  const { target_directory: target, packages } = JSON.parse(stdout);
  const own = packages.find((one) => one.manifest_path === join(ROOT, "Cargo.toml"));
  const library = own?.targets.find((one) => one.kind.includes("cdylib"));
  if (!library) return null;
  const file = join(target, WASM_TARGET, profile, `${library.name.replaceAll("-", "_")}.d`);
  if (!existsSync(file)) return null;
  const [, list] = readFileSync(file, "utf8").split(/:\s(.*)/s);
  // Spaces inside a path are written "\ ".
  return list.split("\n")[0].split(/(?<!\\)\s+/).filter(Boolean).map((path) => path.replaceAll("\\ ", " "));
}

export class Stamp {
  #file;
  #settings;

  /** `settings`: what else decides what comes out, as a value. */
  constructor(file, settings) {
    this.#file = file;
    this.#settings = settings;
  }

  /** True when a build from the same inputs would make the same outputs again. `more` are inputs that may have become other files. */
  async isUpToDate(more = []) {
    try {
      const { sources, outputs, print } = JSON.parse(readFileSync(this.#file, "utf8"));
      return outputs.every(existsSync) && (await this.#print([...sources, ...more], outputs)) === print;
    } catch {
      return false;
    }
  }

  remove() {
    rmSync(this.#file, { force: true });
  }

  async write({ sources = [], more = [], outputs }) {
    const print = await this.#print([...sources, ...more], outputs);
    writeFileSync(this.#file, JSON.stringify({ sources, outputs, print }));
  }

  async #print(inputs, outputs) {
    const hash = createHash("sha256");
    hash.update((await capture("rustc", ["--version"], { cwd: ROOT })).stdout);
    hash.update(JSON.stringify([this.#settings, cargoBinary("wasm-bindgen-cli"), process.env.RUSTFLAGS ?? ""]));
    for (const path of [...FIXED.map((name) => join(ROOT, name)), ...inputs, ...outputs]) {
      hash.update(`\n${path}\n`);
      if (existsSync(path)) hash.update(readFileSync(path));
    }
    return hash.digest("hex");
  }
}
