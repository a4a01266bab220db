import { signal } from '@preact/signals';

const said = signal('');

/** Says something to whoever listens instead of looking; for what happens once, not for what moves. */
export const announce = (text: string): void => {
  // The same words again are only said again if they are not quite the same.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
};

export const Announcer = () => <p class="unseen" role="status" aria-live="polite">{said.value}</p>;
