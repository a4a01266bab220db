// The header fields of an answer, read by a structured-fields library (RFC 9651).

import assert from 'node:assert/strict';

import { parseItem, parseList } from 'structured-headers';

function list(answer, name) {
  const value = answer.headers.get(name);
  if (value === null) return null;
  return parseList(value).map(([policy, parameters]) => {
    assert.equal(typeof policy, 'string', `${name}: ${value}: a member is not a string`);
    for (const [key, number] of parameters) assert.ok(Number.isInteger(number), `${name}: ${value}: ${key} is not an integer`);
    return { policy, ...Object.fromEntries(parameters) };
  });
}

/** `RateLimit` as [{policy, r, t}], or null where the answer has none. */
export const rateLimit = (answer) => list(answer, 'ratelimit');

/** `RateLimit-Policy` as [{policy, q, w}], or null. */
export const rateLimitPolicy = (answer) => list(answer, 'ratelimit-policy');

/** `Retry-After` in seconds, or null. */
export function retryAfter(answer) {
  const value = answer.headers.get('retry-after');
  if (value === null) return null;
  const [seconds] = parseItem(value);
  assert.ok(Number.isInteger(seconds) && seconds >= 1, `retry-after: ${value}`);
  return seconds;
}

/** The body of an answer with this status, which has to be problem details (RFC 9457). */
export function problem(answer, status) {
  assert.equal(answer.status, status, answer.text());
  assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  const body = answer.json();
  assert.equal(body.status, status);
  assert.equal(typeof body.type, 'string');
  assert.equal(typeof body.title, 'string');
  assert.equal(typeof body.detail, 'string');
  return body;
}
