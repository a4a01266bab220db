// Who is measured: each starts as a workerd of its own, and tells what it counted.

import { fileURLToPath } from 'node:url';

import { compatibility, isBuilt, modulesOf, startSluicegate, startWorkers, TOKEN } from '../../tests/worker/harness.mjs';
import { loads, pathOf, WINDOW_MS } from './loads.mjs';

const folder = fileURLToPath(new URL('../contestants', import.meta.url));

function startScript(entry, how, objects) {
  const policies = Object.fromEntries(loads.map((load) => [pathOf(load), { name: load.name, limit: load.limit, windowMs: WINDOW_MS }]));
  const worker = { modules: modulesOf(folder, entry), objects, bindings: { POLICIES: { json: policies } }, compatibility: compatibility() };
  return startWorkers(null, { workers: { main: worker }, ...how });
}

async function scriptCounts(server) {
  const { decisions, requests, rowsWritten } = (await server.fetch('/statistics')).json();
  return { decisions, requests, rows: rowsWritten };
}

/** The configuration that makes sluicegate do what the JavaScript limiters do. */
function limits() {
  return {
    policies: loads.map(({ name, limit }) => ({ name, algorithm: 'fixed-window', limit, window: `${WINDOW_MS / 1000}s`, identity: 'ip' })),
    rules: loads.map((load) => ({ path: pathOf(load), policies: [load.name] })),
  };
}

async function sluicegateCounts(server) {
  const answer = await server.fetch('/v1/pop', { token: TOKEN });
  if (answer.status !== 200) throw new Error(`GET /v1/pop answered ${answer.status}: ${answer.text()}`);
  const { counters } = answer.json();
  const sum = (field) => counters.reduce((total, counter) => total + counter[field], 0);
  return { decisions: sum('decisions'), requests: sum('asks'), rows: sum('rows_written') };
}

export const contestants = [
  {
    name: 'noop',
    title: 'JavaScript worker that decides nothing',
    start: (how) => startScript('noop.js', how),
  },
  {
    name: 'js-memory',
    title: 'JavaScript, fixed window in the memory of 8 objects',
    limits: true,
    start: (how) => startScript('memory.js', how, { COUNTER: 'Counter' }),
    counts: scriptCounts,
  },
  {
    name: 'js-sql',
    title: 'JavaScript, the same with one SQL upsert per decision',
    limits: true,
    start: (how) => startScript('sql.js', how, { COUNTER: 'Counter' }),
    counts: scriptCounts,
  },
  {
    name: 'sluicegate',
    title: 'sluicegate as a gateway without an origin',
    limits: true,
    missing: () => (isBuilt() ? false : 'build/index.js is missing'),
    start: (how) => startSluicegate(null, { limits: limits(), ...how }),
    counts: sluicegateCounts,
  },
];
