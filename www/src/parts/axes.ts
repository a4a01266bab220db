import type uPlot from 'uplot';
import { colour } from '../theme';

/** An axis in the page's type and colours. */
export function axis(more: uPlot.Axis = {}): uPlot.Axis {
  const ink = colour('--quiet');
  const line = colour('--line');
  return {
    stroke: ink,
    font: '12px Inter, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
    ...more,
  };
}
