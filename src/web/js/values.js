// JavaScript values that the Rust side makes or reads: one call across the border each, where setting the
// fields of an object one by one would cost one call a field.

/** An Error with a stable `code`, and the `path` of the field where it is about one. */
export function fault(code, path, message) {
  const error = new Error(message);
  error.code = code;
  if (path !== undefined) error.path = path;
  return error;
}

/** `error`, with the exception that it came together with as its `cause`. */
export function withCause(error, cause) {
  error.cause = cause;
  return error;
}

/** Longer than any text that means something here: of one that long, the beginning is as wrong as the whole. */
const LONGEST = 200;
export const brief = (text) => text.slice(0, LONGEST);

/** Asking a revoked proxy throws. */
function isArray(value) {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** True for what has named fields. */
export const isPlain = (value) => typeof value === 'object' && value !== null && !isArray(value);

/** The names of all fields that are an object's own, hidden ones too. */
export const namesOf = (object) => Reflect.ownKeys(object).filter((name) => typeof name === 'string');
export const get = (object, name) => object[name];
export const objectOf = (names, values) => Object.fromEntries(names.map((name, at) => [name, values[at]]));

/** What a value is, short enough for a message. */
export function describe(value) {
  switch (typeof value) {
    case 'string': return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
    case 'bigint': return 'a BigInt';
    case 'symbol': return 'a symbol';
    case 'function': return 'a function';
    case 'object': return value === null ? 'null' : isArray(value) ? 'an array' : 'an object';
    default: return String(value);
  }
}

export function period(slot, startMs, endMs, startKind, endKind) {
  return { slot, startMs, endMs, startKind, endKind };
}

/** Every decision gets a period of its own: what one caller does to it is nobody else's business. */
export function decision(allowed, tokensRemaining, quotaRemaining, retryAfterMs, retryAfterBasis, refusal, period, skippedPeriods) {
  return {
    allowed,
    tokensRemaining,
    quotaRemaining: quotaRemaining ?? null,
    retryAfterMs: retryAfterMs ?? null,
    retryAfterBasis: retryAfterBasis ?? null,
    refusal: refusal ?? null,
    period: period ? { ...period } : null,
    skippedPeriods,
  };
}

export function anomaly(kind, detail, suspendedMs, steppedMs) {
  const seen = { kind, detail };
  if (suspendedMs !== undefined) seen.suspendedMs = suspendedMs;
  if (steppedMs !== undefined) seen.steppedMs = steppedMs;
  return seen;
}

export function observation(elapsedMs, anomalies) {
  return { elapsedMs, anomalies };
}

/** A reading; whatever is not a number is NaN, which is refused as a reading. */
const number = (value) => (typeof value === 'number' ? value : NaN);

export const monotonicMs = (clock) => number(clock.monotonicMs());
export const wallMs = (clock) => number(clock.wallMs());
export const elapsedRealtimeMs = (clock) => number(clock.elapsedRealtimeMs());
/** Looked up each time: a clock may get a reader later. */
export const hasReader = (clock) => typeof clock.elapsedRealtimeMs === 'function';
export const callReader = (read) => number(read());
export const tell = (listener, seen) => void listener(seen);
