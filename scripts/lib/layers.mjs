// Runs named steps one after the other, each under a heading, and sums them up in a table.

import { bold, dim, duration, fail, green, heading, plain, red, say, Told, yellow } from "./log.mjs";
import { isStopping } from "./run.mjs";

/** Counts passed and failed tests in the output of cargo test, wasm-bindgen-test and node --test. */
export class Counter {
  constructor() {
    this.passed = 0;
    this.failed = 0;
    this.rest = "";
  }

  feed(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) this.#line(plain(line));
  }

  #line(line) {
    const rust = /^test result: \w+\. (\d+) passed; (\d+) failed;/.exec(line);
    if (rust) {
      this.passed += Number(rust[1]);
      this.failed += Number(rust[2]);
    }
    const node = /^ℹ (pass|fail|cancelled) (\d+)$/.exec(line.trim());
    if (node) this[node[1] === "pass" ? "passed" : "failed"] += Number(node[2]);
  }
}

const MARKS = { passed: green("passed"), FAILED: red("FAILED"), skipped: yellow("skipped"), "no tests": yellow("no tests") };

async function runOne(layer) {
  const started = Date.now();
  const counter = new Counter();
  heading(layer.title);
  let state;
  let note = "";
  try {
    const answer = await layer.run(counter);
    const empty = answer === null || (answer === 0 && layer.counts && counter.passed === 0);
    state = empty ? "no tests" : answer ? "FAILED" : "passed";
  } catch (error) {
    if (isStopping()) await new Promise(() => {});
    state = "FAILED";
    note = error instanceof Told ? error.message : error.stack;
    fail(note);
  }
  if (isStopping()) await new Promise(() => {});
  const took = Date.now() - started;
  say(dim(`${layer.title}: ${state} after ${duration(took)}`));
  return { layer, state, took, counter };
}

function table(results) {
  heading("summary");
  const width = Math.max(...results.map(({ layer }) => layer.title.length));
  for (const { layer, state, took, counter } of results) {
    const tests = counter.passed + counter.failed;
    const counts = tests ? `${counter.passed} of ${tests} tests passed` : "";
    say(`  ${layer.title.padEnd(width)}  ${MARKS[state].padEnd(8 + MARKS[state].length - plain(MARKS[state]).length)}  ${duration(took).padStart(12)}  ${counts}`);
  }
}

/**
 * Runs all layers, also after a failure, except those that need a layer that failed.
 * Returns the exit code. A layer's `run(counter)` gives an exit code, or null for "there are no tests"; one that
 * `counts` must have counted a test to be called passed.
 */
export async function runLayers(layers, { count = false } = {}) {
  const started = Date.now();
  const results = [];
  for (const layer of layers) {
    const broken = results.some((one) => one.state === "FAILED" && layer.needs?.includes(one.layer.name));
    if (broken) results.push({ layer, state: "skipped", took: 0, counter: new Counter() });
    else results.push(await runOne(layer));
  }
  table(results);
  const bad = results.filter(({ state }) => state === "FAILED" || state === "skipped");
  const sum = (key) => results.reduce((total, { counter }) => total + counter[key], 0);
  const verdict = bad.length ? red(`failed: ${bad.map(({ layer }) => layer.name).join(", ")}`) : green("all passed");
  say(`\n${bold(verdict)} in ${duration(Date.now() - started)}`);
  if (count) say(`tests: ${sum("passed")} passed, ${sum("failed")} failed`);
  return bad.length ? 1 : 0;
}
