// The run on show, and everything that may be done to it. The view renders this and nothing else.

import { computed, signal } from '@preact/signals';
import * as engine from '../../engine';
import { announce } from '../../parts/announce';
import { remember } from '../../route';
import { reducedMotion } from '../../theme';
import { effectOn, effectWords, happenedText } from './effects';
import type { What } from './levels';
import { add, MOST_MOVES, movesFrom, writtenMoves, type Move } from './moves';
import { DEFAULTS, optionsFrom, writeOptions, type Options } from './options';
import type { Run } from './run';
import { STORIES, type Story } from './stories';
import { beginsWith, played, toldOf, type Told } from './told';

/** Made anew with every change, so that whoever reads it draws again. The run inside goes on. */
interface Stage {
  run: Run;
  moves: Move[];
  told: Told | null;
}

export const SPEEDS = ['1', '10', '60'] as const;

const held = signal<Stage | null>(null);
/** Filled before anything is drawn. */
export const stage = computed(() => {
  if (!held.value) throw new Error('the place was drawn before it was opened');
  return held.value;
});
export const isOpen = computed(() => held.value !== null);
export const playing = signal(false);
export const speed = signal<(typeof SPEEDS)[number]>('1');
/** What the picture shows. */
export const shows = signal<What>('tokens');
/** What is wrong with an option that was typed, by its name. */
export const wrong = signal<Partial<Record<keyof Options, string>>>({});
/** True where no more fits into the address. */
export const isFull = computed(() => stage.value.moves.length >= MOST_MOVES || stage.value.run.isOver);

/** What a first visit begins with: a level bucket, and some seconds to look at. */
const OPENING: readonly Move[] = [{ kind: 'send', requests: 10 }, { kind: 'advance', ms: 10_000 }];

function show(options: Options, moves: readonly Move[], story: Story | null): void {
  const run = played(options, moves);
  held.peek()?.run.free();
  const told = story && toldOf(story, options, moves);
  held.value = { run, moves: [...moves], told };
  wrong.value = {};
  keep();
}

function paramsOf({ run, moves, told }: Stage): URLSearchParams {
  const params = new URLSearchParams();
  if (told) params.set('story', told.story.id);
  writeOptions(run.options, params);
  if (shows.peek() === 'quota') params.set('show', 'quota');
  params.set('moves', writtenMoves(moves));
  return params;
}

/** Puts the run into the address. */
export function keep(): void {
  if (held.peek()) remember('clocks', paramsOf(stage.peek()));
}

/** Opens what the address says, or what was there before, or a beginning. */
export function open(query: string): void {
  const params = new URLSearchParams(query);
  const story = STORIES.find(({ id }) => id === params.get('story')) ?? null;
  if (story && !params.has('moves')) return tell(story);
  if (query === '' && held.peek()) return keep();
  if (query === '') return begin(DEFAULTS);
  const [options, moves] = [optionsFrom(params), movesFrom(params.get('moves') ?? '')];
  if (held.peek() && paramsOf(stage.peek()).toString() === params.toString()) return;
  pause();
  shows.value = params.get('show') === 'quota' ? 'quota' : 'tokens';
  show(zoneError(options.zone) ? { ...options, zone: DEFAULTS.zone } : options, moves, story && beginsWith(moves, story) ? story : null);
}

/** A fresh run, which goes by itself unless the viewer asks for less motion. */
export function begin(options: Options): void {
  show(options, OPENING, null);
  playing.value = !reducedMotion.value;
}

export function tell(story: Story): void {
  pause();
  shows.value = story.shows ?? 'tokens';
  show(story.options, story.moves, story);
  announce(`${story.title}: played to its end.`);
}

export function pause(): void {
  if (!playing.peek()) return;
  playing.value = false;
  keep();
}

export function play(): void {
  playing.value = !isFull.value;
}

/** Time goes by while playing. Told to nobody, and put into the address from time to time. */
export function pass(ms: number): void {
  act({ kind: 'advance', ms });
  if (isFull.peek()) {
    pause();
    announce('This run is as long as it may be. Start afresh to go on.');
  }
}

/** Something that a person did. */
export function move(made: Move): void {
  if (isFull.peek()) return;
  act(made);
  // Who plays sees it with the next request; else the words wait for one.
  const { run } = stage.peek();
  if (made.kind === 'step' || made.kind === 'suspend') announce(`${happenedText({ kind: made.kind, size: made.ms, awakeMs: 0, sleeps: 0, trueMs: 0 })}.`);
  else if (made.kind === 'send') announce(sentText(run, made.requests));
  else if (made.kind === 'advance' && run.touched) announce(effectText(run));
  keep();
}

function act(made: Move): void {
  const { run, moves, told } = stage.peek();
  const { log } = run.exact;
  const newest = log[0];
  run.apply(made);
  add(moves, made);
  if (log[0] !== newest && log[0]?.times === 1) announce(newsText(run));
  held.value = { run, moves, told: told && { ...told, isPast: true } };
}

/** The same moves under other options. */
export function change(changed: Partial<Options>): void {
  const { run, moves, told } = stage.peek();
  const options = { ...run.options, ...changed };
  const error = zoneError(options.zone);
  if (error) wrong.value = { zone: error };
  else show(options, moves, told?.story ?? null);
}

export function zoneError(zone: string): string | null {
  try {
    engine.periodFor({ unit: 'month', timeZone: zone }, 0);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What QuotaClock told of just now, and why. */
function newsText({ exact: { log }, touched }: Run): string {
  const kinds = log.filter(({ atMs }) => atMs === log[0]?.atMs).map(({ kind }) => kind).reverse();
  return `${touched ? `${touched.events.map(happenedText).join(', ')}. ` : ''}QuotaClock told of ${kinds.join(' and ')}.`;
}

const effectText = (run: Run): string => (run.touched ? `QuotaClock: ${effectWords(effectOn(run, run.touched, 'exact'), run.touched.events).join(' ')}` : '');

function sentText({ exact: { decision, fault } }: Run, requests: number): string {
  const sent = requests === 1 ? 'One request sent' : `${requests} requests sent`;
  if (!decision) return `${sent}. QuotaClock threw ${fault?.code}.`;
  return `${sent}. QuotaClock: the last one ${decision.allowed ? 'allowed' : `refused (${decision.refusal})`}.`;
}
