// How the two plots are drawn.

import uPlot from 'uplot';
import { axis } from '../../parts/axes';
import { colour } from '../../theme';
import { painter } from './mark';
import { SPAN_MS } from './record';
import { watchedOf, type Sample } from './sample';
import { edgeMs, recording } from './sender';
import { latestLimit, watched } from './view';
import { localTime } from './words';

type Options = Omit<uPlot.Options, 'width' | 'height'>;

const SHORTEST_S = 20;
const AXIS_PX = 56;

/** From the first answer that is kept to now, within bounds. */
function span(): [number, number] {
  const to = edgeMs.peek() / 1_000;
  const first = (recording.samples[0]?.endMs ?? edgeMs.peek()) / 1_000;
  const length = Math.min(SPAN_MS / 1_000, Math.max(SHORTEST_S, to - first));
  // A little room, or the marks at the edges would be cut.
  return [to - length * 1.01, to + length * 0.015];
}

/** The sign of each answer, at the height that is told for it. */
function marks(heightOf: (sample: Sample) => number | null) {
  return (plot: uPlot) => {
    const { ctx: context, bbox } = plot;
    const paint = painter(context, uPlot.pxRatio);
    context.save();
    context.beginPath();
    context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    context.clip();
    for (const sample of recording.samples) {
      const height = heightOf(sample);
      if (height !== null) paint(sample.outcome, plot.valToPos(sample.endMs / 1_000, 'x', true), plot.valToPos(height, 'y', true));
    }
    context.restore();
  };
}

const common = (): Pick<Options, 'cursor' | 'legend' | 'padding'> => ({ cursor: { show: false }, legend: { show: false }, padding: [8, 28, 0, 0] });

const times = (more: uPlot.Axis = {}): uPlot.Axis => axis({ space: 90, values: (_, splits) => splits.map((at) => localTime(at * 1_000)), ...more });

export function leftOptions(): Options {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    ...common(),
    scales: {
      x: { time: true, range: span },
      y: {
        range: (_, __, most) => {
          const top = Math.max(1, most || 0, latestLimit.peek()?.limit ?? 0);
          return [-top * 0.07, top * 1.08];
        },
      },
    },
    axes: [times({ values: (_, splits) => splits.map(() => ''), size: 12 }), axis({ size: AXIS_PX, space: 36, incrs: WHOLE })],
    series: [{}, { stroke: colour('--tolerant'), width: 2, points: { show: false }, ...(stepped && { paths: stepped }) }],
    hooks: { drawAxes: [limitLine], draw: [marks(heightOfLeft)] },
  };
}

function limitLine({ ctx: context, bbox, valToPos }: uPlot): void {
  const limit = latestLimit.peek()?.limit;
  if (limit == null) return;
  const y = Math.round(valToPos(limit, 'y', true));
  context.save();
  context.strokeStyle = colour('--ink');
  context.lineWidth = uPlot.pxRatio;
  context.setLineDash([5 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
  context.beginPath();
  context.moveTo(bbox.left, y);
  context.lineTo(bbox.left + bbox.width, y);
  context.stroke();
  context.restore();
}

/** Answers about other policies have no place here; those that tell no number are at the bottom. */
function heightOfLeft(sample: Sample): number | null {
  if (sample.limits.length === 0) return sample.outcome === 'allowed' ? null : 0;
  const limit = watchedOf(sample, watched.peek());
  return limit && (limit.remaining ?? 0);
}

/** Units are whole. */
const WHOLE = [1, 2, 5].flatMap((digit) => Array.from({ length: 16 }, (_, power) => digit * 10 ** power)).sort((a, b) => a - b);

/** From one power of ten to another, around what there is. */
const decades = (least: number, most: number): [number, number] => [
  10 ** Math.floor(Math.log10(Math.max(0.1, least || 1))),
  10 ** Math.ceil(Math.log10(Math.max(10, (most || 10) * 1.01))),
];

function tens(scale: uPlot.Scale | undefined): number[] {
  const from = Math.round(Math.log10(scale?.min ?? 1));
  const to = Math.round(Math.log10(scale?.max ?? 10));
  return Array.from({ length: Math.max(0, to - from) + 1 }, (_, power) => 10 ** (from + power));
}

export function latencyOptions(): Options {
  return {
    ...common(),
    scales: {
      x: { time: true, range: span },
      y: { distr: 3, range: (_, least, most) => decades(least, most) },
    },
    axes: [times({ size: 30 }), axis({ size: AXIS_PX, splits: ({ scales }) => tens(scales['y']), values: (_, splits) => splits.map((ms) => (ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`)) })],
    series: [{}, { stroke: 'transparent', width: 0, points: { show: false } }],
    hooks: { draw: [marks((sample) => sample.latencyMs)] },
  };
}
