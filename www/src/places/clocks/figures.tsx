import type { ComponentChildren } from 'preact';
import { number, offset } from '../../format';
import { Term } from '../../parts/term';
import { LOOKS } from './lanes';
import { LANES, type Lane } from './record';
import type { Run } from './run';
import { stage } from './state';

interface Figure {
  name: string;
  label: string;
  means: string;
  value: (run: Run, lane: Lane) => number;
  text?: (value: number, run: Run, lane: Lane) => ComponentChildren;
  /** True where something is wrong. */
  isOff?: (value: number) => boolean;
}

const positive = (value: number) => value > 0;
const tally = (run: Run, lane: Lane) => run.tallies[lane];

const refusedText = (value: number, run: Run, lane: Lane) => {
  const { refusedByQuota, threw } = tally(run, lane);
  const more = [refusedByQuota && `${number(refusedByQuota)} for the quota`, threw && `${number(threw)} threw`].filter(Boolean).join(', ');
  return <>{number(value)}{more && <small>{more}</small>}</>;
};

const quotaText = (value: number, run: Run, lane: Lane) => {
  const { slot } = tally(run, lane);
  const period = lane === 'alone' ? (run.options.unit === 'day' ? '24 h of uptime' : '30 d of uptime') : slot || '–';
  return <>{number(value)}<small>{period}</small></>;
};

const FIGURES: readonly Figure[] = [
  { name: 'tokens', label: 'Tokens now', means: 'What a request would find. QuotaClock’s as of its last request, and what the monotonic clock measured since.', value: (run, lane) => run.level(lane) },
  { name: 'admitted', label: 'Let through', means: 'Requests that were allowed.', value: (run, lane) => tally(run, lane).admitted },
  { name: 'refused', label: 'Refused', means: 'For want of a token, or of quota.', value: (run, lane) => tally(run, lane).refusedByBucket + tally(run, lane).refusedByQuota, text: refusedText },
  { name: 'excess', label: 'Time credited', means: 'The time that it took to have passed, less the time that did, up to its last request. 0 is right.',
    value: (run, lane) => tally(run, lane).creditedMs - tally(run, lane).trueMs, text: (value) => (value === 0 ? 'right' : offset(value)), isOff: (value) => value !== 0 },
  { name: 'too-many', label: 'Too many', means: 'Units let through that time had not paid for: more than the capacity and the refill of the time that passed.', value: (run, lane) => tally(run, lane).tooMany, isOff: positive },
  { name: 'missing', label: 'Missing', means: 'Units that time had paid for, and that requests were refused for want of.', value: (run, lane) => tally(run, lane).missing, isOff: positive },
  { name: 'quota-used', label: 'Quota used', means: 'In the period that it takes to be the open one.', value: (run, lane) => tally(run, lane).used, text: quotaText },
  { name: 'allowances', label: 'Allowances', means: 'How often its quota began, with a whole allowance each time.', value: (run, lane) => tally(run, lane).allowances },
  { name: 'over', label: 'Over the quota', means: 'Let through in a period as it really was, beyond the quota of one.', value: (run, lane) => tally(run, lane).overQuota(run.options.quotaLimit), isOff: positive },
];

function Cell({ figure, run, lane }: { figure: Figure; run: Run; lane: Lane }) {
  const value = figure.value(run, lane);
  return (
    <td class={figure.isOff?.(value) ? 'num off' : 'num'} data-lane={lane} data-figure={figure.name} data-value={value}>
      {figure.text ? figure.text(value, run, lane) : number(value)}
    </td>
  );
}

export function Figures() {
  const { run } = stage.value;
  return (
    <section class="clocks-figures" aria-labelledby="clocks-figures">
      <h2 id="clocks-figures">The same requests, three answers</h2>
      <table>
        <thead>
          <tr>
            <td />
            {LANES.map((lane) => (
              <th key={lane} scope="col" class="num"><span class={lane === 'truth' ? 'quiet' : `is-${lane}`}>{LOOKS[lane].short}</span></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {FIGURES.map((figure) => (
            <tr key={figure.name}>
              <th scope="row"><Term means={figure.means}>{figure.label}</Term></th>
              {LANES.map((lane) => <Cell key={lane} figure={figure} run={run} lane={lane} />)}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
