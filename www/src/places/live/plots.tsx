// What was left and how long each answer took, over the last minutes.

import { useMemo } from 'preact/hooks';
import { count, number } from '../../format';
import { Plot } from '../../parts/plot';
import { Segmented } from '../../parts/segmented';
import { Term } from '../../parts/term';
import { Mark } from './mark';
import { latencyOptions, leftOptions } from './pictures';
import { latencies, lineOf } from './record';
import { OUTCOMES } from './sample';
import { recording, shown } from './sender';
import { choice, latestLimit, named, watched } from './view';
import { OUTCOME, shortly } from './words';

export function Plots() {
  const version = shown.value;
  const policy = watched.value;
  const left = useMemo(() => lineOf(recording.samples, policy), [version, policy]);
  const latency = useMemo(() => recording.samples.map(({ endMs, latencyMs }) => [endMs / 1_000, latencyMs] as const), [version]);
  if (recording.samples.length === 0) {
    return (
      <div class="live-empty">
        <p>Nothing has been sent yet. <strong>Send one</strong> request, and its answer stands here: what is left of the limit, what was decided, and how long it took.</p>
      </div>
    );
  }
  return (
    <>
      <Left at={left.at} left={left.left} />
      <Latency at={latency.map(([at]) => at)} latency={latency.map(([, ms]) => ms)} />
      <ul class="live-legend" aria-label="Signs in both pictures">
        {OUTCOMES.map((outcome) => <li key={outcome}><Mark outcome={outcome} /> {OUTCOME[outcome].title.toLowerCase()}: {OUTCOME[outcome].says}</li>)}
      </ul>
    </>
  );
}

function Left({ at, left }: { at: number[]; left: (number | null)[] }) {
  const [policy, limit] = [watched.value, latestLimit.value];
  const told = left.filter((units): units is number => units !== null);
  const least = told.length > 0 ? Math.min(...told) : null;
  const now = limit && limit.remaining !== null ? `${number(limit.remaining)}${limit.limit === null ? '' : ` of ${number(limit.limit)}`}` : null;
  const says = policy === null || now === null ? 'No answer has told what is left of a limit.' : `After the last answer ${now} left of ${policy}; the least was ${number(least ?? 0)}, in ${count(told.length, 'answer')}.`;
  const data = useMemo((): [number[], (number | null)[]] => [at, left], [at, left]);
  return (
    <div class="live-plot">
      <div class="live-plot-head">
        <h3><Term means="How many units of the limit are left, as the answer says it.">Remaining</Term>{policy !== null && <> of {policy}</>}</h3>
        {named.value.length > 1 && policy !== null && (
          <Segmented label="Policy in the picture" hideLabel small options={named.value.map((name) => ({ value: name, label: name }))} value={policy} onChange={(name) => (choice.value = name)} />
        )}
      </div>
      <Plot label={`Remaining units over time. ${says}`} height={210} options={leftOptions} data={data}>
        <span data-left={limit?.remaining ?? ''} data-least={least ?? ''}>{says}{limit?.limit != null && ' The dashed line is the limit.'}</span>
      </Plot>
    </div>
  );
}

function Latency({ at, latency }: { at: number[]; latency: number[] }) {
  const { median, p95 } = latencies(recording.samples);
  const says = median === null || p95 === null ? 'No answer came.' : `Half of the answers took ${shortly(median)} or less, 95 of 100 took ${shortly(p95)} or less.`;
  const data = useMemo((): [number[], number[]] => [at, latency], [at, latency]);
  return (
    <div class="live-plot">
      <div class="live-plot-head">
        <h3>Latency</h3>
        <dl class="live-numbers">
          <div><dt>median</dt><dd data-latency="median" data-value={median ?? ''}>{median === null ? '–' : shortly(median)}</dd></div>
          <div><dt><Term means="95 of 100 answers took no longer than this.">p95</Term></dt><dd data-latency="p95" data-value={p95 ?? ''}>{p95 === null ? '–' : shortly(p95)}</dd></div>
        </dl>
      </div>
      <Plot label={`Latency of each answer. ${says}`} height={150} options={latencyOptions} data={data}>{says} From sending to the answer’s header fields, as this browser saw it; each number up the side is ten times the one below.</Plot>
    </div>
  );
}
