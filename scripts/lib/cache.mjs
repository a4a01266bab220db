// The one folder per user where all tools are kept, keyed by version, and the rules that keep it whole:
// a thing is made in a temporary folder beside its place and then renamed, so an interrupted install is
// never taken for a finished one; and a lock keeps two set-ups from doing the same work twice.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { homedir, hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "./log.mjs";

/** The root of the clone. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** `$SLUICEGATE_CACHE`, else `$XDG_CACHE_HOME/sluicegate`, else `~/.cache/sluicegate`. */
export const CACHE = resolve(
  process.env.SLUICEGATE_CACHE ||
    (process.env.XDG_CACHE_HOME ? join(process.env.XDG_CACHE_HOME, "sluicegate") : join(homedir(), ".cache", "sluicegate")),
);

export const LOGS = join(CACHE, "logs");

const HEARTBEAT = 5_000;
const STALE = 60_000;
const held = new Set();

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Milliseconds since something was touched; null if it is not there. */
function age(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return null;
  }
}

function ownerOf(lock) {
  try {
    return JSON.parse(readFileSync(join(lock, "owner.json"), "utf8"));
  } catch {
    return null;
  }
}

/** A lock is abandoned when its process is gone, or when nobody has touched it for a minute. */
function abandoned(lock) {
  const idle = age(lock);
  if (idle === null) return false;
  if (idle > STALE) return true;
  const owner = ownerOf(lock);
  if (!owner) return false;
  return owner.host === hostname() && !alive(owner.pid);
}

/** Takes an abandoned lock away. Only one process at a time may judge, or it could take a fresh one. */
function clear(lock) {
  const judge = `${lock}.judge`;
  try {
    mkdirSync(judge);
  } catch {
    if ((age(judge) ?? 0) > STALE) rmSync(judge, { recursive: true, force: true });
    return;
  }
  try {
    if (abandoned(lock)) rmSync(lock, { recursive: true, force: true });
  } finally {
    rmSync(judge, { recursive: true, force: true });
  }
}

function tryLock(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(join(lock, "owner.json"), JSON.stringify({ pid: process.pid, host: hostname() }));
  held.add(lock);
  return true;
}

function touch(lock) {
  const now = new Date();
  try {
    utimesSync(lock, now, now);
  } catch {
    // Taken from us after a long sleep of the machine: the rename at the end still decides.
  }
}

/** Runs `work` while holding the lock `name`; waits for another set-up that holds it, and says so. */
export async function withLock(name, work) {
  mkdirSync(join(CACHE, "locks"), { recursive: true });
  const lock = join(CACHE, "locks", name);
  let told = false;
  while (!tryLock(lock)) {
    if (abandoned(lock)) {
      clear(lock);
      continue;
    }
    if (!told) say(`  another set-up is busy with ${name} (process ${ownerOf(lock)?.pid ?? "unknown"}); waiting for it`);
    told = true;
    await sleep(500);
  }
  const heartbeat = setInterval(() => touch(lock), HEARTBEAT);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    release(lock);
  }
}

function release(lock) {
  held.delete(lock);
  if (ownerOf(lock)?.pid === process.pid) rmSync(lock, { recursive: true, force: true });
}

process.on("exit", () => {
  for (const lock of held) release(lock);
});

/** A fresh temporary folder in the cache: same file system, so that a rename out of it is atomic. */
export function makeTemp(name) {
  const path = join(CACHE, "tmp", `${name}-${process.pid}-${randomBytes(4).toString("hex")}`);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Removes temporary folders of processes that are gone. Call it while no other set-up installs. */
export function sweepTemp() {
  const folder = join(CACHE, "tmp");
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid = Number(/-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1]);
    const path = join(folder, name);
    if (pid && pid !== process.pid && !alive(pid) && (age(path) ?? 0) > STALE) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** Puts a finished folder in its place. What stood there is moved away first; a rename is all or nothing. */
export function moveIntoPlace(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  if (existsSync(to)) {
    const old = makeTemp("replaced");
    renameSync(to, join(old, "it"));
    rmSync(old, { recursive: true, force: true });
  }
  renameSync(from, to);
}
