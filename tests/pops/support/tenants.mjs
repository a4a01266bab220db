// The routes for tenants, as an operator uses them at any point of presence.

import { TOKEN } from '../../worker/harness.mjs';

/**
 * {put, get, delete, usage, audit, log, reopen} for a tenant: each gives the answer, with {status, json(), text()}.
 * `policy` may be left out where there is one calendar quota.
 */
export function tenants(pop) {
  const ask = (method, place) => (id, { policy, json, ...options } = {}) => {
    const query = policy === undefined ? '' : `?policy=${encodeURIComponent(policy)}`;
    return pop.fetch(`/v1/tenants/${encodeURIComponent(id)}${place}${query}`, { method, token: TOKEN, json, ...options });
  };
  const told = (method, place) => (id, json, options) => ask(method, place)(id, { json, ...options });
  return {
    put: told('PUT', ''),
    get: ask('GET', ''),
    delete: ask('DELETE', ''),
    usage: ask('GET', '/usage'),
    audit: ask('GET', '/audit'),
    log: ask('GET', '/log'),
    reopen: told('POST', '/reopen'),
  };
}
