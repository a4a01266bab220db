// The package as it is handed out: what it exports, that bundlers take it, and that its types are true.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as nodejs from '../../../pkg/nodejs/sluicegate.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PKG = join(ROOT, 'pkg');
const NAMES = ['ClockTracker', 'QuotaClock', 'manualClock', 'periodFor', 'periods', 'procUptimeElapsedRealtime', 'systemClock'];
const require = createRequire(import.meta.url);

const filesIn = (folder) => readdirSync(folder, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

describe('the package', () => {
  test('for Node exports its names to import and to require, and nothing else', () => {
    assert.deepEqual(Object.keys(nodejs).filter((name) => !['default', 'module.exports'].includes(name)).sort(), NAMES);
    assert.deepEqual(Object.keys(require('../../../pkg/nodejs/sluicegate.js')).sort(), NAMES);
  });

  test('for the web exports the same, and how to load it', async () => {
    const web = await import('../../../pkg/web/sluicegate.js');
    assert.deepEqual(Object.keys(web).sort(), [...NAMES, 'default', 'initSync'].sort());
  });

  test('for bundlers exports the same', () => {
    const text = readFileSync(join(PKG, 'bundler/sluicegate.js'), 'utf8');
    const [, list] = /export \{([^}]*)\} from "\.\/sluicegate_bg\.js"/s.exec(text);
    assert.deepEqual(list.split(',').map((name) => name.trim()).filter(Boolean).sort(), NAMES);
  });

  test('is called sluicegate in every folder, at the version of the crate, with its licenses and a README of its own', () => {
    const [, version] = /^version = "(.*)"$/m.exec(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8'));
    for (const folder of ['.', 'web', 'bundler', 'nodejs']) {
      const { name, version: found, files } = JSON.parse(readFileSync(join(PKG, folder, 'package.json'), 'utf8'));
      assert.deepEqual([name, found], ['sluicegate', version]);
      for (const file of [...files, 'LICENSE-MIT', 'LICENSE-APACHE', 'README.md']) assert.ok(existsSync(join(PKG, folder, file)), `${folder}/${file}`);
      assert.match(readFileSync(join(PKG, folder, 'README.md'), 'utf8'), /QuotaClock/);
    }
  });

  test('as a whole is found by name, by import and by require', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluicegate-'));
    t.after(() => rmSync(folder, { recursive: true }));
    execFileSync('ln', ['-s', PKG, join(folder, 'sluicegate')]);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'a.mjs'), "import { periodFor } from './node_modules/sluicegate/nodejs/sluicegate.js'; console.log(typeof periodFor);");
    execFileSync('mkdir', [join(folder, 'node_modules')]);
    execFileSync('mv', [join(folder, 'sluicegate'), join(folder, 'node_modules')]);
    writeFileSync(join(folder, 'b.mjs'), "import { QuotaClock } from 'sluicegate'; import init from 'sluicegate/web'; console.log(typeof QuotaClock, typeof init);");
    writeFileSync(join(folder, 'c.cjs'), "console.log(typeof require('sluicegate').QuotaClock);");
    const run = (file) => execFileSync(process.execPath, ['--preserve-symlinks', file], { cwd: folder, encoding: 'utf8' }).trim();
    assert.deepEqual([run('a.mjs'), run('b.mjs'), run('c.cjs')], ['function', 'function function', 'function']);
  });

  test('has no path of the machine it was built on in it', () => {
    const home = Buffer.from(process.env.HOME ?? '/root');
    for (const path of filesIn(PKG).filter((name) => !name.endsWith('.log'))) {
      const bytes = readFileSync(path);
      assert.ok(!bytes.includes(home) && !bytes.includes(Buffer.from(ROOT)), path);
    }
  });

  test('is bundled for browsers without a word about Node', { skip: !process.env.ESBUILD_BIN && 'run by npm test, which knows where esbuild is' }, () => {
    const args = ['--bundle', '--format=esm', '--platform=browser', '--external:*.wasm', '--log-level=warning', join(PKG, 'bundler/sluicegate.js')];
    const bundle = execFileSync(process.env.ESBUILD_BIN, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    assert.doesNotMatch(bundle, /(import|require)\s*\(?["'](node:)?fs/);
    assert.match(bundle, /QuotaClock/);
  });

  test('has types that a strict program compiles with, and that refuse what the package refuses', () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const project = join(ROOT, 'tests/web/types/tsconfig.json');
    try {
      execFileSync(process.execPath, [tsc, '--noEmit', '--project', project], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      assert.fail(error.stdout);
    }
  });
});
