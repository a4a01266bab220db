// What a viewer can do here, and what follows from it.

import { signal } from '@preact/signals';
import { announce } from '../../parts/announce';
import { remember } from '../../route';
import { read, write } from './address';
import { Player } from './player';
import { BOUNDS, DEFAULT, nameOf, type Mishap, type Run, type Target } from './run';
import { STORIES, storyNamed, type Story } from './stories';

/** What was written last: who comes back from another place finds it again. */
let last = '';

export class Store {
  readonly story = signal<Story | null>(null);
  readonly run = signal<Run>(DEFAULT);
  /** Whom the next mishap befalls. */
  readonly target = signal<Target>(0);
  readonly player: Player;

  constructor(query: string) {
    const [story, run] = opened(query);
    this.story.value = story;
    this.run.value = run;
    this.player = new Player(run);
    this.#write();
  }

  /** The address was changed by hand or by a link; one that says nothing leaves the run as it is. */
  reopen(query: string): void {
    if (query === '') return this.#write();
    const [story, run] = opened(query);
    this.#begin(run, story);
  }

  tell(story: Story): void {
    this.#begin(story.run, story);
    announce(`${story.title}: set up.`);
  }

  /** Another world: it begins anew, and what befell the old one befalls it too, where it can. */
  change(changed: Partial<Run>): void {
    const run = { ...this.run.peek(), ...changed };
    const fits = ({ at_ms, target }: Mishap) => at_ms <= run.end_s * 1_000 && (target === 'ledger' || target < run.skews_ms.length);
    this.#begin({ ...run, mishaps: run.mishaps.filter(fits) }, null);
  }

  /** The same from the beginning. */
  again(): void {
    this.#begin(this.run.peek(), this.story.peek());
  }

  resize(pops: number): void {
    const { skews_ms } = this.run.peek();
    const more = Array.from({ length: Math.max(0, pops - skews_ms.length) }, (_, at) => (skews_ms.length + at) * 30 - 150);
    this.change({ skews_ms: [...skews_ms, ...more].slice(0, pops) });
  }

  /** Before the start a clock is simply ahead; from then on, moving it is a step. */
  skew(target: Target, ahead_ms: number, was_ms: number): void {
    if (this.player.now === 0) {
      const { skews_ms } = this.run.peek();
      this.change(target === 'ledger' ? { ledger_ms: ahead_ms } : { skews_ms: skews_ms.map((skew, at) => (at === target ? ahead_ms : skew)) });
    } else if (ahead_ms !== was_ms) {
      this.befall({ kind: 'step', target, ms: ahead_ms - was_ms });
    }
  }

  befall(mishap: Omit<Mishap, 'at_ms'>): void {
    if (this.run.peek().mishaps.length >= BOUNDS.mishaps) return announce('So many mishaps fit into one run, and no more.');
    this.run.value = this.player.fail(mishap);
    this.story.value = null;
    this.#write();
    announce(`${mishap.kind} at ${nameOf(mishap.target)}`);
  }

  close(): void {
    this.player.close();
  }

  #begin(run: Run, story: Story | null): void {
    this.story.value = story;
    this.run.value = run;
    const target = this.target.peek();
    if (target !== 'ledger' && target >= run.skews_ms.length) this.target.value = 0;
    this.player.begin(run);
    this.#write();
  }

  #write(): void {
    const story = this.story.peek();
    const params = story ? new URLSearchParams({ story: story.name }) : write(this.run.peek());
    last = params.toString();
    remember('pops', params);
  }
}

/** What an address says; without anything, what was there before, or the first story. */
function opened(address: string): [Story | null, Run] {
  const query = address || last;
  const params = new URLSearchParams(query);
  const story = query === '' ? STORIES[0] : storyNamed(params.get('story'));
  return story ? [story, story.run] : [null, read(params)];
}
