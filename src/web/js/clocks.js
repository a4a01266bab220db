// Clock sources: plain objects whose methods need no `this`, so that `{ ...systemClock(), elapsedRealtimeMs }`
// is a clock source too.

import { describe, fault } from './values.js';

/**
 * True on hosts whose performance.now() is their Date.now(), as on Cloudflare Workers, or that have none.
 * Its origin is 1970 there, and a real monotonic clock's never is.
 */
function hasOneClock() {
  const { performance, navigator } = globalThis;
  return typeof performance?.now !== 'function' || performance.timeOrigin === 0 || navigator?.userAgent === 'Cloudflare-Workers';
}

/**
 * The wall clock alone: its monotonic hand stands still while the wall clock goes back and goes on from
 * there, so that a step back is a step of the wall and not a monotonic clock that went back.
 */
function singleClock() {
  let last = -Infinity;
  let shift = 0;
  return {
    kind: 'single-clock',
    monotonicMs() {
      const now = Date.now();
      if (now < last) shift += last - now;
      last = now;
      return now + shift;
    },
    wallMs: () => Date.now(),
  };
}

export function systemClock() {
  if (hasOneClock()) return singleClock();
  return { kind: 'two-clock', monotonicMs: () => performance.now(), wallMs: () => Date.now() };
}

const HANDS = ['monotonicMs', 'wallMs', 'elapsedRealtimeMs'];

function checkNumber(path, value) {
  if (typeof value !== 'number') throw fault('invalid-spec', path, `${path}: ${describe(value)} is not a number`);
  return value;
}

/** The hands that are given; NaN is taken, so that a broken clock can be played. */
function checkHands(hands) {
  if (typeof hands !== 'object' || hands === null) throw fault('invalid-spec', '', `${describe(hands)} is not an object with the hands of a clock`);
  for (const name of Object.keys(hands)) {
    if (!HANDS.includes(name)) throw fault('invalid-spec', name, `${name}: is not a hand of a clock; there are ${HANDS.join(', ')}`);
  }
  return HANDS.filter((name) => hands[name] !== undefined).map((name) => [name, checkNumber(name, hands[name])]);
}

export function manualClock(hands) {
  const at = Object.fromEntries(checkHands(hands));
  checkNumber('monotonicMs', at.monotonicMs);
  checkNumber('wallMs', at.wallMs);
  const move = (names, ms) => {
    checkNumber('ms', ms);
    for (const name of names) if (name in at) at[name] += ms;
  };
  const clock = {
    monotonicMs: () => at.monotonicMs,
    wallMs: () => at.wallMs,
    advance: (ms) => move(HANDS, ms),
    stepWall: (ms) => move(['wallMs'], ms),
    suspend: (ms) => move(['wallMs', 'elapsedRealtimeMs'], ms),
    set(changed) {
      Object.assign(at, Object.fromEntries(checkHands(changed)));
      showReader();
    },
  };
  // A clock without this hand has no reader: that is a clock of another kind.
  const showReader = () => {
    if ('elapsedRealtimeMs' in at) clock.elapsedRealtimeMs = () => at.elapsedRealtimeMs;
  };
  showReader();
  return clock;
}

const UPTIME = '/proc/uptime';

/** Node's `fs`, without an import that a bundler for browsers would stumble over. */
function fileSystem() {
  const { process } = globalThis;
  if (!process?.versions?.node) throw fault('unsupported', undefined, `${UPTIME} can be read by Node on Linux only`);
  if (process.platform !== 'linux') throw fault('unsupported', undefined, `there is no ${UPTIME} on ${process.platform}: write a reader over a clock that goes on while the machine is suspended`);
  const fs = process.getBuiltinModule?.('node:fs');
  if (!fs) throw fault('unsupported', undefined, `Node ${process.versions.node} is too old to read ${UPTIME} from a module: 20.16 or newer is needed`);
  return fs;
}

export function procUptimeElapsedRealtime() {
  const fs = fileSystem();
  const read = () => {
    const text = fs.readFileSync(UPTIME, 'latin1');
    const seconds = Number.parseFloat(text);
    if (!Number.isFinite(seconds)) throw fault('non-finite', undefined, `${UPTIME} reads ${describe(text)}, which is not a time`);
    // Hundredths of a second: without rounding, binary fractions would lose a millisecond here and there.
    return Math.round(seconds * 1000);
  };
  // What cannot be read is said now, and not at the first suspend.
  read();
  return read;
}
