// The place "Calendar": whose month is it, when does it begin, and how long is it?

import { Announcer } from '../../parts/announce';
import { Term } from '../../parts/term';
import { CasePicks } from './case-picks';
import type { Chart, Mark } from './chart';
import { Closeup } from './closeup';
import { Controls } from './controls';
import { Notes } from './notes';
import { PeriodTable } from './period-table';
import { Reset } from './reset';
import { outcome, useCalendar } from './state';
import { Timeline } from './timeline';
import { WhatIf } from './whatif';
import { hours } from './words';
import { cityOf } from './zone';

const MANY: Record<Mark, [string, string]> = { exact: ['', ''], gap: ['gap', 'gaps'], repeat: ['repeat', 'repeats'], missing: ['missing slot', 'missing slots'], clamped: ['clamped', 'clamped'] };

/** `gaps`; `1 gap, 1 repeat`. */
function kindsOf(marks: readonly Mark[]): string {
  const kinds = [...new Set(marks)].map((mark) => {
    const times = marks.filter((each) => each === mark).length;
    return { times, words: MANY[mark][times === 1 ? 0 : 1] };
  });
  return kinds.map(({ times, words }) => (kinds.length === 1 ? words : `${times} ${words}`)).join(', ');
}

function Figures({ chart }: { chart: Chart }) {
  const lengths = chart.rows.map((row) => row.lengthMs);
  const odd = chart.rows.filter((row) => row.mark !== 'exact');
  return (
    <dl class="figures">
      <div><dt>Shortest</dt><dd data-value={Math.min(...lengths)}>{hours(Math.min(...lengths))}</dd></div>
      <div><dt>Longest</dt><dd data-value={Math.max(...lengths)}>{hours(Math.max(...lengths))}</dd></div>
      <div><dt>Odd starts</dt><dd data-value={odd.length}>{odd.length} <small>{kindsOf(odd.map((row) => row.mark))}</small></dd></div>
    </dl>
  );
}

const GAP = 'Local times that the clocks jump over. When summer time begins, an hour is not there; a period that should begin in it begins when the gap closes.';
const REPEAT = 'Local times that the clocks show twice, because they are set back. A period that should begin at one begins at the first.';
const SLOT = 'The period’s identity: 2026-02-28 for a day, the date of its first day for a week, 2026-02 for a month, 2026 for a year. Counts are kept by it, never by the instant at which it began.';

function Periods({ chart }: { chart: Chart }) {
  return (
    <section class="periods" aria-labelledby="calendar-periods">
      <div class="top">
        <div class="prose">
          <h2 id="calendar-periods">{chart.rows.length} periods in {cityOf(chart.spec.timeZone)}</h2>
          <p>Each has a name, its <Term means={SLOT}>slot</Term>, and begins at a local time, its <Term means="The day and the time, by the tenant's calendar, at which a period is to begin.">anchor</Term>,
            which can fall into a <Term means={GAP}>gap</Term> or a <Term means={REPEAT}>repeat</Term> of the clocks.</p>
        </div>
        <Figures chart={chart} />
      </div>
      <Timeline chart={chart} />
    </section>
  );
}

export function Calendar() {
  useCalendar();
  const { chart, notes } = outcome.value;
  return (
    <div class="place calendar">
      <header>
        <h1>10,000 a month. But whose month?</h1>
        <p class="lead">Such a limit is a statement about a calendar in somebody’s time zone, and calendars are uneven: one month has 672 hours and another 745, and a local time can
          come twice, or never. Choose a calendar, and see at which instants the limiter begins to count anew.</p>
      </header>
      <CasePicks />
      <Controls />
      {chart && (
        <>
          <Periods chart={chart} />
          <Notes notes={notes} />
          <Closeup chart={chart} />
          <Reset chart={chart} />
          <WhatIf chart={chart} />
          <PeriodTable chart={chart} />
        </>
      )}
      <section class="prose" aria-labelledby="calendar-rules">
        <h2 id="calendar-rules">Whose rules these are</h2>
        <p>What you see is computed by the limiter’s own core, in your browser, from the time zone rules that your browser has (<code>Intl</code>). Governments change such rules, sometimes
          with a few days’ notice, so a browser and a server can have different editions of them, and for a while can mean different instants by the same midnight. A browser does not tell which edition it has.</p>
        <p>sluicegate therefore computes the bounds of a period in one place, the <Term means="The one object that owns a limit over all points of presence. It opens the periods and hands out units of them.">Ledger</Term>, and
          sends start and end along with what it hands out. Where the rules are edited while a period is open, the open one keeps its bounds.</p>
      </section>
      <Announcer />
    </div>
  );
}
