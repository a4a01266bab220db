// The signs of the four outcomes: told by shape, and by colour too.

import { colour } from '../../theme';
import type { Outcome } from './sample';

const CLASS: Record<Outcome, string> = { allowed: 'is-tolerant', refused: '', unavailable: 'is-wrong', error: 'is-wrong' };

export function Mark({ outcome }: { outcome: Outcome }) {
  return (
    <svg class={`live-mark ${CLASS[outcome]}`} viewBox="0 0 12 12" aria-hidden="true">
      {outcome === 'allowed' && <circle cx="6" cy="6" r="4" fill="currentColor" />}
      {outcome === 'refused' && <circle cx="6" cy="6" r="3.6" fill="none" stroke="currentColor" stroke-width="1.6" />}
      {outcome === 'unavailable' && <path d="M2.2 2.2l7.6 7.6M9.8 2.2L2.2 9.8" stroke="currentColor" stroke-width="1.8" />}
      {outcome === 'error' && <path d="M6 1.8l4.6 8.2H1.4z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" />}
    </svg>
  );
}

/** The same signs on a canvas; made anew for each picture, since colours change with the theme. */
export function painter(context: CanvasRenderingContext2D, ratio: number): (outcome: Outcome, x: number, y: number) => void {
  const [blue, ink, red, paper] = [colour('--tolerant'), colour('--ink'), colour('--wrong'), colour('--sheet')];
  const size = 3.2 * ratio;
  const shapes: Record<Outcome, (x: number, y: number) => void> = {
    allowed: (x, y) => {
      context.fillStyle = blue;
      context.arc(x, y, size * 0.9, 0, 2 * Math.PI);
      context.fill();
    },
    refused: (x, y) => {
      context.fillStyle = paper;
      context.strokeStyle = ink;
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    },
    unavailable: (x, y) => {
      context.strokeStyle = red;
      context.moveTo(x - size, y - size);
      context.lineTo(x + size, y + size);
      context.moveTo(x + size, y - size);
      context.lineTo(x - size, y + size);
      context.stroke();
    },
    error: (x, y) => {
      context.fillStyle = paper;
      context.strokeStyle = red;
      context.moveTo(x, y - size * 1.2);
      context.lineTo(x + size * 1.2, y + size);
      context.lineTo(x - size * 1.2, y + size);
      context.closePath();
      context.fill();
      context.stroke();
    },
  };
  return (outcome, x, y) => {
    context.lineWidth = 1.4 * ratio;
    context.beginPath();
    shapes[outcome](x, y);
  };
}
