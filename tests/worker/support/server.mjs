// One running workerd: its process, its disk, its clock, its log.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { send } from './client.mjs';
import { CF_HEADER, writeConfig } from './config.mjs';
import { Log } from './log.mjs';
import { workerdBinary } from './paths.mjs';
import { SkewedClock } from './skew.mjs';

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
/** workerd drops an object that was idle for 10 s. */
const EVICTION_MS = 11_500;

const running = new Set();
const directories = new Set();

/** Leaves nothing behind, also where a test run is cut short. */
function killAll() {
  for (const child of running) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}
process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    killAll();
    process.kill(process.pid, signal);
  });
}

export class Server {
  log = new Log();
  #child;
  #exited;
  #ports = new Map();
  #agent = new http.Agent({ keepAlive: true, maxSockets: 256, timeout: 3_000 });
  #options;

  /**
   * `workers`: name -> {modules, bindings, objects, compatibility}; the first is the one that `fetch` talks to.
   * `skew` gives it a clock that can be moved: true, or how many ms it is ahead at first. `prefix`: a command to run
   * workerd under; `within`: the folder for its files, instead of the system's temporary one.
   */
  constructor(options) {
    this.#options = options;
    this.directory = mkdtempSync(path.join(options.within ?? tmpdir(), 'sluicegate-e2e-'));
    this.disk = path.join(this.directory, 'disk');
    mkdirSync(this.disk);
    directories.add(this.directory);
    const { skew = false } = options;
    if (skew !== false) this.clock = new SkewedClock(path.join(this.directory, 'skew-ms'), skew === true ? 0 : skew);
  }

  get workers() {
    return this.#options.workers;
  }

  get pid() {
    return this.#child?.pid;
  }

  port(worker = Object.keys(this.workers)[0]) {
    const port = this.#ports.get(worker);
    if (!port) throw new Error(`no worker ${worker} is listening`);
    return port;
  }

  url(path = '/', worker) {
    return `http://127.0.0.1:${this.port(worker)}${path}`;
  }

  async start() {
    if (this.#child) throw new Error('already running');
    const config = writeConfig({ directory: this.directory, disk: this.disk, workers: this.workers });
    const [command, ...args] = [...(this.#options.prefix ?? []), await workerdBinary(), 'serve', config, '--control-fd=3'];
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...(await this.clock?.environment()) },
    });
    this.#child = child;
    running.add(child);
    const log = this.log;
    log.attach(child.stdout);
    log.attach(child.stderr);
    this.#exited = new Promise((resolve) => {
      child.on('error', (error) => resolve(`could not be started: ${error.message}`));
      child.on('close', (code, signal) => resolve(signal ? `was ended by ${signal}` : `exited with code ${code}`));
    }).then((how) => {
      running.delete(child);
      if (this.#child === child) this.#child = undefined;
      this.#ports.clear();
      return how;
    });

    const control = new Log();
    control.attach(child.stdio[3]);
    const cancel = new AbortController();
    const listening = async () => {
      for (const name of Object.keys(this.workers)) {
        const line = await control.waitFor(new RegExp(`"socket":"${name}"`), { timeout: START_DEADLINE_MS, signal: cancel.signal });
        this.#ports.set(name, JSON.parse(line).port);
      }
    };
    const ended = this.#exited.then((how) => {
      throw new Error(`workerd ${how} before it listened`);
    });
    try {
      await Promise.race([listening(), ended]);
    } catch (error) {
      await this.kill9();
      throw new Error(`${error.message}; its log says:\n${log.tail()}`);
    } finally {
      cancel.abort();
      ended.catch(() => {});
    }
    return this;
  }

  /** Asks workerd to end. */
  stop() {
    return this.#end('SIGTERM');
  }

  /** Ends workerd without warning: what was in its memory is lost. */
  kill9() {
    return this.#end('SIGKILL');
  }

  async #end(signal) {
    const child = this.#child;
    if (!child) return;
    this.#agent.destroy();
    child.kill(signal);
    const cancel = new AbortController();
    const late = delay(STOP_DEADLINE_MS, 'late', { signal: cancel.signal }).catch(() => {});
    if ((await Promise.race([this.#exited, late])) === 'late') child.kill('SIGKILL');
    cancel.abort();
    await this.#exited;
  }

  /** Ends and starts it on the same disk; `change` may alter the workers in between. */
  async restart({ signal = 'SIGTERM', change } = {}) {
    await this.#end(signal);
    if (change) this.#options = { ...this.#options, workers: change(this.workers) };
    return this.start();
  }

  /** Waits until every object without requests has been dropped from memory: more than ten seconds. */
  async evict() {
    await delay(EVICTION_MS);
  }

  /** Overwrites what every object has stored, so that it cannot be opened. Only while workerd is not running. */
  damageStorage() {
    if (this.#child) throw new Error('stop it first');
    for (const file of readdirSync(this.disk, { recursive: true })) {
      if (/[0-9a-f]{64}\.sqlite(-wal|-shm)?$/.test(file)) writeFileSync(path.join(this.disk, file), 'not a database '.repeat(500));
    }
  }

  /** Ends it and removes its disk. */
  async close() {
    await this.kill9();
    rmSync(this.directory, { recursive: true, force: true });
    directories.delete(this.directory);
  }

  /**
   * Sends a request to a worker. `ip` becomes cf-connecting-ip, `colo` the request's cf.colo (null: neither is sent),
   * `token` a bearer token; `json` is a body to encode. A header that is undefined is left out.
   */
  fetch(path, { ip = '203.0.113.7', colo = 'DFW', cf, token, json, headers = {}, body, method, worker, timeout, stream } = {}) {
    const all = {};
    if (ip !== null) all['cf-connecting-ip'] = ip;
    if (cf || colo !== null) all[CF_HEADER] = JSON.stringify(cf ?? { colo });
    if (token !== undefined) all.authorization = `Bearer ${token}`;
    if (json !== undefined) {
      all['content-type'] = 'application/json';
      body = JSON.stringify(json);
    }
    if (body !== undefined && !(body instanceof ReadableStream)) all['content-length'] = Buffer.byteLength(body);
    Object.assign(all, headers);
    for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
    return send({
      port: this.port(worker),
      agent: this.#agent,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      path,
      headers: all,
      body,
      timeout,
      stream,
    });
  }
}

/** Starts workers; where a test is given, they end with it, and a failed test shows their log. */
export async function startWorkers(t, options) {
  const server = new Server(options);
  t?.after(() => {
    if (t.error) t.diagnostic(`the log of workerd says:\n${server.log.tail()}`);
    return server.close();
  });
  try {
    return await server.start();
  } catch (error) {
    await server.close();
    throw error;
  }
}
