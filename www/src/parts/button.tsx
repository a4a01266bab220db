import type { ComponentChildren } from 'preact';

interface Props {
  children: ComponentChildren;
  main?: boolean;
  /** It does nothing now. It keeps the focus, which a disabled button would drop. */
  idle?: boolean;
  onPress: () => void;
}

export function Button({ children, main, idle, onPress }: Props) {
  return (
    <button type="button" class={`button ${main ? 'main' : ''}`} aria-disabled={idle ? 'true' : undefined} onClick={() => {
      if (!idle) onPress();
    }}>{children}</button>
  );
}
