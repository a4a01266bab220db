// The report a person reads.

const number = (digits) => (value) =>
  value === undefined ? '-' : value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const columns = [
  ['requests/s', ({ per_second: { median } }) => number(0)(median)],
  ['lowest-highest', ({ per_second: { lowest, highest } }) => `${number(0)(lowest)}-${number(0)(highest)}`],
  ['x no-op', (row) => number(2)(row.ratio_to_noop)],
  ['x best JS', (row) => number(2)(row.ratio_to_best_js)],
  ['CPU us', (row) => number(0)(row.cpu_us)],
  ['p99 ms', (row) => number(1)(row.p99_ms)],
  ['objects/1000', (row) => number(0)(row.object_requests_per_1000)],
  ['rows/1000', (row) => number(1)(row.rows_written_per_1000)],
];

const bytes = (count) => `${number(0)(count / 1024)} KiB`;

function align(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  return rows.map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ').trimEnd());
}

export function table({ summary, loads, contestants, missing, machine, options, size }) {
  const lines = [
    `${machine.processor}, ${machine.cores} cores; workerd ${machine.workerd}; ${options.rounds} rounds of ${options.seconds} s,`,
    `${options.connections} connections${options.pinned ? ', servers on one core and the load on another' : ''}; objects stored in ${options.disk}`,
    '',
  ];
  for (const { name, title } of contestants) lines.push(`  ${name.padEnd(11)} ${title}`);
  for (const { name, reason } of missing) lines.push(`  ${name.padEnd(11)} not measured: ${reason}`);
  for (const load of loads) {
    const rows = [[load.title, ...columns.map(([title]) => title)]];
    for (const { name } of contestants) rows.push([`  ${name}`, ...columns.map(([, cell]) => cell(summary[load.name][name]))]);
    lines.push('', ...align(rows));
  }
  lines.push(
    '',
    'Medians over the rounds. A ratio is taken within each round, and its median shown; "best JS" is the faster of',
    'js-memory and js-sql in that round. CPU us: processor time of the server per request. objects/1000 and rows/1000:',
    'requests to Durable Objects and rows written to their storage per 1,000 answers, which is what Cloudflare bills.',
    'The runtime is real, the network is not: compare the ratios, not the figures, with other machines.',
  );
  if (size) lines.push('', `The wasm is ${bytes(size.wasm)}, gzipped ${bytes(size.wasm_gzip)}; the script around it ${bytes(size.script)}, gzipped ${bytes(size.script_gzip)}.`);
  return lines.join('\n');
}
