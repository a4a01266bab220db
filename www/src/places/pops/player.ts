// Lets a run happen: moves virtual time on, frame by frame, and keeps what is to be seen of it.

import { signal } from '@preact/signals';
import { World, type Frame } from '../../simulator';
import { History } from './history';
import { faultOf, specOf, type Mishap, type Run } from './run';

/** How long a picture may be worked at: the rest of a frame is the browser's. */
const WORK_MS = 9;
/** While it moves, words change so often: faster can't be read. */
const WORDS_MS = 120;
/** The longest that virtual time goes on without a look at the time that it took. */
const STRIDE_MS = 500;
/** A page that was in the background goes on where it was. */
const LONGEST_GAP_MS = 100;

/** Virtual seconds in a second. */
export const SPEEDS = [1, 10, 30, 60] as const;
export type Speed = (typeof SPEEDS)[number];

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Player {
  readonly playing = signal(false);
  readonly speed = signal<Speed>(30);
  /** True while it runs to the end as fast as it can. */
  readonly skipping = signal(false);
  readonly frame = signal<Frame | null>(null);
  /** Grows with each picture. */
  readonly drawn = signal(0);
  readonly fault = signal<string | null>(null);

  run: Run;
  history: History;
  #world: World | null = null;
  /** Virtual time, with its fraction. */
  #now = 0;
  /** Mishaps that have happened. */
  #done = 0;
  #last = 0;
  #words = 0;
  #request = 0;

  constructor(run: Run) {
    this.run = run;
    this.history = new History(run.skews_ms.length);
    this.begin(run);
  }

  /** True time since the start, in whole milliseconds. */
  get now(): number {
    return Math.floor(this.#now);
  }

  get end(): number {
    return this.run.end_s * 1_000;
  }

  /** Starts a run from its beginning; it stands still at first. */
  begin(run: Run): void {
    this.stop();
    this.#world?.free();
    this.#world = null;
    this.run = run;
    this.history = new History(run.skews_ms.length);
    this.#now = 0;
    this.#done = 0;
    try {
      this.#world = new World(JSON.stringify(specOf(run)));
      this.fault.value = null;
    } catch (error) {
      this.fault.value = words(error);
    }
    this.#show();
  }

  play(): void {
    if (this.playing.peek() || this.now >= this.end || !this.#world) return;
    this.playing.value = true;
    this.#last = performance.now();
    this.#request = requestAnimationFrame((now) => this.#step(now));
  }

  stop(): void {
    cancelAnimationFrame(this.#request);
    this.playing.value = false;
    this.skipping.value = false;
  }

  skip(): void {
    this.skipping.value = true;
    this.play();
    if (!this.playing.peek()) this.skipping.value = false;
  }

  /** Something goes wrong now, beside what was to go wrong anyway. Returns the run with it. */
  fail(mishap: Omit<Mishap, 'at_ms'>): Run {
    const happened: Mishap = { ...mishap, at_ms: this.now };
    const mishaps = [...this.run.mishaps.slice(0, this.#done), happened, ...this.run.mishaps.slice(this.#done)];
    this.run = { ...this.run, mishaps };
    this.#due();
    this.#show();
    return this.run;
  }

  close(): void {
    this.stop();
    this.#world?.free();
    this.#world = null;
  }

  #step(now: number): void {
    const passed = Math.min(now - this.#last, LONGEST_GAP_MS);
    this.#last = now;
    const wanted = this.skipping.peek() ? this.end : Math.min(this.end, this.#now + passed * this.speed.peek());
    this.#advance(wanted, performance.now() + WORK_MS);
    const over = this.now >= this.end;
    if (over || this.fault.peek()) this.stop();
    else this.#request = requestAnimationFrame((next) => this.#step(next));
    if (over || now - this.#words >= WORDS_MS) {
      this.#words = now;
      this.#show();
    } else {
      this.#draw();
    }
  }

  /** Goes on to a virtual time, or as far as there is time: on a slow machine it slows down and stays smooth. */
  #advance(wanted: number, deadline: number): void {
    while (this.#now < wanted) {
      const mishap = this.run.mishaps[this.#done];
      const next = Math.min(wanted, this.#now + STRIDE_MS, Math.max(mishap?.at_ms ?? Infinity, this.#now));
      this.#world?.advance(Math.floor(next));
      this.#now = next;
      this.#due();
      if (performance.now() > deadline) break;
    }
  }

  /** Has happen what is due. The world has been advanced to the very millisecond before. */
  #due(): void {
    for (let mishap = this.run.mishaps[this.#done]; mishap && mishap.at_ms <= this.now; mishap = this.run.mishaps[this.#done]) {
      this.#done += 1;
      this.#world?.advance(this.now);
      try {
        this.#world?.fail(JSON.stringify(faultOf(mishap)));
      } catch (error) {
        this.fault.value = words(error);
      }
    }
  }

  #draw(): void {
    if (this.#world) this.history.add(this.#world.samples());
    this.drawn.value += 1;
  }

  #show(): void {
    this.frame.value = this.#world ? (JSON.parse(this.#world.frame()) as Frame) : null;
    this.#draw();
  }
}
