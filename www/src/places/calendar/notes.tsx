// What is odd about these periods, in words.

import type { Note } from './explain';
import { MarkIn } from './mark';
import { SlotWords } from './slot-words';
import { choose, looked, outcome } from './state';

function One({ note }: { note: Note }) {
  const slot = note.row === null ? undefined : outcome.value.chart?.rows[note.row]?.period.slot;
  return (
    <li data-note={note.kind} data-slot={slot}>
      <h3>{note.kind !== 'length' && <MarkIn kind={note.kind} />}<SlotWords text={note.title} /></h3>
      <p><SlotWords text={note.text} /></p>
      {slot !== undefined && (
        <button type="button" class="button small" onClick={() => choose(slot)}>{note.row === looked.value ? 'Looked at below' : 'Look at it closely'}<span class="unseen">: {slot}</span></button>
      )}
    </li>
  );
}

export function Notes({ notes }: { notes: Note[] }) {
  return (
    <section class="oddities" aria-labelledby="calendar-notes">
      <h2 id="calendar-notes">What is odd here</h2>
      {notes.length === 0
        ? <p class="prose">Nothing: each of these periods is as long as its dates say, and each start comes exactly once.</p>
        : <ul>{notes.map((note) => <One key={note.title} note={note} />)}</ul>}
    </section>
  );
}
