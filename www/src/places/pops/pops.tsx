// Many points of presence, one limit, no shared clock.

import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { announce, Announcer } from '../../parts/announce';
import { Term } from '../../parts/term';
import { place, query, visits } from '../../route';
import { reducedMotion } from '../../theme';
import { Books } from './books';
import { Chart } from './chart';
import { Counters } from './counters';
import { Lanes } from './lanes';
import { Legend } from './legend';
import { Log } from './log';
import { Setup } from './setup';
import { Store } from './store';
import { Stories } from './story';
import { Mishaps, Transport } from './transport';
import { Ways } from './ways';

export function Pops() {
  const store = useMemo(() => new Store(query.peek()), []);
  const opened = useRef(visits.peek());
  useEffect(() => {
    // Where less motion is asked for, it begins when it is told to.
    if (!reducedMotion.peek()) store.player.play();
    return () => store.close();
  }, []);
  useSignalEffect(() => {
    if (visits.value === opened.current || place.peek() !== 'pops') return;
    opened.current = visits.value;
    store.reopen(query.peek());
  });
  const frame = store.player.frame.value;
  const isOver = frame !== null && frame.now_ms >= store.player.end;
  useEffect(() => {
    if (isOver) announce('The run is over.');
  }, [isOver]);
  const run = store.run.value;
  return (
    <div class="place pops">
      <header>
        <h1>Many PoPs, one limit, no shared clock</h1>
        <p class="lead">Requests arrive at many{' '}
          <Term means="Point of presence: one of the data centres at the edge of the network. Each has machines, and clocks, of its own.">PoPs</Term>, and their clocks disagree. A limiter that compares
          timestamps of different machines lets too much through. sluicegate counts instead: one{' '}
          <Term means="The object that owns a limit: a Durable Object, which is a small program with storage of its own that runs in one place. There is one in the world for the limit; it opens the epochs and says how much each PoP may let through.">Ledger</Term> opens numbered windows and hands out caps, and no clock is ever compared with another.</p>
      </header>
      <Stories store={store} />
      {store.player.fault.value && <p class="error" role="alert">This run cannot begin: {store.player.fault.value}</p>}
      <section class="stage" aria-label="The run">
        <Transport store={store} />
        <div class="axis">
          {frame && <Legend frame={frame} run={run} />}
          <div class="axis-plot">
            <p class="help axis-title">Units let through in the open {run.counts}, over true time (min:s)</p>
            <Chart store={store} />
          </div>
        </div>
        <Lanes store={store} />
        <Mishaps store={store} />
        {frame && <Counters frame={frame} run={run} />}
        {frame && <Ways frame={frame} run={run} />}
        <p class="help note">All decide the same requests under the same clocks, and all are measured by the Ledger's windows. The shared {run.counts === 'window' ? 'bucket' : 'counter'} has it easy: it is reached at once from everywhere, never lost and never cut off, so what it lets through too much is due to the clocks. {run.counts === 'window' && `A bucket with one right clock may show up to ${2 * run.limit} in one window, and does in the first: it begins full, and refills meanwhile.`} Each PoP alone needs no wrong clock to be wrong.</p>
      </section>
      {frame && <Books books={frame.books} />}
      <Setup store={store} />
      <Log store={store} />
      <Announcer />
    </div>
  );
}
