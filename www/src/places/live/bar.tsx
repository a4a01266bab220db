// The limit as one bar. Patterns tell the parts from each other, and not colour alone.

import { number } from '../../format';
import type { Segment } from './ledger';

export const KINDS: Record<Segment['kind'], { title: string; says: string }> = {
  spent: { title: 'spent', says: 'used, and booked' },
  forfeited: { title: 'forfeited', says: 'lost, so they count as used' },
  carried: { title: 'carried', says: 'an operator counted them as used' },
  outstanding: { title: 'outstanding', says: 'out at PoPs' },
  returned: { title: 'returned', says: 'came back, free again' },
  free: { title: 'free', says: 'the rest of the limit' },
};

const HEIGHT = 34;

export function Bar({ whole, limit, segments }: { whole: number; limit: number; segments: readonly Segment[] }) {
  const part = (units: number): string => `${((100 * units) / whole).toFixed(4)}%`;
  const says = segments.map(({ kind, units }) => `${number(units)} ${KINDS[kind].title}`).join(', ');
  return (
    <svg class="live-bar" width="100%" height={HEIGHT + 22} role="img" aria-label={`The limit of ${number(limit)}: ${says}.`}>
      <defs>
        <pattern id="live-hatch-outstanding" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" class="live-hatch-back" /><rect width="3.5" height="7" class="live-hatch-strong" /></pattern>
        <pattern id="live-hatch-returned" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="live-hatch-paper" /><circle cx="3" cy="3" r="1.1" class="live-hatch-strong" /></pattern>
        <pattern id="live-hatch-forfeited" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" class="live-hatch-paper" /><rect width="2" height="6" class="live-hatch-wrong" /></pattern>
      </defs>
      {segments.map(({ kind, from, units }) => <rect key={kind} class={`live-${kind}`} x={part(from)} width={part(units)} y="0" height={HEIGHT} />)}
      <rect class="live-bar-edge" x="0" y="0" width="100%" height={HEIGHT} />
      {limit < whole && <line class="live-bar-limit" x1={part(limit)} x2={part(limit)} y1="0" y2={HEIGHT + 4} />}
      <text x="0" y={HEIGHT + 17}>0</text>
      <text x={limit < whole ? part(limit) : '100%'} y={HEIGHT + 17} text-anchor={limit < whole ? 'middle' : 'end'}>limit {number(limit)}</text>
    </svg>
  );
}
