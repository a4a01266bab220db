// The Rust programs that set-up brings: worker-build, wasm-bindgen and wasm-pack, each in
// <cache>/tools/<crate>-<version>/bin. A published binary is taken where GitHub can be reached and the
// binary says the pinned version; else the tool is compiled from its crate, with a profile that compiles
// in a third of the time of the default one.

import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CACHE, LOGS, makeTemp, moveIntoPlace, sweepTemp, withLock } from "./cache.mjs";
import { done, duration, say, step, Told } from "./log.mjs";
import { CARGO_BAR_ENV, capture, quietly } from "./run.mjs";
import { lockedVersion } from "./rust.mjs";
import { ensureCompilerPackages } from "./system.mjs";

const EXE = process.platform === "win32" ? ".exe" : "";

/** Where releases are downloaded from; "off" means: always compile. */
const DOWNLOADS = process.env.SLUICEGATE_DOWNLOADS || "https://github.com";
/** A server that has not answered by then counts as out of reach for this run. */
const ANSWER_WITHIN = 4_000;
const DOWNLOAD_WITHIN = 180_000;

const ARCH = { x64: "x86_64", arm64: "aarch64" }[process.arch];
/** Target triples of the published binaries; the libc differs from project to project on Linux. */
const triple = (libc) =>
  ({ linux: `${ARCH}-unknown-linux-${libc}`, darwin: `${ARCH}-apple-darwin`, win32: `${ARCH}-pc-windows-msvc` })[process.platform];

/** The pinned tools. `bins` are run with --version, and each must answer with the pinned version. */
export function cargoTools() {
  const bindgen = lockedVersion("wasm-bindgen");
  return [
    {
      crate: "wasm-bindgen-cli",
      version: bindgen,
      bins: ["wasm-bindgen", "wasm-bindgen-test-runner"],
      asset: `wasm-bindgen/wasm-bindgen/releases/download/${bindgen}/wasm-bindgen-${bindgen}-${triple("musl")}.tar.gz`,
    },
    {
      crate: "worker-build",
      version: "0.8.7",
      bins: ["worker-build"],
      openssl: true,
      asset: `cloudflare/workers-rs/releases/download/v0.8.7/worker-build-${triple("gnu")}-v0.8.7.tgz`,
    },
    {
      crate: "wasm-pack",
      version: "0.15.1",
      bins: ["wasm-pack"],
      asset: `wasm-bindgen/wasm-pack/releases/download/v0.15.1/wasm-pack-v0.15.1-${triple("musl")}.tar.gz`,
    },
  ];
}

const home = (tool) => join(CACHE, "tools", `${tool.crate}-${tool.version}`);

/** The path of one program of a tool, e.g. `binary("worker-build", "worker-build")`. */
export function cargoBinary(crate, name = crate) {
  const tool = cargoTools().find((one) => one.crate === crate);
  return join(home(tool), "bin", name + EXE);
}

