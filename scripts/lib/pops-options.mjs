// The arguments of `npm run pops`, checked, and its help.

import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./cache.mjs";
import { Told } from "./log.mjs";
import { skewUnavailable } from "./skew.mjs";
import { parseToml } from "./toml.mjs";

const DEFAULT_LIMITS = join(ROOT, "pops", "limits.toml");
const DEFAULT_COUNT = 3;
/** One letter each. */
const MOST = 26;
/** A hundred years either way: more is a slip of the keyboard. */
const FARTHEST_MS = 3_155_760_000_000;

export const HELP = `npm run pops -- [options]

One ledger and several points of presence on this machine, each a "wrangler dev" of its own with a wall clock
of its own. The PoPs reach the Ledger objects of the ledger's process by wrangler's dev registry, as Workers
of one account do. Ctrl-C ends them all; if one ends, all end.

  --count N          how many PoPs: POP-A, POP-B, ... (${DEFAULT_COUNT}, or as many as --skew names; at most ${MOST})
  --skew MS,MS,...   how far each PoP's wall clock is ahead of the true time, in whole ms; negative: behind (0)
  --skew-ledger MS   the same for the ledger (0)
  --port N           the ledger's port; the PoPs take those after it (free ones)
  --limits FILE      TOML or JSON with the table LIMITS, or only what is in it (${relative(ROOT, DEFAULT_LIMITS)})
  --persist DIR      keep what the objects store in DIR/LEDGER, DIR/POP-A, ... (a temporary folder)
  --verbose          everything that wrangler says, not only warnings and errors
  --help             this text

On stdout is one line of JSON for each process, the ledger first, and then {"ready":true} as soon as every one
of them answers and every PoP has reached the ledger:
  {"role":"pop","name":"POP-A","url":"http://127.0.0.1:8788","skew_file":"/tmp/.../POP-A/skew-ms"}
Everything else is on stderr. (npm itself prints two lines first; "npm run --silent pops" does not.)

A clock is moved while its process runs by writing the offset, whole ms as text, into its skew_file:
  echo 3600000 > /tmp/.../POP-A/skew-ms
After a step back Date.now() and the timers of a running Durable Object stand still until the clock has caught
up, SQLite's clock does not: that is how the runtime is. Clocks can be moved on Linux only.

A crash: each wrangler has two workerds; the one started with --socket-addr=entry=127.0.0.1:0 has the objects.
When it is killed, wrangler starts it again on the same storage and under the same clock.

The token for /v1/check, /v1/tenants and /metrics is the one in .dev.vars:
  curl -H "authorization: Bearer development-only-token" -d '{"limits":[{"policy":"global","key":"acme"}]}' \\
    -H "content-type: application/json" http://127.0.0.1:8788/v1/check
`;

const wrong = (message) => new Told(`${message} (npm run pops -- --help explains the options)`, 2);

/** parseArgs takes "-60000" for an option: "--skew -60000,0" becomes "--skew=-60000,0". */
function joinNegatives(args) {
  const joined = [];
  for (const arg of args) {
    if (/^-\d/.test(arg) && /^--skew(-ledger)?$/.test(joined.at(-1) ?? "")) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

function parse(args) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = { count: text, skew: text, "skew-ledger": text, port: text, limits: text, persist: text, verbose: flag, help: flag };
  try {
    return parseArgs({ args: joinNegatives(args), options, allowPositionals: false }).values;
  } catch (error) {
    throw wrong(error.message);
  }
}

function wholeNumber(option, text, { least, most }) {
  const number = /^\s*[+-]?\d{1,15}\s*$/.test(text) ? Number(text) : NaN;
  if (!(number >= least && number <= most)) throw wrong(`--${option}: ${JSON.stringify(text)} is not a whole number from ${least} to ${most}`);
  return number;
}

function skewOf(option, text) {
  const ms = wholeNumber(option, text, { least: -FARTHEST_MS, most: FARTHEST_MS });
  if (ms !== 0 && skewUnavailable) throw wrong(`--${option}: ${skewUnavailable}`);
  return ms;
}

/** The offsets of the PoPs, one for each. */
function skewsOf({ count, skew }) {
  const skews = skew === undefined ? [] : skew.split(",").map((one) => skewOf("skew", one));
  const wanted = count === undefined ? skews.length || DEFAULT_COUNT : wholeNumber("count", count, { least: 1, most: MOST });
  if (skews.length > MOST) throw wrong(`--skew: ${skews.length} offsets, but there are at most ${MOST} points of presence`);
  if (skew === undefined) return Array(wanted).fill(0);
  if (skews.length !== wanted) throw wrong(`--skew: one offset for each PoP, of which there are ${wanted}; ${JSON.stringify(skew)} has ${skews.length}`);
  return skews;
}

/** The table LIMITS of a file; a wrangler.toml has it below `vars`. */
export function readLimits(file = DEFAULT_LIMITS) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw wrong(`--limits: ${error.message}`);
  }
  let content;
  try {
    content = /^\s*\{/.test(text) ? JSON.parse(text) : parseToml(text);
  } catch (error) {
    throw wrong(`--limits: ${file}: ${error.message}; it has to be JSON, or TOML with each value on one line`);
  }
  const limits = content.vars?.LIMITS ?? content.LIMITS ?? content;
  if (!Array.isArray(limits.policies)) throw wrong(`--limits: ${file} names no policies`);
  return limits;
}

/** What to start, or null where help was asked for. */
export function readOptions(args) {
  const values = parse(args);
  if (values.help) return null;
  const skews = skewsOf(values);
  const ledgerSkew = values["skew-ledger"] === undefined ? 0 : skewOf("skew-ledger", values["skew-ledger"]);
  const pops = skews.map((skewMs, at) => ({ role: "pop", name: `POP-${String.fromCharCode(65 + at)}`, skewMs }));
  return {
    processes: [{ role: "ledger", name: "LEDGER", skewMs: ledgerSkew }, ...pops],
    firstPort: values.port === undefined ? null : wholeNumber("port", values.port, { least: 1, most: 65_535 - pops.length }),
    limits: readLimits(values.limits),
    persist: values.persist === undefined ? null : resolve(values.persist),
    verbose: values.verbose,
  };
}
