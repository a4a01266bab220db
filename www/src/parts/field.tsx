// Labelled inputs. What is typed is told when it is complete: on change, not on every key.

import type { ComponentChildren, TargetedEvent } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';

interface Common {
  label: ComponentChildren;
  help?: ComponentChildren;
  /** What is wrong with the value, for the person who typed it. */
  error?: string | null | undefined;
}

interface FrameProps extends Common {
  id: string;
  children: ComponentChildren;
}

function Frame({ id, label, help, error, children }: FrameProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
      {error && <p class="error" id={`${id}-error`} role="alert">{error}</p>}
    </div>
  );
}

const described = (id: string, { help, error }: Common): string | undefined =>
  [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;

interface NumberProps extends Common {
  value: number;
  min: number;
  max: number;
  step?: number | 'any';
  unit?: string;
  disabled?: boolean;
  onChange: (value: number) => void;
}

/** A number within bounds; anything else is not taken, and the field says why. */
export function NumberField({ value, min, max, step = 1, unit, disabled, onChange, ...common }: NumberProps) {
  const id = useId();
  const [wrong, setWrong] = useState<string | null>(null);
  // What was not taken stays in the field, to be corrected.
  const [typed, setTyped] = useState<string | null>(null);
  const error = common.error ?? wrong;
  const settle = () => {
    setWrong(null);
    setTyped(null);
  };
  useEffect(settle, [value]);
  const read = (event: TargetedEvent<HTMLInputElement>) => {
    const input = event.currentTarget;
    if (input.value === '' || !input.validity.valid) {
      const whole = step === 1 ? 'a whole number' : 'a number';
      setTyped(input.value);
      return setWrong(`${whole} from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}, please`);
    }
    settle();
    onChange(input.valueAsNumber);
  };
  return (
    <Frame id={id} label={common.label} help={common.help} error={error}>
      <span class="number">
        <input id={id} type="number" inputMode="decimal" value={typed ?? value} min={min} max={max} step={step} disabled={disabled}
          aria-invalid={error ? 'true' : undefined} aria-describedby={described(id, { ...common, error })} onChange={read} />
        {unit && <span class="unit" aria-hidden="true">{unit}</span>}
      </span>
    </Frame>
  );
}

interface TextProps extends Common {
  value: string;
  placeholder?: string;
  type?: 'text' | 'password' | 'search';
  /** Suggestions, of a field of type text. */
  options?: readonly string[];
  autoComplete?: string;
  onChange: (value: string) => void;
  /** Told on every key, where that is wanted. */
  onInput?: (value: string) => void;
}

export function TextField({ value, options, type = 'text', placeholder, autoComplete = 'off', onChange, onInput, ...common }: TextProps) {
  const id = useId();
  // Which attributes go together depends on the type; the types know it only of one at a time.
  const kind = (options ? { type: 'text', list: `${id}-list` } : { type }) as { type: 'text' };
  return (
    <Frame id={id} {...common}>
      <input id={id} {...kind} value={value} placeholder={placeholder} spellcheck={false} autocomplete={autoComplete}
        aria-invalid={common.error ? 'true' : undefined} aria-describedby={described(id, common)}
        onChange={(event) => onChange(event.currentTarget.value)} onInput={onInput && ((event) => onInput(event.currentTarget.value))} />
      {options && <datalist id={`${id}-list`}>{options.map((option) => <option key={option} value={option} />)}</datalist>}
    </Frame>
  );
}

interface SelectProps<T extends string> extends Common {
  value: T;
  options: readonly { value: T; label: string }[];
  disabled?: boolean;
  onChange: (value: T) => void;
}

export function SelectField<T extends string>({ value, options, disabled, onChange, ...common }: SelectProps<T>) {
  const id = useId();
  return (
    <Frame id={id} {...common}>
      <select id={id} value={value} disabled={disabled} aria-describedby={described(id, common)} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
      </select>
    </Frame>
  );
}

interface CheckProps {
  label: ComponentChildren;
  checked: boolean;
  help?: ComponentChildren;
  onChange: (checked: boolean) => void;
}

export function CheckField({ label, checked, help, onChange }: CheckProps) {
  const id = useId();
  return (
    <div class="field check">
      <input id={id} type="checkbox" checked={checked} aria-describedby={help ? `${id}-help` : undefined} onChange={(event) => onChange(event.currentTarget.checked)} />
      <label for={id}>{label}</label>
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
    </div>
  );
}
