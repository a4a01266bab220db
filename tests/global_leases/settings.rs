//! Changes of settings while units are out, with real calendars: no second quota, no empty period.

use sluicegate::calendar::{JiffZone, Naming, PeriodSpec, Unit};
use sluicegate::clock::{SteadyMs, WallMs};
use sluicegate::fence::FenceSource;
use sluicegate::global::{
    Birth, HolderName, HolderSettings, LeaseBook, LeaseHolder, LeaseRow, QuotaLedger, Spend, Waiting,
};
use sluicegate::quota::QuotaSpec;
use sluicegate::{Cost, Refusal};

fn wall(text: &str) -> WallMs {
    WallMs(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn monthly(zone: &str, day: u8) -> PeriodSpec {
    PeriodSpec::new(Unit::Month, zone).unwrap().with_anchor_day(day).unwrap()
}

fn zone(spec: &PeriodSpec) -> JiffZone {
    JiffZone::new(spec.time_zone(), Naming::Snake).unwrap()
}

/// One point of presence and its ledger, with nothing between them.
struct Pair {
    ledger: QuotaLedger<JiffZone>,
    fences: FenceSource,
    holder: LeaseHolder,
    storage: Vec<LeaseRow>,
    wall: WallMs,
    now: SteadyMs,
}

impl Pair {
    fn new(limit: u64, period: PeriodSpec, at: &str) -> Self {
        let now = SteadyMs(0);
        let zone = zone(&period);
        Self {
            ledger: QuotaLedger::new(QuotaSpec::new(limit, period).unwrap(), zone),
            fences: FenceSource::new(9),
            holder: LeaseHolder::start("q", 1, &[], HolderSettings::default(), now).0,
            storage: Vec::new(),
            wall: wall(at),
            now,
        }
    }

    fn change(&mut self, limit: u64, period: PeriodSpec) {
        let zone = zone(&period);
        self.ledger.change(QuotaSpec::new(limit, period).unwrap(), zone);
    }

    fn exchange(&mut self, cost: u64) {
        let waiting = Waiting { sum: cost, least: cost };
        let ask = self.holder.ask(&self.storage, waiting, self.now);
        let pop = HolderName { pop: "FRA".into(), birth: Birth(1) };
        let answer = self.ledger.answer(&pop, &ask, self.wall, self.now, &mut self.fences).unwrap();
        for write in self.holder.hear(&answer.reply.unwrap(), self.now).unwrap() {
            write.apply(&mut self.storage);
        }
    }

    /// News of the settings first, which come at least every five seconds; then the request.
    fn request(&mut self, cost: u64) -> Spend {
        self.now = self.now.plus(5_000);
        self.exchange(0);
        for asked in 0.. {
            match self.holder.spend(Cost::new(cost).unwrap(), asked, self.now) {
                Spend::Wait => self.exchange(cost),
                Spend::Taken { receipt, writes } => {
                    writes.iter().for_each(|write| write.apply(&mut self.storage));
                    return Spend::Taken { receipt, writes };
                }
                refused @ Spend::Refused(_) => return refused,
            }
        }
        unreachable!()
    }

    /// Takes all there is, one by one.
    fn take_all(&mut self) -> u64 {
        let mut taken = 0;
        while matches!(self.request(1), Spend::Taken { .. }) {
            taken += 1;
        }
        taken
    }
}

#[test]
fn a_lowered_limit_stops_grants_and_a_raised_one_goes_on() {
    let mut pair = Pair::new(100, monthly("UTC", 1), "2026-08-10T00:00:00Z");
    pair.exchange(30);
    pair.change(10, monthly("UTC", 1));
    assert_eq!(pair.take_all(), 30, "what is out may be spent, and nothing else");
    let usage = pair.ledger.usage(pair.wall).unwrap();
    assert_eq!((usage.limit, usage.used, usage.outstanding, usage.remaining), (10, 30, 0, 0));
    pair.change(40, monthly("UTC", 1));
    assert_eq!(pair.take_all(), 10);
    assert!(pair.ledger.audit().unwrap().consistent);
}

#[test]
fn deleted_and_made_again_is_the_same_period_with_the_same_book() {
    let mut pair = Pair::new(50, monthly("UTC", 1), "2026-08-10T00:00:00Z");
    assert_eq!(pair.take_all(), 50);
    // Deleted: the policy's own settings count. Made again; and the ledger starts anew in between.
    pair.change(20, monthly("UTC", 1));
    assert_eq!(pair.take_all(), 0);
    let (open, book) = (pair.ledger.open_period().copied(), LeaseBook::restore(pair.ledger.book().rows()));
    let period = monthly("UTC", 1);
    pair.ledger =
        QuotaLedger::restore(QuotaSpec::new(50, period.clone()).unwrap(), zone(&period), open, book);
    assert_eq!(pair.take_all(), 0);
    assert_eq!(pair.ledger.usage(pair.wall).unwrap().serial, 1);
}

#[test]
fn another_anchor_brings_a_part_first_under_a_name_that_was_there_before() {
    let mut pair = Pair::new(310, monthly("UTC", 1), "2026-03-10T00:00:00Z");
    assert_eq!(pair.take_all(), 310);
    pair.change(310, monthly("UTC", 15));
    pair.wall = wall("2026-03-31T23:59:59Z");
    assert_eq!(pair.take_all(), 0, "the open period keeps its end");
    pair.wall = wall("2026-04-01T00:00:00Z");
    assert_eq!(pair.take_all(), 140, "14 of 31 days");
    let part = pair.ledger.usage(pair.wall).unwrap();
    assert_eq!((part.slot.as_str(), part.serial, part.partial), ("2026-03", 2, true));
    pair.wall = wall("2026-04-15T00:00:00Z");
    assert_eq!(pair.take_all(), 310);
    let whole = pair.ledger.usage(pair.wall).unwrap();
    assert_eq!((whole.slot.as_str(), whole.serial, whole.partial), ("2026-04", 3, false));
}

#[test]
fn from_months_to_days_and_to_another_zone_there_is_no_second_quota() {
    let day = PeriodSpec::new(Unit::Day, "America/Los_Angeles").unwrap();
    let mut pair = Pair::new(24, monthly("UTC", 1), "2026-03-10T00:00:00Z");
    assert_eq!(pair.take_all(), 24);
    for period in [day.clone(), monthly("Asia/Tokyo", 1), day] {
        pair.change(24, period);
        assert_eq!(pair.take_all(), 0);
    }
    // March ends at 00:00Z; the day in Los Angeles has seven hours to go.
    pair.wall = wall("2026-04-01T00:00:00Z");
    assert_eq!(pair.take_all(), 7);
    pair.wall = wall("2026-04-01T07:00:00Z");
    assert_eq!(pair.take_all(), 24);
}

#[test]
fn a_step_back_does_not_reopen_the_month() {
    let mut pair = Pair::new(20, monthly("America/Los_Angeles", 1), "2026-03-31T23:59:00-07:00");
    assert_eq!(pair.take_all(), 20);
    pair.wall = wall("2026-04-01T00:00:00-07:00");
    assert!(matches!(pair.request(5), Spend::Taken { .. }));
    pair.wall = wall("2026-03-31T23:00:00-07:00");
    assert_eq!(pair.take_all(), 15);
    let usage = pair.ledger.usage(pair.wall).unwrap();
    assert_eq!((usage.slot.as_str(), usage.held, usage.serial), ("2026-04", true, 2));
}

#[test]
fn a_period_that_one_wrong_reading_opened_can_be_left_with_what_was_used() {
    let mut pair = Pair::new(20, monthly("UTC", 1), "2026-03-10T00:00:00Z");
    assert!(matches!(pair.request(15), Spend::Taken { .. }));
    pair.wall = wall("2036-01-01T00:00:00Z");
    pair.exchange(1);
    pair.wall = wall("2026-03-10T00:01:00Z");
    pair.ledger.reopen(pair.wall, 15).unwrap();
    assert_eq!(pair.take_all(), 5);
    let usage = pair.ledger.usage(pair.wall).unwrap();
    assert_eq!((usage.slot.as_str(), usage.serial, usage.used), ("2026-03", 3, 20));
    assert!(pair.ledger.audit().unwrap().consistent);
}

#[test]
fn readings_that_cannot_be_true_are_refused_and_change_nothing() {
    let mut pair = Pair::new(20, monthly("UTC", 1), "1970-01-01T00:00:00Z");
    let ask = pair.holder.ask(&[], Waiting { sum: 1, least: 1 }, pair.now);
    let pop = HolderName { pop: "FRA".into(), birth: Birth(1) };
    let refused = pair.ledger.answer(&pop, &ask, pair.wall, pair.now, &mut pair.fences);
    assert_eq!(refused.unwrap_err().code(), "implausible-wall");
    assert!(pair.ledger.open_period().is_none() && pair.ledger.book().rows().next().is_none());
}

#[test]
fn a_cost_above_the_limit_is_a_refusal_of_its_own() {
    let mut pair = Pair::new(20, monthly("UTC", 1), "2026-03-10T00:00:00Z");
    assert_eq!(pair.request(21), Spend::Refused(Refusal::CostExceedsLimit));
    pair.change(0, monthly("UTC", 1));
    assert_eq!(pair.request(1), Spend::Refused(Refusal::CostExceedsLimit));
    assert!(matches!(pair.request(0), Spend::Taken { .. }));
}
