// The Rust side of set-up: is there a toolchain, is it new enough, does it have the wasm target.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./cache.mjs";
import { step, Told } from "./log.mjs";
import { capture, show } from "./run.mjs";

export const WASM_TARGET = "wasm32-unknown-unknown";

/** The version of a package in Cargo.lock; the tools must match it exactly. */
export function lockedVersion(name) {
  let lock;
  try {
    lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
  } catch {
    throw new Told("Cargo.lock is missing; it belongs to the repository, restore it with: git checkout Cargo.lock");
  }
  const versions = [...lock.matchAll(/name = "([^"]+)"\nversion = "([^"]+)"/g)].filter((match) => match[1] === name);
  if (versions.length !== 1) throw new Told(`Cargo.lock has ${versions.length} entries for ${name}, expected exactly one`);
  return versions[0][2];
}

const newer = (have, want) => {
  const [a, b] = [have, want].map((version) => version.split(".").map(Number));
  return a[0] !== b[0] ? a[0] > b[0] : (a[1] ?? 0) >= (b[1] ?? 0);
};

async function checkCompiler() {
  const { code, stdout } = await capture("rustc", ["--version"], { cwd: ROOT });
  if (code !== 0) {
    throw new Told("Rust was not found. Install it with rustup (see rustup.rs), open a new shell, and start again.");
  }
  const have = /rustc (\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? "0.0";
  const want = /^rust-version = "([^"]+)"/m.exec(readFileSync(join(ROOT, "Cargo.toml"), "utf8"))?.[1] ?? "1.0";
  if (!newer(have, want)) throw new Told(`Rust ${have} is too old: ${want} or newer is needed. Run: rustup update stable`);
}

async function hasTarget() {
  const { code, stdout } = await capture("rustc", ["--target", WASM_TARGET, "--print", "target-libdir"], { cwd: ROOT });
  return code === 0 && existsSync(stdout.trim());
}

/** Checks the compiler and adds the wasm target where it is missing. */
export async function ensureRust() {
  await checkCompiler();
  if (await hasTarget()) return;
  if ((await capture("rustup", ["--version"])).code !== 0) {
    throw new Told(
      `This Rust has no standard library for ${WASM_TARGET}, and there is no rustup to add it. ` +
        "Install Rust with rustup, or the target's package of your distribution.",
    );
  }
  step(`adding the Rust target ${WASM_TARGET}`);
  if ((await show("rustup", ["target", "add", WASM_TARGET], { cwd: ROOT })) !== 0 || !(await hasTarget())) {
    throw new Told(`rustup could not add the target ${WASM_TARGET}; its own message is above.`);
  }
}

/** rustfmt and clippy are missing from rustup's minimal profile. */
export async function ensureComponent(component, command) {
  if ((await capture("cargo", [command, "--version"], { cwd: ROOT })).code === 0) return;
  step(`adding the Rust component ${component}`);
  if ((await show("rustup", ["component", "add", component], { cwd: ROOT })) !== 0) {
    throw new Told(`${component} is missing and rustup could not add it.`);
  }
}
