// A small generator with a seed, the same numbers in every runtime (mulberry32).

export function numbers(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** A whole number from `least` to `most`. */
    whole: (least, most) => least + Math.floor(next() * (most - least + 1)),
    /** One of a list. */
    pick: (list) => list[Math.floor(next() * list.length)],
  };
}
