// Calendars worth a look, one press each, and whether they show what they say.

import { announce } from '../../parts/announce';
import { type Case, CASES } from './cases';
import type { Chart } from './chart';
import { same } from './settings';
import { outcome, replace, settings } from './state';

function Promises({ chosen, chart }: { chosen: Case; chart: Chart }) {
  return (
    <ul class="promises">
      {chosen.promises.map(({ name, says, expected, actual }) => {
        const found = actual(chart);
        const holds = found === expected;
        return (
          <li key={name} class={holds ? '' : 'is-wrong'} data-claim={`${chosen.name}/${name}`} data-expected={expected} data-actual={found} data-holds={String(holds)}>
            <span aria-hidden="true">{holds ? '✓' : '✗'}</span> {says}{holds ? '' : `: not so by this browser's zone data, which says ${found}`}
          </li>
        );
      })}
    </ul>
  );
}

export function CasePicks() {
  const chosen = CASES.find((each) => same(each.settings, settings.value));
  const { chart } = outcome.value;
  return (
    <section class="cases" aria-labelledby="calendar-cases">
      <h2 id="calendar-cases">Worth a look <small class="quiet">each sets the calendar below</small></h2>
      <div class="picks">
        {CASES.map((each) => (
          <button key={each.name} type="button" aria-pressed={each === chosen} data-case={each.name} onClick={() => {
            replace(each.settings);
            announce(`${each.where}. ${each.text}`);
          }}>
            <strong>{each.title}</strong>
            <span>{each.where}</span>
          </button>
        ))}
      </div>
      {chosen && chart && (
        <div class="story">
          <p>{chosen.text}</p>
          <Promises chosen={chosen} chart={chart} />
        </div>
      )}
    </section>
  );
}
