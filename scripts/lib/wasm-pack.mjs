// Runs wasm-pack on the crate.

import { rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, sep } from "node:path";
import { ROOT } from "./cache.mjs";
import { cargoBinary } from "./cargo-tools.mjs";
import { CARGO_BAR_ENV, quietly } from "./run.mjs";
import { toolEnv } from "./tools.mjs";

/** Panic messages name source files: without this, what is built would name folders of whoever built it. */
function rustFlags() {
  const given = (process.env.RUSTFLAGS ?? "").split(" ").filter(Boolean);
  const sources = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "registry", "src", sep);
  return { CARGO_ENCODED_RUSTFLAGS: [...given, `--remap-path-prefix=${sources}=`].join("\u001f") };
}

/** Builds the crate with some features for a target of wasm-bindgen, into a new folder `out`; `name` is how it is called. */
export async function wasmPack({ name, target, profile, features, out, log }) {
  rmSync(out, { recursive: true, force: true });
  const args = ["build", ROOT, "--target", target, "--profile", profile, "--mode", "no-install", "--no-gitignore"];
  await quietly(`building ${name}`, cargoBinary("wasm-pack"), [...args, "--out-dir", out, "--features", features], {
    cwd: ROOT,
    env: toolEnv({ ...CARGO_BAR_ENV, ...rustFlags(), RUST_BACKTRACE: "0" }),
    log,
    pass: (line) => /^warning: .* generated \d+ warning/.test(line),
    tail: 80,
    success: `${name} built`,
  });
}
