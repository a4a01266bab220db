// Time that goes by while the run is played.

import { useEffect } from 'preact/hooks';
import { keep, pass, playing, speed } from './state';

/** Numbers that change more often than this cannot be read. */
const EVERY_MS = 100;
/** A tab that was in the background goes on from where it was. */
const LONGEST_GAP_MS = 250;
/** The address is written this often; browsers allow no more than some changes a second. */
const KEEP_MS = 3_000;

export function useTicker(): void {
  const isPlaying = playing.value;
  useEffect(() => {
    if (!isPlaying) return undefined;
    let frame = 0;
    let last = performance.now();
    let kept = last;
    let due = 0;
    const tick = (now: number) => {
      due += Math.min(LONGEST_GAP_MS, Math.max(0, now - last));
      last = now;
      if (due >= EVERY_MS) {
        const ms = Math.floor(due);
        due -= ms;
        pass(ms * Number(speed.peek()));
      }
      if (now - kept >= KEEP_MS) {
        kept = now;
        keep();
      }
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
}
