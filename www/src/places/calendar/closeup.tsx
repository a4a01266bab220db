// Local time against UTC around one start: a gap is a jump, a repeat a fall back, and the start where the line first reaches its time.

import { SelectField } from '../../parts/field';
import type { Chart, Row } from './chart';
import { SlotWords } from './slot-words';
import { type Close, closeOf, ticks } from './layout';
import { choose, looked } from './state';
import { useWidth } from './width';
import { cityOf, localMs, zoneName } from './zone';
import { date, DAY_MS, shortDay, time } from './words';

const HEAD = 30;
const FOOT = 40;
const PLOT = 300;
const LEFT = 66;
const RIGHT = 26;

interface Scale {
  x: (atMs: number) => number;
  y: (local: number) => number;
  width: number;
}

function scaleOf(close: Close, width: number): Scale {
  const inner = width - LEFT - RIGHT;
  const span = close.highLocal - close.lowLocal;
  return {
    x: (atMs) => LEFT + ((atMs - close.fromMs) / (close.untilMs - close.fromMs)) * inner,
    y: (local) => HEAD + PLOT - ((local - close.lowLocal) / span) * PLOT,
    width,
  };
}

const clock = (at: number): string => (at % DAY_MS === 0 ? shortDay(at) : time(at));

function Axes({ close, scale: { x, y, width } }: { close: Close; scale: Scale }) {
  const bottom = HEAD + PLOT;
  return (
    <g class="axes">
      {ticks(close.lowLocal, close.highLocal, 8).map((local) => (
        <g key={local}>
          <path d={`M${LEFT} ${y(local)}H${width - RIGHT}`} />
          <text class="end" x={LEFT - 8} y={y(local) + 4}>{clock(local)}</text>
        </g>
      ))}
      {ticks(close.fromMs, close.untilMs, width < 560 ? 4 : 8).map((at) => (
        <g key={at}>
          <path d={`M${x(at)} ${bottom}v5`} />
          <text x={x(at)} y={bottom + 19}>{clock(at)}</text>
        </g>
      ))}
      <text class="end" x={width - RIGHT} y={bottom + 36}>UTC →</text>
    </g>
  );
}

function Curve({ close, scale: { x, y } }: { close: Close; scale: Scale }) {
  return (
    <>
      {close.jumps.map((jump) => <path key={jump.atMs} class="jump" d={`M${x(jump.atMs)} ${y(jump.fromLocal)}V${y(jump.toLocal)}`} />)}
      {close.pieces.map((piece) => <path key={piece.fromMs} class="curve" d={`M${x(piece.fromMs)} ${y(piece.fromLocal)}L${x(piece.untilMs)} ${y(piece.untilLocal)}`} />)}
    </>
  );
}

/** The local times that are looked for, as level lines. */
function Sought({ close, scale: { y, width } }: { close: Close; scale: Scale }) {
  const { row } = close;
  return (
    <g class="sought">
      {close.missing.map(({ slot, anchor }) => (
        <g key={slot}>
          <path d={`M${LEFT} ${y(anchor)}H${width - RIGHT}`} />
          <text class="end" x={width - RIGHT - 4} y={y(anchor) + 16}>{slot} would begin here</text>
        </g>
      ))}
      <path d={`M${LEFT} ${y(row.anchor)}H${width - RIGHT}`} />
      <text x={LEFT + 6} y={y(row.anchor) - 6}>{time(row.anchor)}</text>
    </g>
  );
}

function Picture({ chart, close, width }: { chart: Chart; close: Close; width: number }) {
  const scale = scaleOf(close, width);
  const { x, y } = scale;
  const { startMs } = close.row.period;
  const zone = chart.spec.timeZone;
  const at = { x: x(startMs), y: y(localMs(zone, startMs)) };
  const isRoomy = width > 560;
  return (
    <svg width={width} height={HEAD + PLOT + FOOT}>
      <rect class="even" x={LEFT} y="0" width={at.x - LEFT} height="22" />
      <rect class="odd" x={at.x} y="0" width={width - RIGHT - at.x} height="22" />
      <text class="slot" x={(LEFT + at.x) / 2} y="15">{close.row.before}</text>
      <text class="slot" x={(at.x + width - RIGHT) / 2} y="15">{close.row.period.slot}</text>
      <Axes close={close} scale={scale} />
      <Sought close={close} scale={scale} />
      <path class="start" d={`M${at.x} 22V${HEAD + PLOT}`} />
      <Curve close={close} scale={scale} />
      {close.secondMs !== null && (
        <g class="second">
          <circle cx={x(close.secondMs)} cy={y(close.row.anchor)} r="6" />
          <text x={x(close.secondMs) + 10} y={y(close.row.anchor) + 20}>{isRoomy ? `again at ${time(close.secondMs)} UTC: does not count` : 'again'}</text>
        </g>
      )}
      <circle class="dot" cx={at.x} cy={at.y} r="6.5" />
      <text class="begins end" x={at.x - 12} y={at.y - 10}>{isRoomy ? beginsWords(zone, startMs) : 'begins'}</text>
    </svg>
  );
}

const HOW = {
  exact: 'The line crosses once: the time comes once.',
  gap: 'The line jumps past the level: the time never comes. The first instant at or past it is where the jump ends.',
  repeat: 'The line crosses twice: the time comes twice. The period begins at the first, and stays begun at the second.',
};

function howWords(row: Row, close: Close): string {
  if (row.mark === 'missing') return `The line jumps over a whole slot: ${row.missing.join(', ')} would begin and end at the same instant, so there is none of that name.`;
  if (row.period.startKind === 'exact' && close.jumps.length > 0) return 'The clocks are changed nearby, but the line crosses the level once, so there is one instant to begin at.';
  return HOW[row.period.startKind];
}

/** When it begins, by its own clocks and in UTC. */
function beginsWords(zone: string, startMs: number): string {
  const name = zoneName(zone, startMs);
  return `begins at ${name === 'UTC' ? '' : `${time(localMs(zone, startMs))} ${name}, `}${time(startMs)} UTC`;
}

export function Closeup({ chart }: { chart: Chart }) {
  const { box, width } = useWidth();
  const row = chart.rows[looked.value];
  if (!row) return null;
  const zone = chart.spec.timeZone;
  const close = closeOf(chart, row);
  const options = chart.rows.map(({ period, mark }) => ({ value: period.slot, label: `${period.slot}${mark === 'exact' ? '' : ` – ${mark}`}` }));
  const { startMs, slot } = row.period;
  const words = `What clocks in ${cityOf(zone)} show, against UTC, around the start of ${slot}. ${howWords(row, close)} It begins at ${time(startMs)} UTC on ${date(startMs)}.`;
  return (
    <section class="closeup" aria-labelledby="calendar-closeup">
      <div class="prose">
        <h2 id="calendar-closeup">One start, looked at closely</h2>
        <p>Going to the right, time passes, in UTC. Going up, the clocks in {cityOf(zone)} move on. The level dashed line is the local time that the period is to
          begin at, and it begins <strong>where the clocks are first at or past it</strong>. This one rule serves every zone.</p>
        <SelectField label="Start of" value={slot} options={options} onChange={choose} />
        <p class="how"><SlotWords text={howWords(row, close)} /></p>
      </div>
      <figure>
        <div ref={box} role="img" aria-label={words}>{width > 0 && <Picture chart={chart} close={close} width={width} />}</div>
        <figcaption>The clocks in {cityOf(zone)} around the start of <span class="whole">{slot}</span>, local time against UTC.</figcaption>
      </figure>
    </section>
  );
}