/** Why a folder's programs cannot be used, or null. They are run: a truncated or foreign file fails here. */
async function faultOf(tool, bin) {
  for (const name of tool.bins) {
    const path = join(bin, name + EXE);
    if (!existsSync(path)) return `${name} is not there`;
    const { code, stdout } = await capture(path, ["--version"]);
    if (code !== 0) return `${name} does not run`;
    const version = /(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
    if (version !== tool.version) return `${name} says version ${version ?? "nothing"}, wanted ${tool.version}`;
  }
  return null;
}

/** Unknown until the first download of this run; once out of reach, nothing more is tried. */
let reachable = DOWNLOADS !== "off" && Boolean(ARCH) && Boolean(triple("musl"));

function why(error) {
  if (error.name === "AbortError") return "no answer in time";
  return error.cause?.code ?? error.cause?.message ?? error.message;
}

async function fetchTo(url, file) {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), ANSWER_WITHIN);
  try {
    const response = await fetch(url, { signal: abort.signal, redirect: "follow" });
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(), DOWNLOAD_WITHIN);
    if (!response.ok) return { status: response.status };
    writeFileSync(file, Buffer.from(await response.arrayBuffer()));
    return { status: response.status };
  } catch (error) {
    return { status: 0, reason: why(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Copies the wanted programs out of an unpacked archive into `bin`. */
function collect(tool, from, bin) {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (entry.isDirectory()) collect(tool, path, bin);
    else if (entry.isFile() && tool.bins.some((name) => name + EXE === entry.name)) {
      copyFileSync(path, join(bin, entry.name));
      chmodSync(join(bin, entry.name), 0o755);
    }
  }
}

/** Tries the published binary. True if `root/bin` then holds a verified one. */
async function download(tool, temp, root) {
  if (!reachable) return false;
  const started = Date.now();
  const archive = join(temp, "archive.tgz");
  const { status, reason } = await fetchTo(`${DOWNLOADS}/${tool.asset}`, archive);
  if (status === 0 || status === 403 || status === 407 || status >= 500) {
    reachable = false;
    say(`  published binaries cannot be downloaded here (${reason ?? `HTTP ${status}`}): the tools are compiled instead`);
    return false;
  }
  if (status !== 200) {
    say(`  no published binary of ${tool.crate} ${tool.version} for this machine (HTTP ${status})`);
    return false;
  }
  const unpacked = join(temp, "unpacked");
  const bin = join(root, "bin");
  mkdirSync(unpacked, { recursive: true });
  mkdirSync(bin, { recursive: true });
  const tar = await capture("tar", ["-xzf", archive, "-C", unpacked]);
  if (tar.code === 0) collect(tool, unpacked, bin);
  const fault = tar.code === 0 ? await faultOf(tool, bin) : `it cannot be unpacked (${tar.stderr.trim().split("\n")[0]})`;
  if (fault) {
    rmSync(root, { recursive: true, force: true });
    say(`  the published binary of ${tool.crate} is not usable: ${fault}`);
    return false;
  }
  done(`${tool.crate} ${tool.version}: published binary (${duration(Date.now() - started)})`);
  return true;
}

/** Shared by all tools, kept if the build is interrupted (the next one goes on from there), then removed. */
const BUILD = join(CACHE, "cargo-target");

async function compile(tool, root, nth) {
  await ensureCompilerPackages({ openssl: tool.openssl });
  const env = {
    ...process.env,
    ...CARGO_BAR_ENV,
    CARGO_TARGET_DIR: BUILD,
    CARGO_PROFILE_RELEASE_OPT_LEVEL: "1",
    CARGO_PROFILE_RELEASE_LTO: "off",
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
    CARGO_PROFILE_RELEASE_DEBUG: "0",
  };
  // Not --locked: the lock in the crate of wasm-bindgen-cli names a version that registries may not serve.
  const args = ["install", tool.crate, "--version", `=${tool.version}`, "--root", root, "--no-track"];
  await quietly(`compiling ${tool.crate} ${tool.version} (${nth})`, "cargo", args, {
    // From the cache, not the clone: a rust-toolchain file or cargo configuration there is not for the tools.
    cwd: CACHE,
    env,
    log: join(LOGS, `install-${tool.crate}.log`),
    success: `${tool.crate} ${tool.version} compiled`,
  });
  const fault = await faultOf(tool, join(root, "bin"));
  if (fault) throw new Told(`${tool.crate} was compiled, but ${fault}`);
}

async function install(tool, nth) {
  const temp = makeTemp(tool.crate);
  try {
    const root = join(temp, "root");
    if (!(await download(tool, temp, root))) await compile(tool, root, nth);
    moveIntoPlace(root, home(tool));
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

async function missingOf(tools) {
  const missing = [];
  for (const tool of tools) {
    const fault = await faultOf(tool, join(home(tool), "bin"));
    if (fault) missing.push({ tool, fault });
  }
  return missing;
}

/** Makes sure that all pinned Rust programs are in the cache and run. */
export async function ensureCargoTools() {
  const tools = cargoTools();
  if ((await missingOf(tools)).length === 0) return;
  await withLock("cargo-tools", async () => {
    sweepTemp();
    const missing = await missingOf(tools);
    if (missing.length === 0) return;
    step(`getting ${missing.map(({ tool }) => tool.crate).join(", ")} (once per machine; compiling takes 1 to 5 minutes each)`);
    for (const [index, { tool, fault }] of missing.entries()) {
      if (existsSync(home(tool))) say(`  the ${tool.crate} in the cache is broken (${fault}): it is replaced`);
      await install(tool, `${index + 1} of ${missing.length}`);
    }
    rmSync(BUILD, { recursive: true, force: true });
  });
}
