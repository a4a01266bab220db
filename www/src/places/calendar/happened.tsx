// What was done and what came of it, in its order; and what QuotaClock told its log.

import { number } from '../../format';
import { type Act, type Counter, type Entry, LIMIT, type NaiveKind, STEP_MS } from './experiment';
import { localMs, zoneName } from './zone';
import { time } from './words';

const minutes = STEP_MS / 60_000;

const DONE: Record<Act, string> = {
  begin: 'begins',
  back: `back ${minutes} min`,
  forward: `forward ${minutes} min`,
  ask: `asks ${number(LIMIT)}`,
};

/** So many of the latest acts are shown. */
const LATEST = 14;

/** What a counter let be taken, or has left, and in which period. */
function Outcome({ entry, counter }: { entry: Entry; counter: Counter }) {
  const { slot, used } = entry.standings[counter];
  const words = entry.act === 'ask' ? `${number(entry.gained[counter])} taken` : `${number(LIMIT - used)} left`;
  return <td>{words} <small class="quiet">in {slot}</small></td>;
}

interface Report {
  kind: string;
  detail: string;
  times: number;
}

/** By kind: how often, and what was said last. */
function reportsOf(log: readonly Entry[]): Report[] {
  const reports = new Map<string, Report>();
  for (const { anomalies } of log) {
    for (const { anomaly, times } of anomalies) {
      reports.set(anomaly.kind, { kind: anomaly.kind, detail: anomaly.detail, times: times + (reports.get(anomaly.kind)?.times ?? 0) });
    }
  }
  return [...reports.values()];
}

function Reports({ log }: { log: readonly Entry[] }) {
  const reports = reportsOf(log);
  return (
    <div class="reports">
      <h3>What QuotaClock reports</h3>
      {reports.length === 0
        ? <p class="quiet">Nothing so far: its two clocks agree, and the date has only moved on.</p>
        : <dl>{reports.map(({ kind, detail, times }) => (
          <div key={kind} data-anomaly={kind} data-times={times}>
            <dt><code>{kind}</code> {times === 1 ? 'once' : `${number(times)} times`}</dt>
            <dd>{detail}.</dd>
          </div>
        ))}</dl>}
    </div>
  );
}

export function Happened({ zone, log, naive }: { zone: string; log: readonly Entry[]; naive: NaiveKind }) {
  return (
    <div class="happened">
      <div class="scroll" role="region" aria-label="What happened" tabIndex={0}>
        <table>
          <caption>What happened</caption>
          <thead>
            <tr>
              <th scope="col">The clock</th>
              <th scope="col">Done</th>
              <th scope="col"><span class="is-exact">QuotaClock</span></th>
              <th scope="col"><span class="is-shared">Naive quota</span></th>
            </tr>
          </thead>
          <tbody>
            {log.slice(-LATEST).map((entry, at) => (
              <tr key={at} data-entry={entry.act}>
                <td>{time(localMs(zone, entry.wallMs))} <small class="quiet">{zoneName(zone, entry.wallMs)}</small></td>
                <td>{DONE[entry.act]}</td>
                <Outcome entry={entry} counter="exact" />
                <Outcome entry={entry} counter={naive} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Reports log={log} />
    </div>
  );
}
