import { signal } from '@preact/signals';
import type uPlot from 'uplot';
import { useMemo, useRef } from 'preact/hooks';
import { number } from '../../format';
import { Plot } from '../../parts/plot';
import { Segmented } from '../../parts/segmented';
import { Term } from '../../parts/term';
import { LOOKS, REAL } from './lanes';
import { pictureOf, type Picture, type Span, type What } from './levels';
import { levelsOptions, STROKES } from './levels-plot';
import { LANES, type Lane } from './record';
import type { Run } from './run';
import { keep, shows, stage } from './state';

const span = signal<Span>('all');
const WHATS = [{ value: 'tokens', label: 'tokens' }, { value: 'quota', label: 'quota' }] as const;
const SPANS = [{ value: 'all', label: 'whole run' }, { value: 'minute', label: 'last minute' }] as const;

function Stroke({ lane }: { lane: keyof typeof STROKES }) {
  const { width, dash } = STROKES[lane];
  return (
    <svg class={`clocks-stroke is-${lane}`} viewBox="0 0 30 8" aria-hidden="true">
      <path d="M1 4h28" stroke-width={width} stroke-dasharray={dash.join(' ') || undefined} />
    </svg>
  );
}

const HEADS: Record<What, string> = { tokens: 'Tokens in each bucket', quota: 'Units used of each quota' };
const valueOf = (run: Run, lane: Lane): number => (shows.value === 'tokens' ? run.level(lane) : run.tallies[lane].used);

function Truth({ value }: { value: number }) {
  const [words, means] = shows.value === 'tokens'
    ? ['What time has paid for', 'A bucket refilled by the time that really passed, under the same requests. A line above the grey has tokens that nothing paid for; a line below it lacks some.']
    : ['By the true date', 'A quota that starts again when the period really ends, under the same requests.'];
  return <li><span class="clocks-stroke area" aria-hidden="true" /><Term means={means}>{words}</Term> <strong>{number(value)}</strong></li>;
}

export function Levels() {
  const now = stage.value;
  const { run } = now;
  const picture = useMemo(() => pictureOf(now.run, shows.value, span.value), [now, shows.value, span.value]);
  const shown = useRef<Picture>(picture);
  shown.current = picture;
  const data = useMemo((): uPlot.AlignedData => {
    const { truth, exact, alone, shared } = picture.levels;
    return [picture.x, truth, exact, alone, shared];
  }, [picture]);
  const words = LANES.map((lane) => `${LOOKS[lane].title} ${number(valueOf(run, lane))}`).join(', ');
  return (
    <section class="clocks-levels" aria-labelledby="clocks-levels">
      <header>
        <h2 id="clocks-levels">{HEADS[shows.value]}</h2>
        <div class="buttons">
          <Segmented label="What is shown" hideLabel small options={WHATS} value={shows.value} onChange={(what) => {
            shows.value = what;
            keep();
          }} />
          <Segmented label="Time shown" hideLabel small options={SPANS} value={span} />
        </div>
      </header>
      <ul class="clocks-legend">
        {REAL.map((lane) => <li key={lane}><Stroke lane={lane} />{LOOKS[lane].short} <strong>{number(valueOf(run, lane))}</strong></li>)}
        <Truth value={valueOf(run, 'truth')} />
      </ul>
      <Plot label={`${HEADS[shows.value]} over true time. Now: ${words}.`} height={280} options={() => levelsOptions(() => shown.current)} data={data}>
        The axis is time that really passed. A sleep is hatched: nothing runs in it, so it takes the same room however long it was.
      </Plot>
    </section>
  );
}
