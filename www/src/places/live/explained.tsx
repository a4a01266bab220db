// One answer, verbatim, and what each part of it says.

import { useEffect, useState } from 'preact/hooks';
import { TIME_LIMIT_MS } from './ask';
import { resultParts } from './checked';
import { readFields } from './fields';
import { Mark } from './mark';
import { Fields, Parts, ProblemWords } from './parts';
import type { Sample } from './sample';
import { isRunning, shown } from './sender';
import { wholeAgain } from './state';
import { heldAnswer, latest } from './view';
import { OUTCOME, preciseTime } from './words';
import { duration } from '../../format';

/** What can be read has to stay for a moment: while a run goes on, not every answer is shown. */
const STAY_MS = 1_500;

function useCalm(): Sample | null {
  const [sample, setSample] = useState<Sample | null>(latest.peek());
  const [sinceMs, setSince] = useState(0);
  void shown.value;
  const newest = latest.value;
  const isOn = isRunning();
  useEffect(() => {
    if (newest === sample) return undefined;
    const wait = isOn && newest !== null ? Math.max(0, sinceMs + STAY_MS - performance.now()) : 0;
    const take = () => {
      setSample(newest);
      setSince(performance.now());
    };
    if (wait === 0) return take();
    const timer = setTimeout(take, wait);
    return () => clearTimeout(timer);
  }, [newest, isOn, sample, sinceMs]);
  return sample;
}

export function Explained() {
  const calm = useCalm();
  const sample = heldAnswer.value ?? calm;
  if (!sample) return null;
  return (
    <section class="live-section" aria-labelledby="live-explained" data-explained={sample.id}>
      <div class="live-explained-head">
        <h2 id="live-explained">{heldAnswer.value ? `The answer of ${preciseTime(sample.endMs)}` : 'The last answer, part by part'}</h2>
        {heldAnswer.value && <button type="button" class="button small" onClick={() => (heldAnswer.value = null)}>Follow the last one again</button>}
      </div>
      <StatusLine sample={sample} />
      {sample.answer && <Body sample={sample} />}
    </section>
  );
}

function StatusLine({ sample }: { sample: Sample }) {
  const { outcome, answer, asked } = sample;
  return (
    <p class="live-status">
      <Mark outcome={outcome} />
      <span><code>{asked}</code>: {answer && !answer.redirects && `HTTP ${answer.status}, `}{verdict(sample)}</span>
    </p>
  );
}

function verdict({ outcome, answer, limits, isCheck }: Sample): string {
  if (answer === null) return `no answer, or none within ${duration(TIME_LIMIT_MS)}`;
  if (answer.redirects) return 'let through, and sent elsewhere by what is behind the limiter';
  if (outcome === 'error') return 'neither let through nor refused by a limit';
  if (outcome === 'allowed' && limits.length === 0 && !isCheck) return 'let through, and not counted: no policy holds for it';
  return `${OUTCOME[outcome].title.toLowerCase()}, ${OUTCOME[outcome].says}`;
}

function Body({ sample: { answer, problem, limits, isCheck } }: { sample: Sample }) {
  if (!answer) return null;
  if (answer.redirects) return <p class="quiet">A page cannot look into an answer that is a redirect, nor does this one follow it.</p>;
  const { known, others } = readFields(answer.fields, wholeAgain);
  const results = isCheck ? limits.filter(({ policy }) => policy !== '') : [];
  return (
    <div class="live-anatomy">
      <div class="live-stack">
        <h3>Header fields</h3>
        <Fields readings={known} />
        {others.length > 0 && <details class="live-others"><summary>{others.length} more, which say nothing about limits</summary><ul>{others.map((line) => <li key={line}><code>{line}</code></li>)}</ul></details>}
      </div>
      <div class="live-stack">
        <h3>Body</h3>
        {problem ? <ProblemWords problem={problem} status={answer.status} /> : results.length > 0 ? results.map((limit) => <Parts key={limit.policy} parts={resultParts(limit)} />) : <p class="quiet">The answer of what is behind the limiter; it says nothing about limits.</p>}
      </div>
    </div>
  );
}
