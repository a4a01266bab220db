// One way of counting, as it stands now.

import type { ComponentChildren } from 'preact';
import { number } from '../../format';
import type { Row } from './chart';
import { claimsOf } from './claims';
import { type Counter, type Entry, LIMIT } from './experiment';

const NAMES: Record<Counter, { title: string; colour: string; says: string }> = {
  exact: { title: 'QuotaClock', colour: 'exact', says: 'Holds the period it has opened.' },
  one: { title: 'A naive quota', colour: 'shared', says: 'When the date says another period, it begins a count anew.' },
  each: { title: 'A naive quota', colour: 'shared', says: 'It counts in whatever period the date says, a key for each.' },
};

interface Props {
  counter: Counter;
  log: readonly Entry[];
  row: Row;
  /** The end of the scale. */
  most: number;
  children?: ComponentChildren;
}

/** What was let through since the reset, against the limit; both sides have one scale. */
function Gauge({ admitted, most }: { admitted: number; most: number }) {
  const percent = (value: number) => `${(value / most) * 100}%`;
  return (
    <svg class="gauge" height="38" role="img" aria-label={`${number(admitted)} let through since the reset, of a limit of ${number(LIMIT)}`}>
      <rect class="track" y="4" width="100%" height="10" />
      <rect class="admitted" y="4" width={percent(admitted)} height="10" />
      <line x1={percent(LIMIT)} x2={percent(LIMIT)} y1="0" y2="20" />
      <text x={percent(LIMIT)} y="34">limit</text>
    </svg>
  );
}

export function Side({ counter, log, row, most, children }: Props) {
  const entry = log.at(-1);
  if (!entry) return null;
  const { title, colour, says } = NAMES[counter];
  const { slot, used, admitted } = entry.standings[counter];
  return (
    <article class={`side is-${colour}`} data-side={counter} data-slot={slot} data-used={used} data-admitted={admitted}>
      <header>
        <h3><span class="key" />{title}</h3>
        <p class="help">{says}</p>
        {children}
      </header>
      <dl>
        <div><dt>Counts in</dt><dd>{slot}</dd></div>
        <div><dt>Used of it</dt><dd>{number(used)} <small>of {number(LIMIT)}</small></dd></div>
        <div><dt>Let through since the reset</dt><dd class={admitted > LIMIT ? 'is-wrong' : ''}>{number(admitted)}</dd></div>
      </dl>
      <Gauge admitted={admitted} most={most} />
      <ul class="promises">
        {claimsOf(counter, log, row.period.slot).map(({ name, expected, actual, holds, words }) => (
          <li key={name} class={holds ? '' : 'is-wrong'} data-claim={name} data-expected={expected} data-actual={actual} data-holds={String(holds)}><span aria-hidden="true">{holds ? '✓' : '✗'}</span> {words}</li>
        ))}
      </ul>
    </article>
  );
}
