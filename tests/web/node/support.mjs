// What the Node tests share.

import { QuotaClock, manualClock } from '../../../pkg/nodejs/sluicegate.js';

export const HOUR = 3_600_000;
export const WALL = Date.UTC(2026, 4, 6, 10);

/** A clock at 10:00 on 6 May 2026, and a limiter of 10 tokens, one a second, and 100 units a day on it. */
export function limiterOn(options = {}, hands = {}) {
  const clock = manualClock({ monotonicMs: 1_000_000, wallMs: WALL, ...hands });
  const quota = { limit: 100, period: { unit: 'day', timeZone: 'UTC' } };
  const all = { capacity: 10, refillPerSecond: 1, suspendPolicy: 'ignore', quota, clock, ...options };
  return { clock, options: all, limiter: new QuotaClock(all) };
}

/** What is left of both, without touching either. */
export function left(limiter) {
  const { tokensRemaining, quotaRemaining } = limiter.peek();
  return [tokensRemaining, quotaRemaining];
}
