import { NumberField, CheckField, TextField } from '../../parts/field';
import { Segmented } from '../../parts/segmented';
import { Slider } from '../../parts/slider';
import { BOUNDS, MARKS, POLICIES, RATES, UNITS, type Options } from './options';
import { change, stage, wrong } from './state';

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

const BELIEVES = { ignore: 'believes the monotonic clock', credit: 'believes the wall', refuse: 'throws, once a jump' } as const;
const KEEPS = { now: 'lastRefill = now', max: 'lastRefill = max(lastRefill, now)' } as const;
const STARTS = [{ value: 'middle', label: 'in its middle' }, { value: 'end', label: '30 s before its end' }] as const;

type Counted = 'capacity' | 'refillPerSecond' | 'quotaLimit' | 'toleranceMs';

function Count({ name, label, step = 1 }: { name: Counted; label: string; step?: number }) {
  const [min, max] = BOUNDS[name];
  return <NumberField label={label} min={min} max={max} step={step} value={stage.value.run.options[name]} onChange={(value) => change({ [name]: value })} />;
}

function Rate({ options }: { options: Options }) {
  const at = (rate: number) => RATES.findIndex((known) => known === rate);
  return (
    <Slider label="Requests a second" value={options.requestsPerSecond} min={0} max={RATES.at(-1) ?? 0} toPosition={at} fromPosition={(position) => RATES[position] ?? 0}
      text={(rate) => (rate === 0 ? 'by hand' : String(rate))} onChange={(requestsPerSecond) => change({ requestsPerSecond })} />
  );
}

/** Everything that a run is made with. */
export function OptionsPanel() {
  const { options } = stage.value.run;
  return (
    <section class="clocks-options" aria-labelledby="clocks-options">
      <h2 id="clocks-options">Options</h2>
      <p class="help">A change plays the same moves again under the new options.</p>
      <Segmented label="suspendPolicy" small options={POLICIES.map((value) => ({ value, label: value }))} value={options.policy} onChange={(policy) => change({ policy })}
        help={`Where the wall ran ahead and no reader can tell why, QuotaClock ${BELIEVES[options.policy]}.`} />
      <CheckField label="A reader" checked={options.reader} onChange={(reader) => change({ reader })} help="A third clock that goes on in a sleep. Asked only when the other two disagree." />
      <Rate options={options} />
      <div class="clocks-options-pair">
        <Count name="capacity" label="Capacity, tokens" />
        <Count name="refillPerSecond" label="Refill a second" step={0.1} />
        <Count name="quotaLimit" label={`Quota a ${options.unit}`} />
        <Count name="toleranceMs" label="Tolerance, ms" />
      </div>
      <Segmented label="Period" small options={UNITS.map((value) => ({ value, label: value }))} value={options.unit} onChange={(unit) => change({ unit })} />
      <Segmented label="The wall begins" small options={STARTS} value={options.start} onChange={(start) => change({ start })} />
      <TextField label="Time zone of the quota" options={zones} value={options.zone} error={wrong.value.zone} onChange={(zone) => change({ zone })} />
      <Segmented label="The wall bucket keeps" small options={MARKS.map((value) => ({ value, label: value === 'now' ? 'now' : 'the larger' }))} value={options.mark} onChange={(mark) => change({ mark })}
        help={<>As people write it: <code>{KEEPS[options.mark]}</code></>} />
    </section>
  );
}
