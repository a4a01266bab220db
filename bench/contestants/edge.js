// The edge half of the two JavaScript limiters: find the policy, name the key, ask the key's object, answer.

const SHARDS = 8;

export const shards = Array.from({ length: SHARDS }, (_, shard) => `shard-${shard}`);

/** FNV-1a. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}

async function limit(request, env, policy) {
  const key = `${policy.name}:${request.headers.get('cf-connecting-ip') ?? 'unknown'}`;
  const object = env.COUNTER.getByName(shards[hash(key) % SHARDS]);
  const { allowed, remaining, resetMs } = await object.hit(key, policy.limit, policy.windowMs);

  const reset = Math.max(1, Math.ceil(resetMs / 1000));
  const headers = {
    ratelimit: `"${policy.name}";r=${remaining};t=${reset}`,
    'ratelimit-policy': `"${policy.name}";q=${policy.limit};w=${policy.windowMs / 1000}`,
  };
  if (allowed) return Response.json({ allowed, policy: policy.name, remaining }, { headers });

  headers['retry-after'] = String(reset);
  headers['content-type'] = 'application/problem+json';
  const problem = {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    status: 429,
    'violated-policies': [policy.name],
  };
  return new Response(JSON.stringify(problem), { status: 429, headers });
}

async function statistics(env) {
  const all = await Promise.all(shards.map((name) => env.COUNTER.getByName(name).statistics()));
  const sum = (field) => all.reduce((total, one) => total + one[field], 0);
  return Response.json({ decisions: sum('decisions'), requests: sum('requests'), rowsWritten: sum('rowsWritten') });
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === '/statistics') return statistics(env);
    const policy = env.POLICIES[pathname];
    return policy ? limit(request, env, policy) : new Response('not found', { status: 404 });
  },
};
