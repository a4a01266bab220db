// The npm side of set-up: the tools (wrangler, wasm-opt, esbuild, and a Node for wrangler where the
// machine's own is too old) go into the cache; the clone's own dependencies go into its node_modules.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { CACHE, LOGS, makeTemp, moveIntoPlace, ROOT, sweepTemp, withLock } from "./cache.mjs";
import { say, Told } from "./log.mjs";
import { capture, quietly } from "./run.mjs";

const EXE = process.platform === "win32" ? ".exe" : "";
const LOCK = join(ROOT, "tools", "package-lock.json");
const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 12);

/** What wrangler asks for. */
const NODE_WANTED = [22, 12];

const folder = () => join(CACHE, `npm-${hashOf(readFileSync(LOCK))}`);
const inTools = (...parts) => join(folder(), "node_modules", ...parts);

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > NODE_WANTED[0] || (major === NODE_WANTED[0] && minor >= NODE_WANTED[1]);
}

const bundledNode = (from) => join(from, `node-linux-${process.arch}`, "bin", "node");

/** The Node that runs wrangler: this one if it is new enough, else the one from npm (Linux only). */
export function wranglerNode() {
  return isNewEnough(process.versions.node) ? process.execPath : bundledNode(inTools());
}

export const wranglerScript = () => inTools("wrangler", "bin", "wrangler.js");
export const wasmOpt = () => inTools("binaryen", "bin", "wasm-opt");
export const binaryenFolder = () => inTools("binaryen", "bin");

/** The native program, not the JavaScript wrapper in front of it: it starts at once. */
export function esbuild(from = inTools()) {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === "win32" ? join(from, "@esbuild", name, `esbuild${EXE}`) : join(from, "@esbuild", name, "bin", "esbuild");
}

function checkNode() {
  if (isNewEnough(process.versions.node)) return;
  if (process.platform === "linux" && ["x64", "arm64"].includes(process.arch)) return;
  const wanted = NODE_WANTED.join(".");
  throw new Told(
    `Node ${process.versions.node} is too old for wrangler, which needs ${wanted} or newer. On Linux (x64, arm64) ` +
      `set-up brings one along; on ${process.platform} (${process.arch}) please install Node ${wanted} or newer.`,
  );
}

/** npm itself: the one that runs us, or the one on PATH. */
function npm() {
  const path = process.env.npm_execpath ?? "";
  if (/^npm-cli\.c?js$/.test(basename(path)) && existsSync(path)) return { file: process.execPath, before: [path] };
  return { file: process.platform === "win32" ? "npm.cmd" : "npm", before: [] };
}

/** The environment without what an outer `npm run` sets about its own project. */
function cleanEnv() {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    if (/^npm_(package|lifecycle)_/.test(name) || ["npm_command", "npm_config_local_prefix", "INIT_CWD"].includes(name)) delete env[name];
  }
  return env;
}

async function ci(title, cwd, log) {
  const { file, before } = npm();
  // No package of ours needs its install script, and some npm versions stop to ask about them.
  const args = [...before, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await quietly(title, file, args, { cwd, env: cleanEnv(), log: join(LOGS, log), shell: file.endsWith(".cmd") });
}

const answers = async (file, args, wanted) => {
  const { code, stdout } = await capture(file, args);
  return code === 0 && stdout.includes(wanted);
};

/** Why the npm tools in a folder cannot be used, or null. */
async function faultOf(modules) {
  const pins = JSON.parse(readFileSync(join(ROOT, "tools", "package.json"), "utf8"));
  for (const [name, wanted] of Object.entries(pins.dependencies)) {
    let have;
    try {
      have = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;
    } catch {
      return `${name} is not there`;
    }
    if (have !== wanted) return `${name} is ${have}, wanted ${wanted}`;
  }
  if (!(await answers(esbuild(modules), ["--version"], pins.dependencies.esbuild))) return "esbuild does not run";
  if (isNewEnough(process.versions.node)) return null;
  const node = pins.optionalDependencies[`node-linux-${process.arch}`];
  return (await answers(bundledNode(modules), ["--version"], `v${node}`)) ? null : "its Node does not run";
}

async function installTools(fault) {
  sweepTemp();
  if (existsSync(folder())) say(`  the npm tools in the cache are broken (${fault}): they are replaced`);
  const temp = makeTemp("npm");
  try {
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(ROOT, "tools", name), join(temp, name));
    await ci("installing wrangler, binaryen and esbuild from npm (0.5 GB, once per machine)", temp, "npm-tools.log");
    const still = await faultOf(join(temp, "node_modules"));
    if (still) throw new Told(`the npm tools were installed, but ${still}`);
    moveIntoPlace(temp, folder());
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** Makes sure that the pinned npm tools are in the cache. */
export async function ensureNpmTools() {
  checkNode();
  if (!(await faultOf(inTools()))) return;
  await withLock("npm-tools", async () => {
    const fault = await faultOf(inTools());
    if (fault) await installTools(fault);
  });
}

/** True if node_modules holds exactly what the lock names (packages of other systems aside). */
function isInstalled() {
  const read = (path) => JSON.parse(readFileSync(join(ROOT, path), "utf8")).packages;
  let have;
  try {
    have = read("node_modules/.package-lock.json");
  } catch {
    return false;
  }
  return Object.entries(read("package-lock.json")).every(([name, wanted]) => {
    if (name === "") return true;
    if (!have[name]) return Boolean(wanted.optional);
    return have[name].version === wanted.version && existsSync(join(ROOT, name, "package.json"));
  });
}

/** The clone's own dependencies: only what the tests need. */
export async function ensureNodeModules() {
  if (!existsSync(join(ROOT, "package-lock.json")) || isInstalled()) return;
  await withLock(`node-modules-${hashOf(ROOT)}`, async () => {
    if (!isInstalled()) await ci("installing the npm packages of this clone", ROOT, "npm-clone.log");
  });
}
