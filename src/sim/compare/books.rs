//! The books of a quota, as its Ledger had them.

use super::KEY;
use super::frame::SerialBook;
use super::spec::{POLICY, WorldSpec};
use crate::sim::Simulation;

/// Serials that are kept; a clock would have to be set a day on for each.
const MOST: usize = 50;

/// The books of all serials. A Ledger keeps the last two; of those before, what it had is remembered here,
/// and what was out of them then is forfeited.
#[derive(Clone, Debug, Default)]
pub(super) struct Books(Vec<SerialBook>);

impl Books {
    /// Takes down what the Ledger has; nothing while none is in memory.
    pub fn note(&mut self, world: &Simulation, spec: &WorldSpec) {
        let Some(ledger) = world.owner(0, KEY).and_then(|name| world.ledger_in(name)) else { return };
        let Some(open) = ledger.open_period(POLICY) else { return };
        if self.0.iter().all(|book| book.serial != open.serial) {
            if self.0.len() >= MOST {
                self.0.remove(0);
            }
            self.0.push(SerialBook {
                serial: open.serial,
                slot: open.period.slot.to_string(),
                start_ms: open.period.start.0,
                end_ms: open.period.end.0,
                limit: spec.limit,
                granted: 0,
                spent: 0,
                returned: 0,
                forfeited: 0,
                outstanding: 0,
                admitted: 0,
            });
        }
        for book in &mut self.0 {
            match ledger.totals_of(POLICY, book.serial) {
                Some(totals) => {
                    (book.granted, book.spent) = (totals.granted, totals.spent);
                    (book.returned, book.forfeited) = (totals.returned, totals.forfeited);
                    book.outstanding = totals.outstanding;
                }
                None => {
                    book.forfeited = book.forfeited.saturating_add(book.outstanding);
                    book.outstanding = 0;
                }
            }
        }
    }

    /// The books now, with what an onlooker saw.
    pub fn now(&self, world: &Simulation, spec: &WorldSpec) -> Vec<SerialBook> {
        let mut books = self.clone();
        books.note(world, spec);
        for book in &mut books.0 {
            book.admitted = world.observer.units_in(0, KEY, book.serial);
        }
        books.0
    }

    /// The serial that was opened last, as far as was seen.
    pub fn last(&self) -> Option<u64> {
        self.0.last().map(|book| book.serial)
    }
}
