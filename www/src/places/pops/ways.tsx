// The four ways of counting, side by side: the numbers behind the plot.

import type { Frame, Series } from '../../simulator';
import { duration, number } from '../../format';
import { Term } from '../../parts/term';
import { saysOf, titleOf } from '../../parts/series';
import { promised, type Run } from './run';

/** What it may reach without being wrong: a bucket with one right clock begins full and refills meanwhile. */
function mayReach({ name, ceiling }: Series, run: Run): number {
  if (name === 'shared' && run.counts === 'window') return 2 * run.limit;
  return Math.max(run.limit, promised(run, ceiling) ?? 0);
}

const isNaive = ({ name }: Series): boolean => name === 'shared' || name === 'alone';

/** Requests that nobody decided: the Ledger was out of reach, or the answer came too late for the caller. */
function unanswered({ totals }: Frame, series: Series): number | null {
  if (isNaive(series)) return null;
  return series.unavailable + ((series.name === 'tolerant' ? totals.tolerant : totals.exact)?.gave_up ?? 0);
}

function bound(series: Series, run: Run): string {
  const most = isNaive(series) ? null : promised(run, series.ceiling);
  return most === null ? 'none' : number(most);
}

function Row({ series, run, frame }: { series: Series; run: Run; frame: Frame }) {
  const may = mayReach(series, run);
  const noAnswer = unanswered(frame, series);
  return (
    <tr data-way={series.name} data-worst-epoch={series.worst_epoch} data-worst-window={series.worst_window} data-early={series.early} data-admitted={series.admitted}
      data-refused={series.refused} data-unavailable={series.unavailable} data-unanswered={noAnswer ?? ''} data-ceiling={series.ceiling ?? ''} data-bound={bound(series, run)} data-in-epoch={series.in_epoch}>
      <th scope="row">
        <span class={`key is-${series.name}`} />{titleOf(series.name, run.counts)}
        <span class="help">{saysOf(series.name, run.counts)}</span>
      </th>
      <td class="num worst"><strong>{number(series.worst_epoch)}</strong>{series.worst_epoch > may && <span class="help">{number(series.worst_epoch - may)} more than may be</span>}</td>
      <td class="num">{bound(series, run)}</td>
      {run.counts === 'window' && <td class="num">{number(series.worst_window)}</td>}
      <td class="num">{number(series.admitted)}</td>
      <td class="num">{number(series.refused)}</td>
      <td class="num">{noAnswer === null ? '–' : number(noAnswer)}</td>
      <td class="num">{isNaive(series) ? '–' : number(series.early)}</td>
      <td class="num">{isNaive(series) ? '–' : `${number(series.waited)}${series.waited ? ` · ${duration(series.waited_ms / series.waited)}` : ''}`}</td>
    </tr>
  );
}

export function Ways({ frame, run }: { frame: Frame; run: Run }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="The ways of counting, in numbers">
      <table class="ways">
        <thead>
          <tr>
            <th scope="col">Counted by</th>
            <th scope="col" class="num"><Term means={`The most units that were let through in one ${run.counts}, by the Ledger's own ${run.counts}s.`}>worst {run.counts}</Term></th>
            <th scope="col" class="num"><Term means="The most that it promises to let through in one epoch, whatever the clocks, the network and the traffic do. For sluicegate: the limit, and the tolerance that you chose. With on_error open or local a PoP that reaches no Ledger goes on without it, and nothing is promised while it does.">bound</Term></th>
            {run.counts === 'window' && (
              <th scope="col" class="num"><Term means={`The most in any ${run.window_s} s of true time, wherever they begin. Every fixed window lets up to twice its bound through across one boundary (more, if the Ledger's own clock is set ahead: then a window ends early); a bucket with one right clock up to twice its size.`}>any {run.window_s} s</Term></th>
            )}
            <th scope="col" class="num">let through</th>
            <th scope="col" class="num">refused</th>
            <th scope="col" class="num"><Term means="Requests that nobody decided: their PoP reached no Ledger, or their callers did not wait any longer (a second). What becomes of the first kind is the policy's on_error.">no answer</Term></th>
            <th scope="col" class="num"><Term means="Refused although the limit was not reached then: the units were handed out to another PoP that had not used them yet.">early</Term></th>
            <th scope="col" class="num"><Term means="Requests that had to wait for an answer of the Ledger, and how long they waited on average.">waited</Term></th>
          </tr>
        </thead>
        <tbody>{frame.series.map((series) => <Row key={series.name} series={series} run={run} frame={frame} />)}</tbody>
      </table>
    </div>
  );
}
