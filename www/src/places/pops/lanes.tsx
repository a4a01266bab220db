// A lane for each point of presence, and one for the Ledger: its clock, its epoch, its cap, what it waits for.

import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Frame, Held, MachineFrame, PopFrame } from '../../simulator';
import { clockTime, count, number, offset } from '../../format';
import { Slider } from '../../parts/slider';
import { Term } from '../../parts/term';
import { colours } from '../../theme';
import { BOUNDS, sampleMs, type Target } from './run';
import { Strip, stripColours } from './strip';
import type { Store } from './store';

/** Fine near zero and an hour at the ends. */
const BEND = 12;
const REACH = 100;
const toPosition = (ms: number) => (Math.sign(ms) * REACH * Math.log1p((Math.abs(ms) / BOUNDS.skew_ms[1]) * Math.expm1(BEND))) / BEND;
function fromPosition(position: number): number {
  const ms = (Math.expm1((Math.abs(position) / REACH) * BEND) / Math.expm1(BEND)) * BOUNDS.skew_ms[1];
  // Finer than one press of an arrow key moves it, or the key would do nothing.
  const round = ms < 300 ? 1 : ms < 3_000 ? 10 : ms < 60_000 ? 100 : 1_000;
  return Math.sign(position) * Math.round(ms / round) * round;
}

/** Which of the two worlds the lanes show. */
const heldBy = (pop: PopFrame): Held => pop.tolerant ?? pop.exact;

function waits(pop: PopFrame): string {
  const held = heldBy(pop);
  if (pop.cut_off) return 'waits for the network: cut off';
  if (pop.instances === 0) return 'not in memory: idle';
  if (held.waiting > 0) return `${count(held.waiting, 'request')} wait${held.waiting === 1 ? 's' : ''} for the Ledger`;
  if (held.out_of_reach) return 'waits for a Ledger in reach';
  if (held.full) return pop.tolerant === null ? 'waits for the next month' : 'waits for the next epoch';
  if (held.asking) return 'asks the Ledger';
  return held.epoch === null ? 'waits for its first request' : 'waits for nothing';
}

const clockState = ({ clock_frozen, object_frozen }: MachineFrame): string | null =>
  clock_frozen ? 'stands still' : object_frozen ? 'its timers stand still' : null;

/** Epochs count windows since 1970; the last digits are enough to tell them apart. */
const epochText = (epoch: number | null): string => (epoch === null || epoch === 0 ? 'none yet' : epoch > 99_999 ? `…${String(epoch % 100_000).padStart(5, '0')}` : String(epoch));

function Canvas({ store, index }: { store: Store; index: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const strip = useRef<Strip | null>(null);
  const { player } = store;
  const history = useRef(player.history);

  const begin = () => {
    const element = canvas.current;
    if (!element) return;
    const run = store.run.peek();
    history.current = player.history;
    strip.current = new Strip(element, Math.ceil((run.end_s * 1_000) / sampleMs(run)), stripColours(run.counts === 'window' ? '--tolerant' : '--exact'));
  };
  const draw = () => {
    if (history.current !== player.history) begin();
    const run = store.run.peek();
    const pop = player.history.pops[index];
    const usual = (run.per_minute / 60_000) * sampleMs(run) / run.skews_ms.length;
    if (pop) strip.current?.draw(pop, Math.max(2, Math.ceil(usual * 3)));
  };
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const again = () => {
      begin();
      draw();
    };
    const observer = new ResizeObserver(again);
    observer.observe(element);
    return () => observer.disconnect();
  }, [colours.value]);
  useSignalEffect(() => {
    void player.drawn.value;
    draw();
  });
  return <canvas ref={canvas} class="strip" role="presentation" />;
}

interface HandProps {
  store: Store;
  target: Target;
  name: string;
  wall_ms: number;
  ahead_ms: number;
  state: string | null;
}

