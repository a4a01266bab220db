// (c) The same with one SQL upsert per decision: survives eviction, and pays a row written for each allowed request.

import { DurableObject } from 'cloudflare:workers';

export { default } from './edge.js';

export class Counter extends DurableObject {
  #sql;
  #sweepAt = 0;
  #decisions = 0;
  #rowsWritten = 0;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec('create table if not exists windows (key text primary key, ends integer, count integer) without rowid');
  }

  hit(key, limit, windowMs) {
    this.#decisions += 1;
    const now = Date.now();
    if (now >= this.#sweepAt) this.#sweep(now);

    const ends = now - (now % windowMs) + windowMs;
    // Writes nothing, and returns no row, where the window is full: a refusal costs no write.
    const cursor = this.#sql.exec(
      `insert into windows (key, ends, count) select ?1, ?2, 1 where ?3 > 0
       on conflict (key) do update set count = iif(ends = excluded.ends, count + 1, 1), ends = excluded.ends
       where ends <> excluded.ends or count < ?3
       returning count`,
      key, ends, limit,
    );
    const [row] = cursor.toArray();
    this.#rowsWritten += cursor.rowsWritten;
    return { allowed: row !== undefined, remaining: row ? limit - row.count : 0, resetMs: ends - now };
  }

  #sweep(now) {
    const cursor = this.#sql.exec('delete from windows where ends <= ?', now);
    this.#rowsWritten += cursor.rowsWritten;
    this.#sweepAt = now + 60_000;
  }

  statistics() {
    return { decisions: this.#decisions, requests: this.#decisions, rowsWritten: this.#rowsWritten };
  }
}
