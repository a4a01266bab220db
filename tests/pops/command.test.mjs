// `npm run pops`: real processes by wrangler, here with stand-ins for the worker (support/stand-in).

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { send } from '../worker/support/client.mjs';
import { Log } from '../worker/support/log.mjs';
import { skewUnavailable, until } from './harness.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const script = path.resolve(here, '../../scripts/pops.mjs');
const build = path.join(here, 'support/stand-in');
const TOKEN = /^SLUICEGATE_TOKEN=(.*)$/m.exec(readFileSync(path.resolve(here, '../../.dev.vars'), 'utf8'))[1];
const HOUR = 3_600_000;

/** A run of the command, with a temporary folder of its own to see what it leaves there. */
class Run {
  stdout = new Log();
  stderr = new Log();

  constructor(t, args) {
    this.temporary = mkdtempSync(path.join(tmpdir(), 'pops-command-'));
    this.child = spawn(process.execPath, [script, ...args], {
      env: { ...process.env, SLUICEGATE_BUILD: build, TMPDIR: this.temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.stdout.attach(this.child.stdout);
    this.stderr.attach(this.child.stderr);
    this.ended = new Promise((resolve) => this.child.on('close', (code, signal) => resolve(signal ?? code)));
    t.after(async () => {
      if (t.error) t.diagnostic(`stderr says:\n${this.stderr.tail()}`);
      this.child.kill('SIGTERM');
      await this.ended;
      rmSync(this.temporary, { recursive: true, force: true });
    });
  }

  /** What stdout says, every line of which has to be JSON. */
  get said() {
    return this.stdout.lines.map((line) => JSON.parse(line));
  }

  async ready() {
    const failed = this.ended.then((how) => {
      throw new Error(`it ended (${how}) before it was ready:\n${this.stderr.tail()}`);
    });
    failed.catch(() => {});
    await Promise.race([this.stdout.waitFor(/^\{"ready":true\}$/, { timeout: 120_000 }), failed]);
    return this.said.slice(0, -1);
  }

  /** The processes of this run that live, by the folder that their environment names. */
  processes(pattern = '') {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== this.child.pid).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${this.temporary}/sluicegate-pops-`)
          && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(pattern);
      } catch {
        return false; // It has just ended.
      }
    }).map(Number);
  }

  assertNothingIsLeft() {
    assert.deepEqual(this.processes(), []);
    assert.deepEqual(readdirSync(this.temporary), []);
  }
}

const get = async ({ url }, place) => (await send({ port: new URL(url).port, path: place })).json();

async function check({ url }, policy, key) {
  const body = JSON.stringify({ limits: [{ policy, key }] });
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await send({ port: new URL(url).port, method: 'POST', path: '/v1/check', headers, body });
  return answer.json().results[0];
}

const skip = skewUnavailable; // What is left running is looked for in /proc, too.

describe('npm run pops', { skip, concurrency: 2 }, () => {
  test('each process has its clock, all PoPs have one ledger, and SIGTERM leaves nothing', async (t) => {
    const run = new Run(t, ['--count', '2', '--skew', '-60000,900', '--skew-ledger', '5000']);
    const all = await run.ready();
    assert.deepEqual(all.map(({ role, name }) => [role, name]), [['ledger', 'LEDGER'], ['pop', 'POP-A'], ['pop', 'POP-B']]);
    for (const one of all) assert.deepEqual(Object.keys(one), ['role', 'name', 'url', 'skew_file']);
    const [ledger, a, b] = all;

    const near = (actual, expected) => assert.ok(Math.abs(actual - Date.now() - expected) < 10_000, `${actual - Date.now()} is not near ${expected}`);
    const clock = async (one) => (await get(one, '/healthz')).now;
    assert.equal((await get(b, '/healthz')).pop, 'POP-B');
    near(await clock(ledger), 5_000);
    near(await clock(a), -60_000);
    near(await clock(b), 900);
    writeFileSync(b.skew_file, `${HOUR}`);
    await until(() => clock(b), (now) => now - Date.now() > HOUR / 2, { deadline: 2_000, what: 'the clock of POP-B' });
    near(await clock(a), -60_000);

    assert.equal((await check(a, 'global', 'acme')).remaining, 99);
    const last = await check(b, 'global', 'acme');
    assert.equal(last.remaining, 98);
    near(last.ledger_now, 5_000);

    assert.equal(run.processes('workerd').length > 0, true);
    run.child.kill('SIGTERM');
    assert.equal(await run.ended, 143);
    run.assertNothingIsLeft();
  });

  test('a workerd that is killed comes back with its storage and its clock; when wrangler ends, all end', async (t) => {
    const run = new Run(t, ['--skew', '0,7200000']);
    const [, a, b] = await run.ready();
    assert.equal((await check(b, 'global', 'acme')).remaining, 99);
    // Of the two of each wrangler, the one with the objects; the other one listens on the port that was told.
    for (const pid of run.processes('entry=127.0.0.1:0')) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      if (/LEDGER|POP-B/.test(/SLUICEGATE_SKEW_FILE=([^\0]*)/.exec(environment)[1])) process.kill(pid, 'SIGKILL');
    }
    const again = await until(() => check(b, 'global', 'acme').catch(() => null), (result) => result?.allowed === true, { deadline: 30_000, every: 300, what: 'an answer of the ledger' });
    assert.ok(again.remaining < 99, 'the ledger has forgotten what it had taken');
    assert.ok((await get(b, '/healthz')).now - Date.now() > HOUR);
    assert.equal((await check(a, 'global', 'acme')).allowed, true);

    const [wrangler] = run.processes('wrangler.js').sort((x, y) => x - y);
    process.kill(wrangler, 'SIGKILL');
    assert.equal(await run.ended, 1);
    await run.stderr.waitFor(/✗ (LEDGER|POP-A|POP-B) was ended by SIGKILL: the others are ended too/, { timeout: 1_000 });
    run.assertNothingIsLeft();
  });

  test('when a process does not start, the others are not waited for', async (t) => {
    const run = new Run(t, ['--count', '1']);
    const [wrangler] = await until(() => run.processes('wrangler.js'), (pids) => pids.length >= 2, { deadline: 60_000, what: 'two wranglers' });
    const started = performance.now();
    process.kill(wrangler, 'SIGTERM');
    assert.equal(await run.ended, 1);
    assert.ok(performance.now() - started < 20_000, 'it went on waiting');
    assert.match(run.stderr.tail(), /✗ (LEDGER|POP-A) (was ended by SIGTERM|ended with exit code \d+): the others are ended too/);
    assert.equal(run.said.some(({ ready }) => ready), false);
    run.assertNothingIsLeft();
  });

  test('storage is kept where that is asked for', async (t) => {
    const kept = mkdtempSync(path.join(tmpdir(), 'pops-kept-'));
    t.after(() => rmSync(kept, { recursive: true, force: true }));
    for (const remaining of [99, 98]) {
      const run = new Run(t, ['--count', '1', '--persist', kept]);
      const [, a] = await run.ready();
      assert.equal((await check(a, 'global', 'acme')).remaining, remaining);
      run.child.kill('SIGINT');
      assert.equal(await run.ended, 130);
      run.assertNothingIsLeft();
    }
    assert.deepEqual(readdirSync(kept).sort(), ['LEDGER', 'POP-A']);
  });

  test('other limits are taken from JSON, and those that the worker refuses end it with what is wrong', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'pops-limits-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'limits.json');
    writeFileSync(file, JSON.stringify({ LIMITS: { policies: [{ name: 'other', limit: 7, scope: 'global' }] } }));
    const run = new Run(t, ['--count', '1', '--limits', file]);
    const [, a] = await run.ready();
    assert.equal((await check(a, 'other', 'acme')).remaining, 6);
    run.child.kill('SIGTERM');
    await run.ended;

    writeFileSync(file, '{"policies": [{"limit": 7}]}');
    const refused = new Run(t, ['--count', '1', '--limits', file]);
    assert.equal(await refused.ended, 1);
    assert.match(refused.stderr.tail(), /LEDGER does not take this configuration: .*policies\[0\]\.name: is missing/);
    refused.assertNothingIsLeft();
  });

  test('arguments are checked before anything is started', async (t) => {
    const taken = createServer();
    await new Promise((resolve) => taken.listen(0, '127.0.0.1', resolve));
    t.after(() => taken.close());
    const { port } = taken.address();
    const cases = [
      [['--count', '0'], 2, /--count: "0" is not a whole number from 1 to 26/],
      [['--count', '2', '--skew', '1'], 2, /--skew: one offset for each PoP, of which there are 2; "1" has 1/],
      [['--skew', '1.5'], 2, /--skew: "1.5" is not a whole number/],
      [['--skew', '-1,x'], 2, /--skew: "x" is not/],
      [['--skew-ledger', 'soon'], 2, /--skew-ledger: "soon" is not/],
      [['--limits', '/nowhere'], 2, /--limits: ENOENT/],
      [['--limits', fileURLToPath(import.meta.url)], 2, /--limits: .*it has to be JSON, or TOML/],
      [['--many'], 2, /Unknown option '--many'/],
      [['3'], 2, /Unexpected argument '3'/],
      [['--port', String(port)], 1, new RegExp(`--port: port ${port} cannot be had: EADDRINUSE`)],
    ];
    for (const [args, code, pattern] of cases) {
      const run = new Run(t, args);
      assert.equal(await run.ended, code, `${args}: ${run.stderr.tail()}`);
      assert.match(run.stderr.tail(), pattern);
      assert.deepEqual(run.said, []);
      run.assertNothingIsLeft();
    }
    const help = new Run(t, ['--help', '--count', '2']);
    assert.equal(await help.ended, 0);
    assert.match(help.stdout.tail(100), /--skew-ledger MS(.|\n)*skew_file/);
  });
});
