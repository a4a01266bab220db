// Running other programs: in the foreground, captured, or quietly with a progress line and a log file.
// Every child runs in a process group of its own (except one that shares the terminal), and all that
// still runs is ended when this process is told to stop.

import { spawn, execFileSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { dim, fail, plain, Progress, say, Told } from "./log.mjs";

const live = new Set();
let stopping = false;

/** Starts a program; `group: false` leaves it in the terminal's process group so that it may read keys. */
export function start(file, args, { group = true, ...options } = {}) {
  const child = spawn(file, args, { ...options, detached: group && process.platform !== "win32" });
  const entry = { child, group: group && process.platform !== "win32" };
  live.add(entry);
  const forget = () => {
    // Whatever a child left behind in its group goes with it.
    if (entry.group && child.pid) signalGroup(child.pid, "SIGKILL");
    live.delete(entry);
  };
  child.once("exit", forget);
  child.once("error", forget);
  return child;
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** All descendants of a process, by the process table. */
function descendants(pid) {
  let table;
  try {
    table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  } catch {
    return [];
  }
  const rows = table.trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const found = [];
  const queue = [pid];
  for (const parent of queue) {
    for (const [child, itsParent] of rows) {
      if (itsParent !== parent) continue;
      found.push(child);
      queue.push(child);
    }
  }
  return found;
}

function signalPid(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

const waitFor = (child, ms) =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", resolve);
    setTimeout(resolve, ms).unref();
  });

/** Ends one child and all that it started: first politely, then for good. */
async function end({ child, group }, signal) {
  if (!child.pid) return;
  const below = descendants(child.pid);
  if (group) signalGroup(child.pid, signal);
  else signalPid(child.pid, signal);
  await waitFor(child, 8_000);
  if (group) signalGroup(child.pid, "SIGKILL");
  for (const pid of [child.pid, ...below]) signalPid(pid, "SIGKILL");
}

async function onSignal(signal) {
  if (stopping) return;
  stopping = true;
  await Promise.all([...live].map((entry) => end(entry, signal)));
  process.exit(signal === "SIGINT" ? 130 : 143);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void onSignal(signal));

/**
 * npm passes a signal on to its shell, which may end without telling us: when run by npm, a parent that is
 * gone means the same as a signal.
 */
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  const watch = () => process.ppid !== parent && void onSignal("SIGTERM");
  setInterval(watch, 500).unref();
}

/** True once the process has been told to stop; a child's failure is then no news. */
export const isStopping = () => stopping;

