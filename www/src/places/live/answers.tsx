// The last answers, one a line.

import { duration, number } from '../../format';
import { Term } from '../../parts/term';
import { Mark } from './mark';
import { watchedOf, type Sample } from './sample';
import { recording, shown } from './sender';
import { heldAnswer, watched } from './view';
import { OUTCOME, preciseTime, shortly } from './words';

const ROWS = 12;

export function Answers() {
  void shown.value;
  const rows = recording.samples.slice(-ROWS).reverse();
  if (rows.length === 0) return null;
  const hasChecks = rows.some(({ isCheck }) => isCheck);
  return (
    <section class="live-section" aria-labelledby="live-answers">
      <div class="prose">
        <h2 id="live-answers">The last answers</h2>
        <p class="quiet">
          The newest first. Press a time to have that answer explained below.
          {!hasChecks && <> Which <Pop /> counted, in which <Epoch />, and who decided: that is told to checks only.</>}
        </p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of the last answers">
        <table class="live-table">
          <thead>
            <tr>
              <th scope="col">Time</th><th scope="col">Answer</th><th scope="col" class="num">Status</th><th scope="col" class="num">Remaining</th><th scope="col" class="num">Retry after</th>
              {hasChecks && <><th scope="col"><Pop /></th><th scope="col"><Epoch /> or slot</th><th scope="col">Decided by</th></>}
              <th scope="col" class="num">Latency</th>
            </tr>
          </thead>
          <tbody>{rows.map((sample) => <Row key={sample.id} sample={sample} hasChecks={hasChecks} />)}</tbody>
        </table>
      </div>
    </section>
  );
}

const Pop = () => <Term means="Point of presence: the data centre that took the request, and counted it.">PoP</Term>;
const Epoch = () => <Term means="A window’s number, as the counter or the Ledger tells it: a name, not a time. A calendar quota has a slot instead, the calendar’s name for the period.">epoch</Term>;

function Row({ sample, hasChecks }: { sample: Sample; hasChecks: boolean }) {
  const limit = watchedOf(sample, watched.value) ?? sample.limits[0] ?? null;
  const { outcome, answer, retryAfterMs } = sample;
  const isHeld = heldAnswer.value?.id === sample.id;
  return (
    <tr data-outcome={outcome} data-status={answer?.status ?? ''} data-remaining={limit?.remaining ?? ''}>
      <th scope="row"><button type="button" class="live-when" aria-pressed={isHeld} onClick={() => (heldAnswer.value = isHeld ? null : sample)}>{preciseTime(sample.endMs)}</button></th>
      <td class="live-outcome"><Mark outcome={outcome} /> {outcome === 'error' ? (answer ? 'error' : 'no answer') : OUTCOME[outcome].title.toLowerCase()}</td>
      <td class="num">{answer ? (answer.redirects ? 'redirect' : answer.status) : '–'}</td>
      <td class="num">{limit?.remaining == null ? '–' : number(limit.remaining)}</td>
      <td class="num">{retryAfterMs === null ? '–' : duration(retryAfterMs)}</td>
      {hasChecks && (
        <>
          <td>{limit?.pop ?? '–'}</td>
          <td>{limit?.slot ?? (limit?.epoch == null ? '–' : String(limit.epoch))}</td>
          <td>{limit?.decidedBy ?? '–'}</td>
        </>
      )}
      <td class="num">{shortly(sample.latencyMs)}</td>
    </tr>
  );
}
