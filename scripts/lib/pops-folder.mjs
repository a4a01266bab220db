// What the processes of `npm run pops` are started on: one folder for all, removed at the end, with a folder for each.

import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ROOT } from "./cache.mjs";
import { Told } from "./log.mjs";
import { SkewedClock, skewUnavailable } from "./skew.mjs";
import { readToml } from "./toml.mjs";
import { wrangler } from "./tools.mjs";

const scriptName = (name) => `sluicegate-${name.toLowerCase()}`;
const LEDGER_SCRIPT = scriptName("LEDGER");

/** wrangler.toml as it is shipped, without the page, and changed so that a PoP's Ledgers are those of the ledger's process. */
function configuration({ role, name }, limits) {
  const { build: _, dev: __, assets: ___, ...shipped } = readToml(join(ROOT, "wrangler.toml"));
  const others = (shipped.durable_objects?.bindings ?? []).filter((one) => one.name !== "LEDGER");
  const ledger = { name: "LEDGER", class_name: "Ledger", ...(role === "pop" ? { script_name: LEDGER_SCRIPT } : {}) };
  const bindings = [...others, ledger];
  const own = bindings.filter((one) => !one.script_name).map((one) => one.class_name);
  return {
    ...shipped,
    name: scriptName(name),
    main: "../worker/index.js",
    durable_objects: { bindings },
    migrations: [{ tag: "local", new_sqlite_classes: own }],
    vars: { ...shipped.vars, POP_NAME: name, LIMITS: limits },
  };
}

/** workerd as wrangler knows it: a function of the version in the wrangler package. */
const workerd = () => createRequire(createRequire(wrangler().args[0]).resolve("miniflare"))("workerd").default;

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * A stand-in for workerd that starts the real one under the preload library. So only workerd's clock is moved:
 * wrangler itself, which compares file times and heartbeats with other processes, keeps the true time.
 */
async function writeWorkerd(file, clock) {
  const settings = Object.entries(await clock.environment()).map(([name, value]) => `${name}=${quoted(value)}`);
  writeFileSync(file, `#!/bin/sh\nexec env ${settings.join(" ")} ${quoted(workerd())} "$@"\n`);
  chmodSync(file, 0o755);
}

/** The values that `npm start` uses too. */
function devVars() {
  const file = join(ROOT, ".dev.vars");
  if (!existsSync(file)) throw new Told(".dev.vars is missing; it holds the token, restore it with: git checkout .dev.vars");
  return readFileSync(file, "utf8");
}

/** The token for /v1/check and the tenants. */
export const token = () => /^SLUICEGATE_TOKEN\s*=\s*"?([^"\n]*)"?\s*$/m.exec(devVars())?.[1] ?? "";

/** Makes the common folder, with a copy of the built worker: a later build does not disturb what runs. */
export function makeFolder(build) {
  // The true path: on some systems the temporary folder is a link, and wrangler compares paths.
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sluicegate-pops-")));
  process.on("exit", () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const isWorker = (path) => !/\.(log|json)$/.test(path) && !/^(page|www)/.test(relative(build, path));
  cpSync(build, join(root, "worker"), { recursive: true, filter: isWorker });
  return root;
}

/** Makes one process's folder and says how to start it: {...process, args, cwd, env, skewFile}. */
export async function layOut(root, process, { limits, persist, port, verbose }) {
  const cwd = join(root, process.name);
  const temporary = join(cwd, "tmp");
  mkdirSync(temporary, { recursive: true });
  writeFileSync(join(cwd, "wrangler.json"), JSON.stringify(configuration(process, limits), null, 2));
  writeFileSync(join(cwd, ".dev.vars"), devVars());
  const { file, args: before, env } = wrangler();
  const own = {
    // Processes find each other by a folder: one of this run only.
    WRANGLER_REGISTRY_PATH: join(root, "registry"),
    CLOUDFLARE_DEV_REGISTRY_PATH: join(root, "registry"),
    WRANGLER_LOG_PATH: join(cwd, "logs"),
    TMPDIR: temporary,
  };
  let skewFile = null;
  if (!skewUnavailable) {
    skewFile = join(cwd, "skew-ms");
    own.MINIFLARE_WORKERD_PATH = join(cwd, "workerd");
    await writeWorkerd(own.MINIFLARE_WORKERD_PATH, new SkewedClock(skewFile, process.skewMs));
  }
  const args = [...before, "dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  args.push("--persist-to", persist ? join(persist, process.name) : join(cwd, "state"));
  args.push("--show-interactive-dev-session=false", "--log-level", verbose ? "log" : "warn");
  return { ...process, file, args, cwd, env: { ...env, ...own }, skewFile, url: `http://127.0.0.1:${port}` };
}
