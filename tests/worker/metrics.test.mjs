// What operators read: /v1/pop and /metrics.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startSluicegate, TOKEN } from './harness.mjs';
import { check, limitsOf, policy, totals } from './support/limits.mjs';

/** Prometheus text as {name: {type, samples: [{labels, value}]}}; a line that is none fails. */
function parsePrometheus(text) {
  const families = {};
  assert.ok(text.endsWith('\n'));
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment) {
      const family = (families[comment[2]] ??= { samples: [] });
      family[comment[1].toLowerCase()] = comment[3];
      continue;
    }
    const [, name, labels, value] = /^([a-z_]+)\{([^}]*)\} (-?\d+(?:\.\d+)?)$/.exec(line) ?? assert.fail(`not a sample: ${line}`);
    assert.ok(families[name]?.type, `${name} has no TYPE before its samples`);
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)].map(([, label, content]) => [label, content]);
    families[name].samples.push({ labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return families;
}

test('/metrics and /v1/pop count decisions by policy and outcome, and agree', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('a', 2), policy('b', 5)], { shards: 2 }) });
  for (let request = 0; request < 5; request += 1) await server.fetch('/a');
  await check(server, [['b', '198.51.100.1'], ['b', '198.51.100.2']]);
  await check(server, [['b', '198.51.100.1']], { peek: true });

  const answer = await server.fetch('/metrics', { token: TOKEN });
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const families = parsePrometheus(answer.text());
  const decisions = families.sluicegate_decisions_total;
  assert.equal(decisions.type, 'counter');
  const count = (name, outcome) => decisions.samples
    .filter(({ labels }) => labels.policy === name && labels.outcome === outcome && labels.pop === 'DFW')
    .reduce((sum, { value }) => sum + value, 0);
  assert.deepEqual([count('a', 'allowed'), count('a', 'refused'), count('b', 'allowed'), count('b', 'refused')], [2, 3, 2, 0]);

  const pop = await totals(server);
  assert.deepEqual([pop.pop, pop.decisions, pop.counters.map(({ shard }) => shard)], ['DFW', 7, [0, 1]]);
  const total = (name) => families[name].samples.reduce((sum, { value }) => sum + value, 0);
  assert.equal(total('sluicegate_asks_total'), pop.asks);
  assert.equal(total('sluicegate_keys'), 3);
  assert.ok(pop.rows_written > 0);
});

test('what is written stays far below one row per decision', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('a', 1_000_000)], { shards: 1, flush_hits: 100, flush_every: '5s' }) });
  const addresses = Array.from({ length: 50 }, (_, at) => `198.51.100.${at}`);
  for (let round = 0; round < 20; round += 1) await Promise.all(addresses.map((ip) => server.fetch('/a', { ip })));
  const { decisions, rows_written: rows } = await totals(server);
  assert.equal(decisions, 1_000);
  assert.ok(rows <= 20, `${rows} rows for 1,000 decisions at flush_hits = 100`);
});
