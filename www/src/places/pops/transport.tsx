// Play, pause, and what goes wrong.

import { useSignal } from '@preact/signals';
import { duration, stopwatch } from '../../format';
import { Button } from '../../parts/button';
import { SelectField } from '../../parts/field';
import { Segmented } from '../../parts/segmented';
import { Term } from '../../parts/term';
import { nameOf } from './run';
import { SPEEDS, type Speed } from './player';
import type { Store } from './store';

const STEPS_MS = [-3_600_000, -60_000, -900, -250, 250, 900, 60_000, 3_600_000] as const;
const LONG_MS = [5_000, 30_000, 90_000] as const;

export function Transport({ store }: { store: Store }) {
  const { player } = store;
  void player.drawn.value;
  const playing = player.playing.value;
  const over = player.now >= player.end;
  const press = () => {
    if (over) store.again();
    if (playing) player.stop();
    else player.play();
  };
  return (
    <div class="transport">
      <div class="buttons">
        <Button main onPress={press}>{over ? 'Play again' : playing ? 'Pause' : 'Play'}</Button>
        <Button idle={over || player.skipping.value} onPress={() => player.skip()}>To the end</Button>
        <Button idle={player.now === 0} onPress={() => store.again()}>From the start</Button>
      </div>
      <p class="time"><span class="unseen">True time since the start: </span><span data-now={player.now}>{stopwatch(player.now)}</span> <span class="quiet">of {stopwatch(player.end)}</span></p>
      <Segmented label="Speed" hideLabel small options={SPEEDS.map((speed) => ({ value: String(speed), label: `${speed}×` }))} value={String(player.speed.value)}
        onChange={(chosen) => (player.speed.value = Number(chosen) as Speed)} />
    </div>
  );
}

export function Mishaps({ store }: { store: Store }) {
  const step = useSignal<string>('-60000');
  const long = useSignal<string>('30000');
  const target = store.target.value;
  const run = store.run.value;
  const over = store.player.end <= store.player.now;
  void store.player.frame.value;
  const machines = [...run.skews_ms.map((_, at) => ({ value: String(at), label: nameOf(at) })), { value: 'ledger', label: 'the Ledger' }];
  const stepName = (ms: number) => `${ms < 0 ? 'back' : 'ahead'} ${duration(ms)}`;
  return (
    <section class="mishaps" aria-labelledby="mishaps-title">
      <h2 id="mishaps-title">Break something</h2>
      <div class="fields">
        <SelectField label="At" value={String(target)} options={machines} onChange={(who) => (store.target.value = who === 'ledger' ? 'ledger' : Number(who))} />
        <div class="with-button">
          <SelectField label="Its clock steps" value={step.value} options={STEPS_MS.map((ms) => ({ value: String(ms), label: stepName(ms) }))} onChange={(ms) => (step.value = ms)} />
          <Button idle={over} onPress={() => store.befall({ kind: 'step', target, ms: Number(step.value) })}>Step</Button>
        </div>
        <div class="with-button">
          <SelectField label="For" value={long.value} options={LONG_MS.map((ms) => ({ value: String(ms), label: duration(ms) }))} onChange={(ms) => (long.value = ms)} />
          <Button idle={over} onPress={() => store.befall({ kind: 'freeze', target, ms: Number(long.value) })}>Freeze its clock</Button>
          <Button idle={over} onPress={() => store.befall({ kind: 'cut', target, ms: Number(long.value) })}>Cut it off</Button>
        </div>
        <div class="with-button">
          <Button idle={over} onPress={() => store.befall({ kind: 'crash', target, ms: 0 })}>Crash</Button>
          {run.mishaps.length > 0 && <Button onPress={() => store.change({ mishaps: [] })}>Begin again without mishaps</Button>}
        </div>
      </div>
      <p class="help">A <Term means="The wall clock is set: it jumps, forward or back, as when NTP corrects it or a machine is moved to another host.">step</Term> back makes the clock of a Durable Object stand still, and its timers with it, until
        the wall has caught up. A crash loses what was in memory. What you do is part of the address: send it to somebody, and the same happens there.</p>
    </section>
  );
}
