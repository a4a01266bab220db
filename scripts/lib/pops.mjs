// Starts the processes of `npm run pops`, says when they are ready, and ends them together.

import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { layOut, makeFolder, token } from "./pops-folder.mjs";
import { plain, Told } from "./log.mjs";
import { isStopping, start } from "./run.mjs";

const START_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 8_000;

/** stdout is for the machine that reads it. */
const tell = (text) => process.stderr.write(`${process.stderr.isTTY ? text : plain(text)}\n`);
const print = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);

/** A port that is free now: `wanted`, or with 0 any. */
function hold(wanted) {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new Told(`--port: port ${wanted} cannot be had: ${error.code ?? error.message}`)));
    server.listen(wanted, "127.0.0.1", () => resolve(server));
  });
}

/** Free ports. All are held before one is given back, so that no two are the same. */
async function freePorts(count, first) {
  const held = [];
  try {
    for (let at = 0; at < count; at += 1) held.push(await hold(first === null ? 0 : first + at));
    return held.map((server) => server.address().port);
  } finally {
    await Promise.all(held.map((server) => new Promise((closed) => server.close(closed))));
  }
}

/** One wrangler dev and its workerd. */
class Running {
  #child;

  constructor(plan) {
    this.plan = plan;
    const { file, args, cwd, env } = plan;
    this.#child = start(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) this.#show(stream);
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(`could not be started: ${error.message}`));
      this.#child.once("exit", (code, signal) => resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`));
    });
  }

  #show(stream) {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) tell(`[${this.plan.name}] ${line}`);
    });
  }

  /** The group: wrangler, its workerd and its esbuild. */
  #signal(signal) {
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // Gone already.
    }
  }

  async end() {
    if (!this.#child.pid) return;
    this.#signal("SIGTERM");
    await Promise.race([this.ended, delay(STOP_DEADLINE_MS, undefined, { ref: false })]);
    this.#signal("SIGKILL");
    await this.ended;
  }
}

/** Asks until `done(status, text)` is true; it throws for an answer that waiting does not change. */
async function until(done, { url, what, body, signal }) {
  const headers = { authorization: `Bearer ${token()}`, "content-type": "application/json" };
  const started = performance.now();
  let last = "none";
  while (performance.now() - started < START_DEADLINE_MS) {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
      const response = await fetch(url, { method: body ? "POST" : "GET", headers, body, signal: limit });
      const text = await response.text();
      if (done(response.status, text)) return;
      last = `${response.status} ${text.slice(0, 500)}`;
    } catch (error) {
      if (error instanceof Told) throw error;
      last = error.cause?.code ?? error.message;
    }
    await delay(100, undefined, { signal });
  }
  throw new Told(`${what}; the last answer in ${START_DEADLINE_MS / 1000} s: ${last}`);
}

const answers = ({ name, url }, { prefix = "" }, signal) =>
  until(
    (status, text) => {
      if (status === 503 && text.includes('"type"')) throw new Told(`${name} does not take this configuration: ${text}`);
      return status === 200;
    },
    { url: `${url}${prefix}/healthz`, what: `${name} does not answer`, signal },
  );

/** An identity of any kind: an address, and a text. */
const ANYBODY = "192.0.2.1";

/**
 * A question that a PoP cannot answer without the ledger, and that changes nothing: of a quota its settings, of
 * a window over all PoPs a check that costs nothing. Null where no policy has to do with the ledger.
 */
function question({ prefix = "", policies }) {
  const quota = policies.find(({ algorithm }) => algorithm === "calendar-quota");
  if (quota) return { path: `${prefix}/v1/tenants/${ANYBODY}?policy=${quota.name}`, done: (status) => status === 200 };
  const global = policies.find(({ scope }) => scope === "global");
  if (!global) return null;
  const key = Array.isArray(global.identity) ? global.identity.map(() => ANYBODY) : ANYBODY;
  return {
    path: `${prefix}/v1/check`,
    body: JSON.stringify({ limits: [{ policy: global.name, key, cost: 0 }] }),
    done: (status, text) => status === 200 && JSON.parse(text).results[0].decided_by !== "on-error",
  };
}

async function becomeReady(plans, limits, signal) {
  for (const plan of plans) {
    await answers(plan, limits, signal);
    print({ role: plan.role, name: plan.name, url: plan.url, skew_file: plan.skewFile });
  }
  const asked = question(limits);
  if (!asked) tell("no policy has to do with the ledger: whether it is reached is not known");
  for (const { name, url } of asked ? plans : []) {
    const what = `${name} does not reach the ledger`;
    await until(asked.done, { url: `${url}${asked.path}`, body: asked.body, what, signal });
  }
  print({ ready: true });
}

/** Rejects as soon as one has ended, which none should. */
const firstEnd = (running) =>
  Promise.race(running.map(async ({ plan, ended }) => {
    const how = await ended;
    throw new Told(`${plan.name} ${how}: the others are ended too`);
  }));

/** Runs until told to stop, or until one process ends. */
export async function servePops({ processes, firstPort, ...settings }, build) {
  const root = makeFolder(build);
  const ports = await freePorts(processes.length, firstPort);
  const plans = [];
  for (const [at, one] of processes.entries()) plans.push(await layOut(root, one, { ...settings, port: ports[at] }));
  if (isStopping()) return;
  tell(`starting ${plans.map(({ name, skewMs }) => `${name} (${skewMs > 0 ? "+" : ""}${skewMs} ms)`).join(", ")}`);
  const running = plans.map((plan) => new Running(plan));
  const end = firstEnd(running);
  const ending = new AbortController();
  try {
    await Promise.race([becomeReady(plans, settings.limits, ending.signal), end]);
    await end;
  } finally {
    ending.abort();
    await Promise.all(running.map((one) => one.end()));
  }
}
