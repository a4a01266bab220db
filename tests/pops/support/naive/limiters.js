// Two limiters as they are often written, to be compared with on the same traffic, processes and clocks.

/** One bucket for all: kept in one place, but each caller says what time it is. */
class SharedBucket {
  #buckets = new Map();

  take({ key, cost, limit, window_ms: windowMs, now }) {
    const { tokens, ts } = this.#buckets.get(key) ?? { tokens: limit, ts: now };
    const elapsed = Math.max(0, now - ts);
    const filled = Math.min(limit, tokens + (elapsed * limit) / windowMs);
    const allowed = filled >= cost;
    this.#buckets.set(key, { tokens: allowed ? filled - cost : filled, ts: now });
    return allowed;
  }
}

/** The whole limit at each point of presence, in windows of its own clock. */
class LonePop {
  #windows = new Map();

  take({ key, cost, limit, window_ms: windowMs }) {
    const window = Math.floor(Date.now() / windowMs);
    const known = this.#windows.get(key);
    const count = known?.window === window ? known.count : 0;
    const allowed = count + cost <= limit;
    this.#windows.set(key, { window, count: allowed ? count + cost : count });
    return allowed;
  }
}

const NAIVE = 'https://naive/take';
const isNaive = (request) => request.url === NAIVE;

/** A Durable Object class with a limiter beside it. */
const beside = (Real, Limiter) => class {
  #real;
  #limiter = new Limiter();

  constructor(state, env) {
    this.#real = new Real(state, env);
  }

  async fetch(request) {
    if (!isNaive(request)) return this.#real.fetch(request);
    return Response.json(this.#limiter.take(await request.json()));
  }

  alarm(info) {
    return this.#real.alarm(info);
  }
};

/** The classes of a worker, with POST /naive {key, cost, limit, window_ms} -> {bucket, alone}. */
export function withNaive({ default: Edge, Ledger, PopCounter }) {
  const ask = async (namespace, question) => {
    const answer = await namespace.getByName('naive').fetch(NAIVE, { method: 'POST', body: JSON.stringify(question) });
    return answer.json();
  };
  return {
    Ledger: beside(Ledger, SharedBucket),
    PopCounter: beside(PopCounter, LonePop),
    Edge: class extends Edge {
      async fetch(request) {
        if (new URL(request.url).pathname !== '/naive') return super.fetch(request);
        const question = await request.json();
        const [bucket, alone] = await Promise.all([
          ask(this.env.LEDGER, { ...question, now: Date.now() }),
          ask(this.env.POP_COUNTER, question),
        ]);
        return Response.json({ bucket, alone });
      }
    },
  };
}
