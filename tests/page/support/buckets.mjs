// The buckets of "Two clocks" once more, in whole numbers: a millisecond at r tokens a second is r thousandths.

const DEFAULTS = { capacity: 20, refill: 5, rate: 5, quota: 1_000, mark: 'now' };

/** A bucket on the readings that it is given. */
class Bucket {
  admitted = 0;
  refused = 0;

  constructor({ capacity, refill, quota, mark }, counts) {
    Object.assign(this, { full: capacity * 1e4, level: capacity * 1e4, refill: Math.round(refill * 10), quota, mark, counts, last: 0, used: 0, slot: undefined });
  }

  ask(readingMs, slot) {
    const gap = Math.max(0, readingMs - this.last);
    this.level = Math.min(this.full, this.level + gap * this.refill);
    this.last = this.mark === 'now' ? readingMs : Math.max(this.last, readingMs);
    if (slot !== this.slot) [this.slot, this.used] = [slot, 0];
    const fits = this.level >= 1e4 && this.used < this.quota;
    if (fits) {
      this.level -= 1e4;
      this.used += 1;
    }
    this[fits ? 'admitted' : 'refused'] += 1;
  }
}

const monthIn = (zone) => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit' });
  return (ms) => format.format(ms);
};

/** When the wall begins: 20:00 UTC on 16 March 2026, or 30 s before April in the zone. */
function startOf(start, zone, monthOf) {
  const middle = Date.UTC(2026, 2, 16, 20);
  if (start === 'middle') return middle;
  let [low, high] = [middle, middle + 31 * 86_400_000];
  while (high - low > 1) {
    const between = Math.floor((low + high) / 2);
    if (monthOf(between) === monthOf(middle)) low = between;
    else high = between;
  }
  return high - 30_000;
}

/** What three buckets let through and refuse: on the wall, on the monotonic clock, on the time that really passed. */
export function replay(params) {
  const number = (name) => Number(params.get(name) ?? DEFAULTS[name]);
  const sizes = { capacity: number('capacity'), refill: number('refill'), quota: number('quota'), mark: 'now' };
  const zone = params.get('zone') ?? 'America/Los_Angeles';
  const monthOf = monthIn(zone);
  const startMs = startOf(params.get('start') ?? 'end', zone, monthOf);
  const [shared, alone, truth] = [new Bucket({ ...sizes, mark: params.get('mark') ?? 'now' }), new Bucket(sizes), new Bucket(sizes)];
  const gapMs = number('rate') ? 1_000 / number('rate') : Infinity;
  let [awake, asleep, stepped, slewed, ppm] = [0, 0, 0, 0, 0];
  const wall = () => awake + asleep + stepped + Math.trunc(slewed / 1e6);
  const ask = () => {
    shared.ask(wall(), monthOf(startMs + wall()));
    alone.ask(awake, 'uptime');
    truth.ask(awake + asleep, monthOf(startMs + awake + asleep));
  };
  const does = {
    a(ms) {
      for (const end = awake + ms; awake < end; ) {
        const next = Math.min(end, (Math.floor(awake / gapMs) + 1) * gapMs || Infinity);
        slewed += (next - awake) * ppm;
        awake = next;
        if (awake % gapMs === 0) ask();
      }
    },
    w: (ms) => (stepped += ms),
    z: (ms) => (asleep += ms),
    s: (millionths) => (ppm = millionths),
    q: (requests) => Array.from({ length: requests }, ask),
  };
  for (const move of (params.get('moves') ?? '').split(',').filter(Boolean)) does[move[0]](Number(move.slice(1)));
  const told = ({ admitted, refused }) => ({ admitted, refused });
  return { shared: told(shared), alone: told(alone), truth: told(truth) };
}
