// The simulator: PoPs and Ledgers as the Worker runs them, in virtual time. It is there before the place that needs it is drawn.

import init from 'sluicegate-simulator';
import { once, wasmFile } from './load';

export * from 'sluicegate-simulator';

export const loadSimulator = once(async () => {
  await init({ module_or_path: await wasmFile('simulator_bg.wasm') });
});
