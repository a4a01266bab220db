// A small JavaScript worker with a Durable Object, to test the harness itself.

export const probe = `
import { DurableObject } from 'cloudflare:workers';

export class PopCounter extends DurableObject {
  constructor(state, env) {
    super(state, env);
    this.sql = state.storage.sql;
    this.sql.exec('create table if not exists hits (k text primary key, n integer) without rowid');
    this.inMemory = 0;
  }
  hit(k) {
    this.inMemory += 1;
    const stored = this.sql.exec(
      'insert into hits values (?, 1) on conflict (k) do update set n = n + 1 returning n', k).one().n;
    return { stored, inMemory: this.inMemory };
  }
  async fetch(request) {
    return Response.json(this.hit(new URL(request.url).pathname));
  }
  clock() {
    const julian = this.sql.exec("select (julianday('now') - 2440587.5) * 86400000.0 as ms").one().ms;
    return { date: Date.now(), sqlite: Math.round(julian) };
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const stub = () => env.POP_COUNTER.getByName(request.cf?.colo ?? 'none');
    switch (url.pathname) {
      case '/hit': return Response.json(await stub().hit('k'));
      case '/object': {
        try {
          return await stub().fetch(request);
        } catch (error) {
          return new Response(String(error), { status: 500 });
        }
      }
      case '/clock': return Response.json({ edge: Date.now(), object: await stub().clock() });
      case '/origin': return typeof env.ORIGIN === 'string' ? fetch(env.ORIGIN + url.search) : env.ORIGIN.fetch(request);
      case '/env': return Response.json({ ip: request.headers.get('cf-connecting-ip'), cf: request.cf ?? null, limits: env.LIMITS, text: env.TEXT });
      case '/throw': throw new Error('thrown for the log');
      default: console.log('the path was ' + url.pathname); return new Response('?', { status: 404 });
    }
  },
};
`;
