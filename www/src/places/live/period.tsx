import { NumberField, SelectField, TextField } from '../../parts/field';
import { ANCHORS, MONTHS, UNITS, WEEKDAYS, type PeriodDraft } from './draft';

const ZONES: readonly string[] = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];

interface Props {
  period: PeriodDraft;
  faultOf: (path: string) => string | null;
  onChange: (period: PeriodDraft) => void;
}

const numbered = (names: readonly string[]) => names.map((label, at) => ({ value: String(at + 1), label }));

export function PeriodFields({ period, faultOf, onChange }: Props) {
  const set = (more: Partial<PeriodDraft>) => onChange({ ...period, ...more });
  const has = (anchor: (typeof ANCHORS)[typeof period.unit][number]) => ANCHORS[period.unit].includes(anchor);
  return (
    <div class="fields">
      <SelectField label="Unit" value={period.unit} options={UNITS.map((unit) => ({ value: unit, label: unit }))} error={faultOf('period.unit')} onChange={(unit) => set({ unit })} />
      <TextField label="Time zone" value={period.timeZone} options={ZONES} error={faultOf('period.time_zone')} onChange={(timeZone) => set({ timeZone })} />
      {has('anchorMonth') && <SelectField label="Month" value={String(period.anchorMonth)} options={numbered(MONTHS)} onChange={(month) => set({ anchorMonth: Number(month) })} />}
      {has('anchorDay') && <NumberField label="Day" value={period.anchorDay} min={1} max={31} error={faultOf('period.anchor_day')} onChange={(anchorDay) => set({ anchorDay })} help="A month that has no such day begins on its last." />}
      {has('anchorWeekday') && <SelectField label="Weekday" value={String(period.anchorWeekday)} options={numbered(WEEKDAYS)} onChange={(day) => set({ anchorWeekday: Number(day) })} />}
      <TextField label="Time" value={period.anchorTime} placeholder="00:00" error={faultOf('period.anchor_time')} onChange={(anchorTime) => set({ anchorTime })} help="HH:MM, in that zone." />
    </div>
  );
}
