// The same as the picture, as numbers: what a program would be told, and what people call it.

import type { Chart, Row } from './chart';
import { MarkIn } from './mark';
import { difference, hours, shortDate, time } from './words';
import { cityOf, localMs, offsetMs, offsetText, ownZone } from './zone';

interface InstantProps {
  atMs: number;
  zone: string;
  hasOffset?: boolean;
}

/** An instant as the clocks of a zone show it. */
function Instant({ atMs, zone, hasOffset }: InstantProps) {
  const local = localMs(zone, atMs);
  return <time dateTime={new Date(atMs).toISOString()}>{shortDate(local)}, {time(local)}{hasOffset && <span class="quiet"> {offsetText(offsetMs(zone, atMs))}</span>}</time>;
}

function Span({ row, ...zone }: { row: Row } & Omit<InstantProps, 'atMs'>) {
  return (
    <td class="span">
      <Instant atMs={row.period.startMs} {...zone} />
      <span class="unseen"> to </span>
      <Instant atMs={row.period.endMs} {...zone} />
    </td>
  );
}

const KINDS: Record<Row['mark'], string> = { exact: 'exact', gap: 'gap', repeat: 'repeat', missing: 'exact, a slot before it is missing', clamped: 'exact, on the last day' };

export function PeriodTable({ chart }: { chart: Chart }) {
  const own = ownZone();
  const { timeZone } = chart.spec;
  return (
    <section class="numbers" aria-labelledby="calendar-table">
      <div class="prose">
        <h2 id="calendar-table">The {chart.rows.length} periods as a table</h2>
        <p class="quiet">A period is half-open: the instant at which it ends belongs to the next one. Above each other: start and end.</p>
      </div>
      <div id="calendar-rows" class="scroll" role="region" aria-label="Table of the periods" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Slot</th>
              <th scope="col">In {cityOf(timeZone)}</th>
              <th scope="col">In UTC</th>
              <th scope="col">Where you are: {cityOf(own)}</th>
              <th scope="col" class="num">Length</th>
              <th scope="col">Start</th>
            </tr>
          </thead>
          <tbody>
            {chart.rows.map((row) => (
              <tr key={row.period.slot} data-slot={row.period.slot} data-start={row.period.startMs} data-end={row.period.endMs} data-hours={row.lengthMs / 3_600_000}
                data-kind={row.period.startKind} data-mark={row.mark}>
                <th scope="row">{row.period.slot}</th>
                <Span row={row} zone={timeZone} hasOffset />
                <Span row={row} zone="UTC" />
                <Span row={row} zone={own} hasOffset />
                <td class="num">{hours(row.lengthMs)}{row.lengthMs !== row.usualMs && <><br /><span class="differs">{difference(row.lengthMs - row.usualMs)}</span></>}</td>
                <td>{row.mark !== 'exact' && <MarkIn kind={row.mark} />}{KINDS[row.mark]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
