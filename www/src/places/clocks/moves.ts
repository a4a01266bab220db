// What is done to the clocks, one thing after the other: `a20000,w-250,a5000`.

export type Move =
  /** Time goes by, for all hands. */
  | { kind: 'advance'; ms: number }
  /** The wall clock is set. */
  | { kind: 'step'; ms: number }
  /** The machine sleeps. */
  | { kind: 'suspend'; ms: number }
  /** From now on the wall clock runs faster by so many millionths; negative for slower. */
  | { kind: 'slew'; ppm: number }
  /** So many requests, now. */
  | { kind: 'send'; requests: number };

/** The longest run, in time awake: it can be replayed in less than a second. */
export const LONGEST_MS = 1_800_000;
/** More moves than this make an address that is too long to share. */
export const MOST_MOVES = 400;

const DAY_MS = 86_400_000;

const LETTERS = {
  a: [1, LONGEST_MS, (ms: number): Move => ({ kind: 'advance', ms })],
  w: [-400 * DAY_MS, 400 * DAY_MS, (ms: number): Move => ({ kind: 'step', ms })],
  z: [1, 40 * DAY_MS, (ms: number): Move => ({ kind: 'suspend', ms })],
  s: [-1_000, 1_000, (ppm: number): Move => ({ kind: 'slew', ppm })],
  q: [1, 100, (requests: number): Move => ({ kind: 'send', requests })],
} as const;

function moveFrom(text: string): Move | null {
  const [, letter, digits] = /^([awzsq])(-?\d{1,12})$/.exec(text) ?? [];
  if (!letter || !digits) return null;
  const [least, most, made] = LETTERS[letter as keyof typeof LETTERS];
  const value = Number(digits);
  return value >= least && value <= most ? made(value) : null;
}

/** Moves from an address, up to the first that makes no sense. */
export function movesFrom(text: string): Move[] {
  const moves: Move[] = [];
  for (const part of text.split(',').filter(Boolean).slice(0, MOST_MOVES)) {
    const move = moveFrom(part);
    if (!move) break;
    add(moves, move);
  }
  return moves;
}

function written(move: Move): string {
  switch (move.kind) {
    case 'advance': return `a${move.ms}`;
    case 'step': return `w${move.ms}`;
    case 'suspend': return `z${move.ms}`;
    case 'slew': return `s${move.ppm}`;
    case 'send': return `q${move.requests}`;
  }
}

export const writtenMoves = (moves: readonly Move[]): string => moves.map(written).join(',');

/** Adds a move; time that goes by twice is time that goes by once, for longer, and never longer than a run may be. */
export function add(moves: Move[], move: Move): void {
  const last = moves.at(-1);
  if (move.kind === 'advance' && last?.kind === 'advance') moves[moves.length - 1] = { kind: 'advance', ms: Math.min(LONGEST_MS, last.ms + move.ms) };
  else moves.push(move);
}
