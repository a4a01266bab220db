// The command line of the benchmark.

import { parseArgs } from 'node:util';

import { contestants } from './contestants.mjs';
import { loads } from './loads.mjs';

export const usage = `npm run bench -- [options]

  --rounds N        rounds; every round measures every contestant under every load (default 5)
  --seconds N       seconds each measurement takes (default 2)
  --connections N   connections, each with one request in flight (default 16)
  --only NAMES      only these contestants (${contestants.map(({ name }) => name).join(', ')})
                    and loads (${loads.map(({ name }) => name).join(', ')}), comma-separated
  --disk FOLDER     where Durable Objects are stored (default: in memory where the system offers that)
  --json            print JSON, and nothing else, on stdout
  --help            print this`;

export class UsageError extends Error {}

function positive(name, text, integer) {
  const value = Number(text);
  if (!(value > 0) || (integer && !Number.isInteger(value))) throw new UsageError(`--${name}: ${text} is not a ${integer ? 'whole ' : ''}number above 0`);
  return value;
}

/** The named ones; all of them where none is named. */
function chosen(all, names) {
  const some = all.filter(({ name }) => names.includes(name));
  return some.length > 0 ? some : all;
}

export function parse(args) {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '2' },
        connections: { type: 'string', default: '16' },
        disk: { type: 'string' },
        only: { type: 'string', default: '' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const names = values.only.split(',').map((name) => name.trim()).filter(Boolean);
  const known = [...contestants, ...loads].map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new UsageError(`--only: there is no ${unknown}; choose from ${known.join(', ')}`);
  return {
    rounds: positive('rounds', values.rounds, true),
    seconds: positive('seconds', values.seconds),
    connections: positive('connections', values.connections, true),
    contestants: chosen(contestants, names),
    loads: chosen(loads, names),
    disk: values.disk,
    json: values.json,
    help: values.help,
  };
}
