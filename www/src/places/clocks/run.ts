// One run: the hands, the traffic and the limiters on them. The same options and moves give the same run.

import type { ManualClock, Period } from 'sluicegate-wasm';
import { LONGEST_MS, type Move } from './moves';
import { MonotonicLimiter, PerfectLimiter, WallLimiter, type SlotOf } from './naive';
import { BEFORE_END_MS, type Options } from './options';
import { cached } from './periods';
import { Exact, type Engine } from './quota-clock';
import { beforeOf, each, LANES, type Happened, type Lane, type Samples, type Touched } from './record';
import { Tally } from './tally';

/** Levels are kept as often as this, and before and after each move: 9,000 in the longest run. */
const SAMPLE_MS = 200;
/** Where requests are this far apart or closer, levels are taken after them, so that a level bucket is a level line. */
const FAR_MS = 500;
/** An instant in the middle of a day and of a month, nearly everywhere. */
const SOME_DAY_MS = Date.UTC(2026, 2, 16, 20);

export class Run {
  readonly clock: ManualClock;
  readonly startMs: number;
  readonly wall: WallLimiter;
  readonly monotonic: MonotonicLimiter;
  readonly exact: Exact;
  readonly perfect: PerfectLimiter;
  readonly tallies: Record<Lane, Tally>;
  readonly events: Happened[] = [];
  readonly samples: Samples = { awakeMs: [], sleeps: [], levels: each(() => []), used: each(() => []) };
  touched: Touched | null = null;
  awakeMs = 0;
  asleepMs = 0;
  sleeps = 0;
  slewPpm = 0;
  /** True periods that have begun, the first included. */
  begun = 1;
  private readonly periodAt: (wallMs: number) => Period;
  private trueSlot: string;
  /** The time slewed so far in millionths of a millisecond, and what the wall has of it. */
  private slewed = 0;
  private slewedMs = 0;
  private readonly gapMs: number;
  private nextRequestMs: number;
  private readonly sampleMs: number;
  private nextSampleMs: number;

  /** Throws what `QuotaClock` throws for options that are wrong. */
  constructor(engine: Engine, readonly options: Options) {
    this.periodAt = cached((wallMs) => engine.periodFor({ unit: options.unit, timeZone: options.zone }, wallMs));
    const around = this.periodAt(SOME_DAY_MS);
    this.startMs = options.start === 'end' ? around.endMs - BEFORE_END_MS : SOME_DAY_MS;
    this.clock = engine.manualClock({ monotonicMs: 0, wallMs: this.startMs, ...(options.reader ? { elapsedRealtimeMs: 0 } : {}) });
    const slotOf: SlotOf = (wallMs) => this.periodAt(wallMs).slot;
    this.trueSlot = slotOf(this.startMs);
    this.wall = new WallLimiter(options, options.mark, slotOf, this.startMs);
    this.monotonic = new MonotonicLimiter(options, options.unit);
    this.exact = new Exact(engine, options, this.clock);
    this.perfect = new PerfectLimiter(options, slotOf, this.startMs);
    this.tallies = each(() => new Tally(options.capacity, options.refillPerSecond));
    this.gapMs = options.requestsPerSecond > 0 ? 1_000 / options.requestsPerSecond : Infinity;
    this.nextRequestMs = this.gapMs;
    this.sampleMs = this.gapMs <= FAR_MS ? Math.max(SAMPLE_MS, this.gapMs) : SAMPLE_MS;
    this.nextSampleMs = this.sampleMs;
    this.sample();
  }

  /** The time that really passed, which no program can read. */
  get trueMs(): number {
    return this.awakeMs + this.asleepMs;
  }

  /** The wall's distance to the monotonic clock, since the start. */
  get apartMs(): number {
    return this.clock.wallMs() - this.startMs - this.clock.monotonicMs();
  }

  get isOver(): boolean {
    return this.awakeMs >= LONGEST_MS;
  }

  /** The period that the wall shows. */
  get shownPeriod(): Period {
    return this.periodAt(this.clock.wallMs());
  }

