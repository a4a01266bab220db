//! An audit that can fail: whichever of the books is tampered with, the others tell.

use sluicegate::global::{BookRow, HolderEntry, LeaseBook, SerialTotals};

use crate::sim::Sim;

/// A book with leases that are open, closed and settled, and units of every kind.
fn book() -> Vec<BookRow> {
    let mut sim = Sim::new(1_000, 5, 3);
    for pop in 0..3 {
        sim.exchange(pop, 20);
        assert!(sim.request(pop, 3));
    }
    sim.crash(0);
    sim.request(0, 1);
    sim.evict(1);
    sim.request(1, 1);
    sim.request(1, 30);
    for pop in [0, 1, 2] {
        sim.exchange(pop, 0);
    }
    sim.check();
    let totals = sim.book.open_totals();
    assert!(
        [totals.spent, totals.returned, totals.forfeited, totals.outstanding].iter().all(|units| *units > 0)
    );
    sim.book.rows().collect()
}

fn faults(rows: Vec<BookRow>) -> Vec<String> {
    let audit = LeaseBook::restore(rows).audit(1, 1_000).unwrap();
    assert_eq!(audit.consistent, audit.faults.is_empty());
    audit.faults
}

#[test]
fn untouched_books_agree() {
    assert_eq!(faults(book()), Vec::<String>::new());
}

#[test]
fn each_running_total_is_compared() {
    let fields: [fn(&mut SerialTotals) -> &mut u64; 6] = [
        |totals| &mut totals.granted,
        |totals| &mut totals.spent,
        |totals| &mut totals.returned,
        |totals| &mut totals.forfeited,
        |totals| &mut totals.outstanding,
        |totals| &mut totals.leases,
    ];
    for field in fields {
        let mut rows = book();
        for row in &mut rows {
            if let BookRow::Totals(totals) = row {
                *field(totals) += 1;
            }
        }
        assert!(!faults(rows).is_empty());
    }
    // In balance, and still wrong.
    let mut rows = book();
    for row in &mut rows {
        if let BookRow::Totals(totals) = row {
            (totals.spent, totals.outstanding) = (totals.spent - 1, totals.outstanding + 1);
        }
    }
    assert_eq!(faults(rows).len(), 2);
}

#[test]
fn each_row_is_compared() {
    let tampers: [fn(&mut HolderEntry) -> bool; 8] = [
        |entry| entry.leases.first_mut().map(|lease| lease.amount += 1).is_some(),
        |entry| entry.leases.first_mut().map(|lease| lease.off += 1).is_some(),
        |entry| entry.leases.first_mut().map(|lease| lease.lost += 1).is_some(),
        |entry| entry.leases.first_mut().map(|lease| lease.open = !lease.open).is_some(),
        |entry| entry.leases.pop().is_some(),
        |entry| entry.settled.first_mut().map(|sums| sums.spent += 1).is_some(),
        |entry| entry.settled.pop().is_some(),
        |entry| entry.listed.first_mut().map(|listed| listed.off += 1).is_some(),
    ];
    for (index, tamper) in tampers.into_iter().enumerate() {
        let mut applied = 0;
        for at in 0..book().len() {
            let mut rows = book();
            let BookRow::Holder(entry) = &mut rows[at] else { continue };
            if tamper(entry) {
                applied += 1;
                assert!(!faults(rows).is_empty(), "tampering {index} was not noticed");
            }
        }
        assert!(applied > 0, "tampering {index} had nothing to tamper with");
    }
}

#[test]
fn both_books_changed_alike_still_differ_from_what_the_holder_listed() {
    let mut rows = book();
    let mut moved = false;
    for row in &mut rows {
        let BookRow::Holder(entry) = row else { continue };
        if let Some(lease) = entry.leases.iter_mut().find(|lease| lease.off > lease.lost && !moved) {
            lease.off -= 1;
            moved = true;
        }
    }
    for row in &mut rows {
        if let BookRow::Totals(totals) = row {
            (totals.spent, totals.outstanding) = (totals.spent - 1, totals.outstanding + 1);
        }
    }
    assert!(faults(rows).iter().any(|fault| fault.contains("not as POP-")));
}
