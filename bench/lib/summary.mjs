// From the measurements of all rounds to medians and ratios.

export function median(values) {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  if (known.length === 0) return undefined;
  const middle = known.length >> 1;
  return known.length % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

/** The ratio within each round, then its median: what slows a whole round down cancels out. */
function ratio(mine, others, field, best) {
  return median(mine.map((measurement, round) => {
    const theirs = others.map((other) => other[round][field]).filter((value) => value !== undefined);
    if (theirs.length === 0 || measurement[field] === undefined) return undefined;
    return measurement[field] / best(...theirs);
  }));
}

/** `measurements[load][contestant]` is a list with one entry per round. */
export function summarise(measurements) {
  const summary = {};
  for (const [load, byContestant] of Object.entries(measurements)) {
    summary[load] = {};
    const noop = byContestant.noop ? [byContestant.noop] : [];
    const peers = [byContestant['js-memory'], byContestant['js-sql']].filter(Boolean);
    for (const [name, rounds] of Object.entries(byContestant)) {
      const of = (field) => rounds.map((measurement) => measurement[field]);
      summary[load][name] = {
        per_second: { median: median(of('per_second')), lowest: Math.min(...of('per_second')), highest: Math.max(...of('per_second')) },
        ratio_to_noop: ratio(rounds, noop, 'per_second', Math.max),
        ratio_to_best_js: ratio(rounds, peers, 'per_second', Math.max),
        cpu_us: median(of('cpu_us')),
        cpu_ratio_to_best_js: ratio(rounds, peers, 'cpu_us', Math.min),
        p50_ms: median(of('p50_ms')),
        p99_ms: median(of('p99_ms')),
        object_requests_per_1000: median(of('object_requests')),
        rows_written_per_1000: median(of('rows_written')),
      };
    }
  }
  return summary;
}
