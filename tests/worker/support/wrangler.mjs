// sluicegate as `npm start` serves it: wrangler dev with the shipped wrangler.toml, and files of the test for its assets.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { send } from './client.mjs';
import { Log } from './log.mjs';
import { buildDirectory, shippedConfiguration } from './paths.mjs';

const START_DEADLINE_MS = 60_000;

function writeFolder(folder, files) {
  for (const [name, [, content]] of Object.entries(files)) {
    const file = path.join(folder, 'www', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const { build: _, dev: __, assets, ...shipped } = shippedConfiguration();
  const main = path.join(buildDirectory, 'index.js');
  writeFileSync(path.join(folder, 'wrangler.json'), JSON.stringify({ ...shipped, main, assets: { ...assets, directory: 'www' } }));
}

/** Starts it, and ends it with the test. `files`: name -> [type, content]. The answer has `fetch(path, options)`. */
export async function startWrangler(t, files) {
  const { wrangler } = await import('../../../scripts/lib/tools.mjs');
  // The true path: on some systems the temporary folder is a link, and wrangler compares paths.
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'sluicegate-wrangler-')));
  writeFolder(folder, files);
  const { file, args, env } = wrangler();
  const own = ['dev', '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--show-interactive-dev-session=false', '--persist-to', path.join(folder, 'state')];
  const child = spawn(file, [...args, ...own], {
    cwd: folder,
    env: { ...env, WRANGLER_LOG_PATH: path.join(folder, 'logs'), WRANGLER_REGISTRY_PATH: path.join(folder, 'registry') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const log = new Log();
  for (const stream of [child.stdout, child.stderr]) log.attach(stream);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => process.kill(-child.pid, 'SIGKILL');
  process.once('exit', kill);
  t.after(async () => {
    if (t.error) t.diagnostic(`wrangler says:\n${log.tail()}`);
    process.off('exit', kill);
    kill();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const failed = ended.then((code) => {
    throw new Error(`wrangler ended with exit code ${code}:\n${log.tail()}`);
  });
  failed.catch(() => {});
  const line = await Promise.race([log.waitFor(/Ready on http:\/\/127\.0\.0\.1:\d+/, { timeout: START_DEADLINE_MS }), failed]);
  const port = Number(/:(\d+)/.exec(/Ready on (\S+)/.exec(line)[1])[1]);
  return { fetch: (target, options) => send({ port, path: target, ...options }) };
}
