// Starts sluicegate, as it was built, on a real workerd. The parts are in support/.

import { builtModules, scriptModule } from './support/modules.mjs';
import { compatibility } from './support/paths.mjs';
import { startWorkers } from './support/server.mjs';

export { modulesOf, isBuilt, builtModules, scriptModule } from './support/modules.mjs';
export { compatibility, shippedConfiguration } from './support/paths.mjs';
export { withFaultyCounter } from './support/faulty.mjs';
export { skewUnavailable } from './support/skew.mjs';
export { startOrigin } from './support/origin.mjs';
export { startWorkers } from './support/server.mjs';

/** The bearer token that `startSluicegate` configures unless told otherwise. */
export const TOKEN = 'a-token-for-tests';

/**
 * Starts sluicegate, and ends it with the test.
 *
 * - `limits`: the value of LIMITS (an object, or raw JSON text)
 * - `vars`, `secrets`: text variables; secrets default to {SLUICEGATE_TOKEN: TOKEN}
 * - `origin`: a URL, or {service: name} of one of `services`, or nothing
 * - `services`: name -> {script, bindings, objects}: other workers beside it, each with a socket of its own;
 *   a binding {service: 'sluicegate'} calls ours
 * - `skew: true`: `server.clock.step(ms)` moves its wall clock
 * - what else `Server` takes
 */
export async function startSluicegate(t, options = {}) {
  const { limits, vars = {}, secrets = { SLUICEGATE_TOKEN: TOKEN }, origin, services = {}, modules, ...rest } = options;
  const date = compatibility();
  const bindings = { ...vars, ...secrets };
  if (limits !== undefined) bindings.LIMITS = { json: limits };
  if (origin !== undefined) bindings.ORIGIN = origin;
  const workers = {
    sluicegate: { modules: modules ?? builtModules(), bindings, objects: { POP_COUNTER: 'PopCounter', LEDGER: 'Ledger' }, compatibility: date },
  };
  for (const [name, { script, ...rest }] of Object.entries(services)) {
    workers[name] = { modules: scriptModule(script), compatibility: date, ...rest };
  }
  return startWorkers(t, { workers, ...rest });
}
