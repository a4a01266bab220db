// What the figures were measured on, and where the server and the load run on it.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';

import { workerdBinary } from '../../tests/worker/support/paths.mjs';

const CLOCK_TICKS_PER_SECOND = 100; // USER_HZ, fixed on Linux

export async function describe() {
  const version = execFileSync(await workerdBinary(), ['--version'], { encoding: 'utf8' }).trim();
  return { processor: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, workerd: version.replace(/^workerd /, ''), node: process.versions.node };
}

function allowedCores() {
  const listed = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  return listed.split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

/**
 * Keeps the servers on one core and this process, with the load, on the others.
 * Returns the command to start servers under; empty where that is not possible.
 */
export function pin() {
  try {
    const [server, ...rest] = allowedCores();
    if (rest.length === 0) return [];
    execFileSync('taskset', ['-a', '-p', '-c', rest.join(','), String(process.pid)], { stdio: 'ignore' });
    return ['taskset', '-c', String(server)];
  } catch {
    return [];
  }
}

/** A folder in memory where there is one: what is compared is code, not how fast this machine's disk confirms a write. */
export function diskFolder() {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

/** The processor time a process has used, in microseconds; undefined where it cannot be told. */
export function processorTime(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / CLOCK_TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
