// Builds the page into build/www/: the core as wasm by wasm-pack, twice, and www/ by esbuild. What has a fixed name is at
// the top; chunks are named by their content, so that they may be kept for ever.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { BUILD, crateSources, Stamp, withBuildLock } from "./build-stamp.mjs";
import { ROOT } from "./cache.mjs";
import { cargoBinary } from "./cargo-tools.mjs";
import { filesIn } from "./files.mjs";
import { notices } from "./licenses.mjs";
import { dim, done, say, Told, warn } from "./log.mjs";
import { esbuild } from "./npm-tools.mjs";
import { capture } from "./run.mjs";
import { wasmPack } from "./wasm-pack.mjs";

/** What is served. */
const PAGE = join(BUILD, "www");
const SOURCE = join(ROOT, "www");
const WASM = join(BUILD, "page-wasm");
/** Made here first, then moved to where it is served from, so that a failed build changes nothing. */
const MADE = join(BUILD, "page");

/** What esbuild tells of its inputs and outputs. */
const META = join(BUILD, "page-meta.json");

const PROFILE = "npm";
/** The simulator, which the first view needs, and the npm package: one cargo feature and one wasm file each. */
const PARTS = [
  { name: "the page's simulator", features: "page", file: "simulator_bg.wasm", alias: "sluicegate-simulator" },
  { name: "the page's QuotaClock", features: "web", file: "sluicegate_bg.wasm", alias: "sluicegate-wasm" },
];
const folderOf = ({ features }) => join(WASM, features);
const outputsOf = (part) => ["sluicegate.js", "sluicegate_bg.wasm"].map((name) => join(folderOf(part), name));

/** Places that are opened later have style sheets of their own. */
const LATER_STYLES = ["clocks", "calendar", "live"];

/** Letters of Western languages, all weights. */
const FONT = join(ROOT, "node_modules", "@fontsource-variable", "inter", "files", "inter-latin-wght-normal.woff2");

/** Bytes, gzipped, of all that a first visit loads. */
const BUDGET = 300_000;

const ESBUILD_ARGS = [
  `app=${join(SOURCE, "src", "main.tsx")}`,
  ...LATER_STYLES.map((place) => `${place}=${join(SOURCE, "src", "style", `${place}.css`)}`),
  "--bundle",
  "--splitting",
  "--format=esm",
  "--target=es2022",
  "--minify",
  "--legal-comments=none",
  // wasm-bindgen lists a snippet once for each function of it; in the page's own sources the compiler finds such a thing.
  "--log-override:duplicate-object-key=silent",
  "--chunk-names=chunks/[name]-[hash]",
  "--jsx=automatic",
  "--jsx-import-source=preact",
  ...PARTS.map((part) => `--alias:${part.alias}=${join(folderOf(part), "sluicegate.js")}`),
  "--external:inter.woff2",
  `--outdir=${MADE}`,
  "--log-level=warning",
];

/** True where wrangler.toml has the page served; without that section only the worker is built. */
export const isServed = () => /^\s*\[assets\]/m.test(readFileSync(join(ROOT, "wrangler.toml"), "utf8"));

/** Builds the page unless build/www/ is up to date. Set-up has to be done. */
export async function buildPage({ force = false } = {}) {
  if (process.env.SLUICEGATE_NO_BUILD === "1" && existsSync(join(PAGE, "index.html"))) return say("the page in build/www/ is used as it is");
  return withBuildLock(async () => {
    for (const part of PARTS) await buildWasm(part, force);
    await buildFiles(force);
  });
}

async function buildWasm(part, force) {
  const { name, features } = part;
  const stamp = new Stamp(join(BUILD, `.page-wasm-${features}.json`), [PROFILE, features, cargoBinary("wasm-pack")]);
  if (!force && (await stamp.isUpToDate())) return;
  stamp.remove();
  await wasmPack({ name, target: "web", profile: PROFILE, features, out: folderOf(part), log: join(BUILD, `page-wasm-${features}.log`) });
  const outputs = outputsOf(part);
  if (!outputs.every(existsSync)) throw new Told(`wasm-pack ended well but did not write ${outputs.join(" and ")}`);
  const sources = await crateSources(PROFILE);
  if (sources) await stamp.write({ sources, outputs });
}

/** What the files are made from: the sources, the wasm, the packages of the lock, and this script. */
function inputs() {
  const scripts = ["page-build.mjs", "licenses.mjs"].map((name) => join(ROOT, "scripts", "lib", name));
  return [...filesIn(SOURCE), ...PARTS.flatMap((part) => filesIn(folderOf(part))), join(ROOT, "package-lock.json"), ...scripts];
}

