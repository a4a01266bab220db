// The audit equation: drawn, in numbers, and for each period that the Ledger still knows.

import { count, number } from '../../format';
import { Term } from '../../parts/term';
import { barOf, booksOf, entryInWords, holds, partsSum, type Audit, type Book, type Entry, type Segment } from './ledger';
import { Bar, KINDS } from './bar';

export function AuditView({ audit, log }: { audit: Audit; log: Entry[] }) {
  const { whole, segments } = barOf(audit.book, audit.limit);
  return (
    <>
      <figure class="live-audit">
        <Bar whole={whole} limit={audit.limit} segments={segments} />
        <figcaption>
          <Legend segments={segments} />
          {whole > Math.max(1, audit.limit) && <p>More is taken than the limit allows: it was lowered meanwhile, and units that were out may still be spent.</p>}
        </figcaption>
      </figure>
      <Equation book={audit.book} />
      <p class={`live-verdict ${audit.isConsistent ? 'is-exact' : 'is-wrong'}`} data-consistent={audit.isConsistent}>
        <strong>{audit.isConsistent ? '✓ The books agree.' : '✗ The books do not agree.'}</strong>{' '}
        <span class="quiet">The Ledger compares three that are kept apart: running totals, lease by lease, and what each PoP last listed from its own storage.</span>
      </p>
      {audit.faults.length > 0 && <ul class="live-faults">{audit.faults.map((fault) => <li key={fault}>{fault}</li>)}</ul>}
      <Serials audit={audit} log={log} />
      <Leases audit={audit} />
      <Lately log={log} />
    </>
  );
}

function Legend({ segments }: { segments: readonly Segment[] }) {
  return (
    <ul class="live-legend">
      {segments.map(({ kind, units }) => (
        <li key={kind} data-segment={kind} data-value={units}>
          <svg class={`live-swatch live-${kind}`} viewBox="0 0 14 14" aria-hidden="true"><rect x="0.5" y="0.5" width="13" height="13" /></svg>
          <span>{number(units)} {KINDS[kind].title}<span class="quiet">: {KINDS[kind].says}</span></span>
        </li>
      ))}
    </ul>
  );
}

const TERMS = [
  ['spent', 'Known to be spent.'],
  ['returned', 'Came back from a PoP and is free again; the same unit can be granted and returned many times, so granted can be more than the limit.'],
  ['forfeited', 'Nobody can know whether it was spent, so it counts as spent: a crash took it, or its PoP never came back.'],
  ['outstanding', 'Out at PoPs, on leases that are open.'],
] as const;

/** granted = spent + returned + forfeited + outstanding. */
function Equation({ book }: { book: Book }) {
  return (
    <p class="live-equation" data-equation={holds(book) ? 'holds' : 'does not hold'}>
      <span><b data-book="granted" data-value={book.granted}>{number(book.granted)}</b> <Term means="Units that the Ledger has leased to PoPs in this period, all in all.">granted</Term></span>
      {TERMS.map(([name, means], at) => (
        <span key={name}><i>{at === 0 ? '=' : '+'}</i> <b data-book={name} data-value={book[name]}>{number(book[name])}</b> <Term means={means}>{name}</Term></span>
      ))}
      <span class={holds(book) ? 'is-exact' : 'is-wrong'}><strong>{holds(book) ? '✓ holds' : `✗ does not hold: the right side is ${number(partsSum(book))}`}</strong></span>
    </p>
  );
}

const COLUMNS = ['granted', 'spent', 'returned', 'forfeited', 'outstanding', 'carried'] as const;

function Serials({ audit, log }: { audit: Audit; log: Entry[] }) {
  const shown = booksOf(audit, log);
  if (shown.length === 0) return <p class="quiet">No period was opened yet: nobody has asked for a unit.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="The books of each period">
      <table class="live-table">
        <caption class="live-caption">Period by period</caption>
        <thead><tr><th scope="col">Serial</th><th scope="col">Period</th><th scope="col">Book</th>{COLUMNS.map((name) => <th key={name} scope="col" class="num">{name}</th>)}<th scope="col">Equation</th></tr></thead>
        <tbody>
          {shown.map((book) => (
            <tr key={`${book.serial} ${book.isOpen}`} data-serial={book.serial}>
              <th scope="row">{book.serial}</th><td>{book.slot ?? '–'}</td><td>{book.isOpen ? 'open' : 'closed'}</td>
              {COLUMNS.map((name) => <td key={name} class="num">{number(book[name])}</td>)}
              <td>{holds(book) ? '✓ holds' : <span class="is-wrong">✗ does not hold</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {audit.book.serial > 1 && <p class="quiet live-aside">The book of the period before the open one is kept for what comes back late; the log has it when it is closed.</p>}
    </div>
  );
}

function Leases({ audit: { leases, settled } }: { audit: Audit }) {
  const open = leases.filter(({ isOpen }) => isOpen).length;
  return (
    <details class="live-details">
      <summary>Leases: {number(open)} open, {number(leases.length - open + settled)} settled</summary>
      {leases.length === 0 ? <p class="quiet">None is listed one by one any more.</p> : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Leases">
          <table class="live-table">
            <thead><tr><th scope="col"><Term means="A lease’s name. What comes under an old one changes nothing.">Fence</Term></th><th scope="col">PoP</th><th scope="col" class="num">Units</th><th scope="col" class="num">Spent</th><th scope="col" class="num">Forfeited</th><th scope="col">State</th></tr></thead>
            <tbody>
              {leases.map(({ fence, pop, amount, spent, forfeited, isOpen }) => (
                <tr key={fence}><th scope="row"><code>{fence}</code></th><td>{pop}</td><td class="num">{number(amount)}</td><td class="num">{number(spent)}</td><td class="num">{number(forfeited)}</td><td>{isOpen ? 'open' : 'settled'}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

const MOST_ENTRIES = 20;

function Lately({ log }: { log: Entry[] }) {
  if (log.length === 0) return null;
  return (
    <details class="live-details">
      <summary>Lately: {count(log.length, 'entry', 'entries')} in the log</summary>
      <ol class="live-log" reversed start={log.length}>
        {log.slice(0, MOST_ENTRIES).map((entry, at) => <li key={log.length - at}><time dateTime={entry.at}>{entry.at.slice(0, 19).replace('T', ' ')}</time> {entryInWords(entry)}</li>)}
      </ol>
      {log.length > MOST_ENTRIES && <p class="quiet">And {number(log.length - MOST_ENTRIES)} older ones.</p>}
    </details>
  );
}
