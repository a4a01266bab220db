import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface Props<T extends string> {
  label: string;
  hideLabel?: boolean;
  options: readonly { value: T; label: ComponentChildren }[];
  value: Signal<T> | T;
  onChange?: (value: T) => void;
  small?: boolean;
  help?: ComponentChildren;
}

/** One of a few: radio buttons that look like one control. */
export function Segmented<T extends string>({ label, hideLabel, options, value, onChange, small, help }: Props<T>) {
  const name = useId();
  const current = typeof value === 'string' ? value : value.value;
  const choose = (chosen: T) => {
    if (typeof value !== 'string') value.value = chosen;
    onChange?.(chosen);
  };
  return (
    <fieldset class={`segmented ${small ? 'small' : ''}`}>
      <legend class={hideLabel ? 'unseen' : ''}>{label}</legend>
      <div class="segments">
        {options.map((option) => (
          <label key={option.value}>
            <input type="radio" name={name} value={option.value} checked={option.value === current} onChange={() => choose(option.value)} />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
      {help && <p class="help">{help}</p>}
    </fieldset>
  );
}