async function buildFiles(force) {
  const stamp = new Stamp(join(BUILD, ".page.json"), [ESBUILD_ARGS, esbuild()]);
  if (!force && (await stamp.isUpToDate(inputs()))) return say("the page in build/www/ is up to date");
  stamp.remove();
  const more = inputs();
  const bundled = await bundle();
  for (const name of readdirSync(SOURCE).filter((one) => !["src", "tsconfig.json"].includes(one))) copyFileSync(join(SOURCE, name), join(MADE, name));
  for (const part of PARTS) copyFileSync(join(folderOf(part), "sluicegate_bg.wasm"), join(MADE, part.file));
  copyFileSync(FONT, join(MADE, "inter.woff2"));
  // As a plain file it says that no limiter serves the page; the Worker answers for itself.
  writeFileSync(join(MADE, "limiter.json"), '{"api": null}\n');
  writeFileSync(join(MADE, "licenses.txt"), await notices([...bundled, FONT], PARTS.map(({ features }) => features).join()));
  publish();
  done("page built");
  report();
  await stamp.write({ more, outputs: filesIn(PAGE) });
}

/** Runs esbuild; returns the files that it bundled. */
async function bundle() {
  rmSync(MADE, { recursive: true, force: true });
  const { code, stderr } = await capture(esbuild(), [...ESBUILD_ARGS, `--metafile=${META}`], { cwd: ROOT });
  if (code !== 0) throw new Told(`esbuild could not bundle the page:\n${stderr}`);
  if (stderr.trim()) say(stderr.trim());
  return Object.keys(JSON.parse(readFileSync(META, "utf8")).inputs);
}

/** How esbuild calls one of its outputs. */
const made = (name) => relative(ROOT, join(MADE, name)).split(sep).join("/");

/** app.js, and the chunks that come with it at once. */
function scriptsAtOnce() {
  const { outputs } = JSON.parse(readFileSync(META, "utf8"));
  const found = new Set([made("app.js")]);
  for (const path of found) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) if (kind === "import-statement") found.add(imported);
  }
  return found;
}

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

/** Gzipped bytes of the first view, by kind, and of the rest. Fonts are compressed as they are. */
function measure() {
  const atOnce = scriptsAtOnce();
  const onDemand = ["licenses.txt", "sluicegate_bg.wasm", ...LATER_STYLES.map((place) => `${place}.css`)];
  const isLater = (name) => onDemand.includes(name) || (name.startsWith(`chunks${sep}`) && !atOnce.has(made(name)));
  const kinds = new Map();
  let [first, later] = [0, 0];
  for (const path of filesIn(PAGE)) {
    const content = readFileSync(path);
    const kind = extname(path).slice(1);
    const bytes = kind === "woff2" ? content.length : gzipSync(content).length;
    if (isLater(relative(PAGE, path))) later += bytes;
    else {
      first += bytes;
      kinds.set(kind, (kinds.get(kind) ?? 0) + bytes);
    }
  }
  return { first, later, list: [...kinds].map(([kind, bytes]) => `${kind} ${kilobytes(bytes)}`).join(", ") };
}

function report() {
  const { first, later, list } = measure();
  say(dim(`  build/www: the first view is ${kilobytes(first)} gzipped of ${kilobytes(BUDGET)} (${list}); ${kilobytes(later)} more on demand`));
  if (first > BUDGET) warn("the page is over its budget: its test will fail");
}

/** Fails where the page that was built is too large for a first visit. */
export function checkBudget() {
  const { first, list } = measure();
  if (first > BUDGET) throw new Told(`the first view of the page is ${kilobytes(first)} gzipped, over its ${kilobytes(BUDGET)}: ${list}`);
  say(`the first view of the page is ${kilobytes(first)} gzipped, within its ${kilobytes(BUDGET)}`);
}

/** Moves what is new into place, files that name others last, and then takes away what is no longer named. */
function publish() {
  const names = filesIn(MADE).map((path) => relative(MADE, path));
  const late = ["app.js", "index.html"];
  for (const name of [...names.filter((one) => !late.includes(one)), ...late]) {
    const [from, to] = [join(MADE, name), join(PAGE, name)];
    if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  for (const path of filesIn(PAGE)) if (!names.includes(relative(PAGE, path))) rmSync(path);
  rmSync(MADE, { recursive: true, force: true });
}
