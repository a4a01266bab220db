import type { ComponentChildren } from 'preact';
import { offset } from '../../format';
import { Term } from '../../parts/term';
import { handsOf, place, sinceStart, TICKS, verdict, wallText, type Hand } from './hands';
import { LOOKS } from './lanes';
import type { Lane } from './record';
import { stage } from './state';

interface Look {
  title: string;
  asks: string;
  readBy: readonly Lane[];
}

const HANDS: Record<Hand['name'], Look> = {
  monotonic: { title: 'Monotonic clock', asks: 'How long since?', readBy: ['alone', 'exact'] },
  wall: { title: 'Wall clock', asks: 'Which month is it?', readBy: ['shared', 'exact'] },
  reader: { title: 'Suspend-inclusive', asks: 'And if the machine slept?', readBy: ['exact'] },
};

const percent = (ms: number) => `${place(ms)}%`;

/** A bar from one distance to another, with a head at its end. */
function Track({ from, to }: { from: number; to: number }) {
  const [low, high] = [Math.min(place(from), place(to)), Math.max(place(from), place(to))];
  return (
    <div class="clocks-track" aria-hidden="true">
      {TICKS.map(([ms]) => <i key={ms} class={ms === 0 ? 'zero' : ''} style={{ left: percent(ms) }} />)}
      <span class="arm" style={{ left: `${low}%`, width: `${high - low}%` }} />
      <span class="tip" style={{ left: percent(to) }} />
    </div>
  );
}

interface LineProps {
  name: string;
  title: string;
  note: string;
  reading?: string;
  offMs: number;
  readBy?: readonly Lane[];
  children: ComponentChildren;
}

function Line({ name, title, note, reading, offMs, readBy = [], children }: LineProps) {
  return (
    <div class={`clocks-hand ${name}`} role="row" data-hand={name} data-value={offMs}>
      <div role="rowheader"><strong>{title}</strong> <span class="quiet">{note}</span></div>
      <div role="cell" class="reading">{reading}</div>
      <div role="cell" class="off">{offset(offMs)}</div>
      <div role="cell" class="where">{children}</div>
      <div role="cell" class="readers">{readBy.map((lane) => <span key={lane}><i class={`key is-${lane}`} />{LOOKS[lane].short} </span>)}</div>
    </div>
  );
}

export function Hands() {
  const { run } = stage.value;
  const hands = handsOf(run);
  const [monotonic, wall] = hands;
  return (
    <section class="clocks-hands" aria-labelledby="clocks-hands">
      <header>
        <h2 id="clocks-hands">The hands</h2>
        <p class="quiet">{wallText(run.clock.wallMs(), run.options.zone)} on the wall in {run.options.zone.replaceAll('_', ' ')}</p>
      </header>
      <div role="table" aria-label="Readings of the clocks since the start, and how far each is from the time that really passed">
        <div class="clocks-hand scale" role="row">
          <div role="columnheader"><span class="unseen">Clock</span></div>
          <div role="columnheader" class="reading">Since start</div>
          <div role="columnheader" class="off">Off by</div>
          <div role="columnheader" class="where"><span class="unseen">on a scale</span>
            <div class="clocks-track" aria-hidden="true">{TICKS.map(([ms, text]) => <b key={ms} style={{ left: percent(ms) }}>{text}</b>)}</div>
          </div>
          <div role="columnheader" class="readers">Read by</div>
        </div>
        {hands.map(({ name, readingMs, offMs }) => (
          <Line key={name} name={name} title={HANDS[name].title} note={HANDS[name].asks} reading={sinceStart(readingMs)} offMs={offMs} readBy={HANDS[name].readBy}>
            <Track from={0} to={offMs} />
          </Line>
        ))}
        {monotonic && wall && (
          <Line name="apart" title="Wall less monotonic" note={run.options.reader ? 'seen without the reader' : 'all that a program sees'} offMs={run.apartMs}>
            <Track from={monotonic.offMs} to={wall.offMs} />
          </Line>
        )}
      </div>
      <p class="clocks-verdict">{verdict(run)} <span class="quiet">Distances are from <Term means="The time that really passed, awake and asleep. This page knows it because it moves the hands itself; no program can read it.">true time</Term>, on a scale of logarithms.</span></p>
    </section>
  );
}
