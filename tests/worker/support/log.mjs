// The lines a process printed, and a way to wait for one.

import { setTimeout as delay } from 'node:timers/promises';

export class Log {
  lines = [];
  #waiting = new Set();

  /** Collects the lines of a stream. */
  attach(stream) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop();
      for (const line of parts) this.#push(line);
    });
    stream.on('close', () => rest && this.#push(rest));
  }

  #push(line) {
    this.lines.push(line);
    for (const look of this.#waiting) look(line);
  }

  /** A position to wait from, so that an older line does not count. */
  get position() {
    return this.lines.length;
  }

  /** The lines that match, from `after` on. */
  matching(pattern, after = 0) {
    return this.lines.slice(after).filter((line) => pattern.test(line));
  }

  /** Waits for a line that matches, from `after` on; `signal` ends the wait early. */
  async waitFor(pattern, { after = 0, timeout = 15_000, signal } = {}) {
    const [found] = this.matching(pattern, after);
    if (found !== undefined) return found;
    let look;
    const cancel = new AbortController();
    try {
      return await Promise.race([
        new Promise((resolve) => {
          look = (line) => pattern.test(line) && resolve(line);
          this.#waiting.add(look);
        }),
        delay(timeout, undefined, { signal: signal ? AbortSignal.any([signal, cancel.signal]) : cancel.signal }).then(() => {
          throw new Error(`no line matched ${pattern} within ${timeout} ms; the log says:\n${this.tail()}`);
        }),
      ]);
    } finally {
      this.#waiting.delete(look);
      cancel.abort();
    }
  }

  tail(count = 40) {
    return this.lines.slice(-count).map((line) => `  | ${line}`).join('\n') || '  | (nothing)';
  }
}
