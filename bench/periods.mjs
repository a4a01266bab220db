// The uncached period: periodFor of the npm package beside luxon and Temporal's polyfill, in one process and one
// run. The rounds are interleaved and their order turns, so that a machine that slows down does so for all of them.
// Needs `npm run pack`.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Temporal } from '@js-temporal/polyfill';
import { DateTime } from 'luxon';
import { numbers } from '../tests/web/shared/random.mjs';

const USAGE = `node bench/periods.mjs [options]

  --rounds N   rounds; every round measures everybody on every task (default 9)
  --batch N    instants a measurement goes through (default 1000)
  --seed N     of the instants, which lie in 2021 to 2030 (default 1)
  --json       print JSON, and nothing else, on stdout
  --help       print this`;

const PACKAGE = new URL('../pkg/nodejs/sluicegate.js', import.meta.url);

/** One calendar each: how its period is found, by the means of each library. */
const TASKS = [
  { name: 'month', title: "months of New York, from the 1st", spec: { unit: 'month', timeZone: 'America/New_York' } },
  { name: 'day', title: 'days of New York, from 02:30', spec: { unit: 'day', timeZone: 'America/New_York', anchorTime: '02:30' } },
  { name: 'utc', title: 'months of UTC, from the 1st', spec: { unit: 'month', timeZone: 'UTC' } },
];

/** The local time of day of a specification. */
const timeOf = ({ anchorTime = '00:00' }) => anchorTime.split(':').map(Number);

function byLuxon(spec) {
  const [hour, minute] = timeOf(spec);
  const zone = spec.timeZone;
  const step = { [`${spec.unit}s`]: 1 };
  return (ms) => {
    const at = DateTime.fromMillis(ms, { zone });
    let start = at.startOf(spec.unit).set({ hour, minute });
    if (start > at) start = start.minus(step);
    return [start.toMillis(), start.plus(step).toMillis()];
  };
}

function byTemporal(spec) {
  const time = Temporal.PlainTime.from(spec.anchorTime ?? '00:00');
  const step = { [`${spec.unit}s`]: 1 };
  const begin = (date) => date.toZonedDateTime({ timeZone: spec.timeZone, plainTime: time }).epochMilliseconds;
  return (ms) => {
    const date = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(spec.timeZone).toPlainDate();
    const first = spec.unit === 'month' ? date.with({ day: 1 }) : date;
    const start = begin(first);
    if (start <= ms) return [start, begin(first.add(step))];
    return [begin(first.subtract(step)), start];
  };
}

async function contestants() {
  if (!existsSync(PACKAGE)) throw new Error('pkg/nodejs is not there: run npm run pack first');
  const { periodFor } = await import(PACKAGE);
  const ours = (spec) => (ms) => {
    const { startMs, endMs, startKind, endKind } = periodFor(spec, ms);
    return [startMs, endMs, startKind, endKind];
  };
  return [
    { name: 'sluicegate', title: 'periodFor, with slot and the kinds of both boundaries', make: ours },
    { name: 'luxon', title: 'startOf, set and plus', make: byLuxon },
    { name: 'temporal', title: '@js-temporal/polyfill: toZonedDateTime of both ends', make: byTemporal },
  ];
}

function instants(count, seed) {
  const random = numbers(seed);
  const [from, to] = [Date.UTC(2021, 0) / 1_000, Date.UTC(2031, 0) / 1_000];
  return Array.from({ length: count }, () => random.whole(from, to - 1) * 1_000);
}

/** How many of the instants a library answers otherwise than ours: beside a gap it may, anywhere else it must not. */
function differences(ours, theirs, all) {
  const differ = all.filter((ms) => ours(ms).slice(0, 2).join() !== theirs(ms).join());
  for (const ms of differ) assert.ok(ours(ms).includes('gap'), `there is another answer for ${new Date(ms).toISOString()}, and no gap`);
  return differ.length;
}

/** Microseconds a call takes, over all instants. */
function measure(find, all) {
  let sum = 0;
  const began = performance.now();
  for (const ms of all) sum += find(ms)[0];
  const took = performance.now() - began;
  assert.ok(Number.isFinite(sum));
  return (took * 1_000) / all.length;
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[values.length >> 1];
const turned = (list, by) => list.map((_, at) => list[(at + by) % list.length]);

function run(all, { rounds, batch, seed }) {
  const times = instants(batch, seed);
  const tasks = TASKS.map(({ name, title, spec }) => ({ name, title, runs: all.map((one) => ({ name: one.name, find: one.make(spec), us: [] })) }));
  for (const task of tasks) {
    const [ours, ...others] = task.runs;
    for (const other of others) other.differ = differences(ours.find, other.find, times);
    for (const one of task.runs) measure(one.find, times);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const task of turned(tasks, round)) for (const one of turned(task.runs, round)) one.us.push(measure(one.find, times));
  }
  return tasks.map(summarise);
}

/** Ratios are taken within each round, and their median shown. */
function summarise({ name, title, runs }) {
  const [ours] = runs;
  const results = runs.map(({ name: who, us, differ = 0 }) => {
    const ratios = sorted(us.map((theirs, round) => theirs / ours.us[round]));
    return { name: who, us: median(us), us_lowest: Math.min(...us), us_highest: Math.max(...us), times_ours: median(ratios), times_ours_range: [ratios[0], ratios.at(-1)], answers_that_differ: differ };
  });
  return { name, title, results };
}

function report({ machine, options, all, tasks }) {
  const lines = [`${machine.processor}, ${machine.cores} cores; Node ${machine.node}, tz data ${machine.tz}; ${options.rounds} rounds of ${options.batch} instants`, ''];
  for (const { name, title } of all) lines.push(`  ${name.padEnd(11)} ${title}`);
  for (const { title, results } of tasks) {
    lines.push('', `${title.padEnd(38)}${'us a call'.padStart(10)}${'lowest-highest'.padStart(18)}${'x ours'.padStart(8)}${'range'.padStart(14)}${'differ'.padStart(8)}`);
    for (const { name, us, us_lowest: low, us_highest: high, times_ours: times, times_ours_range: [least, most], answers_that_differ: differ } of results) {
      lines.push(`  ${name.padEnd(36)}${us.toFixed(1).padStart(10)}${`${low.toFixed(1)}-${high.toFixed(1)}`.padStart(18)}${times.toFixed(2).padStart(8)}${`${least.toFixed(2)}-${most.toFixed(2)}`.padStart(14)}${String(differ).padStart(8)}`);
    }
  }
  lines.push('', 'Medians over the rounds. "differ": answers that are not ours, all of them beside a gap, where "compatible" is', 'another rule. Compare the ratios, not the figures, with other machines.');
  return lines.join('\n');
}

function positive(name, text) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name}: ${text} is not a whole number above 0`);
  return value;
}

async function main() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '9' },
      batch: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const options = Object.fromEntries(['rounds', 'batch', 'seed'].map((name) => [name, positive(name, values[name])]));
  const machine = { processor: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, node: process.versions.node, tz: process.versions.tz };
  const all = await contestants();
  const tasks = run(all, options);
  return console.log(values.json ? JSON.stringify({ machine, options, tasks }, null, 2) : report({ machine, options, all, tasks }));
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
