// Says how a run goes: at its end, and now and then before.

import { effect } from '@preact/signals';
import { announce } from '../../parts/announce';
import { nowMs } from './ask';
import { progress, recording } from './sender';
import { watched } from './view';
import { progressInWords, summary } from './words';

const EVERY_MS = 15_000;

export function speak(): () => void {
  let spokeMs = nowMs();
  let run = 0;
  let isTold = true;
  return effect(() => {
    const now = progress.value;
    if (!now) return;
    if (now.sinceMs !== run) {
      run = now.sinceMs;
      spokeMs = nowMs();
      isTold = false;
    }
    const isOver = now.ended !== null && now.inFlight === 0;
    if (isTold || (!isOver && nowMs() - spokeMs < EVERY_MS)) return;
    spokeMs = nowMs();
    isTold = isOver;
    announce(`${isOver ? `${progressInWords(now)} ` : ''}${summary(recording.totals, recording.samples.at(-1), watched.peek())}`);
  });
}
