// Configurations for tests, and short ways to ask.

import { TOKEN } from '../harness.mjs';

/** A window that does not end during a test, unless the test runs at the one moment in a month. */
export const LONG = '30d';

/** A fixed window per address, changed by `more`. */
export const policy = (name, limit, more = {}) => ({ name, algorithm: 'fixed-window', limit, window: LONG, identity: 'ip', ...more });

/** Policies, each with a rule of its own at /{name}; `settings` stand at the top. */
export function limitsOf(policies, settings = {}) {
  return { ...settings, policies, rules: policies.map(({ name }) => ({ path: `/${name}`, policies: [name] })) };
}

/** Asks POST /v1/check; `limits` are [policy, key, cost?] or objects. */
export function check(server, limits, { peek, ...options } = {}) {
  const entries = limits.map((limit) => (Array.isArray(limit) ? { policy: limit[0], key: limit[1], cost: limit[2] } : limit));
  return server.fetch('/v1/check', { token: TOKEN, json: { limits: entries, peek }, ...options });
}

/** What is left of a limit, without taking any of it. */
export async function remaining(server, policyName, key, options) {
  const answer = await check(server, [[policyName, key]], { peek: true, ...options });
  if (answer.status !== 200) throw new Error(`a peek answered ${answer.status}: ${answer.text()}`);
  return answer.json().results[0].remaining;
}

/** The totals of the counters of one point of presence, summed over its shards. */
export async function totals(server, options) {
  const answer = await server.fetch('/v1/pop', { token: TOKEN, ...options });
  if (answer.status !== 200) throw new Error(`GET /v1/pop answered ${answer.status}: ${answer.text()}`);
  const { pop, counters } = answer.json();
  const sum = (field) => counters.reduce((total, counter) => total + counter[field], 0);
  const fields = ['asks', 'decisions', 'flushes', 'rows_written', 'keys', 'steps_back', 'steps_ahead'];
  return { pop, counters, ...Object.fromEntries(fields.map((field) => [field, sum(field)])) };
}

/** Asks again until `done` says so of the answer; fails after `deadline` ms. */
export async function until(ask, done, { deadline = 20_000, every = 50, what = 'the condition' } = {}) {
  const started = performance.now();
  for (;;) {
    const answer = await ask();
    if (done(answer)) return answer;
    if (performance.now() - started > deadline) throw new Error(`${what} was not met within ${deadline} ms; last: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
