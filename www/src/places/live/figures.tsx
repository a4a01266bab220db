import { number } from '../../format';
import { Term } from '../../parts/term';
import { Mark } from './mark';
import { OUTCOMES } from './sample';
import { heldBack, recording, shown } from './sender';
import { OUTCOME } from './words';

/** Sums since the page was opened or cleared. */
export function Figures() {
  void shown.value;
  return (
    <dl class="figures live-figures">
      {OUTCOMES.map((outcome) => (
        <div key={outcome}>
          <dt><Mark outcome={outcome} /> {OUTCOME[outcome].title}</dt>
          <dd data-count={outcome} data-value={recording.totals[outcome]}>{number(recording.totals[outcome])}</dd>
        </div>
      ))}
      <div>
        <dt><Term means="Was due, but could not leave in time: six were on their way already, or nobody answered. Not sent at all.">Held back</Term></dt>
        <dd data-count="held" data-value={heldBack.value}>{number(heldBack.value)}</dd>
      </div>
    </dl>
  );
}
