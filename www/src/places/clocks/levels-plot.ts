// How uPlot draws the levels.

import type uPlot from 'uplot';
import { axis } from '../../parts/axes';
import { colour } from '../../theme';
import type { Picture } from './levels';

/** Widths and dashes beside the colours: lines that lie on each other are all seen. */
export const STROKES = {
  exact: { width: 6, dash: [] },
  alone: { width: 2.75, dash: [] },
  shared: { width: 1.75, dash: [7, 4] },
} as const;

/** Seconds between two labels. */
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
/** Words above the lines: so many rows, each so high. */
const ROWS = 4;
const ROW_PX = 15;
const HATCH_PX = 7;

export function levelsOptions(shown: () => Picture): Omit<uPlot.Options, 'width' | 'height'> {
  const line = (name: keyof typeof STROKES): uPlot.Series => ({
    stroke: colour(`--${name}`),
    width: STROKES[name].width,
    dash: [...STROKES[name].dash],
    points: { show: false },
  });
  const ticks = (step: number) => shown().ticks(step);
  return {
    padding: [10, 12, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [0, shown().max] },
      y: { range: () => [0, shown().top * 1.3] },
    },
    axes: [
      axis({
        space: 72,
        size: 30,
        incrs: STEPS_S,
        splits: (_plot, _axis, _min, _max, step) => ticks(step).map(({ x }) => x),
        values: (_plot, _splits, _axis, _space, step) => ticks(step).map(({ text }) => text),
      }),
      axis({ size: 40, splits: () => quarters(shown().top) }),
    ],
    series: [{}, { stroke: colour('--edge'), width: 1, fill: faded('--edge', 0.16), points: { show: false } }, line('exact'), line('alone'), line('shared')],
    hooks: { drawAxes: [(plot) => drawSleeps(plot, shown())], draw: [(plot) => drawMarks(plot, shown())] },
  };
}

/** A colour that lets through what is behind it. */
const faded = (name: `--${string}`, alpha: number): string => colour(name).replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);

/** Up to six values to read: the top is one. */
function quarters(top: number): number[] {
  const parts = top % 4 === 0 ? 4 : top % 5 === 0 ? 5 : top % 2 === 0 ? 2 : 1;
  return Array.from({ length: parts + 1 }, (_, at) => (top * at) / parts);
}

function drawSleeps(plot: uPlot, picture: Picture): void {
  const { ctx, bbox } = plot;
  const { top, height } = bbox;
  for (const { x, width } of picture.marks) {
    if (width === 0) continue;
    const [left, right] = [plot.valToPos(x, 'x', true), plot.valToPos(x + width, 'x', true)];
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, right - left, height);
    ctx.clip();
    ctx.strokeStyle = faded('--edge', 0.5);
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    for (let at = left - height; at < right; at += HATCH_PX * devicePixelRatio) {
      ctx.moveTo(at, top + height);
      ctx.lineTo(at + height, top);
    }
    ctx.stroke();
    ctx.restore();
  }
}

/** A line for each thing that happened, and its words in the first row that has room. */
function drawMarks(plot: uPlot, { marks }: Picture): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const [row, right, bottom] = [ROW_PX * scale, bbox.left + bbox.width, bbox.top + bbox.height];
  ctx.save();
  ctx.font = `${12 * scale}px Inter, sans-serif`;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  ctx.lineWidth = scale;
  ctx.setLineDash([2 * scale, 3 * scale]);
  const ends: number[] = [];
  const placed = marks.map(({ x, width, text }) => {
    const at = Math.round(plot.valToPos(x, 'x', true)) + 0.5;
    const room = ctx.measureText(text).width + 8 * scale;
    const from = at + room > right ? at - room : at + 4 * scale;
    const free = ends.findIndex((end) => end <= from);
    const line = free < 0 ? ends.length : free;
    ends[line] = from + room;
    return { at, from, room, top: bbox.top + line * row, text, isSeen: line < ROWS, isLine: width === 0 };
  }).filter(({ isSeen }) => isSeen);
  ctx.strokeStyle = colour('--ink');
  for (const { at, top } of placed.filter(({ isLine }) => isLine)) {
    ctx.beginPath();
    ctx.moveTo(at, top);
    ctx.lineTo(at, bottom);
    ctx.stroke();
  }
  for (const { from, room, top, text } of placed) {
    ctx.fillStyle = colour('--paper');
    ctx.fillRect(from - 2 * scale, top, room - 2 * scale, row);
    ctx.fillStyle = colour('--ink');
    ctx.fillText(text, from, top + scale);
  }
  ctx.restore();
}
