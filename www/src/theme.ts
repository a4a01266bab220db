// Light, dark or as the system has it, and the colours as canvas needs them.

import { effect, signal } from '@preact/signals';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'sluicegate-theme';

/** Storage can be closed to a page. */
function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

export const theme = signal<Theme>(stored());

/** Grows whenever colours have changed: what is drawn on a canvas is to be drawn anew. */
export const colours = signal(0);

const system = matchMedia('(prefers-color-scheme: dark)');
system.addEventListener('change', () => colours.value++);

effect(() => {
  const chosen = theme.value;
  document.documentElement.dataset.theme = chosen;
  colours.value = colours.peek() + 1;
  try {
    if (chosen === 'auto') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // Then it is for this visit only.
  }
});

const probe = document.createElement('span');
probe.hidden = true;
// Where the system forces its colours on a page, pictures keep theirs: lines of one colour say nothing.
probe.className = 'own-colours';
document.documentElement.append(probe);

/** The colour behind a custom property such as `--exact`, as it is now. */
export function colour(name: `--${string}`): string {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const motion = matchMedia('(prefers-reduced-motion: reduce)');

/** True where the viewer asks for less motion: nothing starts to move by itself then. */
export const reducedMotion = signal(motion.matches);
motion.addEventListener('change', () => (reducedMotion.value = motion.matches));
