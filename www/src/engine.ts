// The npm package: QuotaClock, manual clocks and periods. It is there before a place that needs it is drawn.

import init from 'sluicegate-wasm';
import { once, wasmFile } from './load';

export * from 'sluicegate-wasm';

export const loadEngine = once(async () => {
  await init({ module_or_path: await wasmFile('sluicegate_bg.wasm') });
});
