// The notices of everything that is in the page: npm packages by the files that were bundled, crates by what cargo
// links for wasm. Most of them ask that their notice goes with every copy.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./cache.mjs";
import { Told } from "./log.mjs";
import { capture } from "./run.mjs";
import { WASM_TARGET } from "./rust.mjs";

/** The text in a package's folder; of two to choose from, the shorter one. */
function textIn(folder) {
  const names = readdirSync(folder).filter((name) => /^(licen[cs]e|copying)([-._].*)?$/i.test(name)).sort();
  const name = names.find((one) => /mit/i.test(one)) ?? names[0];
  return name ? readFileSync(join(folder, name), "utf8").trim() : null;
}

/** The npm packages that these files belong to, as {name, version, license, text}. */
function npmPackages(files) {
  const found = files.map((file) => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter(Boolean);
  return [...new Set(found)].sort().map((name) => {
    const folder = join(ROOT, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { name, version, license, text: textIn(folder) };
  });
}

/** What a cargo command says of the crate as it is built for the page. */
async function cargo(...args) {
  const { code, stdout, stderr } = await capture("cargo", [...args, "--locked"], { cwd: ROOT });
  if (code !== 0) throw new Told(`cargo cannot say what the page is made of:\n${stderr}`);
  return stdout;
}

/** The crate and the crates that are linked into it; those that only take part in compiling are not. */
async function crates(features) {
  // `cargo metadata` knows where they are, but counts what the tests need as well.
  const tree = await cargo("tree", "--edges", "normal,no-proc-macro", "--target", WASM_TARGET, "--features", features, "--prefix", "none", "--format", "{p}");
  const linked = new Set(tree.split("\n").map((line) => /^(\S+) v(\S+)/.exec(line)?.slice(1).join(" ")));
  const { packages } = JSON.parse(await cargo("metadata", "--format-version", "1", "--filter-platform", WASM_TARGET, "--features", features));
  return packages.filter(({ name, version }) => linked.has(`${name} ${version}`)).map((one) => {
    const { name, version, license, manifest_path: manifest } = one;
    return { name, version, license, text: textIn(dirname(manifest)) };
  });
}

/** The notices as one text; packages with the same notice share it. */
export async function notices(files, features) {
  const sharing = new Map();
  for (const { name, version, license, text } of [...(await crates(features)), ...npmPackages(files)]) {
    const notice = text ?? `License: ${license}`;
    sharing.set(notice, [...(sharing.get(notice) ?? []), `${name} ${version} (${license})`]);
  }
  const rule = "-".repeat(80);
  return [...sharing].map(([notice, names]) => `${names.join("\n")}\n\n${notice}\n`).join(`\n${rule}\n\n`);
}
