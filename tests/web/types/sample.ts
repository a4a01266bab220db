// Compiled, never run: a program that uses everything, against the types of all three targets.

import * as bundler from '../../../pkg/bundler/sluicegate.js';
import * as nodejs from '../../../pkg/nodejs/sluicegate.js';
import init, * as web from '../../../pkg/web/sluicegate.js';
import type { Anomaly, ClockSource, Decision, Period, PeriodSpec, QuotaClockOptions, QuotaClockSnapshot, SluicegateError } from '../../../pkg/web/sluicegate.js';

type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
const is = <_ extends true>() => {};

is<Is<keyof Decision, 'allowed' | 'tokensRemaining' | 'quotaRemaining' | 'retryAfterMs' | 'retryAfterBasis' | 'refusal' | 'period' | 'skippedPeriods'>>();
is<Is<keyof Period, 'slot' | 'startMs' | 'endMs' | 'startKind' | 'endKind'>>();
is<Is<keyof Anomaly, 'kind' | 'detail' | 'suspendedMs' | 'steppedMs'>>();
is<Is<Decision['retryAfterBasis'], 'monotonic-refill' | 'wall-period' | null>>();
is<Is<Decision['refusal'], 'bucket' | 'quota' | 'cost-exceeds-capacity' | 'cost-exceeds-quota' | null>>();
is<Is<Decision['quotaRemaining'], number | null>>();
is<Is<Period['startKind'], 'exact' | 'gap' | 'repeat'>>();
is<Is<Anomaly['kind'], 'wall-step-back' | 'wall-ahead' | 'suspend' | 'wall-step-forward' | 'period-regression'>>();
is<Is<ReturnType<typeof web.systemClock>['kind'], 'two-clock' | 'single-clock'>>();
is<Is<ReturnType<typeof web.procUptimeElapsedRealtime>, () => number>>();

class Clock implements ClockSource {
  monotonicMs(): number { return 0; }
  wallMs(): number { return 0; }
}

const period: PeriodSpec = { unit: 'month', timeZone: 'Europe/Paris', anchorDay: 31 };
const options: QuotaClockOptions = {
  capacity: 20,
  refillPerSecond: 0.5,
  suspendPolicy: 'ignore',
  quota: { limit: 10_000, period },
  clock: { ...web.systemClock(), elapsedRealtimeMs: web.procUptimeElapsedRealtime() },
  onAnomaly: ({ kind, detail, suspendedMs = 0 }) => console.warn(kind, detail, suspendedMs),
  earliestPlausibleWallMs: null,
};

for (const { ClockTracker, QuotaClock, manualClock, periodFor, periods } of [bundler, nodejs, web]) {
  const clock = manualClock({ monotonicMs: 0, wallMs: 0 });
  clock.set({ elapsedRealtimeMs: 5 });
  const limiter = new QuotaClock({ ...options, clock });
  const { allowed, period: open, retryAfterMs } = limiter.tryConsume();
  const snapshot: QuotaClockSnapshot = limiter.snapshot();
  const restored: InstanceType<typeof QuotaClock> = QuotaClock.restore(snapshot, { ...options, clock: new Clock() });
  restored.peek(5).allowed satisfies boolean;
  new ClockTracker({ suspendPolicy: 'refuse' }).observe({ monotonicMs: 0, wallMs: 0 }, () => 5).anomalies[0]?.steppedMs satisfies number | undefined;
  periodFor(period, Date.now()).slot satisfies string;
  periods(period, Date.now(), 3) satisfies Period[];
  console.log(allowed, open?.slot, retryAfterMs ?? 'no wait');
}

await init();
try {
  // @ts-expect-error The policy is required.
  new web.QuotaClock({ capacity: 5, refillPerSecond: 1, clock: new Clock() });
  // @ts-expect-error There is no such unit.
  web.periodFor({ unit: 'hour', timeZone: 'UTC' }, 0);
  // @ts-expect-error A cost is a number.
  new web.QuotaClock(options).tryConsume('3');
  // @ts-expect-error A misspelt option.
  new web.QuotaClock({ ...options, burst: 5 });
  // @ts-expect-error period-regression is QuotaClock's.
  new web.ClockTracker({ suspendPolicy: 'ignore' }).observe({ monotonicMs: 0, wallMs: 0 }).anomalies[0]?.kind === 'period-regression';
} catch (error) {
  const { code, path = '' } = error as SluicegateError;
  code satisfies string;
  console.log(code, path);
}
