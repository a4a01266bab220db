// The latest that happened in the tolerant limit's world, newest first.

import { useSignal, useSignalEffect } from '@preact/signals';
import type { LogEntry } from '../../simulator';
import { count, duration, stopwatch } from '../../format';
import type { Store } from './store';

const KEPT = 40;

type Fields = Record<string, unknown>;

const pop = (fields: Fields): string => (typeof fields.pop === 'number' ? `PoP ${fields.pop + 1}` : 'a PoP');

function machine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return 'a machine';
  return 'pop' in value ? `PoP ${Number(value.pop) + 1}` : 'the Ledger';
}

function fault(value: unknown): string {
  if (typeof value !== 'object' || value === null) return 'something went wrong';
  const [kind, fields] = (Object.entries(value)[0] ?? ['', {}]) as [string, Fields];
  const who = machine(fields.machine);
  switch (kind) {
    case 'step': return `the clock of ${who} steps ${Number(fields.ms) < 0 ? 'back' : 'ahead'} by ${duration(Number(fields.ms))}`;
    case 'freeze': return `the clock of ${who} stands still for ${duration(Number(fields.for_ms))}`;
    case 'cut-off': return `${who} is cut off for ${duration(Number(fields.for_ms))}`;
    case 'crash': return `${who} crashes`;
    default: return `${who}: ${kind}`;
  }
}

/** In words, or null for what comes too often to be read. */
function words(entry: LogEntry): string | null {
  switch (entry.event) {
    case 'fault': return fault(entry.fault);
    case 'started': return `${machine(entry.machine)}: an object starts`;
    case 'evicted': return `${machine(entry.machine)}: an object that nobody needed leaves memory`;
    case 'broken': return `${machine(entry.machine)}: an object lost its storage`;
    case 'lost': return `a message of ${pop(entry)} is lost`;
    case 'epoch': return `the Ledger opens epoch ${String(entry.epoch)}`;
    case 'cap': return `${pop(entry)} may have taken ${count(Number(entry.cap), 'unit')}${entry.full ? '; the limit is used up' : ''}`;
    case 'lease': return Number(entry.amount) > 0 ? `${pop(entry)} gets a lease of ${count(Number(entry.amount), 'unit')} in serial ${String(entry.serial)}` : `${pop(entry)} hears about serial ${String(entry.serial)}: ${count(Number(entry.free), 'unit')} free`;
    case 'gave-up': return `a caller at ${pop(entry)} did not wait any longer`;
    default: return null;
  }
}

export function Log({ store }: { store: Store }) {
  const lines = useSignal<{ at: string; text: string; key: number }[]>([]);
  const made = useSignal(0);
  useSignalEffect(() => {
    const frame = store.player.frame.value;
    const kept = frame && frame.now_ms > 0 ? lines.peek() : [];
    const fresh = (frame?.events ?? []).flatMap((entry) => {
      const text = words(entry);
      return text === null ? [] : [{ at: stopwatch(entry.at_ms), text, key: (made.value = made.peek() + 1) }];
    });
    lines.value = [...fresh.reverse(), ...kept].slice(0, KEPT);
  });
  return (
    <details class="log panel">
      <summary><h2>What happens, message by message</h2></summary>
      <ol tabIndex={0} aria-label="What happened, newest first">{lines.value.map(({ at, text, key }) => <li key={key}><time>{at}</time> {text}</li>)}</ol>
    </details>
  );
}
