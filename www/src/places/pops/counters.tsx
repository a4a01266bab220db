import type { Frame } from '../../simulator';
import { number } from '../../format';
import { Term } from '../../parts/term';
import { promised, type Run } from './run';

const perThousand = (count: number, of: number): string => (of === 0 ? '–' : number((count * 1_000) / of));

/** What it cost and how far it is: the figures that an operator would ask for. */
export function Counters({ frame, run }: { frame: Frame; run: Run }) {
  const totals = frame.totals.tolerant ?? frame.totals.exact;
  const series = frame.series.find(({ name }) => name === (run.counts === 'window' ? 'tolerant' : 'exact'));
  if (!series) return null;
  const most = promised(run, series.ceiling);
  return (
    <dl class="figures" aria-label={`Of sluicegate, ${series.name}`}>
      <div><dt>worst {run.counts} of sluicegate, {series.name}</dt><dd data-figure="worst">{number(series.worst_epoch)} <small>{most === null ? '' : `of ${number(most)}`}</small></dd></div>
      <div><dt>refused early</dt><dd data-figure="early">{number(series.early)}</dd></div>
      <div><dt><Term means="A message from a PoP to the Ledger. One carries many keys, and at most one is on its way from each PoP to a Ledger.">asks</Term> for 1,000 decisions</dt><dd data-figure="asks" data-asks={totals.asks}>{perThousand(totals.asks, series.decisions)}</dd></div>
      <div><dt><Term means="Rows in the storage of PoPs and Ledgers: what the platform bills for most.">rows written</Term> for 1,000</dt><dd>{perThousand(totals.rows, series.decisions)}</dd></div>
      <div><dt>messages lost</dt><dd>{number(totals.lost)}</dd></div>
      <div><dt>longest wait</dt><dd>{number(series.longest_wait_ms)} <small>ms</small></dd></div>
    </dl>
  );
}
