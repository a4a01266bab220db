// Beside the plot: which line is whose, and its worst so far.

import type { Frame } from '../../simulator';
import { number } from '../../format';
import { titleOf } from '../../parts/series';
import type { Run } from './run';

export function Legend({ frame, run }: { frame: Frame; run: Run }) {
  return (
    <ul class="legend">
      {frame.series.map(({ name, worst_epoch }) => (
        <li key={name}>
          <span class={`key is-${name}`} /><span>{titleOf(name, run.counts)}<br /><span class="quiet">worst {run.counts} </span><b class={`is-${name}`}>{number(worst_epoch)}</b></span>
        </li>
      ))}
    </ul>
  );
}
