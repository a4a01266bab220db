// Stories as they are played: runs to an end, and what is measured there.

import * as engine from '../../engine';
import { writtenMoves, type Move } from './moves';
import { writeOptions, type Options } from './options';
import { Run } from './run';
import type { Claim, Story } from './stories';

/** A story that the run began with. */
export interface Told {
  story: Story;
  /** As measured at its end, under the options of the run. */
  claims: Claim[];
  /** Its claims are about its own options. */
  isChanged: boolean;
  /** Something was done after its end. */
  isPast: boolean;
}

export function played(options: Options, moves: readonly Move[]): Run {
  const run = new Run(engine, options);
  for (const move of moves) run.apply(move);
  return run;
}

function playedOnce<T>(options: Options, moves: readonly Move[], look: (run: Run) => T): T {
  const run = played(options, moves);
  try {
    return look(run);
  } finally {
    run.free();
  }
}

function measured(story: Story, options: Options): Claim[] {
  return playedOnce(options, story.moves, (run) =>
    story.claims(run, (changed, look) => playedOnce({ ...options, ...changed }, story.moves, look)));
}

/** What there is to say of `story`, in a run with these options and moves. */
export function toldOf(story: Story, options: Options, moves: readonly Move[]): Told {
  return {
    story,
    claims: measured(story, options),
    isChanged: !isSame(options, story.options),
    isPast: writtenMoves(moves) !== writtenMoves(story.moves),
  };
}

const isSame = (one: Options, other: Options): boolean => writtenOptions(one).toString() === writtenOptions(other).toString();

function writtenOptions(options: Options): URLSearchParams {
  const params = new URLSearchParams();
  writeOptions(options, params);
  return params;
}

/** True where a run did all that the story does, and perhaps more. */
export function beginsWith(moves: readonly Move[], story: Story): boolean {
  return story.moves.every((its, at) => {
    const move = moves[at];
    const mayGoOn = at === story.moves.length - 1 && its.kind === 'advance' && move?.kind === 'advance';
    return mayGoOn ? move.ms >= its.ms : JSON.stringify(move) === JSON.stringify(its);
  });
}
