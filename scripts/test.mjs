// npm test: set-up, then every layer of tests. `npm test -- native e2e` runs only the layers named; the
// worker is built for the layers that need it. A failing layer does not stop the later ones.

import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { ROOT } from "./lib/cache.mjs";
import { cargoBinary } from "./lib/cargo-tools.mjs";
import { runLayers } from "./lib/layers.mjs";
import { heading, isTerminal, say, Told } from "./lib/log.mjs";
import { main, show } from "./lib/run.mjs";
import { ensureBrowser, which } from "./lib/system.mjs";
import { setUp, toolEnv } from "./lib/tools.mjs";
import { buildPackages } from "./lib/npm-package.mjs";
import { wranglerNode } from "./lib/npm-tools.mjs";
import { buildPage, checkBudget } from "./lib/page-build.mjs";
import { buildWorker } from "./lib/worker-build.mjs";

const colour = isTerminal ? { CARGO_TERM_COLOR: "always", FORCE_COLOR: "1" } : {};

const run = (counter, file, args, env = {}) =>
  show(file, args, { cwd: ROOT, env: toolEnv({ ...colour, ...env }), onText: (text) => counter.feed(text) });

async function native(counter) {
  const all = await run(counter, "cargo", ["test", "--all-targets", "--no-fail-fast"]);
  const docs = await run(counter, "cargo", ["test", "--doc"]);
  return all || docs;
}

/** The wasm tests are the files tests/wasm*.rs; all other tests run natively only. */
function wasmTests() {
  const folder = join(ROOT, "tests");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^wasm.*\.rs$/.test(name)).sort() : [];
  return files.flatMap((name) => ["--test", basename(name, ".rs")]);
}

async function wasm(counter, flags, env) {
  const tests = wasmTests();
  if (tests.length === 0) {
    say("there is no tests/wasm*.rs");
    return null;
  }
  return run(counter, cargoBinary("wasm-pack"), ["test", ...flags, "--mode", "no-install", "--", ...tests], env);
}

async function chrome(counter) {
  if (wasmTests().length === 0) return wasm(counter, []);
  const driver = await ensureBrowser();
  // Test files that do not say where they run would run in Node only; here they run in the browser too.
  return wasm(counter, ["--headless", "--chrome", "--chromedriver", driver], { WASM_BINDGEN_USE_BROWSER: "1" });
}

/** All *.test.mjs files below a folder. */
function testFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : testFiles(path);
      return entry.name.endsWith(".test.mjs") ? [path] : [];
    })
    .sort();
}

async function nodeTests(counter, folder, { node = process.execPath, env = {} } = {}) {
  const files = testFiles(join(ROOT, folder));
  if (files.length === 0) {
    say(`there is no *.test.mjs under ${folder}/`);
    return null;
  }
  // One file at a time: each starts servers, and two cores are soon busy.
  const args = ["--test", "--test-concurrency=1", "--test-reporter=spec", ...files];
  return run(counter, node, args, { SLUICEGATE_NO_BUILD: "1", ...env });
}

/** The npm package in the other Node that is at hand: the one set-up brings where this one is too old for wrangler. */
async function otherNode(counter) {
  const node = wranglerNode();
  if (node !== process.execPath) return nodeTests(counter, "tests/web/node", { node });
  say(`this Node is the only one: ${process.versions.node}`);
  return null;
}

/** Tests that drive a browser, which they are told of. */
async function browserTests(counter, folder) {
  await ensureBrowser();
  const browser = which("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome");
  return nodeTests(counter, folder, { env: browser ? { SLUICEGATE_CHROME: browser } : {} });
}

async function page() {
  await buildPage();
  checkBudget();
}

const LAYERS = [
  { name: "native", title: "native: cargo test", counts: true, run: native },
  { name: "node", title: "node: wasm-pack test --node", counts: true, run: (counter) => wasm(counter, ["--node"]) },
  { name: "chrome", title: "chrome: wasm-pack test --headless --chrome", counts: true, run: chrome },
  { name: "pack", title: "pack: wasm-pack build, three targets", run: () => buildPackages() },
  { name: "web-node", title: `web: tests/web in Node ${process.versions.node}`, counts: true, needs: ["pack"], run: (counter) => nodeTests(counter, "tests/web/node") },
  { name: "web-node-other", title: "web: tests/web in another Node", counts: true, needs: ["pack"], run: otherNode },
  { name: "web-chrome", title: "web: tests/web in Chrome", counts: true, needs: ["pack"], run: (counter) => browserTests(counter, "tests/web/chrome") },
  { name: "web-workers", title: "web: tests/web on Workers", counts: true, needs: ["pack"], run: (counter) => nodeTests(counter, "tests/web/workers") },
  { name: "build", title: "build: worker-build --release", run: () => buildWorker() },
  { name: "e2e", title: "e2e: tests/worker", counts: true, needs: ["build"], run: (counter) => nodeTests(counter, "tests/worker") },
  { name: "pops", title: "pops: tests/pops", counts: true, needs: ["build"], run: (counter) => nodeTests(counter, "tests/pops") },
  { name: "page-build", title: "page: wasm-pack and esbuild", run: page },
  { name: "page", title: "page: tests/page in Chrome", counts: true, needs: ["build", "page-build"], run: (counter) => browserTests(counter, "tests/page") },
  { name: "examples", title: "examples: examples", counts: true, needs: ["build"], run: (counter) => nodeTests(counter, "examples") },
];

/** Other names that a person would try. */
const GROUPS = { wasm: ["node", "chrome"], web: ["web-node", "web-node-other", "web-chrome", "web-workers"] };

function chosen(names) {
  const wanted = new Set(names.flatMap((name) => GROUPS[name] ?? [name]));
  for (const name of wanted) {
    if (LAYERS.some((layer) => layer.name === name)) continue;
    const known = [...LAYERS.map((layer) => layer.name), ...Object.keys(GROUPS)];
    throw new Told(`there is no test layer "${name}"; there are: ${known.join(", ")}`, 2);
  }
  if (wanted.size === 0) return LAYERS;
  for (const layer of LAYERS) if (wanted.has(layer.name)) for (const need of layer.needs ?? []) wanted.add(need);
  return LAYERS.filter((layer) => wanted.has(layer.name));
}

await main(async (names) => {
  const layers = chosen(names);
  heading("set-up");
  await setUp();
  return runLayers(layers, { count: true });
});
