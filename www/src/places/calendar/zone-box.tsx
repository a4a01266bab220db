// A combobox over the zones, after the ARIA pattern: the input has the focus, the list is what it points to.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { allZones, findZones, zoneNamed } from './zones-list';
import { offsetMs, offsetText } from './zone';

interface Props {
  label: ComponentChildren;
  help?: ComponentChildren;
  value: string;
  error: string | undefined;
  onChange: (zone: string) => void;
}

/** Offsets cost a formatter each: only a list as short as this has them. */
const FEW = 40;
const PAGE = 8;

const zones = allZones();

export function ZoneBox({ label, help, value, error, onChange }: Props) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const found = typed === null ? zones : findZones(zones, typed);

  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [active, isOpen, typed]);

  const open = (at = zones.indexOf(value)) => {
    setActive(at);
    setOpen(true);
  };
  const close = () => {
    setOpen(false);
    setTyped(null);
    setActive(-1);
  };
  const take = (zone: string | undefined) => {
    close();
    if (zone && zone !== value) onChange(zone);
  };
  const takeTyped = () => take(typed === null ? value : zoneNamed(zones, typed));
  const move = (by: number) => {
    if (!isOpen) return open();
    setActive(active < 0 && by > 0 ? 0 : Math.max(0, Math.min(found.length - 1, active + by)));
  };

  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    const by = moves[event.key];
    if (by !== undefined) move(by);
    else if (event.key === 'Enter') isOpen && found[active] !== undefined ? take(found[active]) : takeTyped();
    else if (event.key === 'Escape' && (isOpen || typed !== null)) close();
    else return;
    event.preventDefault();
  };

  return (
    <div class="field zonebox">
      <label for={id}>{label}</label>
      <div class="combo">
        <input id={id} role="combobox" type="text" value={typed ?? value} autocomplete="off" spellcheck={false}
          aria-expanded={isOpen && found.length > 0} aria-controls={`${id}-list`} aria-autocomplete="list" aria-activedescendant={isOpen && found[active] !== undefined ? `${id}-${active}` : undefined}
          aria-invalid={error ? 'true' : undefined} aria-describedby={[help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined}
          onFocus={(event) => event.currentTarget.select()} onClick={() => isOpen || open()} onKeyDown={onKey} onBlur={takeTyped}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            open(event.currentTarget.value.trim() ? 0 : -1);
          }} />
        <svg class="chevron" viewBox="0 0 12 12" aria-hidden="true"><path d="M2.5 4.5 6 8l3.5-3.5" /></svg>
        <ul ref={list} id={`${id}-list`} role="listbox" aria-label="Time zones" hidden={!isOpen || !found.length} onPointerDown={(event) => event.preventDefault()}>
          {isOpen && found.map((zone, at) => (
            <li key={zone} id={`${id}-${at}`} role="option" aria-selected={at === active} onClick={() => take(zone)}>
              <span>{zone}</span>
              {found.length <= FEW && <span class="quiet">{offsetText(offsetMs(zone, Date.now()))}</span>}
            </li>
          ))}
        </ul>
      </div>
      <p class="unseen" role="status">{isOpen && typed !== null ? (found.length ? `${found.length} of ${zones.length} zones` : 'no such zone') : ''}</p>
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
      {error && <p class="error" id={`${id}-error`} role="alert">{error}</p>}
    </div>
  );
}
