// A worker of sluicegate's shape, to test the harness and `npm run pops` without it: an edge, a PopCounter that
// keeps nothing and asks for every unit, and a Ledger that takes each numbered ask once.

const ASK_LIMIT_MS = 700;

const refused = (status, detail) => Response.json({ type: 'about:blank', title: 'stand-in', status, detail }, { status });

export class PopCounter {
  constructor(state, env) {
    this.env = env;
    this.sql = state.storage.sql;
    this.sql.exec('create table if not exists starts (k integer primary key, n integer)');
    this.boot = this.sql.exec('insert into starts values (0, 1) on conflict do update set n = n + 1 returning n').one().n;
    this.asked = 0;
  }

  async take({ policy, key, cost = 1 }) {
    this.asked += 1;
    const ask = { v: 1, pop: this.env.POP_NAME, id: `${this.env.POP_NAME}/${this.boot}/${this.asked}`, policy, cost };
    try {
      const response = await this.env.LEDGER.getByName(`tenant/${key}`).fetch('https://ledger/ask', {
        method: 'POST',
        headers: { 'x-stand-in': 'yes' },
        body: JSON.stringify(ask),
        signal: AbortSignal.timeout(ASK_LIMIT_MS),
      });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      return { policy, ...(await response.json()) };
    } catch (error) {
      return { policy, allowed: false, refusal: 'unavailable', why: String(error) };
    }
  }

  async fetch(request) {
    if (request.method === 'GET') return Response.json({ boot: this.boot, asked: this.asked, now: Date.now() });
    const { limits } = await request.json();
    return Response.json(await Promise.all(limits.map((limit) => this.take(limit))));
  }
}

export class Ledger {
  constructor(state, env) {
    this.env = env;
    this.sql = state.storage.sql;
    this.sql.exec('create table if not exists takes (id text primary key, policy text, pop text, cost integer, allowed integer) without rowid');
    this.sql.exec('create table if not exists settings (policy text primary key, most integer) without rowid');
    this.messages = 0;
  }

  limit(policy) {
    const [own] = this.sql.exec('select most from settings where policy = ?', policy).toArray();
    return own?.most ?? this.env.LIMITS.policies.find(({ name }) => name === policy)?.limit ?? 0;
  }

  used(policy) {
    return this.sql.exec('select coalesce(sum(cost), 0) as n from takes where policy = ? and allowed = 1', policy).one().n;
  }

  answer({ id, policy, cost, pop }) {
    const [before] = this.sql.exec('select allowed from takes where id = ?', id).toArray();
    const allowed = before ? before.allowed === 1 : this.used(policy) + cost <= this.limit(policy);
    if (!before) this.sql.exec('insert into takes values (?, ?, ?, ?, ?)', id, policy, pop, cost, allowed ? 1 : 0);
    return { allowed, refusal: allowed ? null : 'limit', remaining: this.limit(policy) - this.used(policy), ledger_now: Date.now() };
  }

  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/ask') {
      this.messages += 1;
      const added = [...request.headers.keys()].filter((name) => name.startsWith('x-') && name !== 'x-stand-in');
      if (request.method !== 'POST' || request.headers.get('x-stand-in') !== 'yes' || added.length > 0) return refused(400, `not as it was sent: ${added}`);
      return Response.json(this.answer(await request.json()));
    }
    if (pathname === '/report') return Response.json({ messages: this.messages });
    const policy = searchParams.get('policy') ?? this.env.LIMITS.policies[0].name;
    if (request.method === 'PUT') this.sql.exec('insert or replace into settings values (?, ?)', policy, (await request.json()).limit);
    if (pathname.endsWith('/usage')) return Response.json({ limit: this.limit(policy), used: this.used(policy) });
    if (pathname.endsWith('/audit')) {
      return Response.json(this.sql.exec('select pop, count(*) as takes from takes where allowed = 1 group by pop order by pop').toArray());
    }
    return Response.json({ policy, limit: this.limit(policy) });
  }
}

async function check(request, env) {
  if (request.headers.get('authorization') !== `Bearer ${env.SLUICEGATE_TOKEN}`) return refused(401, 'no token');
  const results = await (await env.POP_COUNTER.getByName(`${env.POP_NAME}/0`).fetch(request)).json();
  return Response.json({ allowed: results.every(({ allowed }) => allowed), results });
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (!env.LIMITS?.policies?.every(({ name }) => name)) return refused(503, 'policies[0].name: is missing');
    if (pathname === '/healthz') return Response.json({ ok: true, pop: env.POP_NAME, now: Date.now() });
    if (pathname === '/v1/check') return check(request, env);
    if (pathname === '/v1/pop') return env.POP_COUNTER.getByName(`${env.POP_NAME}/0`).fetch(request);
    const [, tenant] = /^\/v1\/tenants\/([^/]+)/.exec(pathname) ?? [];
    if (!tenant) return refused(404, pathname);
    try {
      return await env.LEDGER.getByName(`tenant/${tenant}`).fetch(request);
    } catch (error) {
      return refused(503, String(error));
    }
  },
};