/** Who it is, what its clock shows, and the hand that sets it. */
function Hand({ store, target, name, wall_ms, ahead_ms, state }: HandProps) {
  const chosen = store.target.value === target;
  return (
    <div class="hand">
      <button type="button" class="who" aria-pressed={chosen} onClick={() => (store.target.value = target)}>{name}</button>
      <span class="clock" data-ahead={ahead_ms}>{clockTime(wall_ms)}{state && <em> {state}</em>}</span>
      <Slider label={`How far the clock of ${name} is ahead`} hideLabel value={ahead_ms} min={BOUNDS.skew_ms[0]} max={BOUNDS.skew_ms[1]} step={0.5}
        toPosition={toPosition} fromPosition={fromPosition} text={offset} onChange={(ms) => store.skew(target, ms, ahead_ms)} />
    </div>
  );
}

function Cap({ held, quota }: { held: Held; quota: boolean }) {
  const most = Math.max(held.cap, 1);
  return (
    <>
      <span class="cap">used <b data-taken={held.taken}>{number(held.taken)}</b> of {quota ? 'leases' : 'cap'} <b data-cap={held.cap}>{number(held.cap)}</b></span>
      <meter min={0} max={most} value={Math.min(held.taken, most)} aria-label={`${held.taken} of ${held.cap} used`} />
    </>
  );
}

function Lane({ store, index, pop, epoch }: { store: Store; index: number; pop: PopFrame; epoch: number }) {
  const held = heldBy(pop);
  const quota = pop.tolerant === null;
  const behind = held.epoch !== null && held.epoch < epoch;
  return (
    <li class="lane" data-pop={index}>
      <Hand store={store} target={index} name={`PoP ${index + 1}`} wall_ms={pop.wall_ms} ahead_ms={pop.ahead_ms} state={clockState(pop)} />
      <Canvas store={store} index={index} />
      <div class="holds">
        <span class="epoch">{quota ? 'serial' : 'epoch'} <b data-epoch={held.epoch ?? ''}>{epochText(held.epoch)}</b>{behind && <em> (the last one)</em>}</span>
        <Cap held={held} quota={quota} />
        <span class="waits">{waits(pop)}</span>
      </div>
    </li>
  );
}

function LedgerLane({ store, frame }: { store: Store; frame: Frame }) {
  const { ledger } = frame;
  return (
    <li class="lane ledger">
      <Hand store={store} target="ledger" name="Ledger" wall_ms={ledger.wall_ms} ahead_ms={ledger.ahead_ms} state={clockState(ledger)} />
      <p class="strip quiet">
        {ledger.cut_off ? 'Cut off: nobody hears of it.' : 'Its clock alone opens epochs. The PoPs are told which one is open, and never compute it.'}
      </p>
      <div class="holds"><span>opened {frame.books.length ? 'serial' : 'epoch'} <b data-ledger-epoch={ledger.epoch}>{epochText(ledger.epoch)}</b></span></div>
    </li>
  );
}

export function Lanes({ store }: { store: Store }) {
  const frame = store.player.frame.value;
  if (!frame) return null;
  return (
    <section class="lanes" aria-labelledby="lanes-title">
      <header>
        <h2 id="lanes-title">Every PoP with a clock of its own</h2>
        <p class="help">{frame.totals.tolerant && 'Of sluicegate with its tolerance. '}Bars up are requests that were let through, bars down were refused (red: the Ledger was out of reach). The band beneath shows the{' '}
          <Term means="A window, by its number. The Ledger opens it on its own clock and stores it before it tells anyone; a PoP files each request under the largest number it was told.">epoch</Term>{' '}
          the PoP counts in, in two shades by turns; red: cut off; dots: its clock or its timers stand still. A{' '}
          <Term means="The most that this PoP may have let through in the epoch. It grows when the PoP asks; the sum of all caps never passes the limit and its tolerance.">cap</Term>{' '}
          is all a PoP needs to decide alone.</p>
      </header>
      <ol>
        {frame.pops.map((pop, index) => <Lane key={index} store={store} index={index} pop={pop} epoch={frame.ledger.epoch} />)}
        <LedgerLane store={store} frame={frame} />
      </ol>
    </section>
  );
}
