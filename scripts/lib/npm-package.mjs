// Builds the npm package: wasm-pack once per target into pkg/<target>/, and what it leaves to do by hand.
// One compilation serves all three; the folders of a failed build are gone, never half made.

import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT } from "./cache.mjs";
import { filesIn } from "./files.mjs";
import { dim, say, Told } from "./log.mjs";
import { esbuild } from "./npm-tools.mjs";
import { capture } from "./run.mjs";
import { wasmPack } from "./wasm-pack.mjs";

export const PKG = join(ROOT, "pkg");
const TARGETS = ["web", "bundler", "nodejs"];
const LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"];

/** What the crate does not say and npm wants to know. */
const METADATA = JSON.parse(readFileSync(join(ROOT, "npm", "package.json"), "utf8"));

const read = (...path) => JSON.parse(readFileSync(join(PKG, ...path), "utf8"));
const write = (value, ...path) => writeFileSync(join(PKG, ...path), `${JSON.stringify(value, null, 2)}\n`);

/**
 * wasm-bindgen copies the crate's JavaScript as it is, and its output for Node takes it in by require():
 * the copies of that target are made CommonJS modules.
 */
async function toCommonJs(folder) {
  for (const path of filesIn(folder).filter((name) => name.endsWith(".js"))) {
    const { code, stdout, stderr } = await capture(esbuild(), [path, "--format=cjs", "--platform=node", "--target=node20"]);
    if (code !== 0) throw new Told(`esbuild could not convert ${path}:\n${stderr}`);
    writeFileSync(path, stdout);
  }
}

/** Fills in what wasm-pack's package.json lacks, and puts the package's own README in place of the crate's. */
function finish(target) {
  const made = read(target, "package.json");
  write({ ...made, ...METADATA, files: [...made.files, ...LICENSES.filter((name) => !made.files.includes(name))] }, target, "package.json");
  copyFileSync(join(ROOT, "npm", "README.md"), join(PKG, target, "README.md"));
}

/**
 * pkg/ itself is the package that is published: Node takes the target for Node, bundlers theirs, and
 * `sluicegate/web` is the one that a page loads without a bundler.
 */
function umbrella() {
  const { name, version, license } = read("nodejs", "package.json");
  const entry = (target) => ({ types: `./${target}/sluicegate.d.ts`, default: `./${target}/sluicegate.js` });
  const exports = {
    ".": { node: entry("nodejs"), default: entry("bundler") },
    "./web": entry("web"),
    "./web/sluicegate_bg.wasm": "./web/sluicegate_bg.wasm",
    "./package.json": "./package.json",
  };
  const { types, default: main } = entry("nodejs");
  write({ name, version, ...METADATA, license, main, types, exports, files: TARGETS }, "package.json");
  for (const file of LICENSES) copyFileSync(join(ROOT, file), join(PKG, file));
  copyFileSync(join(ROOT, "npm", "README.md"), join(PKG, "README.md"));
}

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;

/** The bytes of a target's wasm and of its JavaScript, as they are and gzipped. */
export function sizesOf(target) {
  const sum = (paths, size) => paths.reduce((total, path) => total + size(readFileSync(path)), 0);
  const all = filesIn(join(PKG, target));
  const [wasm, js] = [".wasm", ".js"].map((ending) => all.filter((path) => path.endsWith(ending)));
  const zipped = (bytes) => gzipSync(bytes, { level: 9 }).length;
  return { wasm: sum(wasm, (b) => b.length), wasmGzip: sum(wasm, zipped), js: sum(js, (b) => b.length), jsGzip: sum(js, zipped) };
}

function report(target) {
  const { wasm, wasmGzip, js, jsGzip } = sizesOf(target);
  const total = `${kilobytes(wasmGzip + jsGzip).padStart(8)} gzipped`;
  say(`  pkg/${target.padEnd(8)} ${total}  ${dim(`(wasm ${kilobytes(wasm)}, ${kilobytes(wasmGzip)} gzipped; JavaScript ${kilobytes(js)}, ${kilobytes(jsGzip)} gzipped)`)}`);
}

/** Builds all three targets. Set-up has to be done. */
export async function buildPackages() {
  for (const target of TARGETS) {
    await wasmPack({ name: `pkg/${target}`, target, profile: "npm", features: "web", out: join(PKG, target), log: join(PKG, `${target}.log`) });
    if (target === "nodejs") await toCommonJs(join(PKG, target, "snippets"));
    finish(target);
    if (!existsSync(join(PKG, target, "sluicegate_bg.wasm"))) throw new Told(`wasm-pack ended well but wrote no pkg/${target}/sluicegate_bg.wasm`);
  }
  umbrella();
  for (const target of TARGETS) report(target);
}
