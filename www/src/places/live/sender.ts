// Sends what the pacer says, and keeps the answers.

import { signal } from '@preact/signals';
import { reducedMotion } from '../../theme';
import { nowMs } from './ask';
import { Pacer, type Ending } from './pacer';
import { Recording } from './record';
import { sampleOf, type Sample } from './sample';
import { api, askLimiter, rate, target } from './state';
import { counterOf, inWords, questionOf } from './target';

export interface Progress {
  sent: number;
  held: number;
  inFlight: number;
  sinceMs: number;
  perSecond: number | null;
  ended: Ending | null;
}

export const recording = new Recording();

/** Grows when there is something new to see: several times a second, not with every answer. */
export const shown = signal(0);
export const progress = signal<Progress | null>(null);
/** The time at the right edge of the plots. */
export const edgeMs = signal(0);
/** How many were held back in all runs. */
export const heldBack = signal(0);

let pacer: Pacer | null = null;
let sinceMs = 0;
let wake: ReturnType<typeof setTimeout> | undefined;
let paint: ReturnType<typeof setTimeout> | undefined;
let heldBefore = 0;
let ids = 0;
let series = 0;
let counted: string | null = null;

export const isRunning = (): boolean => progress.value !== null && progress.value.ended === null;

/** So many at once, beside what a run sends; one after the other where no more fit in flight. */
export function sendAtOnce(count: number): void {
  if (!pacer || pacer.ended) return begin(Pacer.atOnce(nowMs(), count));
  pacer.more(nowMs(), count);
  step();
}

export const sendAtRate = (): void => begin(Pacer.atRate(nowMs(), rate.peek()));

export function turn(perSecond: number): void {
  pacer?.turn(nowMs(), perSecond);
  step();
}

export function stop(why: Ending = 'asked'): void {
  pacer?.end(why);
  step();
}

export function clear(): void {
  recording.clear();
  heldBefore = -(pacer?.held ?? 0);
  refresh();
}

function begin(next: Pacer): void {
  if (pacer) {
    pacer.end('asked');
    heldBefore += pacer.held;
  }
  pacer = next;
  sinceMs = nowMs();
  step();
}

/** Sends what is due, and comes back when more is. */
function step(): void {
  const own = pacer;
  if (!own) return;
  clearTimeout(wake);
  if ('faults' in target.peek()) own.end('asked');
  const now = nowMs();
  for (let left = own.take(now); left > 0; left -= 1) void send(own);
  const next = own.wakeMs(now);
  if (next !== null) wake = setTimeout(step, Math.max(1, next - now));
  tell(own);
}

async function send(own: Pacer): Promise<void> {
  const what = target.peek();
  if ('faults' in what) return own.answered();
  const name = counterOf(what);
  if (name !== counted) {
    counted = name;
    series += 1;
  }
  const whose = { id: ++ids, series, asked: inWords(what), isCheck: what.kind === 'check' };
  const asked = await askLimiter(questionOf(what, api()));
  if (asked.answer) own.answered();
  else own.silent(nowMs());
  recording.add(sampleOf(whose, asked));
  if (own === pacer) step();
  else tell(own);
}

/** What is seen follows at once when a run begins or ends, and else a few times a second. */
function tell(own: Pacer): void {
  const isEnd = own === pacer && own.ended !== null && progress.peek()?.ended === null;
  if (isEnd || progress.peek() === null || progress.peek()?.sinceMs !== sinceMs) return refresh();
  paint ??= setTimeout(refresh, reducedMotion.peek() ? 1_000 : 200);
}

function refresh(): void {
  clearTimeout(paint);
  paint = undefined;
  if (pacer) {
    const { sent, held, inFlight, perSecond, ended } = pacer;
    progress.value = { sent, held, inFlight, perSecond, ended, sinceMs };
    heldBack.value = heldBefore + held;
  }
  const last: Sample | undefined = recording.samples.at(-1);
  edgeMs.value = isRunning() ? nowMs() : (last?.endMs ?? nowMs());
  shown.value += 1;
}

/** A tab that nobody sees sends nothing. */
const onVisibility = () => {
  if (document.hidden) stop('hidden');
};

export function watchTab(): () => void {
  document.addEventListener('visibilitychange', onVisibility);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    stop('left');
  };
}
