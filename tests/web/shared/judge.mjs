// What the test files of Node and of the browser assert about a report of the corpus.

import assert from 'node:assert/strict';
import { FILES, TZ_SENSITIVE } from './corpus.mjs';

export function judge(t, reports) {
  assert.deepEqual(reports.map(({ name, cases }) => [name, cases]), Object.entries(FILES).map(([name, { cases }]) => [name, cases]));
  for (const { name, cases, passed, failed, leftOut } of reports) {
    t.diagnostic(`${name}: ${passed} of ${cases} cases passed, ${leftOut.length} left out`);
    for (const why of leftOut) t.diagnostic(`left out: ${why}`);
    assert.deepEqual(failed, [], `${failed.length} of ${cases} cases of ${name} fail`);
  }
  const leftOut = reports.reduce((sum, report) => sum + report.leftOut.length, 0);
  assert.ok(leftOut <= TZ_SENSITIVE, `${leftOut} cases are left out`);
}
