// The periods as bars, to scale: side by side where there is room, below each other where there is none.

import type { Chart, Mark, Row } from './chart';
import { MARKS, summary } from './explain';
import { barsOf, placeOf } from './layout';
import { MarkAt, MarkIn } from './mark';
import { choose, looked, now } from './state';
import { useWidth } from './width';
import { DAY_MS, days, difference, hours, shortDay } from './words';

const NARROW = 720;
const TOP = 46;
const BAR = 56;
/** A bar narrower than this has its words below. */
const THIN = 34;

/** The slot, shorter where it has little room. */
function slotText(row: Row, width: number): string {
  const { slot } = row.period;
  return width < 96 && slot.length === 10 ? shortDay(Date.parse(`${slot}T00:00Z`)) : slot;
}

/** Below the hours: whole days, or how much it is off. */
function offText({ lengthMs, usualMs }: Row): string {
  const off = lengthMs - usualMs;
  return usualMs > 8 * DAY_MS ? `${days(usualMs)}${off ? ` ${difference(off).replace(/^[+−]/, (sign) => `${sign} `)}` : ''}` : difference(off);
}

interface PictureProps {
  chart: Chart;
  width: number;
}

function Wide({ chart, width }: PictureProps) {
  const inner = width - 16;
  const bars = barsOf(chart, inner);
  const here = placeOf(chart, now.value, inner);
  const isThinAny = bars.some((bar) => bar.width < THIN);
  const height = TOP + BAR + (isThinAny ? 64 : bars.some((bar) => offText(bar.row)) ? 44 : 26);
  return (
    <svg width={width} height={height} viewBox={`-8 0 ${width} ${height}`}>
      {bars.map(({ row, x, width: wide }, at) => {
        const middle = x + wide / 2;
        const isThin = wide < THIN;
        const off = offText(row);
        return (
          <g key={row.period.slot} class={at === looked.value ? 'period looked' : 'period'} onClick={() => choose(row.period.slot)}>
            <rect class={at % 2 ? 'odd' : 'even'} x={x} y={TOP} width={Math.max(1, wide)} height={BAR} />
            {row.lengthMs !== row.usualMs && <path class="differs" d={`M${x + 1} ${TOP + BAR + 1.5}h${Math.max(1, wide - 2)}`} />}
            {isThin ? <path class="leader" d={`M${middle} ${TOP + BAR}v44`} /> : <text class="hours" x={middle} y={TOP + BAR / 2 + 5}>{hours(row.lengthMs)}</text>}
            {!isThin && <text class="slot" x={middle} y={TOP + BAR + 20}>{slotText(row, wide)}</text>}
            {!isThin && off && <text class={row.lengthMs === row.usualMs ? 'off' : 'off differs'} x={middle} y={TOP + BAR + 38}>{off}</text>}
            {isThin && <text class="off differs" x={middle} y={TOP + BAR + 58}>{slotText(row, 0)}: {hours(row.lengthMs)}</text>}
          </g>
        );
      })}
      {bars.map(({ row, x }, at) => (
        <g key={row.period.slot} class={at === looked.value ? 'boundary looked' : 'boundary'}>
          <path d={`M${x} ${TOP - (row.mark === 'exact' ? 0 : 10)}V${TOP + BAR + (at === looked.value ? 6 : 0)}`} />
          {row.mark !== 'exact' && <MarkAt kind={row.mark} x={x} y={TOP - 18} />}
        </g>
      ))}
      {here !== null && (
        <g class="now" data-now>
          <path d={`M${here} 16V${TOP + 14}M${here} ${TOP + BAR - 14}v20`} />
          <text x={Math.max(12, Math.min(inner - 12, here))} y="11">now</text>
        </g>
      )}
    </svg>
  );
}

function Narrow({ chart, width }: PictureProps) {
  const longest = Math.max(...chart.rows.map((row) => row.lengthMs));
  const bar = Math.max(60, width - 190);
  return (
    <div class="rows">
      {chart.rows.map((row, at) => {
        const { startMs, endMs } = row.period;
        const long = (row.lengthMs / longest) * bar;
        const here = now.value >= startMs && now.value < endMs ? ((now.value - startMs) / (endMs - startMs)) * long : null;
        return (
          <div key={row.period.slot} class={at === looked.value ? 'line looked' : 'line'} onClick={() => choose(row.period.slot)}>
            <span class="slot">{row.period.slot}</span>
            <span class="sign">{row.mark !== 'exact' && <MarkIn kind={row.mark} />}</span>
            <svg width={bar} height="22" viewBox={`0 0 ${bar} 22`}>
              <rect class={at % 2 ? 'odd' : 'even'} x="0" y="2" width={Math.max(1, long)} height="18" />
              {here !== null && <path class="now" d={`M${here} 0v22`} />}
            </svg>
            <span class="long">{hours(row.lengthMs)}<small class={row.lengthMs === row.usualMs ? 'off' : 'off differs'}>{offText(row)}</small></span>
          </div>
        );
      })}
    </div>
  );
}

export function Timeline({ chart }: { chart: Chart }) {
  const { box, width } = useWidth();
  const kinds = new Set(chart.rows.map((row) => row.mark));
  kinds.delete('exact');
  const isInside = placeOf(chart, now.value, 1) !== null;
  return (
    <figure class="timeline">
      <div ref={box} role="img" aria-label={summary(chart)}>
        {width > 0 && (width < NARROW ? <Narrow chart={chart} width={width} /> : <Wide chart={chart} width={width} />)}
      </div>
      <figcaption>
        To scale: the hours of each period, and {chart.rows.some((row) => row.usualMs > 8 * DAY_MS) ? 'the days it would have, with the difference' : 'the difference where it is not as usual'}.
        {' '}The thick line is the start that is looked at closely below; press a bar, or choose in the list there, for another.
        {isInside && width < NARROW ? ' The dashed line is now.' : ''}
        {' '}<button type="button" class="link" onClick={() => document.getElementById('calendar-rows')?.focus()}>All of them as a table</button>
        {[...kinds].map((kind) => <span key={kind} class="legend"><MarkIn kind={kind} /> {MARKS[kind as Exclude<Mark, 'exact'>]}</span>)}
      </figcaption>
    </figure>
  );
}
