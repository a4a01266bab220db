// A clock that is set back over a reset, and forward again: QuotaClock and a naive quota on the same readings.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { announce } from '../../parts/announce';
import { Segmented } from '../../parts/segmented';
import { Term } from '../../parts/term';
import { number } from '../../format';
import type { Chart, Row } from './chart';
import { AFTER_MS, type Act, Experiment, LIMIT, type NaiveKind, STEP_MS, story, USED, USED_BEFORE } from './experiment';
import { Rail } from './rail';
import { Side } from './side';
import { core, looked } from './state';
import { shortDate, time } from './words';
import { cityOf, localMs, zoneName } from './zone';
import { Happened } from './happened';

const KINDS: readonly { value: NaiveKind; label: string }[] = [
  { value: 'one', label: 'one count' },
  { value: 'each', label: 'a count per period' },
];

const SAID: Record<Act, string> = { begin: 'Five minutes after the reset.', back: 'The clock was set back over the reset.', forward: 'The clock was set forward again.', ask: 'The tenant asked for 10,000.' };

/** A new one for each start; the last one gives its memory back. */
function useExperiment(chart: Chart, row: Row, naive: NaiveKind) {
  const [, setSteps] = useState(0);
  const [round, setRound] = useState(0);
  const { startMs } = row.period;
  const experiment = useMemo(() => new Experiment(core, chart.spec, startMs), [chart.spec, startMs, round]);
  useEffect(() => () => experiment.free(), [experiment]);
  const act = (what: (experiment: Experiment) => void) => {
    what(experiment);
    setSteps((steps) => steps + 1);
    const last = experiment.log.at(-1);
    if (last) announce(`${SAID[last.act]} QuotaClock has let through ${number(last.standings.exact.admitted)}, the naive quota ${number(last.standings[naive].admitted)}.`);
  };
  return { experiment, act, restart: () => setRound((before) => before + 1) };
}

export function WhatIf({ chart }: { chart: Chart }) {
  const row = chart.rows[looked.value];
  return row ? <Stage chart={chart} row={row} /> : null;
}

function Stage({ chart, row }: { chart: Chart; row: Row }) {
  const [naive, setNaive] = useState<NaiveKind>('one');
  const { experiment, act, restart } = useExperiment(chart, row, naive);
  const last = experiment.log.at(-1);
  const most = 1.25 * Math.max(LIMIT, last?.standings[naive].admitted ?? 0);
  const zone = chart.spec.timeZone;
  const { slot, startMs } = row.period;
  const minutes = STEP_MS / 60_000;
  return (
    <section class="whatif" aria-labelledby="calendar-whatif">
      <div class="prose">
        <h2 id="calendar-whatif">What if the clock went back now?</h2>
        <p>A real <code>QuotaClock</code> with this very calendar and {number(LIMIT)} units a period, on a clock that you can set. It is {AFTER_MS / 60_000} minutes after
          the start of <strong class="whole">{slot}</strong> in {cityOf(zone)} ({shortDate(localMs(zone, startMs))}, {time(localMs(zone, startMs))} {zoneName(zone, startMs)}); {number(USED)} units of it are used, and
          of <span class="whole">{row.before}</span>, which is over, {number(USED_BEFORE)} were. Then somebody corrects the clock by {minutes} minutes.</p>
      </div>
      {last && (
        <div class="panel">
          <Rail zone={zone} row={row} wallMs={last.wallMs} />
          <div class="buttons">
            <button type="button" class="button main" data-act="step" onClick={() => act((it) => it.step())}>{experiment.isBack ? `Set the clock forward ${minutes} min` : `Set the clock back ${minutes} min`}</button>
            <button type="button" class="button" data-act="ask" onClick={() => act((it) => it.ask())}>Ask for {number(LIMIT)} units</button>
            <button type="button" class="button" data-act="story" onClick={() => act(story)}>Do both, three times</button>
            <button type="button" class="button" data-act="restart" onClick={restart}>Begin again</button>
          </div>
          <div class="sides">
            <Side counter="exact" log={experiment.log} row={row} most={most} />
            <Side counter={naive} log={experiment.log} row={row} most={most}>
              <Segmented label="It keeps" options={KINDS} value={naive} onChange={setNaive} small />
            </Side>
          </div>
          <Happened zone={zone} log={experiment.log} naive={naive} />
        </div>
      )}
      <p class="prose">A <Term means="A step sets a clock to another time at once, for instance because a time server says so. The time that passes is the same; only what the clock calls it has changed.">step</Term>{' '}
        back over a reset does not reopen what is over: the period is held, what is used stays used, and <code>period-regression</code> is reported for as long as it lasts. A step forward
        does open the next period, for then the date says so. In sluicegate over many PoPs the Ledger does the same, and numbers the periods that it opens: a later one has a larger number, whatever its name.</p>
    </section>
  );
}
