// What `npm run pops` limits by default holds over points of presence whose clocks disagree, with the worker as built.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readLimits } from '../../scripts/lib/pops-options.mjs';
import { skewUnavailable, startPops } from './harness.mjs';

const SECOND = 1_000;

test('the default limits hold over three clocks', { skip: skewUnavailable }, async (t) => {
  const pops = await startPops(t, {
    pops: [{ name: 'POP-A', skewMs: -60 * SECOND }, { name: 'POP-B', skewMs: 0.9 * SECOND }, { name: 'POP-C', skewMs: 3_600 * SECOND }],
    limits: readLimits(),
  });
  for (const [policy, most] of [['global', 110], ['global-exact', 100]]) {
    const { units, epochs, unavailable, failed } = await pops.flood(policy, 'acme', { times: 200 });
    assert.deepEqual([unavailable, failed], [0, 0]);
    assert.ok(units >= 95, `${policy} let only ${units} of 200 through`);
    assert.equal(Object.values(epochs).reduce((sum, one) => sum + one, 0), units);
    for (const [epoch, taken] of Object.entries(epochs)) assert.ok(taken <= most, `${policy} let ${taken} through in epoch ${epoch}`);
  }

  const [a, b, c] = pops.all;
  assert.equal((await a.tenants.put('acme', { limit: 120, period: { unit: 'year', time_zone: 'Asia/Kathmandu' } })).status, 200);
  const { units, refused, pops: by } = await pops.flood('monthly', 'acme', { times: 200 });
  assert.deepEqual([units, refused], [120, 80]);
  assert.equal(Object.values(by).every(({ allowed }) => allowed > 0), true);
  const usage = (await b.tenants.usage('acme')).json();
  assert.deepEqual([usage.limit, usage.used, usage.remaining], [120, 120, 0]);
  const audit = (await c.tenants.audit('acme')).json();
  assert.deepEqual([audit.consistent, audit.granted], [true, audit.spent + audit.returned + audit.forfeited + audit.outstanding]);
});
