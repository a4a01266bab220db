// The wall clock's hand beside the reset.

import type { Row } from './chart';
import { AFTER_MS, STEP_MS } from './experiment';
import { useWidth } from './width';
import { cityOf, localMs, zoneName } from './zone';
import { shortDate, time } from './words';

const MARGIN_MS = 3 * 60_000;
/** Half of the room that the hand's label needs. */
const HALF = 92;

export function Rail({ zone, row, wallMs }: { zone: string; row: Row; wallMs: number }) {
  const { box, width } = useWidth();
  const { startMs, slot } = row.period;
  const from = startMs + AFTER_MS - STEP_MS - MARGIN_MS;
  const until = startMs + AFTER_MS + MARGIN_MS;
  const x = (atMs: number) => ((atMs - from) / (until - from)) * width;
  const local = localMs(zone, wallMs);
  const shown = `${shortDate(local)}, ${time(local)} ${zoneName(zone, wallMs)}`;
  const isBack = wallMs < startMs;
  return (
    <div ref={box} class="rail" role="img" aria-label={`The clock in ${cityOf(zone)} shows ${shown}, ${isBack ? 'before' : 'after'} the start of ${slot}.`} data-wall={wallMs} data-back={String(isBack)}>
      {width > 0 && (
        <svg width={width} height="78">
          <rect class="even" x="0" y="32" width={x(startMs)} height="26" />
          <rect class="odd" x={x(startMs)} y="32" width={width - x(startMs)} height="26" />
          <text class="slot" x="0" y="76">{row.before}</text>
          <text class="slot end" x={width} y="76">{slot}</text>
          <path class="start" d={`M${x(startMs)} 26v38`} />
          <text x={x(startMs)} y="76">the reset</text>
          <g class="hand" transform={`translate(${x(wallMs)} 0)`}>
            <path d="M-6 22h12L0 32zM0 32v26" />
            <text x={Math.max(HALF, Math.min(width - HALF, x(wallMs))) - x(wallMs)} y="14">{shown}</text>
          </g>
        </svg>
      )}
    </div>
  );
}
