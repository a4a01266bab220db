// Many points of presence, one limit, no shared clock.

import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Announcer } from '../../parts/announce';
import { Term } from '../../parts/term';
import { query } from '../../route';
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
  const opened = useRef(query.peek());
  useEffect(() => {
    // Where less motion is asked for, it begins when it is told to.
    if (!reducedMotion.peek()) store.player.play();
    return () => store.close();
  }, []);
  useSignalEffect(() => {
    if (query.value === opened.current) return;
    opened.current = query.value;
    store.reopen(query.value);
  });
  const frame = store.player.frame.value;
  const run = store.run.value;
  return (
    <div class="place pops">
      <header>
        <h1>Many PoPs, one limit, no shared clock</h1>
        <p class="lead">Requests arrive at many{' '}
          <Term means="Point of presence: one of the data centres at the edge of the network. Each has machines, and clocks, of its own.">PoPs</Term>, and their clocks disagree. A limiter that compares
          timestamps of different machines lets too much through, or nothing. sluicegate counts instead: one{' '}
          <Term means="The object that owns a limit. There is one in the world for it; it opens the epochs and says how much each PoP may let through.">Ledger</Term> opens numbered windows and hands out caps, and no clock is ever compared with another.</p>
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
        <p class="help note">The same requests, the same clocks, the same mishaps for all of them. The two at the top have it easy: what they share is reached at once from everywhere, never lost and never cut off. So what they let through too much is due to the clocks alone.</p>
      </section>
      {frame && <Books books={frame.books} />}
      <Setup store={store} />
      <Log store={store} />
      <Announcer />
    </div>
  );
}
