// Starts many points of presence and a ledger on real workerds. The parts are in support/.

export { isBuilt, skewUnavailable, TOKEN } from '../worker/harness.mjs';
export { until } from '../worker/support/limits.mjs';
export { Admissions } from './support/admissions.mjs';
export { Network } from './support/network.mjs';
export { startPops } from './support/pops.mjs';
export { randomOf } from './support/random.mjs';
