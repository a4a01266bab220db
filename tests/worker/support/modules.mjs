// The modules of a built worker: its entry and all that it imports by a relative path.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { buildDirectory } from './paths.mjs';

const RELATIVE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** Every module of the worker in `directory`, its entry first, as {name, kind, content}. */
export function modulesOf(directory, entry = 'index.js') {
  const modules = new Map();
  const visit = (name) => {
    if (modules.has(name)) return;
    const content = readFileSync(path.join(directory, name));
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule';
    modules.set(name, { name, kind, content });
    if (kind !== 'esModule') return;
    for (const [, specifier] of content.toString('utf8').matchAll(RELATIVE_IMPORT)) {
      visit(path.posix.join(path.posix.dirname(name), specifier));
    }
  };
  visit(entry);
  return [...modules.values()];
}

export function isBuilt(directory = buildDirectory) {
  return existsSync(path.join(directory, 'index.js'));
}

/** The modules of sluicegate as it was built last. */
export function builtModules() {
  if (!isBuilt()) throw new Error('build/index.js is missing: build the worker first (npm run build)');
  return modulesOf(buildDirectory);
}

/** One module from source text. */
export function scriptModule(source, name = 'index.js') {
  return [{ name, kind: 'esModule', content: Buffer.from(source) }];
}
