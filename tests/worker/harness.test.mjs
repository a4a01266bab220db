// The harness does what the other tests rely on.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { compatibility, scriptModule, skewUnavailable, startOrigin, startWorkers, withFaultyCounter } from './harness.mjs';
import { probe } from './support/probe.mjs';

const HOUR = 3_600_000;

function startProbe(t, { bindings, services = {}, modules = scriptModule(probe), ...rest } = {}) {
  const date = compatibility();
  const workers = { probe: { modules, objects: { POP_COUNTER: 'PopCounter' }, bindings, compatibility: date } };
  for (const [name, { script, bindings: its }] of Object.entries(services)) {
    workers[name] = { modules: scriptModule(script), bindings: its, compatibility: date };
  }
  return startWorkers(t, { workers, ...rest });
}

describe('the harness', { concurrency: true }, () => {
  test('a request carries its address and its point of presence, and bindings arrive as given', async (t) => {
    const limits = { policies: [{ name: 'a "quoted" name \\ with é and\nnewline' }] };
    const server = await startProbe(t, { bindings: { LIMITS: { json: limits }, TEXT: 'tab\there' } });
    const answer = await server.fetch('/env', { ip: '198.51.100.9', colo: 'AMS' });
    assert.deepEqual(answer.json(), { ip: '198.51.100.9', cf: { colo: 'AMS' }, limits, text: 'tab\there' });
    const bare = (await server.fetch('/env', { ip: null, colo: null })).json();
    assert.equal(bare.ip, null);
    assert.equal(bare.cf?.colo, undefined);
  });

  test('storage outlives a restart and a kill, memory does not, and two points of presence are apart', async (t) => {
    const server = await startProbe(t);
    const hit = async (colo) => (await server.fetch('/hit', { colo })).json();
    assert.deepEqual(await hit('DFW'), { stored: 1, inMemory: 1 });
    assert.deepEqual(await hit('DFW'), { stored: 2, inMemory: 2 });
    assert.deepEqual(await hit('AMS'), { stored: 1, inMemory: 1 });
    await server.restart();
    assert.deepEqual(await hit('DFW'), { stored: 3, inMemory: 1 });
    await server.restart({ signal: 'SIGKILL' });
    assert.deepEqual(await hit('DFW'), { stored: 4, inMemory: 1 });
  });

  test('origins and neighbouring workers are reached by URL and by service binding', async (t) => {
    const origin = await startOrigin(t, (request, response) => response.end(`origin saw ${request.url}`));
    const server = await startProbe(t, {
      bindings: { ORIGIN: origin.url },
      services: { caller: { script: `export default { fetch: (request, env) => env.GATE.fetch(request) };`, bindings: { GATE: { service: 'probe' } } } },
    });
    assert.equal((await server.fetch('/origin?a=1')).text(), 'origin saw /?a=1');
    assert.equal((await server.fetch('/origin?b=2', { worker: 'caller' })).text(), 'origin saw /?b=2');
    assert.equal(origin.seen.length, 2);

    const bound = await startProbe(t, {
      bindings: { ORIGIN: { service: 'origin' } },
      services: { origin: { script: `export default { fetch: (request) => new Response('bound ' + request.method) };` } },
    });
    assert.equal((await bound.fetch('/origin', { method: 'PUT', body: 'x' })).text(), 'bound PUT');
  });

  test('an object can be made to fail and to hang, for its first requests or for all', async (t) => {
    const faulty = await startProbe(t, { modules: withFaultyCounter({ kind: 'throw', times: 2 }, scriptModule(probe)) });
    const status = async (server, options) => (await server.fetch('/object', options)).status;
    assert.deepEqual([await status(faulty), await status(faulty), await status(faulty)], [500, 500, 200]);
    assert.equal(await status(faulty, { colo: 'AMS' }), 500);

    const hanging = await startProbe(t, { modules: withFaultyCounter({ kind: 'hang' }, scriptModule(probe)) });
    await assert.rejects(status(hanging, { timeout: 300 }), /no answer within 300 ms/);
  });

  test('storage can be made unreadable', async (t) => {
    const server = await startProbe(t);
    assert.equal((await server.fetch('/object')).json().stored, 1);
    await server.stop();
    server.damageStorage();
    await server.start();
    const answer = await server.fetch('/object');
    assert.equal(answer.status, 500);
  });

  test('the log is kept, and can be waited for', async (t) => {
    const server = await startProbe(t);
    const line = server.log.waitFor(/the path was \/somewhere/);
    await server.fetch('/somewhere');
    await line;
    const after = server.log.position;
    assert.equal((await server.fetch('/throw')).status, 500);
    await server.log.waitFor(/thrown for the log/, { after });
    await assert.rejects(server.log.waitFor(/never printed/, { timeout: 50 }), /no line matched .*within 50 ms; the log says:\n(.|\n)*somewhere/);
  });

  test('a worker that does not start fails with its log', async (t) => {
    const date = compatibility();
    await assert.rejects(
      startWorkers(t, { workers: { broken: { modules: scriptModule('export default {'), compatibility: date } } }),
      /workerd exited(.|\n)*SyntaxError/,
    );
  });

  test('the wall clock of a running workerd moves, in JavaScript and in SQLite', { skip: skewUnavailable }, async (t) => {
    const server = await startProbe(t, { skew: true });
    const offsets = async (colo) => {
      const { edge, object } = (await server.fetch('/clock', { colo })).json();
      const now = Date.now();
      return { edge: edge - now, date: object.date - now, sqlite: object.sqlite - now };
    };
    const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 10_000, `${actual} is not near ${expected}`);

    const before = await offsets('DFW');
    for (const offset of Object.values(before)) near(offset, 0);

    await server.clock.step(HOUR);
    const ahead = await offsets('DFW');
    for (const offset of Object.values(ahead)) near(offset, HOUR);

    await server.clock.step(-2 * HOUR);
    const behind = await offsets('DFW');
    near(behind.edge, -HOUR);
    near(behind.sqlite, -HOUR);
    near((await offsets('AMS')).date, -HOUR); // an object made after the step

    await server.restart();
    near((await offsets('DFW')).date, -HOUR);
  });

  test('an object that is idle for ten seconds is dropped from memory', async (t) => {
    const server = await startProbe(t);
    await server.fetch('/hit');
    await server.evict();
    assert.deepEqual((await server.fetch('/hit')).json(), { stored: 2, inMemory: 1 });
  });
});
