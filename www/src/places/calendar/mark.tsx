// A shape for each kind of start, so that it is told by more than its colour.

import type { Mark } from './chart';

function Shape({ kind }: { kind: Mark }) {
  if (kind === 'gap') return <path class="filled" d="M-6.5-5.5h13L0 6z" />;
  if (kind === 'repeat') return <><circle r="6.2" /><circle class="filled" r="2.6" /></>;
  if (kind === 'missing') return <path d="M-5-5 5 5M5-5-5 5" />;
  return <path d="M-5.5 0h11M5.5-6v12" />;
}

/** The shape at a place in a picture. */
export const MarkAt = ({ kind, x, y }: { kind: Mark; x: number; y: number }) => (
  <g class={`mark ${kind}`} transform={`translate(${x} ${y})`}><Shape kind={kind} /></g>
);

/** The shape in a line of text. */
export const MarkIn = ({ kind }: { kind: Mark }) => (
  <svg class="mark-in" viewBox="-8 -8 16 16" aria-hidden="true"><g class={`mark ${kind}`}><Shape kind={kind} /></g></svg>
);
