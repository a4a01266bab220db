import type { Decision } from 'sluicegate-wasm';
import type { ComponentChildren } from 'preact';
import { count, number } from '../../format';
import { length, sinceStart, wallText } from './hands';
import { stage } from './state';

const BASES = {
  'monotonic-refill': 'measured on the monotonic clock: nobody can move it',
  'wall-period': 'a date on the wall clock: it moves if the clock is set',
} as const;

const REFUSALS = {
  bucket: 'the bucket has no whole token',
  quota: 'the period’s quota is used up',
  'cost-exceeds-capacity': 'more than the bucket ever holds',
  'cost-exceeds-quota': 'more than a period ever allows',
} as const;

const KINDS = { exact: 'an ordinary midnight', gap: 'the local time is jumped over: the instant the gap closes', repeat: 'the local time comes twice: the first' } as const;

interface Field {
  name: string;
  value: string;
  says: ComponentChildren;
}

function fieldsOf(decision: Decision, zone: string): Field[] {
  const { allowed, refusal, retryAfterMs, retryAfterBasis, period, skippedPeriods, tokensRemaining, quotaRemaining } = decision;
  const none = allowed ? 'nothing to wait for' : 'waiting does not help';
  return [
    { name: 'allowed', value: String(allowed), says: allowed ? 'one unit taken from the bucket and the quota' : 'nothing taken from either' },
    { name: 'refusal', value: String(refusal), says: refusal ? REFUSALS[refusal] : 'none' },
    { name: 'retryAfterMs', value: String(retryAfterMs), says: retryAfterMs === null ? none : `try again in ${length(retryAfterMs)}` },
    { name: 'retryAfterBasis', value: String(retryAfterBasis), says: retryAfterBasis ? BASES[retryAfterBasis] : none },
    { name: 'tokensRemaining', value: String(tokensRemaining), says: 'whole tokens left in the bucket' },
    { name: 'quotaRemaining', value: String(quotaRemaining), says: 'units left of the period' },
    { name: 'period.slot', value: String(period?.slot), says: 'the period it counts in; a name, not an instant' },
    { name: 'period', value: period ? `${number(Math.round((period.endMs - period.startMs) / 360_000) / 10)} h` : 'null', says: period && `${wallText(period.startMs, zone)} to ${wallText(period.endMs, zone)}` },
    { name: 'startKind', value: String(period?.startKind), says: period && KINDS[period.startKind] },
    { name: 'skippedPeriods', value: String(skippedPeriods), says: skippedPeriods ? `${count(skippedPeriods, 'period')} went by unopened` : 'none went by unopened' },
  ];
}

/** What QuotaClock said last, field by field. */
export function LastDecision() {
  const { exact, options } = stage.value.run;
  const { decision, fault } = exact;
  return (
    <section class="clocks-decision" aria-labelledby="clocks-decision">
      <h2 id="clocks-decision">QuotaClock’s last decision</h2>
      {decision ? (
        <dl>
          {fieldsOf(decision, options.zone).map(({ name, value, says }) => (
            <div key={name} data-field={name} data-value={value}>
              <dt><code>{name}</code></dt>
              <dd><strong>{value}</strong> <span class="quiet">{says}</span></dd>
            </div>
          ))}
        </dl>
      ) : <p class="quiet">{fault ? 'None: it threw.' : 'Nobody has asked yet.'}</p>}
      {fault && (
        <p class="clocks-fault" data-code={fault.code}>
          <strong>tryConsume threw <code>{fault.code}</code></strong> at {sinceStart(fault.atMs)}: <span class="quiet">{fault.message}.{decision && ' The next request was decided as usual.'}</span>
        </p>
      )}
    </section>
  );
}
