// The place "Two clocks": two questions, two clocks, and three limiters that read them.

import { useEffect } from 'preact/hooks';
import { Announcer } from '../../parts/announce';
import { Term } from '../../parts/term';
import { query } from '../../route';
import { Code } from './code';
import { LastDecision } from './decision';
import { Effects } from './effects-view';
import { Figures } from './figures';
import { Hands } from './hands-view';
import { Levels } from './levels-view';
import { Log } from './log';
import { Moves } from './moves-view';
import { OptionsPanel } from './options-view';
import { isOpen, open, pause } from './state';
import { Stories, Telling } from './stories-view';
import { useTicker } from './ticker';

function Questions() {
  return (
    <div class="clocks-questions">
      <section>
        <h2>How long since?</h2>
        <p>A duration, by which a bucket refills. It needs the <Term means="Counts milliseconds since some start; performance.now() in JavaScript. Nobody can set it, and it knows no date.">monotonic clock</Term>,
          which nobody can set. That one stands still while the machine sleeps.</p>
      </section>
      <section>
        <h2>Which month is it?</h2>
        <p>A date, by which a quota starts again. It needs the <Term means="Shows the date and time; Date.now() in JavaScript. NTP, an operator or a flat battery may set it, in either direction.">wall clock</Term>,
          which anybody can set: a time server, an operator, a flat battery.</p>
      </section>
      <section>
        <h2>And when they disagree?</h2>
        <p>A wall that ran ahead was set, or the machine slept: both look the same. QuotaClock keeps the two apart, says which one answered, and lets you
          choose what to believe.</p>
      </section>
    </div>
  );
}

function Room() {
  useTicker();
  return (
    <>
      <div class="clocks-room">
        <Stories />
        <div class="clocks-stage">
          <Telling />
          <Hands />
          <Moves />
          <Levels />
          <Effects />
        </div>
        <OptionsPanel />
      </div>
      <Figures />
      <div class="clocks-pair">
        <LastDecision />
        <Log />
      </div>
      <Code />
    </>
  );
}

export function Clocks() {
  const asked = query.value;
  useEffect(() => open(asked), [asked]);
  useEffect(() => pause, []);
  return (
    <div class="place clocks">
      <header>
        <h1>Two clocks</h1>
        <p class="lead">A rate limiter asks the clock two questions, and one clock cannot answer both. Set the clocks, put the machine to sleep, and see what
          three limiters make of the same readings.</p>
      </header>
      <Questions />
      {isOpen.value && <Room />}
      <Announcer />
    </div>
  );
}
