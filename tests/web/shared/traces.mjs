// clock_traces.jsonl: the clock's by ClockTracker, the quota's by QuotaClock on a manual clock.

import { runAll, same } from './report.mjs';

const number = (reading) => (typeof reading === 'string' ? { inf: Infinity, '-inf': -Infinity, nan: NaN }[reading] : reading);

/** One observation: what was credited, or the code of the refusal. */
function observe(tracker, reading, reader) {
  try {
    const seen = tracker.observe({ monotonicMs: number(reading.monotonic_ms), wallMs: number(reading.wall_ms) }, reader);
    return { ...seen, code: null };
  } catch (error) {
    if (!(error instanceof Error) || error.code === undefined) throw error;
    return { elapsedMs: null, anomalies: [], code: error.code };
  }
}

function replay(api, trace, column, suspendPolicy) {
  const floor = trace.quota_configured ? {} : { earliestPlausibleWallMs: null };
  const tracker = new api.ClockTracker({ suspendPolicy, ...floor });
  let based = false;
  for (const [at, reading] of trace.readings.entries()) {
    const wanted = trace.expect[column][at];
    const here = `${column} ${suspendPolicy} [${at}]`;
    let asked = 0;
    const reader = () => {
      asked += 1;
      return number(reading.boottime_ms);
    };
    const seen = observe(tracker, reading, column === 'reader' ? reader : undefined);
    same(`${here} credit`, seen.elapsedMs, wanted.credit_ms);
    same(`${here} refusal`, seen.code, wanted.refused);
    // The error of a refused jump is its report.
    if (seen.code === null) same(`${here} event`, seen.anomalies.map(({ kind }) => kind).join('+') || null, wanted.event);
    // The reader is also asked once when the base is taken, which the traces do not count.
    const forBase = column === 'reader' && !based && seen.code === null ? 1 : 0;
    based ||= seen.code === null;
    same(`${here} reader`, asked > forBase, wanted.reader_read);
    if (seen.anomalies.length > 0) {
      if ('suspended_ms' in wanted) same(`${here} suspended`, seen.anomalies[0].suspendedMs ?? null, wanted.suspended_ms);
      if ('stepped_ms' in wanted) same(`${here} stepped`, seen.anomalies[0].steppedMs ?? null, wanted.stepped_ms);
    }
  }
}

function replayQuota(api, trace) {
  const { limit, unit, time_zone: timeZone, anchor_day: anchorDay } = trace.spec;
  const clock = api.manualClock({ monotonicMs: 0, wallMs: trace.steps[0].wall_ms });
  const anomalies = [];
  const limiter = new api.QuotaClock({
    capacity: 1_000_000,
    refillPerSecond: 0,
    suspendPolicy: 'ignore',
    quota: { limit, period: { unit, timeZone, anchorDay } },
    clock,
    onAnomaly: ({ kind }) => anomalies.push(kind),
  });
  for (const [at, step] of trace.steps.entries()) {
    anomalies.length = 0;
    clock.set({ wallMs: step.wall_ms });
    const decision = limiter.tryConsume(step.cost);
    const is = (what, found, wanted) => same(`[${at}] ${what}`, found, wanted);
    is('slot', decision.period.slot, step.slot);
    is('used', limit - decision.quotaRemaining, step.used);
    is('allowed', decision.allowed, step.allowed);
    is('regression', anomalies.includes('period-regression'), step.period_regression);
    is('skipped', decision.skippedPeriods, step.skipped_periods);
    if (decision.refusal === 'cost-exceeds-quota') {
      // DIFFERENCE: the traces give the wait to the boundary with a cost that never fits. No wait cures that
      // refusal, so none is given; the way to the boundary is compared all the same.
      is('wait', decision.retryAfterMs, null);
      is('boundary', decision.period.endMs - step.wall_ms, step.retry_after_ms);
    } else {
      is('wait', decision.retryAfterMs, step.retry_after_ms);
      is('basis', decision.retryAfterBasis, step.retry_after_basis);
    }
  }
}

export function clockTraces(api, traces) {
  return runAll('clock_traces', traces, (trace) => {
    if (trace.group === 'quota') return replayQuota(api, trace);
    for (const policy of ['ignore', 'credit', 'refuse']) {
      // With a reader the policy decides nothing.
      for (const column of [policy, 'reader']) replay(api, trace, column, policy);
    }
    return undefined;
  });
}
