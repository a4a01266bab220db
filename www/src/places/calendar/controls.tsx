// Which calendar: zone, unit, anchors, and where to begin.

import { NumberField, SelectField, TextField } from '../../parts/field';
import { Segmented } from '../../parts/segmented';
import { Term } from '../../parts/term';
import { anchorsOf, instantOf, shortSpec, typed, UNITS } from './settings';
import { change, edition, type Field, now, outcome, settings } from './state';
import { ruleWords } from './explain';
import { MONTHS, WEEKDAYS } from './words';
import { cityOf, ownZone } from './zone';
import { ZoneBox } from './zone-box';

const errorAt = (field: Field): string | undefined => outcome.value.wrong.find((wrong) => wrong.field === field)?.message;

const numbered = (names: readonly string[]) => names.map((label, at) => ({ value: String(at + 1), label }));

function Zone() {
  const own = ownZone();
  const { zone } = settings.value;
  return (
    <div class="zone">
      <ZoneBox value={zone} error={errorAt('zone')} onChange={(chosen) => change({ zone: chosen })} help="Type a part of its name, such as york or kolk."
        label={<>Time zone, an <Term means="A name in the public list of time zones, kept up to date whenever a government changes its clocks. It knows summer time; an offset such as −05:00 does not.">IANA name</Term></>} />
      <button type="button" class="button small" onClick={() => change({ zone: own })}>Mine: {own}</button>
    </div>
  );
}

function Anchors() {
  const { unit, day, weekday, month, time } = settings.value;
  const has = anchorsOf(unit);
  return (
    <>
      {has.includes('weekday') && <SelectField label="First day of the week" value={String(weekday)} options={numbered(WEEKDAYS)} error={errorAt('weekday')} onChange={(value) => change({ weekday: Number(value) })} />}
      {has.includes('month') && <SelectField label="First month" value={String(month)} options={numbered(MONTHS)} error={errorAt('month')} onChange={(value) => change({ month: Number(value) })} />}
      {has.includes('day') && <NumberField label="First day" value={day} min={-99} max={99} step="any" error={errorAt('day')} help="1 to 31" onChange={(value) => change({ day: value })} />}
      <TextField label="At, local time" value={time} error={errorAt('time')} help="HH:MM or HH:MM:SS" onChange={(value) => change({ time: value.trim() })} />
    </>
  );
}

/** As it is written everywhere, where it is a date and time; as it was typed, where it is not. */
function normal(text: string): string {
  const at = instantOf(text);
  return at === null || Number.isNaN(at) ? text.trim() : typed(at);
}

function From() {
  const { from } = settings.value;
  return (
    <div class="from">
      <TextField label="From, in UTC" value={from} placeholder={`now: ${typed(now.value - (now.value % 60_000)).replace('T', ' ')}`} error={errorAt('from')}
        help="Empty for now, or 2021-03-11 12:00" onChange={(value) => change({ from: normal(value) })} />
      <button type="button" class="button small" onClick={() => change({ from: '' })}>Now</button>
    </div>
  );
}

/** The specification as one would write it in code. */
function Code() {
  const spec = Object.entries(shortSpec(settings.value)).map(([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`);
  return <code class="spec">{`period: { ${spec.join(', ')} }`}</code>;
}

export function Controls() {
  const { chart } = outcome.value;
  const { unit, zone } = settings.value;
  return (
    <section class="panel controls" aria-labelledby="calendar-controls">
      <h2 id="calendar-controls" class="unseen">The calendar</h2>
      <div class="chosen" key={edition.value}>
        <Zone />
        <div class="field unit-field">
          <Segmented label="Unit" options={UNITS.map((value) => ({ value, label: value }))} value={unit} onChange={(value) => change({ unit: value })} />
          {errorAt('unit') && <p class="error" role="alert">{errorAt('unit')}</p>}
        </div>
        <Anchors />
        <From />
      </div>
      <div class="rule">
        <p>{chart ? ruleWords(chart) : `There are no periods to show for ${cityOf(zone) || 'this zone'} as long as a field is wrong.`}</p>
        <Code />
      </div>
    </section>
  );
}
