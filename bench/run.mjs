// Compares sluicegate with a worker that does nothing and with two plain JavaScript limiters, on real workerd, in one
// run: the rounds are interleaved and their order turns, so that a machine that slows down does so for all of them.

import { Generator } from './lib/generator.mjs';
import { describe, diskFolder, pin } from './lib/machine.mjs';
import { checkAnswers, measure } from './lib/measure.mjs';
import { parse, usage, UsageError } from './lib/options.mjs';
import { builtSize } from './lib/size.mjs';
import { summarise } from './lib/summary.mjs';
import { table } from './lib/table.mjs';

const progress = (line) => process.stderr.write(`${line}\n`);
const turned = (list, by) => list.map((_, at) => list[(at + by) % list.length]);

async function runRounds({ servers, options, generator }) {
  const measurements = {};
  for (const load of options.loads) measurements[load.name] = Object.fromEntries(servers.map(({ contestant }) => [contestant.name, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    for (const load of turned(options.loads, round)) {
      for (const { contestant, server, position } of turned(servers, round)) {
        const measurement = await measure({ contestant, server, load, generator, options, position });
        measurements[load.name][contestant.name].push(measurement);
        progress(`round ${round + 1}/${options.rounds}  ${load.name.padEnd(8)} ${contestant.name.padEnd(11)} ${Math.round(measurement.per_second)} requests/s`);
      }
    }
  }
  return measurements;
}

async function main() {
  const options = parse(process.argv.slice(2));
  if (options.help) {
    console.log(usage);
    return;
  }
  const machine = await describe();
  const missing = options.contestants.flatMap(({ name, missing: reason }) => (reason?.() ? [{ name, reason: reason() }] : []));
  for (const { name, reason } of missing) progress(`${name} is not measured: ${reason}`);
  const contestants = options.contestants.filter(({ name }) => !missing.some((one) => one.name === name));

  const how = { prefix: pin(), within: options.disk ?? diskFolder() };
  options.pinned = how.prefix.length > 0;
  options.disk = how.within;
  const generator = new Generator();
  const servers = [];
  try {
    for (const contestant of contestants) {
      const server = await contestant.start(how);
      servers.push({ contestant, server, position: new Map() });
      for (const load of options.loads) await checkAnswers(contestant, server, load);
    }
    const measurements = await runRounds({ servers, options, generator });
    const summary = summarise(measurements);
    const size = builtSize();
    if (options.json) {
      const { rounds, seconds, connections, pinned, disk } = options;
      console.log(JSON.stringify({ machine, options: { rounds, seconds, connections, pinned, disk }, size, missing, summary, measurements }, null, 2));
    } else {
      console.log(table({ summary, loads: options.loads, contestants, missing, machine, options, size }));
    }
  } finally {
    await generator.close();
    await Promise.all(servers.map(({ server }) => server.close()));
  }
}

try {
  await main();
} catch (error) {
  progress(error instanceof UsageError ? `${error.message}\n\n${usage}` : `The benchmark failed: ${error.message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
