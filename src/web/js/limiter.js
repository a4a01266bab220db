// The class QuotaClock. It is JavaScript's and not Rust's for one reason: it holds the caller's clock and
// listener. Held by Rust they would be roots of the garbage collector, and a listener that refers to its own
// limiter, as most do, would keep both for good.

/** What the Rust side is asked for limiters; here from the moment it is loaded. */
let engine;
export const install = (it) => {
  engine = it;
};

/** A snapshot on its way from `restore` to the constructor, which a caller cannot make. */
class Restored {
  constructor(snapshot) {
    this.snapshot = snapshot;
  }
}

export class QuotaClock {
  #core;
  #clock;
  #listener;

  constructor(options, restored = undefined) {
    if (engine === undefined) throw new Error('sluicegate is not loaded yet: call init() of sluicegate/web first, and wait for it');
    this.#clock = options?.clock;
    this.#listener = options?.onAnomaly;
    const from = restored instanceof Restored ? [restored.snapshot] : [];
    this.#core = engine.begin(options, this.#clock, this.#listener, from);
  }

  static restore(snapshot, options) {
    return new this(options, new Restored(snapshot));
  }

  tryConsume(cost = 1) {
    return this.#core.tryConsume(cost, this.#clock, this.#listener);
  }

  peek(cost = 1) {
    return this.#core.peek(cost, this.#clock, this.#listener);
  }

  snapshot() {
    return this.#core.snapshot();
  }

  free() {
    this.#core.free();
  }
}

if (Symbol.dispose) QuotaClock.prototype[Symbol.dispose] = QuotaClock.prototype.free;
