// One measurement: one contestant under one load.

import { CF_HEADER } from '../../tests/worker/support/config.mjs';
import { processorTime } from './machine.mjs';
import { pathOf } from './loads.mjs';

const WARM_UP = { requests: 2_000, seconds: 3 };
/** Answers of a load that may differ from what it is about, such as the one that is allowed per window. */
const STRAYS = { share: 0.005, count: 3 };

const requestsOf = (load) => load.addresses.map((address) =>
  `GET ${pathOf(load)} HTTP/1.1\r\nhost: 127.0.0.1\r\ncf-connecting-ip: ${address}\r\n${CF_HEADER}: {"colo":"DFW"}\r\n\r\n`);

/** Refuses to measure a limiter that does not limit, or does not say so as it should. */
export async function checkAnswers(contestant, server, load) {
  const complain = (what, answer) => {
    throw new Error(`${contestant.name}, load ${load.name}: ${what}; it answered ${answer.status} ${answer.text().slice(0, 500)}`);
  };
  let answer;
  for (let attempt = 0; attempt <= (load.status === '429' ? load.limit : 0); attempt += 1) {
    answer = await server.fetch(pathOf(load), { ip: load.addresses[0] });
  }
  if (!contestant.limits) {
    if (answer.status !== 200) complain('should answer 200', answer);
    return;
  }
  if (String(answer.status) !== load.status) complain(`should answer ${load.status}`, answer);
  const wanted = load.status === '429' ? ['ratelimit', 'ratelimit-policy', 'retry-after'] : ['ratelimit', 'ratelimit-policy'];
  for (const name of wanted) {
    if (!answer.headers.get(name)) complain(`has no ${name} field`, answer);
  }
  if (load.status !== '429') return;
  if (!answer.headers.get('content-type')?.startsWith('application/problem+json')) complain('is not problem+json', answer);
  if (answer.json()['violated-policies'] === undefined) complain('does not name the violated policies', answer);
}

function checkStatuses(contestant, load, { statuses, answered }) {
  const expected = contestant.limits ? load.status : '200';
  const wrong = Object.entries(statuses).filter(([status]) => !['200', '429'].includes(status));
  const strays = answered - (statuses[expected] ?? 0);
  const tolerated = expected === '429' ? Math.max(STRAYS.count, STRAYS.share * answered) : 0;
  if (answered === 0 || wrong.length > 0 || strays > tolerated) {
    throw new Error(`${contestant.name}, load ${load.name}: ${answered} answers should be ${expected}, but were ${JSON.stringify(statuses)}`);
  }
}

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** Warms a contestant up, then measures it. `position` keeps each load's place in its keys from round to round. */
export async function measure({ contestant, server, load, generator, options, position }) {
  const drive = { port: server.port(), connections: options.connections, variants: requestsOf(load) };
  const warm = await generator.run({ ...drive, ...WARM_UP, first: position.get(load.name) ?? 0 });
  checkStatuses(contestant, load, warm);

  const countsBefore = await contestant.counts?.(server);
  const timeBefore = processorTime(server.pid);
  const result = await generator.run({ ...drive, seconds: options.seconds, first: warm.next });
  const timeAfter = processorTime(server.pid);
  const countsAfter = await contestant.counts?.(server);
  position.set(load.name, result.next);
  checkStatuses(contestant, load, result);

  const perThousand = (field) => (countsBefore ? ((countsAfter[field] - countsBefore[field]) * 1000) / result.answered : undefined);
  return {
    per_second: result.answered / result.seconds,
    p50_ms: quantile(result.latencies, 0.5),
    p99_ms: quantile(result.latencies, 0.99),
    cpu_us: timeBefore === undefined ? undefined : (timeAfter - timeBefore) / result.answered,
    object_requests: perThousand('requests'),
    rows_written: perThousand('rows'),
    answered: result.answered,
    statuses: result.statuses,
  };
}
