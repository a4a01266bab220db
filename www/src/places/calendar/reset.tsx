// The next reset: one instant, by three calendars, and how far away it is.

import type { Chart } from './chart';
import { Term } from '../../parts/term';
import { fromMs, isNow, now } from './state';
import { cityOf, localMs, offsetMs, offsetText, ownZone, zoneName } from './zone';
import { date, inWords, time, weekday } from './words';

function When({ atMs, zone, title }: { atMs: number; zone: string; title: string }) {
  const local = localMs(zone, atMs);
  const name = zoneName(zone, atMs);
  const offset = offsetText(offsetMs(zone, atMs));
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <time dateTime={new Date(atMs).toISOString()}>
          <strong>{time(local)}</strong>
          <span>{weekday(local)} {date(local)}</span>
        </time>
        <span class="quiet">{name.startsWith('UTC') ? '' : `${name}, `}UTC{offset === '+00:00' ? '' : offset}</span>
      </dd>
    </div>
  );
}

export function Reset({ chart }: { chart: Chart }) {
  const first = chart.rows[0];
  if (!first) return null;
  const { endMs, slot } = first.period;
  const seenAt = isNow.value ? now.value : fromMs.value;
  const next = chart.rows[1]?.period.slot;
  const waitMs = Math.max(0, endMs - seenAt);
  return (
    <section class="reset" aria-labelledby="calendar-reset">
      <div class="prose">
        <h2 id="calendar-reset">The next reset</h2>
        <p>{isNow.value ? 'Now' : `On ${date(seenAt)} at ${time(seenAt)} UTC`} requests count in <strong class="whole">{slot}</strong>. The count of <span class="whole">{next}</span> begins at zero in</p>
        <p class="countdown" data-reset={endMs} data-wait={waitMs}>{inWords(waitMs)}</p>
      </div>
      <dl class="when">
        <When title={`In ${cityOf(chart.spec.timeZone)}`} zone={chart.spec.timeZone} atMs={endMs} />
        <When title="In UTC" zone="UTC" atMs={endMs} />
        <When title={`Where you are: ${cityOf(ownZone())}`} zone={ownZone()} atMs={endMs} />
      </dl>
      <p class="prose">It is one instant, whatever clocks call it. A request that the quota refuses is told to wait until then, with
        the <Term means="What a wait is measured by. A bucket's wait is a duration on the monotonic clock and holds whatever happens to the date; a quota's wait is the distance to a date, and changes when the date is corrected.">basis</Term>{' '}
        <code>wall-period</code>: it counts down to a date, so it changes when the clock that knows the date is corrected.</p>
    </section>
  );
}
