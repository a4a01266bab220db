// A quota's books: one for each serial, each with an equation that has to add up.

import type { SerialBook } from '../../simulator';
import { dateTime, number } from '../../format';
import { Term } from '../../parts/term';

export function Books({ books }: { books: SerialBook[] }) {
  if (books.length === 0) return null;
  return (
    <section aria-labelledby="books-title">
      <h2 id="books-title">The Ledger's books</h2>
      <p class="help">Each month that the Ledger opens gets a <Term means="The number of a period that was opened, one more each time. Newer means larger, whatever the month is called and wherever its boundaries lie.">serial</Term> and
        a book of its own. A <Term means="Units that a PoP may spend alone. Its fence names it: a report is booked to the very lease that it names, or to none.">lease</Term> that
        comes back late is booked where it was granted: granted = spent + returned + forfeited + outstanding.</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Books by serial">
        <table>
          <thead><tr>
            <th scope="col">serial</th><th scope="col">month</th><th scope="col">ends (UTC)</th>
            {['limit', 'granted', 'spent', 'returned', 'forfeited', 'outstanding', 'seen let through'].map((name) => <th key={name} scope="col" class="num">{name}</th>)}
            <th scope="col">adds up</th>
          </tr></thead>
          <tbody>
            {books.map((book) => {
              const sum = book.spent + book.returned + book.forfeited + book.outstanding;
              return (
                <tr key={book.serial} data-serial={book.serial} data-slot={book.slot} data-spent={book.spent} data-outstanding={book.outstanding} data-admitted={book.admitted} data-adds-up={String(sum === book.granted)}>
                  <th scope="row">{book.serial}</th><td>{book.slot}</td><td>{dateTime(book.end_ms)}</td>
                  {[book.limit, book.granted, book.spent, book.returned, book.forfeited, book.outstanding, book.admitted].map((value, at) => <td key={at} class="num">{number(value)}</td>)}
                  <td>{sum === book.granted ? 'yes' : <strong class="is-wrong">no</strong>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