/** Runs to the end and collects the output. Never throws for an exit code; a missing program is code 127. */
export function capture(file, args, options = {}) {
  return new Promise((resolve) => {
    const out = [];
    const err = [];
    const child = start(file, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.stderr.on("data", (chunk) => err.push(chunk));
    const text = (chunks) => Buffer.concat(chunks).toString("utf8");
    child.on("error", (error) => resolve({ code: 127, stdout: "", stderr: String(error.message) }));
    child.on("close", (code, signal) => resolve({ code: code ?? 1, signal, stdout: text(out), stderr: text(err) }));
  });
}

/** Runs with the output shown as it comes; `onText` sees it too. Resolves to the exit code. */
export function show(file, args, { onText, stdin = "ignore", ...options } = {}) {
  return new Promise((resolve, reject) => {
    const piped = onText ? "pipe" : "inherit";
    const child = start(file, args, { stdio: [stdin, piped, piped], ...options });
    if (onText) {
      for (const [from, to] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
        from.on("data", (chunk) => {
          to.write(chunk);
          onText(chunk.toString("utf8"));
        });
      }
    }
    child.on("error", (error) => reject(new Told(`cannot run ${file}: ${error.message}`)));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** Cargo's own progress bar, which it is made to print: "Building [==>  ] 12/34: serde, syn". */
const CARGO_BAR = /Building \[[=> ]*\]\s+(\d+)\/(\d+)(?::\s*(.*))?/;

function cargoDetail(line) {
  const bar = CARGO_BAR.exec(line);
  if (bar) {
    const names = (bar[3] ?? "").replace(/\(.*?\)/g, "").trim().replace(/\s+,/g, ",");
    return `${bar[1]} of ${bar[2]} crates${names ? ` (now ${names})` : ""}`;
  }
  // After cargo, worker-build says what it does: "[INFO]: Optimizing wasm binaries with `wasm-opt`...".
  if (line.startsWith("[INFO]") && line.includes("wasm-opt`")) return "optimizing with wasm-opt";
  const other = /^\s*(Updating|Downloading|Downloaded|Locking|Blocking)\b(.*)/.exec(line);
  return other ? `${other[1]}${other[2]}`.trim().toLowerCase() : null;
}

/** The environment that makes cargo print its bar although it writes to a pipe. */
export const CARGO_BAR_ENV = { CARGO_TERM_PROGRESS_WHEN: "always", CARGO_TERM_PROGRESS_WIDTH: "120" };

/** Writes lines of a child's output to the log, and hands each to `onLine`. Bars end in a carriage return. */
function eachLine(stream, log, onLine) {
  let rest = "";
  stream.on("data", (chunk) => {
    const parts = (rest + chunk.toString("utf8")).split(/(\r\n|\n|\r)/);
    rest = parts.pop() ?? "";
    for (let i = 0; i + 1 < parts.length; i += 2) {
      const line = plain(parts[i]).trimEnd();
      if (line && !CARGO_BAR.test(line)) log.write(`${line}\n`);
      onLine(line, parts[i]);
    }
  });
  stream.on("end", () => {
    if (rest) log.write(`${plain(rest)}\n`);
    if (rest) onLine(plain(rest), rest);
  });
}

/**
 * Runs with the output in a log file and a progress line on the screen. `pass(line)` picks lines that are
 * shown as well (warnings of the compiler, say). On failure: the log's tail, where the log is, and a throw.
 */
export async function quietly(title, file, args, { log, pass, tail = 30, success, ...options }) {
  mkdirSync(dirname(log), { recursive: true });
  const out = createWriteStream(log, { flags: "w" });
  out.write(`$ ${[file, ...args].join(" ")}\n`);
  const progress = new Progress(title);
  const code = await new Promise((resolve, reject) => {
    const child = start(file, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    const onLine = (line, raw) => {
      const detail = cargoDetail(line);
      if (detail) progress.set(detail);
      else if (pass?.(line)) progress.print(raw);
    };
    eachLine(child.stdout, out, onLine);
    eachLine(child.stderr, out, onLine);
    child.on("error", (error) => reject(new Told(`cannot run ${file}: ${error.message}`)));
    child.on("close", (exit) => resolve(exit ?? 1));
  }).finally(() => new Promise((resolve) => out.end(resolve)));
  if (code === 0) return progress.end(true, success);
  if (stopping) await new Promise(() => {});
  progress.end(false, `${title}: failed with exit code ${code}`);
  showTail(log, tail);
  throw new Told(`the whole log of that is ${log}`);
}

function showTail(log, count) {
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  if (lines.length > count) say(dim(`  … ${lines.length - count} lines before these`));
  for (const line of lines.slice(-count)) say(dim(`  ${line}`));
}

/** The outer frame of every script: prints what is meant for people without a stack, and sets the exit code. */
export async function main(body) {
  const [major] = process.versions.node.split(".").map(Number);
  try {
    if (major < 20) throw new Told(`Node ${process.versions.node} is too old: these scripts need Node 20 or newer.`);
    const code = await body(process.argv.slice(2));
    if (!stopping) process.exitCode = code ?? 0;
  } catch (error) {
    if (stopping) return;
    fail(error instanceof Told ? error.message : error.stack ?? String(error));
    process.exitCode = error instanceof Told ? error.exitCode : 1;
  }
}
