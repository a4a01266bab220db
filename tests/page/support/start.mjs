// `npm start` as a person runs it, with limits of the test: on a port of its own, with its own state, and gone after it.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readToml } from '../../../scripts/lib/toml.mjs';
import { Log } from '../../worker/support/log.mjs';
import { BUILT } from './files.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SCRIPT = join(ROOT, 'scripts', 'start.mjs');
const START_DEADLINE_MS = 120_000;

export const TOKEN = 'a-token-for-tests';

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((ready) => server.once('listening', ready));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** wrangler.toml as it is shipped, with paths from the root and other limits. */
function configure(folder, limits) {
  const { build: _, dev: __, ...shipped } = readToml(join(ROOT, 'wrangler.toml'));
  const file = join(folder, 'wrangler.json');
  const main = resolve(ROOT, shipped.main);
  writeFileSync(file, JSON.stringify({ ...shipped, main, assets: { ...shipped.assets, directory: BUILT }, vars: { ...shipped.vars, LIMITS: limits } }));
  writeFileSync(join(folder, '.dev.vars'), `SLUICEGATE_TOKEN=${TOKEN}\n`);
  return file;
}

/** Processes that have this folder in their environment; where the system shows that. */
function processesOf(folder) {
  try {
    return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && isOf(pid, folder));
  } catch {
    return [];
  }
}

function isOf(pid, folder) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
  } catch {
    return false;
  }
}

/** Starts it and waits until it answers. `stop()` asks it to end, as Ctrl-C does, and gives what is left of it then. */
export async function npmStart(limits) {
  // The true path: on some systems the temporary folder is a link, and wrangler compares paths.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluicegate-page-')));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const port = await freePort();
  const args = ['--config', configure(folder, limits), '--port', String(port), '--ip', '127.0.0.1', '--inspector-port', '0', '--persist-to', join(folder, 'state')];
  // Run by npm, it ends itself when whoever runs it is gone.
  const own = { npm_lifecycle_event: 'start', SLUICEGATE_NO_BUILD: '1', TMPDIR: temporary, WRANGLER_LOG_PATH: join(folder, 'logs'), WRANGLER_REGISTRY_PATH: join(folder, 'registry'), CLOUDFLARE_DEV_REGISTRY_PATH: join(folder, 'registry') };
  const child = spawn(process.execPath, [SCRIPT, ...args], { cwd: ROOT, env: { ...process.env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = new Log();
  for (const stream of [child.stdout, child.stderr]) log.attach(stream);
  const ended = new Promise((done) => child.once('close', (code, signal) => done(signal ?? code)));
  const stop = async () => {
    child.kill('SIGINT');
    const code = await ended;
    const left = processesOf(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    return { code, left };
  };
  const failed = ended.then((how) => {
    throw new Error(`npm start ended (${how}):\n${log.tail()}`);
  });
  failed.catch(() => {});
  try {
    await Promise.race([log.waitFor(/Ready on http:\/\/127\.0\.0\.1:\d+/, { timeout: START_DEADLINE_MS }), failed]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin: `http://127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/page/`, log, stop };
}
