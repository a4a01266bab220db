import type { Options } from './options';
import { quotaClockOptions } from './quota-clock';
import { stage } from './state';

const naive = ({ mark, unit }: Options): string => `const now = Date.now();
const gap = Math.max(0, now - lastRefill);
tokens = Math.min(capacity, tokens + gap / 1000 * refillPerSecond);
lastRefill = ${mark === 'now' ? 'now' : 'Math.max(lastRefill, now)'};

const slot = ${unit}Of(now, timeZone);   // "${unit === 'month' ? '2026-03' : '2026-03-31'}"
if (slot !== openSlot) [openSlot, used] = [slot, 0];`;

const alone = ({ unit }: Options): string => `const now = performance.now();
const gap = now - lastRefill;
tokens = Math.min(capacity, tokens + gap / 1000 * refillPerSecond);
lastRefill = now;

const period = ${unit === 'month' ? '30 * ' : ''}86_400_000;   // there is no "1st" on this clock
if (now - begun >= period) [begun, used] = [begun + period, 0];`;

const ours = (options: Options): string => {
  const written = JSON.stringify(quotaClockOptions(options), null, 2).replace(/"(\w+)":/g, '$1:').replaceAll('"', "'").slice(2, -2);
  const clock = options.reader ? '{ ...systemClock(), elapsedRealtimeMs: procUptimeElapsedRealtime() }' : 'systemClock()';
  return `const limiter = new QuotaClock({
${written},
  clock: ${clock},
  onAnomaly: ({ detail }) => console.warn(detail),
});

const { allowed, retryAfterMs, retryAfterBasis } = limiter.tryConsume();`;
};

/** The three limiters, as they are written. */
export function Code() {
  const { options } = stage.value.run;
  const parts = [['shared', 'Bucket on the wall clock', naive(options)], ['alone', 'Bucket on the monotonic clock', alone(options)], ['exact', 'QuotaClock, with these options', ours(options)]] as const;
  return (
    <details class="clocks-code">
      <summary>The code of all three</summary>
      <div>
        {parts.map(([lane, title, text]) => (
          <section key={lane} aria-label={title}>
            <h3 class={`is-${lane}`}>{title}</h3>
            <pre class="scroll" tabIndex={0} role="group" aria-label={`Code: ${title}`}><code>{text}</code></pre>
          </section>
        ))}
      </div>
    </details>
  );
}
