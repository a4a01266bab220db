import type { ComponentChildren } from 'preact';
import { duration } from '../../format';
import { Segmented } from '../../parts/segmented';
import { Term } from '../../parts/term';
import type { Move } from './moves';
import { begin, isFull, move, pause, play, playing, speed, SPEEDS, stage } from './state';

const HOUR = 3_600_000;
const DAY_MS = 24 * HOUR;

function Do({ made, children }: { made: Move; children: ComponentChildren }) {
  return <button type="button" class="button" disabled={isFull.value} onClick={() => move(made)}>{children}</button>;
}

function Group({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="clocks-moves-group" role="group" aria-label={label}>
      <p aria-hidden="true">{label}</p>
      <div class="buttons">{children}</div>
    </div>
  );
}

/** Short, and not another one with every tick. */
const roughly = (ms: number): string => (ms >= 2 * DAY_MS ? `${Math.floor(ms / DAY_MS)} d` : duration(Math.ceil(ms / 1_000) * 1_000));

/** Five seconds before the period that the wall shows. */
function overTheBoundary(): number {
  const { run } = stage.value;
  return run.shownPeriod.startMs - 5_000 - run.clock.wallMs();
}

const SLEWS = [{ value: '-400', label: '−400 ppm' }, { value: '0', label: 'none' }, { value: '400', label: '+400 ppm' }] as const;

function Slew() {
  const { run } = stage.value;
  const chosen = SLEWS.find(({ value }) => value === String(run.slewPpm))?.value ?? '0';
  return <Segmented label="Slew" hideLabel small options={SLEWS} value={chosen} onChange={(value) => move({ kind: 'slew', ppm: Number(value) })} />;
}

export function Moves() {
  const { run } = stage.value;
  const over = overTheBoundary();
  return (
    <section class="clocks-moves" aria-label="What to do to the clocks">
      <Group label="Time goes by">
        <button type="button" class="button main" disabled={isFull.value} onClick={() => (playing.value ? pause() : play())}>{playing.value ? 'Pause' : 'Play'}</button>
        <Segmented label="Speed" hideLabel small options={SPEEDS.map((value) => ({ value, label: `${value}×` }))} value={speed} />
        <Do made={{ kind: 'advance', ms: 1_000 }}>+1 s</Do>
        <Do made={{ kind: 'advance', ms: 10_000 }}>+10 s</Do>
      </Group>
      <Group label="Set the wall clock">
        <Do made={{ kind: 'step', ms: -250 }}>−250 ms</Do>
        <Do made={{ kind: 'step', ms: -HOUR }}>−1 h</Do>
        <Do made={{ kind: 'step', ms: HOUR }}>+1 h</Do>
        <Do made={{ kind: 'step', ms: over }}>Back over the boundary, −{roughly(-over)}</Do>
      </Group>
      <Group label="The machine">
        <Do made={{ kind: 'suspend', ms: 6 * HOUR }}>Sleep 6 h</Do>
      </Group>
      <div class="clocks-moves-group">
        <p><Term means="A time server that finds the clock a little off does not set it but lets it run faster or slower for a while, by some hundred millionths.">Slew</Term> the wall</p>
        <Slew />
      </div>
      <Group label="Requests">
        <Do made={{ kind: 'send', requests: 1 }}>Send 1</Do>
        <Do made={{ kind: 'send', requests: 10 }}>Send 10</Do>
      </Group>
      <Group label="Again">
        <button type="button" class="button" onClick={() => begin(run.options)}>Start afresh</button>
      </Group>
      {isFull.value && <p class="help" role="status">This run is as long as it may be. Start afresh to go on.</p>}
    </section>
  );
}
