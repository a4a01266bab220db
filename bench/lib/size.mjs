// How large the built worker is.

import { gzipSync } from 'node:zlib';

import { builtModules, isBuilt } from '../../tests/worker/harness.mjs';

export function builtSize() {
  if (!isBuilt()) return undefined;
  const size = { wasm: 0, wasm_gzip: 0, script: 0, script_gzip: 0 };
  for (const { kind, content } of builtModules()) {
    const field = kind === 'wasm' ? 'wasm' : 'script';
    size[field] += content.length;
    size[`${field}_gzip`] += gzipSync(content, { level: 9 }).length;
  }
  return size;
}
