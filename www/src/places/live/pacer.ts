// When to send: so many a second or so many at once, never more than a few in flight, and not for ever.
// No clock in here: whoever asks says how late it is.

export const MOST_IN_FLIGHT = 6;
/** A run ends after so many. */
export const MOST_SENT = 1_000;
export const SLOWEST = 0.5;
export const FASTEST = 20;
/** A request waits so long for one of the places in flight, then it is held back. */
export const PATIENCE_MS = 1_000;
/** After so many requests in a row without an answer only one at a time is sent, ever more rarely. */
const SILENT_IN_A_ROW = 3;
const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 8_000;
/** Without an answer for so long a run ends. */
export const LONGEST_SILENCE_MS = 120_000;

export type Ending = 'asked' | 'done' | 'most-sent' | 'silence' | 'hidden' | 'left';

export class Pacer {
  sent = 0;
  held = 0;
  inFlight = 0;
  /** Why nothing more is sent; null while something may be. */
  ended: Ending | null = null;

  /** When the waiting ones were due, oldest first. */
  #waiting: number[] = [];
  #nextMs: number;
  #perSecond: number | null;
  #silent = 0;
  #silentSinceMs: number | null = null;
  #gapMs = FIRST_GAP_MS;
  #probeMs = 0;

  private constructor(nowMs: number, perSecond: number | null, atOnce: number) {
    this.#nextMs = perSecond === null ? Infinity : nowMs;
    this.#perSecond = perSecond;
    this.#waiting = Array.from({ length: atOnce }, () => nowMs);
  }

  static atOnce(nowMs: number, count: number): Pacer {
    return new Pacer(nowMs, null, Math.min(count, MOST_SENT));
  }

  static atRate(nowMs: number, perSecond: number): Pacer {
    return new Pacer(nowMs, clamp(perSecond), 0);
  }

  get perSecond(): number | null {
    return this.#perSecond;
  }

  /** Another rate, from now on. */
  turn(nowMs: number, perSecond: number): void {
    if (this.#perSecond === null) return;
    this.#perSecond = clamp(perSecond);
    this.#nextMs = Math.min(this.#nextMs, nowMs + 1_000 / this.#perSecond);
  }

  /** So many more, at once. */
  more(nowMs: number, count: number): void {
    if (!this.ended) this.#waiting.push(...Array.from({ length: count }, () => nowMs));
  }

  /** How many to send now. They count as sent, and as in flight until `answered` or `silent`. */
  take(nowMs: number): number {
    if (this.ended) return 0;
    if (this.#silentSinceMs !== null && nowMs - this.#silentSinceMs > LONGEST_SILENCE_MS) {
      this.end('silence');
      return 0;
    }
    this.#comeDue(nowMs);
    const count = this.#isAway ? this.#probe(nowMs) : Math.min(this.#waiting.length, MOST_IN_FLIGHT - this.inFlight, MOST_SENT - this.sent);
    this.#waiting.splice(0, count);
    this.sent += count;
    this.inFlight += count;
    if (this.sent >= MOST_SENT) this.end('most-sent');
    else if (this.#perSecond === null && this.#waiting.length === 0) this.end('done');
    return count;
  }

  /** When to ask again, if nothing happens before. */
  wakeMs(nowMs: number): number | null {
    if (this.ended) return null;
    const lapse = this.#waiting.length > 0 ? nowMs + 50 : Infinity;
    return Math.min(this.#nextMs, lapse);
  }

  answered(): void {
    this.inFlight -= 1;
    this.#silent = 0;
    this.#silentSinceMs = null;
    this.#gapMs = FIRST_GAP_MS;
  }

  silent(nowMs: number): void {
    this.inFlight -= 1;
    this.#silent += 1;
    this.#silentSinceMs ??= nowMs;
    if (!this.#isAway) return;
    this.#probeMs = nowMs + this.#gapMs;
    this.#gapMs = Math.min(LONGEST_GAP_MS, this.#gapMs * 2);
  }

  end(why: Ending): void {
    if (this.ended) return;
    this.ended = why;
    this.#waiting = [];
  }

  get #isAway(): boolean {
    return this.#silent >= SILENT_IN_A_ROW;
  }

  #probe(nowMs: number): number {
    return this.#waiting.length > 0 && this.inFlight === 0 && nowMs >= this.#probeMs ? 1 : 0;
  }

  #comeDue(nowMs: number): void {
    if (this.#perSecond !== null && this.#nextMs <= nowMs) {
      const gapMs = 1_000 / this.#perSecond;
      const count = 1 + Math.floor((nowMs - this.#nextMs) / gapMs);
      // After a sleep of the machine there can be very many, nearly all of them too late.
      const inTime = Math.min(count, 1 + Math.floor(PATIENCE_MS / gapMs));
      this.held += count - inTime;
      for (let ago = inTime - 1; ago >= 0; ago -= 1) this.#waiting.push(this.#nextMs + (count - 1 - ago) * gapMs);
      this.#nextMs += count * gapMs;
    }
    const late = this.#waiting.filter((dueMs) => nowMs - dueMs > PATIENCE_MS).length;
    // Without an answer for a while the next probe takes what is due then.
    this.held += late;
    this.#waiting.splice(0, late);
  }
}

const clamp = (perSecond: number): number => Math.min(FASTEST, Math.max(SLOWEST, perSecond));
