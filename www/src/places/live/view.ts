// What is seen of the recording.

import { computed, signal } from '@preact/signals';
import { policiesOf } from './record';
import { watchedOf, type LimitSaid, type Sample } from './sample';
import { recording, shown } from './sender';

/** The policy that the viewer chose to see; one that no answer names any more counts as none. */
export const choice = signal<string | null>(null);

export const named = computed<string[]>(() => {
  void shown.value;
  return policiesOf(recording.samples).sort();
});

/** The policy in the plot: the chosen one, else the first of the last answer. */
export const watched = computed<string | null>(() => {
  const names = named.value;
  if (choice.value !== null && names.includes(choice.value)) return choice.value;
  return recording.samples.findLast((sample) => sample.limits.length > 0)?.limits[0]?.policy ?? null;
});

export const latest = computed<Sample | null>(() => {
  void shown.value;
  return recording.samples.at(-1) ?? null;
});

export const latestLimit = computed<LimitSaid | null>(() => {
  void shown.value;
  const sample = recording.samples.findLast((one) => watchedOf(one, watched.value)?.remaining != null);
  return sample ? watchedOf(sample, watched.value) : null;
});

/** The answer that is explained: one that is held, else the latest. */
export const heldAnswer = signal<Sample | null>(null);
