import { duration, offset } from '../../format';
import { sinceStart } from './hands';
import { stage } from './state';

/** What `onAnomaly` was called with, newest first. */
export function Log() {
  const { log } = stage.value.run.exact;
  return (
    <section class="clocks-log" aria-labelledby="clocks-log">
      <h2 id="clocks-log">Anomalies as QuotaClock told them</h2>
      {log.length === 0 ? <p class="quiet">None. A naive bucket’s log looks like this whatever happens.</p> : (
        <ol tabIndex={0} aria-label="Anomalies, newest first">
          {log.map((entry) => (
            <li key={`${entry.atMs} ${entry.kind}`} data-kind={entry.kind} data-times={entry.times} data-suspended={entry.suspendedMs} data-stepped={entry.steppedMs}>
              <p><code>{entry.kind}</code>{entry.times > 1 && <strong> ×{entry.times}</strong>} <span class="quiet">at {sinceStart(entry.atMs)}</span></p>
              <p>{entry.detail}.</p>
              {(entry.suspendedMs !== undefined || entry.steppedMs !== undefined) && (
                <p class="quiet">
                  {entry.suspendedMs !== undefined && <>suspendedMs {entry.suspendedMs} ({duration(entry.suspendedMs)}) </>}
                  {entry.steppedMs !== undefined && <>steppedMs {entry.steppedMs} ({offset(entry.steppedMs)})</>}
                </p>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
