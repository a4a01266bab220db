// Packages of the operating system: Chromium with its driver for the browser tests, and what the tools
// need to compile. They are installed by apt-get where that is possible; else the message says what to do.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { LOGS } from "./cache.mjs";
import { Told, warn } from "./log.mjs";
import { capture, quietly } from "./run.mjs";

/** The full path of a program on PATH, or null. */
export function which(...names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(folder, name);
      if (folder && existsSync(path)) return path;
    }
  }
  return null;
}

const isRoot = () => process.getuid?.() === 0;
let listsAreFresh = false;

async function apt(args, title, log) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await quietly(title, "apt-get", ["-o", "DPkg::Lock::Timeout=300", "-q", "-y", ...args], { env, log: join(LOGS, log) });
}

/** Installs Debian packages, or says what a person has to install. `why` completes "... needed for". */
export async function installPackages(packages, why) {
  const list = packages.join(" ");
  if (!which("apt-get")) {
    throw new Told(`Missing on this machine: ${list} (names of Debian's packages), needed for ${why}. Install their like by hand.`);
  }
  if (!isRoot()) {
    throw new Told(`Missing on this machine: ${list}, needed for ${why}. Run: sudo apt-get install ${list}`);
  }
  if (!listsAreFresh) await apt(["update"], "apt-get update", "apt-update.log");
  listsAreFresh = true;
  await apt(["install", "--no-install-recommends", ...packages], `installing ${list} for ${why}`, "apt-install.log");
}

/** A C linker for every Rust build, and OpenSSL's headers for compiling worker-build on Linux. */
export async function ensureCompilerPackages({ openssl = false } = {}) {
  if (process.platform !== "linux") return;
  const missing = [];
  if (!which("cc", "gcc", "clang")) missing.push("gcc", "libc6-dev");
  if (openssl) {
    if (!which("pkg-config")) missing.push("pkg-config", "libssl-dev");
    else if ((await capture("pkg-config", ["--exists", "openssl"])).code !== 0) missing.push("libssl-dev");
  }
  if (missing.length) await installPackages(missing, "compiling the tools");
}

const major = async (program) => {
  const { stdout } = await capture(program, ["--version"]);
  return /(\d+)\.\d+\.\d+/.exec(stdout)?.[1] ?? null;
};

const findDriver = () => process.env.CHROMEDRIVER || which("chromedriver", "chromium.chromedriver");
const findBrowser = () => which("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome");

/** Chromium and a chromedriver of the same major version. Returns the driver's path. */
export async function ensureBrowser() {
  const missing = [];
  if (!findBrowser() && process.platform === "linux") missing.push("chromium");
  if (!findDriver()) missing.push("chromium-driver");
  if (missing.length) await installPackages(missing, "the browser tests");
  const [driver, browser] = [findDriver(), findBrowser()];
  if (!driver) throw new Told("chromedriver was not found. Put it on PATH, or name it in CHROMEDRIVER.");
  if (browser) {
    const [a, b] = [await major(driver), await major(browser)];
    if (a && b && a !== b) warn(`chromedriver is of version ${a}, the browser of version ${b}: they should match`);
  }
  return driver;
}
