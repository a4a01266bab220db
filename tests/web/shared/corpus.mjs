// The whole corpus, in any runtime: `api` is what the package exports, `load(name)` the text of a file.

import { bugPeriod, calendarCases } from './calendar.mjs';
import { bugQuotaclock } from './quotaclock.mjs';
import { clockTraces } from './traces.mjs';

/** The files, how many cases each has, and what runs them. */
export const FILES = {
  calendar_cases: { cases: 149, run: calendarCases },
  bug_period: { cases: 75, run: bugPeriod },
  clock_traces: { cases: 47, run: clockTraces },
  bug_quotaclock: { cases: 48, run: bugQuotaclock },
};

/** Of these cases the answer depends on the runtime's tz data; any other may not be left out. */
export const TZ_SENSITIVE = 5;

export async function runCorpus(api, load) {
  const reports = [];
  for (const [name, { run }] of Object.entries(FILES)) {
    const text = await load(`${name}.jsonl`);
    reports.push(run(api, text.split('\n').filter(Boolean).map((line) => JSON.parse(line))));
  }
  return reports;
}
