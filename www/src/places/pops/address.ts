// A run as part of the address, and back. Only what differs from the default is written; what cannot be read is left
// at the default, and bounds hold whatever an address says.

import { BOUNDS, DEFAULT, ON_ERROR, PATTERNS, type Mishap, type Run, type Target } from './run';

const KINDS = ['step', 'freeze', 'cut', 'crash'] as const;

type NumberField = 'limit' | 'window_s' | 'tolerance_ppm' | 'ledger_ms' | 'drift_ppm' | 'per_minute' | 'latency_ms' | 'jitter_ms' | 'loss_ppm' | 'seed' | 'end_s';

const NUMBERS: Record<NumberField, { key: string; within: readonly [number, number] }> = {
  limit: { key: 'limit', within: BOUNDS.limit },
  window_s: { key: 'window', within: BOUNDS.window_s },
  tolerance_ppm: { key: 'tolerance', within: [0, 1_000_000] },
  ledger_ms: { key: 'ledger', within: BOUNDS.skew_ms },
  drift_ppm: { key: 'drift', within: [0, 100_000] },
  per_minute: { key: 'rate', within: BOUNDS.per_minute },
  latency_ms: { key: 'latency', within: BOUNDS.latency_ms },
  jitter_ms: { key: 'jitter', within: BOUNDS.jitter_ms },
  loss_ppm: { key: 'loss', within: BOUNDS.loss_ppm },
  seed: { key: 'seed', within: BOUNDS.seed },
  end_s: { key: 'end', within: BOUNDS.end_s },
};

/** What a mishap's milliseconds can be. */
const RANGES: Record<Mishap['kind'], readonly [number, number]> = {
  step: [-BOUNDS.mishap_ms, BOUNDS.mishap_ms],
  freeze: [1, BOUNDS.mishap_ms],
  cut: [1, BOUNDS.mishap_ms],
  crash: [0, 0],
};

const clamp = (value: number, [low, high]: readonly [number, number]): number => Math.min(high, Math.max(low, value));

function whole(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !/^-?\d{1,15}$/.test(text)) return null;
  return Number(text);
}

const writeMishap = ({ at_ms, kind, target, ms }: Mishap): string => [at_ms, kind, target === 'ledger' ? 'L' : target + 1, ms].join('.');

function readMishap(text: string, pops: number, end_ms: number): Mishap | null {
  const [at, name, who, long] = text.split('.');
  const kind = KINDS.find((known) => known === name);
  const at_ms = whole(at);
  const ms = whole(long);
  const index = whole(who);
  const target: Target | null = who === 'L' ? 'ledger' : index !== null && index >= 1 && index <= pops ? index - 1 : null;
  if (!kind || at_ms === null || ms === null || target === null || at_ms < 0 || at_ms > end_ms) return null;
  return { at_ms, kind, target, ms: clamp(ms, RANGES[kind]) };
}

export function write(run: Run): URLSearchParams {
  const params = new URLSearchParams();
  if (run.counts !== DEFAULT.counts) params.set('counts', run.counts);
  for (const [field, { key }] of Object.entries(NUMBERS) as [NumberField, { key: string }][]) {
    if (run[field] !== DEFAULT[field]) params.set(key, String(run[field]));
  }
  if (run.on_error !== DEFAULT.on_error) params.set('on_error', run.on_error);
  if (run.pattern !== DEFAULT.pattern) params.set('traffic', run.pattern);
  params.set('skew', run.skews_ms.join(','));
  if (run.mishaps.length) params.set('do', run.mishaps.map(writeMishap).join(','));
  return params;
}

export function read(params: URLSearchParams): Run {
  const run: Run = { ...DEFAULT, counts: params.get('counts') === 'month' ? 'month' : 'window' };
  for (const [field, { key, within }] of Object.entries(NUMBERS) as [NumberField, (typeof NUMBERS)[NumberField]][]) {
    const value = whole(params.get(key));
    if (value !== null) run[field] = clamp(value, within);
  }
  run.on_error = ON_ERROR.find((known) => known === params.get('on_error')) ?? DEFAULT.on_error;
  run.pattern = PATTERNS.find((known) => known === params.get('traffic')) ?? DEFAULT.pattern;
  const skews = (params.get('skew') ?? '').split(',').map(whole).filter((skew) => skew !== null);
  if (skews.length >= BOUNDS.pops[0]) run.skews_ms = skews.slice(0, BOUNDS.pops[1]).map((skew) => clamp(skew, BOUNDS.skew_ms));
  const listed = (params.get('do') ?? '').split(',').slice(0, BOUNDS.mishaps);
  const mishaps = listed.map((text) => readMishap(text, run.skews_ms.length, run.end_s * 1_000)).filter((mishap) => mishap !== null);
  run.mishaps = mishaps.sort((a, b) => a.at_ms - b.at_ms);
  return run;
}
