// Units let through in the window that is open, by four ways of counting, on the time axis of the lanes below it.

import uPlot from 'uplot';
import { useComputed } from '@preact/signals';
import type { SeriesName } from '../../simulator';
import { axis } from '../../parts/axes';
import { Plot } from '../../parts/plot';
import { WAYS } from '../../parts/series';
import { colour } from '../../theme';
import { SAMPLED } from './history';
import { offset } from '../../format';
import { ceilingOf, MONTH_LEFT_MS, nameOf, type Mishap, type Run } from './run';
import type { Store } from './store';

/** Narrower, there is no room for words in it; the story and the log have them. */
const ROOM_FOR_WORDS_PX = 420;

/** The lanes begin where the plot does, right of its axis: the style sheet has the same width. */
const AXIS_PX = 48;
const HEIGHT = 260;

/** Not by colour alone. */
const DASHES: Partial<Record<SeriesName, { dash: number[] }>> = { shared: { dash: [8, 3] }, alone: { dash: [2, 3] } };

const shown = (run: Run) => SAMPLED.filter((name) => run.counts === 'window' || name !== 'tolerant');

function line(plot: uPlot, value: number, text: string, side: 'above' | 'below', dash: number[]): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5;
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = colour('--ink');
  ctx.lineWidth = ratio;
  ctx.setLineDash(dash.map((part) => part * ratio));
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = `${12 * ratio}px Inter, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const right = bbox.left + bbox.width - 4 * ratio;
  const middle = side === 'above' ? y - 9 * ratio : y + 10 * ratio;
  const width = ctx.measureText(text).width;
  // Lines that run below the words would make them hard to read.
  ctx.fillStyle = colour('--paper');
  ctx.fillRect(right - width - 3 * ratio, middle - 7 * ratio, width + 6 * ratio, 14 * ratio);
  ctx.fillStyle = colour('--ink');
  ctx.fillText(text, right, middle);
  ctx.restore();
}

const SHORT = { step: 'step', freeze: 'frozen', cut: 'cut off', crash: 'crash' } as const;
const nameMishap = ({ kind, target, ms }: Mishap): string => `${nameOf(target)}: ${SHORT[kind]}${kind === 'step' ? ` ${offset(ms)}` : ''}`;

/** Events on the time axis; those of one moment share a line. */
function events(run: Run): Map<number, string[]> {
  const all = new Map<number, string[]>();
  if (run.counts === 'month') all.set(MONTH_LEFT_MS, ['midnight, the month ends']);
  for (const mishap of run.mishaps) all.set(mishap.at_ms, [...(all.get(mishap.at_ms) ?? []), nameMishap(mishap)]);
  return all;
}

function upright(plot: uPlot, at_ms: number, texts: string[]): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const x = Math.round(plot.valToPos(at_ms / 1_000, 'x', true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = colour('--edge');
  ctx.fillStyle = colour('--quiet');
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  if (bbox.width < ROOM_FOR_WORDS_PX * ratio) return ctx.restore();
  const room = bbox.left + bbox.width - x;
  ctx.font = `${11.5 * ratio}px Inter, sans-serif`;
  ctx.textBaseline = 'top';
  texts.slice(0, 4).forEach((text, row) => {
    const fits = ctx.measureText(text).width + 6 * ratio < room;
    ctx.textAlign = fits ? 'left' : 'right';
    ctx.fillText(text, x + (fits ? 5 : -5) * ratio, bbox.top + row * 14 * ratio);
  });
  ctx.restore();
}

/** The limit, the bound where it is another, and what has befallen whom. */
function draw(plot: uPlot, run: Run, bound: number): void {
  if (run.counts === 'window' && bound > run.limit) line(plot, bound, `limit + tolerance: ${bound}`, 'above', [3, 4]);
  line(plot, run.limit, `limit: ${run.limit}`, 'below', []);
  for (const [at_ms, texts] of events(run)) upright(plot, at_ms, texts);
}

function options(store: Store): Omit<uPlot.Options, 'width' | 'height'> {
  const run = store.run.peek();
  const { end_s } = run;
  return {
    padding: [12, 0, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [0, end_s] },
      y: { range: (_plot, _low, high) => [0, Math.max(run.limit * 1.6, (high ?? 0) * 1.25)] },
    },
    axes: [
      axis({ values: (_plot, ticks) => ticks.map((tick) => (tick >= end_s ? '' : `${Math.floor(tick / 60)}:${String(tick % 60).padStart(2, '0')}`)), incrs: [1, 5, 10, 15, 30, 60, 120, 300, 600, 1_200] }),
      axis({ size: AXIS_PX }),
    ],
    series: [
      {},
      ...shown(run).map((name): uPlot.Series => ({
        label: WAYS[name].title,
        stroke: colour(WAYS[name].colour),
        width: name === 'exact' ? 2.5 : 1.75,
        ...DASHES[name],
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: { draw: [(plot) => draw(plot, store.run.peek(), ceilingOf(store.player.frame.peek()) ?? run.limit)] },
  };
}

export function Chart({ store }: { store: Store }) {
  const { player } = store;
  const run = store.run.value;
  const data = useComputed((): uPlot.AlignedData => {
    void player.drawn.value;
    const { seconds, units } = player.history;
    return [seconds, ...shown(store.run.value).map((name) => units[name])];
  });
  // The axis and the lines are made anew for another limit or length; mishaps are read when it is drawn.
  const version = [run.counts, run.limit, run.end_s, run.tolerance_ppm].join();
  return (
    <Plot label={`Units let through in the open ${run.counts} over time, by each way of counting. The table below has the numbers.`}
      height={HEIGHT} version={version} options={() => options(store)} data={data.value} />
  );
}
