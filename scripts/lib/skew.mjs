// Moves the wall clock of a running process (see skew.c). Linux only: it needs LD_PRELOAD and a C compiler.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CACHE } from "./cache.mjs";

const source = fileURLToPath(new URL("./skew.c", import.meta.url));

/** Why the clock cannot be moved here, or false: for the `skip` of a test. */
export const skewUnavailable = process.platform === "linux" ? false : "moving the clock needs LD_PRELOAD (Linux)";

let compiled;

/** Compiles the library once per version of its source and returns its path. */
export function skewLibrary() {
  compiled ??= compile();
  return compiled;
}

async function compile() {
  const version = createHash("sha256").update(readFileSync(source)).update(process.arch).digest("hex").slice(0, 16);
  const library = join(CACHE, `skew-${version}.so`);
  if (existsSync(library)) return library;
  mkdirSync(dirname(library), { recursive: true });
  const unfinished = `${library}.${process.pid}`;
  const compiler = process.env.CC || "cc";
  try {
    await promisify(execFile)(compiler, ["-O2", "-shared", "-fPIC", "-o", unfinished, source, "-ldl"]);
  } catch (error) {
    throw new Error(`moving the clock needs a C compiler (${compiler}): ${error.message}`);
  }
  // Several processes may get here at once: the last rename wins, and all of them are the same.
  renameSync(unfinished, library);
  return library;
}

/** The clock of one process: an offset in a file. */
export class SkewedClock {
  constructor(file, offset = 0) {
    this.file = file;
    this.offset = offset;
    this.#write();
  }

  async environment() {
    return { LD_PRELOAD: await skewLibrary(), SLUICEGATE_SKEW_FILE: this.file };
  }

  /** Puts the wall clock `ms` ahead of the true time (behind it where negative), at once and while running. */
  async set(ms) {
    this.offset = ms;
    this.#write();
    await delay(30); // The file is read again every 5 ms.
  }

  /** Steps the wall clock from where it is. */
  step(ms) {
    return this.set(this.offset + ms);
  }

  // A rename, so that it is never read half written.
  #write() {
    writeFileSync(`${this.file}.new`, `${this.offset}\n`);
    renameSync(`${this.file}.new`, this.file);
  }
}
