import type { ComponentChildren, TargetedEvent } from 'preact';
import { useId, useState } from 'preact/hooks';

interface Props {
  label: ComponentChildren;
  hideLabel?: boolean;
  /** The value, and the slider's positions for values: linear unless told otherwise. */
  value: number;
  min: number;
  max: number;
  step?: number;
  toPosition?: (value: number) => number;
  fromPosition?: (position: number) => number;
  /** The value in words, seen and heard. */
  text: (value: number) => string;
  disabled?: boolean;
  help?: ComponentChildren;
  /** Told when the hand lets go. */
  onChange: (value: number) => void;
  /** Told while it moves. */
  onInput?: (value: number) => void;
}

const same = (value: number) => value;

export function Slider({ label, hideLabel, value, min, max, step = 1, toPosition = same, fromPosition = same, text, disabled, help, onChange, onInput }: Props) {
  const id = useId();
  const [moving, setMoving] = useState<number | null>(null);
  const shown = moving ?? value;
  const read = (event: TargetedEvent<HTMLInputElement>) => fromPosition(event.currentTarget.valueAsNumber);
  return (
    <div class="slider">
      <label for={id} class={hideLabel ? 'unseen' : ''}>{label}</label>
      <input id={id} type="range" min={toPosition(min)} max={toPosition(max)} step={step} value={toPosition(shown)} disabled={disabled}
        aria-valuetext={text(shown)} aria-describedby={help ? `${id}-help` : undefined}
        onInput={(event) => {
          const moved = read(event);
          setMoving(moved);
          onInput?.(moved);
        }}
        onChange={(event) => {
          setMoving(null);
          onChange(read(event));
        }} />
      <output for={id}>{text(shown)}</output>
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
    </div>
  );
}
