// What is asked of every contestant.

const UNREACHED = 1_000_000_000;
const KEYS = 10_000;

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function manyAddresses() {
  const addresses = Array.from({ length: KEYS }, (_, at) => `10.${at >> 12}.${(at >> 6) & 63}.${at & 63}`);
  const random = seeded(2026);
  for (let at = addresses.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [addresses[at], addresses[other]] = [addresses[other], addresses[at]];
  }
  return addresses;
}

/** Each load is one path, one policy (a fixed window of a minute per address) and the addresses that ask in turn. */
export const loads = [
  { name: 'hot', title: 'one hot key, allowed', limit: UNREACHED, status: '200', addresses: ['203.0.113.7'] },
  { name: 'refused', title: 'one hot key, refused', limit: 1, status: '429', addresses: ['203.0.113.8'] },
  { name: 'keys', title: '10,000 keys in turn, allowed', limit: UNREACHED, status: '200', addresses: manyAddresses() },
];

export const WINDOW_MS = 60_000;
export const pathOf = ({ name }) => `/${name}`;
