// The core, as WebAssembly: loaded once, for all places.

import init from 'sluicegate-wasm';

export * from 'sluicegate-wasm';

async function load(): Promise<void> {
  const response = await fetch(new URL('sluicegate_bg.wasm', document.baseURI));
  if (!response.ok) throw new Error(`sluicegate_bg.wasm: HTTP ${response.status}`);
  // A file server that does not know the type of wasm is no reason to fail, or to warn.
  const isTyped = response.headers.get('content-type')?.startsWith('application/wasm');
  await init({ module_or_path: isTyped ? response : await response.arrayBuffer() });
}

/** Done when the core can be used; every place waits for it before it draws. */
export const loaded: Promise<void> = load();
