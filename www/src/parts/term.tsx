import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface Props {
  /** The word, as it stands in the sentence. */
  children: ComponentChildren;
  /** What it means. */
  means: ComponentChildren;
}

/** A word of the field, with its meaning one press away. */
export function Term({ children, means }: Props) {
  const id = useId();
  const word = useRef<HTMLButtonElement>(null);
  const place = (box: HTMLElement) => {
    const at = word.current?.getBoundingClientRect();
    if (!at) return;
    const left = Math.max(12, Math.min(at.left, innerWidth - box.offsetWidth - 12));
    const below = at.bottom + 6;
    const top = below + box.offsetHeight > innerHeight - 8 ? Math.max(8, at.top - box.offsetHeight - 6) : below;
    box.style.left = `${left}px`;
    box.style.top = `${top}px`;
  };
  return (
    <>
      <button ref={word} type="button" class="term" popovertarget={id}>{children}</button>
      <span id={id} class="meaning" popover="auto" role="note"
        onBeforeToggle={(event) => place(event.currentTarget)} onToggle={(event) => place(event.currentTarget)}>{means}</span>
    </>
  );
}
