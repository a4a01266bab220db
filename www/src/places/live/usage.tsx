import { count, number } from '../../format';
import type { Usage } from './ledger';

/** `2026-11-01 00:00:00 +01:00`. */
const spaced = (iso: string): string => iso.replace('T', ' ').replace(/([+-]\d\d:\d\d)$/, ' $1');

export function UsageView({ usage }: { usage: Usage }) {
  const figures = [
    ['limit', 'Limit', usage.limit],
    ['used', 'Used', usage.used],
    ['outstanding', 'Out at PoPs', usage.outstanding],
    ['remaining', 'Free', usage.remaining],
  ] as const;
  return (
    <>
      <dl class="figures">
        {figures.map(([name, title, units]) => <div key={name}><dt>{title}</dt><dd data-usage={name} data-value={units}>{number(units)}</dd></div>)}
        <div><dt>Period</dt><dd data-usage="slot" data-value={usage.slot}>{usage.slot}</dd></div>
        <div><dt>Serial</dt><dd data-usage="serial" data-value={usage.serial}>{usage.serial}</dd></div>
      </dl>
      <p class="quiet live-prose">
        Since <time dateTime={usage.start}>{spaced(usage.start)}</time>; the limit begins anew at <time dateTime={usage.end}>{usage.resetLocal}</time>.
        {usage.isHeld && ' The Ledger’s clock reads a time before this period, so the period is held open: nothing is ever handed out twice.'}
        {usage.isPartial && ` This is a part of a calendar period only, with the same part of the limit: ${count(usage.limit, 'unit')}.`}
      </p>
    </>
  );
}