  apply(move: Move): void {
    switch (move.kind) {
      case 'advance': return this.advance(move.ms);
      case 'step': return this.touch('step', move.ms, () => this.clock.stepWall(move.ms));
      case 'suspend': return this.touch('suspend', move.ms, () => this.sleep(move.ms));
      case 'slew': return this.touch('slew', move.ppm, () => (this.slewPpm = move.ppm));
      case 'send':
        for (let sent = 0; sent < move.requests; sent++) this.request();
        return this.sample();
    }
  }

  /** Tokens that a request would find now, as far as can be told without one. */
  level(lane: Lane): number {
    switch (lane) {
      case 'shared': return this.wall.level(this.clock.wallMs());
      case 'alone': return this.monotonic.level(this.clock.monotonicMs());
      case 'exact': return this.exact.level();
      case 'truth': return this.perfect.level(this.trueMs);
    }
  }

  free(): void {
    this.exact.free();
  }

  private advance(ms: number): void {
    const end = Math.min(LONGEST_MS, this.awakeMs + ms);
    while (this.awakeMs < end) {
      this.pass(Math.min(end, this.nextRequestMs, this.nextSampleMs) - this.awakeMs);
      if (this.awakeMs === this.nextRequestMs) {
        this.request();
        this.nextRequestMs += this.gapMs;
      }
      if (this.awakeMs === this.nextSampleMs) {
        this.sample();
        this.nextSampleMs += this.sampleMs;
      }
    }
  }

  private pass(ms: number): void {
    this.clock.advance(ms);
    this.awakeMs += ms;
    this.slewed += ms * this.slewPpm;
    const due = Math.trunc(this.slewed / 1e6);
    if (due !== this.slewedMs) this.clock.stepWall(due - this.slewedMs);
    this.slewedMs = due;
    this.followTruth();
  }

  private sleep(ms: number): void {
    this.clock.suspend(ms);
    this.asleepMs += ms;
    this.sleeps += 1;
  }

  private followTruth(): void {
    const { slot } = this.periodAt(this.startMs + this.trueMs);
    if (slot === this.trueSlot) return;
    this.trueSlot = slot;
    this.begun += 1;
    this.events.push({ kind: 'period', size: 0, slot, ...this.moment() });
  }

  private request(): void {
    const { clock, trueMs, tallies } = this;
    tallies.shared.note(this.wall.ask(clock.wallMs()), trueMs, this.trueSlot);
    tallies.alone.note(this.monotonic.ask(clock.monotonicMs()), trueMs, this.trueSlot);
    tallies.exact.note(this.exact.ask(trueMs), trueMs, this.trueSlot);
    tallies.truth.note(this.perfect.ask(trueMs), trueMs, this.trueSlot);
    // Only now does QuotaClock know what was done to the clocks.
    if (this.touched && tallies.exact.asked === this.touched.before.exact.asked + 1) this.sample();
  }

  private moment(): Pick<Happened, 'awakeMs' | 'sleeps' | 'trueMs'> {
    return { awakeMs: this.awakeMs, sleeps: this.sleeps, trueMs: this.trueMs };
  }

  private touch(kind: 'step' | 'suspend' | 'slew', size: number, move: () => void): void {
    this.sample();
    const event = { kind, size, ...this.moment() };
    this.events.push(event);
    // What happens between the same two requests is one thing to a limiter.
    if (this.touched && this.touched.before.exact.asked === this.tallies.exact.asked) this.touched.events.push(event);
    else this.touched = { events: [event], before: each((lane) => beforeOf(this.tallies[lane])), begun: this.begun, told: { ...this.exact.told } };
    move();
    this.followTruth();
    this.sample();
  }

  private sample(): void {
    const { samples } = this;
    samples.awakeMs.push(this.awakeMs);
    samples.sleeps.push(this.sleeps);
    for (const lane of LANES) {
      samples.levels[lane].push(this.level(lane));
      samples.used[lane].push(this.tallies[lane].used);
    }
  }
}
