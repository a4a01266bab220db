// What the world is made of. Changing it begins a new run.

import { NumberField, SelectField } from '../../parts/field';
import { Slider } from '../../parts/slider';
import { count, number } from '../../format';
import { BOUNDS, burstOf, ceilingOf, ON_ERROR, type Pattern } from './run';
import type { Store } from './store';

const PATTERN_LABELS: Record<Pattern, string> = {
  random: 'anywhere, at random',
  bursts: 'bursts at each boundary',
  moving: 'moves on every 5 s',
  one: 'all at PoP 1',
};

const ON_ERROR_LABELS = { closed: 'closed: refuse', open: 'open: let through', local: 'local: a part each' };

export function Setup({ store }: { store: Store }) {
  const run = store.run.value;
  const isWindow = run.counts === 'window';
  const perWindow = (run.per_minute * run.window_s) / 60;
  const patterns = (Object.keys(PATTERN_LABELS) as Pattern[]).filter((pattern) => isWindow || pattern !== 'bursts');
  return (
    <details class="setup panel">
      <summary><h2>Set up your own</h2> <span class="help">{count(run.skews_ms.length, 'PoP')}, limit {number(run.limit)} {isWindow ? `in ${run.window_s} s` : 'a month'}, {count(run.per_minute, 'request')} a minute</span></summary>
      <p class="help">A change begins a new run, from 0:00, with the same mishaps.</p>
      <div class="fields">
        <Slider label="PoPs" value={run.skews_ms.length} min={BOUNDS.pops[0]} max={BOUNDS.pops[1]} text={(pops) => String(pops)} onChange={(pops) => store.resize(pops)} />
        <SelectField label="The limit is for" value={run.counts} options={[{ value: 'window', label: 'a window' }, { value: 'month', label: 'a calendar month' }]}
          onChange={(counts) => store.change(counts === 'month' ? { counts, limit: 1_000, per_minute: 1_000, end_s: 180, pattern: 'random' } : { counts, limit: 60, per_minute: 200, end_s: 600 })} />
        <NumberField label="Limit" value={run.limit} min={BOUNDS.limit[0]} max={BOUNDS.limit[1]} unit="units" onChange={(limit) => store.change({ limit })} />
        {isWindow && <NumberField label="Window" value={run.window_s} min={BOUNDS.window_s[0]} max={BOUNDS.window_s[1]} unit="s" onChange={(window_s) => store.change({ window_s, end_s: window_s * 10 })} />}
        {isWindow && <NumberField label="Tolerance" value={run.tolerance_ppm / 10_000} min={0} max={100} step="any" unit="%" help={`${number((ceilingOf(store.player.frame.value) ?? run.limit) - run.limit)} units may be handed out ahead of need. So far the limit can be passed, and so PoPs ask less often.`}
          onChange={(percent) => store.change({ tolerance_ppm: Math.round(percent * 10_000) })} />}
        <NumberField label="Requests" value={run.per_minute} min={BOUNDS.per_minute[0]} max={BOUNDS.per_minute[1]} unit="a minute" help={isWindow ? `${number(perWindow / run.limit)} times the limit.${run.pattern === 'bursts' && burstOf(run) === BOUNDS.burst ? ` At most ${number(BOUNDS.burst)} in one burst.` : ''}` : undefined} onChange={(per_minute) => store.change({ per_minute })} />
        <SelectField label="They come" value={run.pattern} options={patterns.map((value) => ({ value, label: PATTERN_LABELS[value] }))} onChange={(pattern) => store.change({ pattern })} />
        {isWindow && <SelectField label="No Ledger in reach" help="The policy's on_error: what a PoP does meanwhile." value={run.on_error} options={ON_ERROR.map((value) => ({ value, label: ON_ERROR_LABELS[value] }))} onChange={(on_error) => store.change({ on_error })} />}
        <NumberField label="To the Ledger, one way" value={run.latency_ms} min={BOUNDS.latency_ms[0]} max={BOUNDS.latency_ms[1]} unit="ms" onChange={(latency_ms) => store.change({ latency_ms })} />
        <NumberField label="… at random on top" value={run.jitter_ms} min={BOUNDS.jitter_ms[0]} max={BOUNDS.jitter_ms[1]} unit="ms" onChange={(jitter_ms) => store.change({ jitter_ms })} />
        <NumberField label="Messages lost" value={run.loss_ppm / 10_000} min={0} max={30} step="any" unit="%" onChange={(percent) => store.change({ loss_ppm: Math.round(percent * 10_000) })} />
        <NumberField label="Clocks drift by up to" value={run.drift_ppm} min={0} max={100_000} unit="ppm" onChange={(drift_ppm) => store.change({ drift_ppm })} />
        <NumberField label="Seed" value={run.seed} min={BOUNDS.seed[0]} max={BOUNDS.seed[1]} help="All that is random follows from it." onChange={(seed) => store.change({ seed })} />
      </div>
    </details>
  );
}
