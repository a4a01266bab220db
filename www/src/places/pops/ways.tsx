// The four ways of counting, side by side: the numbers behind the plot.

import type { Frame, Series } from '../../simulator';
import { duration, number } from '../../format';
import { Term } from '../../parts/term';
import { saysOf, titleOf } from '../../parts/series';
import type { Run } from './run';

function Row({ series, run }: { series: Series; run: Run }) {
  const over = series.worst_epoch > run.limit;
  return (
    <tr data-way={series.name} data-worst-epoch={series.worst_epoch} data-worst-window={series.worst_window} data-early={series.early} data-admitted={series.admitted}
      data-refused={series.refused} data-unavailable={series.unavailable} data-ceiling={series.ceiling ?? ''} data-in-epoch={series.in_epoch}>
      <th scope="row">
        <span class={`key is-${series.name}`} />{titleOf(series.name, run.counts)}
        <span class="help">{saysOf(series.name, run.counts)}</span>
      </th>
      <td class="num">{number(series.in_epoch)}</td>
      <td class="num worst"><strong>{number(series.worst_epoch)}</strong>{over && <span class="help">{number(series.worst_epoch - run.limit)} over</span>}</td>
      <td class="num">{series.ceiling === null ? 'none' : number(series.ceiling)}</td>
      {run.counts === 'window' && <td class="num">{number(series.worst_window)}</td>}
      <td class="num">{number(series.admitted)}</td>
      <td class="num">{number(series.refused)}</td>
      <td class="num">{number(series.early)}</td>
      <td class="num">{series.name === 'shared' || series.name === 'alone' ? '–' : `${number(series.waited)}${series.waited ? ` · ${duration(series.waited_ms / series.waited)}` : ''}`}</td>
    </tr>
  );
}

export function Ways({ frame, run }: { frame: Frame; run: Run }) {
  const what = run.counts === 'window' ? 'window' : 'month';
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="The ways of counting, in numbers">
      <table class="ways">
        <thead>
          <tr>
            <th scope="col">Counted by</th>
            <th scope="col" class="num">now</th>
            <th scope="col" class="num">worst {what}</th>
            <th scope="col" class="num"><Term means="The most that it promises to let through in one epoch, whatever the clocks, the network and the traffic do. For sluicegate: the limit, and the tolerance that you chose.">bound</Term></th>
            {run.counts === 'window' && (
              <th scope="col" class="num"><Term means={`The most in any ${run.window_s} s of true time, wherever they begin. Every fixed window lets up to twice its bound through across one boundary; a bucket up to twice its size.`}>any {run.window_s} s</Term></th>
            )}
            <th scope="col" class="num">let through</th>
            <th scope="col" class="num">refused</th>
            <th scope="col" class="num"><Term means="Refused although the limit was not reached then: the units were handed out to another PoP that had not used them yet.">early</Term></th>
            <th scope="col" class="num"><Term means="Requests that had to wait for an answer of the Ledger, and how long they waited on average.">waited</Term></th>
          </tr>
        </thead>
        <tbody>{frame.series.map((series) => <Row key={series.name} series={series} run={run} />)}</tbody>
      </table>
    </div>
  );
}
