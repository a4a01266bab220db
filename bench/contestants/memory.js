// (b) A fixed window in the memory of eight Durable Objects. Fast, and forgets when an object is evicted.

import { DurableObject } from 'cloudflare:workers';

export { default } from './edge.js';

export class Counter extends DurableObject {
  #windows = new Map();
  #sweepAt = 0;
  #decisions = 0;

  hit(key, limit, windowMs) {
    this.#decisions += 1;
    const now = Date.now();
    if (now >= this.#sweepAt) this.#sweep(now);

    let window = this.#windows.get(key);
    if (window === undefined || now >= window.ends) {
      window = { count: 0, ends: now - (now % windowMs) + windowMs };
      this.#windows.set(key, window);
    }
    const allowed = window.count < limit;
    if (allowed) window.count += 1;
    return { allowed, remaining: limit - window.count, resetMs: window.ends - now };
  }

  #sweep(now) {
    for (const [key, window] of this.#windows) {
      if (now >= window.ends) this.#windows.delete(key);
    }
    this.#sweepAt = now + 10_000;
  }

  statistics() {
    return { decisions: this.#decisions, requests: this.#decisions, rowsWritten: 0 };
  }
}
