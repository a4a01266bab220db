//! The schedules that broke an earlier draft of the rules, one test each.

use std::collections::HashSet;

use sluicegate::Refusal;
use sluicegate::clock::SteadyMs;
use sluicegate::global::Spend;

use crate::sim::Sim;

#[test]
fn forfeited_units_are_not_granted_again() {
    let mut sim = Sim::new(2, 2, 1);
    sim.exchange(0, 2);
    assert!(sim.request(0, 1));
    sim.crash(0);
    assert!(!sim.request(0, 1) && sim.admitted() == 1);
    let totals = sim.book.open_totals();
    assert_eq!((totals.spent, totals.forfeited, totals.outstanding, totals.returned), (1, 1, 0, 0));
}

#[test]
fn a_newer_lease_leaves_the_older_one_alone() {
    let mut sim = Sim::new(2, 1, 1);
    sim.exchange(0, 1);
    sim.exchange(0, 2);
    assert_eq!(sim.live(0).leases().count(), 2);
    assert!(sim.request(0, 1) && sim.request(0, 1) && !sim.request(0, 1));
    assert_eq!((sim.admitted(), sim.book.open_totals().granted), (2, 2));
}

#[test]
fn idle_evictions_lose_nothing() {
    let mut sim = Sim::new(1_000, 20, 1);
    for _ in 0..200 {
        assert!(sim.request(0, 1));
        sim.evict(0);
        sim.pass(5_000);
    }
    assert_eq!((sim.admitted(), sim.book.open_totals().forfeited), (200, 0));
    sim.drain(0);
    assert_eq!(sim.admitted(), 1_000);
}

#[test]
fn a_client_that_moves_gets_all_of_it() {
    // Three requests at one place and then all at another; over three places; over twenty in turn.
    for (pops, turn) in [(2, vec![(0, 3), (1, 2_000)]), (3, vec![(0, 400), (1, 400), (2, 2_000)])] {
        let mut sim = Sim::new(1_000, 20, pops);
        for (pop, requests) in turn {
            for _ in 0..requests {
                sim.request(pop, 1);
                sim.wait(10);
            }
        }
        assert_eq!(sim.admitted(), 1_000);
    }
    let mut sim = Sim::new(1_000, 20, 20);
    for request in 0..2_000 {
        sim.request(request / 100, 1);
        sim.wait(500);
    }
    assert_eq!(sim.admitted(), 1_000);
}

#[test]
fn nobody_hoards_what_is_too_little_for_its_requests() {
    let mut sim = Sim::new(100, 1, 20);
    for round in 0..400 {
        sim.request(round % 20, 5);
        sim.wait(500);
    }
    assert_eq!(sim.admitted(), 100);
}

#[test]
fn two_in_use_that_each_lack_some_give_way() {
    // Three units each, and both want five at a time: neither is ever idle.
    let mut sim = Sim::new(6, 1, 2);
    sim.exchange(0, 3);
    sim.exchange(1, 3);
    let mut admitted = 0;
    for _ in 0..60 {
        admitted += u32::from(sim.request(0, 5)) + u32::from(sim.request(1, 5));
        sim.pass(500);
    }
    assert_eq!(admitted, 1);
    assert!(sim.request(0, 1) || sim.request(1, 1));
}

#[test]
fn one_that_is_never_idle_returns_what_another_waits_for() {
    // One unit every two seconds at one place; five at a time are wanted at the other.
    let mut sim = Sim::new(1_000, 1, 2);
    sim.exchange(0, 990);
    assert!(sim.request(1, 10));
    let waited = (0..20).take_while(|_| {
        assert!(sim.request(0, 1));
        sim.wait(2_000);
        !sim.request(1, 5)
    });
    let waited = waited.count();
    assert!(waited <= 5, "{waited} rounds");
}

#[test]
fn what_was_spent_is_reported_although_no_request_follows() {
    let mut sim = Sim::new(10, 5, 1);
    sim.exchange(0, 10);
    // All of it is spent between an ask and its reply.
    let ask = sim.ask(0, 0);
    assert!(matches!(sim.spend(0, 10, 0), Spend::Taken { .. }));
    let reply = sim.answer(0, &ask).unwrap();
    assert!(sim.hear(0, &reply));
    sim.wait(20_000);
    let totals = sim.book.open_totals();
    assert_eq!((totals.spent, totals.outstanding), (10, 0));
    assert!(sim.pops[0].storage.is_empty());
}

#[test]
fn a_lost_grant_comes_back_with_the_next_ask() {
    let mut sim = Sim::new(10, 1, 2);
    let ask = sim.ask(0, 10);
    let lost = sim.answer(0, &ask).unwrap();
    assert_eq!(lost.grant.unwrap().amount, 10);
    assert!(!sim.request(1, 1));
    sim.exchange(0, 0);
    assert_eq!(sim.book.open_totals().returned, 10);
    assert!(!sim.hear(0, &lost), "a late reply is dropped");
    sim.wait(5_500);
    assert!((0..10).all(|_| sim.request(1, 1)));
    assert_eq!(sim.admitted(), 10);
}

#[test]
fn a_lost_grant_comes_back_although_nobody_asks_again() {
    let mut sim = Sim::new(10, 1, 2);
    let ask = sim.ask(0, 10);
    sim.answer(0, &ask).unwrap();
    sim.live(0).ask_failed();
    sim.wait(6_000);
    assert!(sim.request(1, 1));
}

#[test]
fn a_repeated_ask_has_the_same_reply() {
    let mut sim = Sim::new(10, 1, 1);
    let ask = sim.ask(0, 3);
    let reply = sim.answer(0, &ask);
    sim.restart_ledger();
    assert_eq!(sim.answer(0, &ask), reply);
    assert_eq!(sim.book.open_totals().granted, 3);
    let newer = sim.ask(0, 3);
    sim.answer(0, &newer);
    assert_eq!(sim.answer(0, &ask), None);
    assert_eq!(sim.book.counts().asks_dropped, 1);
}

#[test]
fn an_ask_that_is_late_by_two_periods_takes_nothing() {
    let mut sim = Sim::new(10, 1, 2);
    let late = sim.ask(0, 3);
    sim.exchange(0, 0);
    // Nothing is heard of its holder in the next period, nor in the one after that.
    for serial in [2, 3] {
        sim.serial = serial;
        sim.exchange(1, 0);
    }
    sim.restart_ledger();
    let reply = sim.answer(0, &late);
    sim.drain(1);
    assert_eq!((reply, sim.admitted(), sim.book.open_totals().outstanding), (None, 10, 0));
}

#[test]
fn a_storage_that_was_rolled_back_repeats_no_fence_and_forgets_no_lease() {
    let mut sim = Sim::new(10, 1, 2);
    sim.exchange(0, 1);
    let before = sim.rows.clone();
    sim.exchange(0, 4);
    assert!(sim.request(0, 2));
    sim.rows = before;
    sim.restart_ledger();
    sim.exchange(1, 1);
    let fences: HashSet<_> = [0, 1].into_iter().flat_map(|pop| sim.pops[pop].storage.clone()).collect();
    assert_eq!(fences.iter().map(|row| row.fence).collect::<HashSet<_>>().len(), 3);
    // The lease that the ledger does not know is taken in, with what is left of it.
    sim.pass(5_000);
    sim.exchange(0, 0);
    let totals = sim.book.open_totals();
    assert_eq!((totals.granted, totals.spent, totals.outstanding), (5, 2, 3));
    assert_eq!(sim.book.counts().fences_adopted, 1);
    sim.check();
    sim.drain(1);
    assert_eq!(sim.admitted(), 10);
}

#[test]
fn a_drained_quota_is_refused_without_asking() {
    let mut sim = Sim::new(1_000, 20, 3);
    let allowed = (0..2_000).filter(|request| sim.request(request % 3, 1)).count();
    assert_eq!(allowed, 1_000);
    let before = sim.asks;
    assert!((0..10_000).all(|request| {
        sim.pass(1);
        !sim.request(request % 3, 1)
    }));
    assert!(sim.asks - before <= 3 * (7 + 2), "{} asks", sim.asks - before);
    assert!(sim.asks < 500, "{} asks for 1,000 units", sim.asks);
}

#[test]
fn a_standing_clock_does_not_keep_news_away() {
    let mut sim = Sim::new(10, 1, 1);
    while sim.request(0, 1) {}
    for _ in 0..100 {
        sim.request(0, 1);
    }
    sim.limit = 20;
    let refused = (0..1_000).take_while(|_| !sim.request(0, 1)).count();
    assert!(refused < 64, "{refused} refusals later");
}

#[test]
fn a_clock_that_is_ahead_does_not_ask_for_each_request() {
    let mut sim = Sim::new(100_000, 20, 1);
    sim.exchange(0, 1_000);
    // By its own count the period is over; or the ledger's clock stands still at the end.
    sim.left_ms = 0;
    sim.pass(1 << 41);
    assert_eq!(sim.live(0).left_ms(SteadyMs(u64::MAX)), Some(0));
    let before = sim.asks;
    for _ in 0..1_000 {
        assert!(sim.request(0, 1));
        sim.pass(2);
        if sim.tick(0) {
            sim.exchange(0, 0);
        }
    }
    assert!(sim.asks - before <= 4, "{} asks in two seconds", sim.asks - before);
}

#[test]
fn a_late_report_goes_into_the_book_of_its_own_serial() {
    let mut sim = Sim::new(100, 5, 1);
    sim.exchange(0, 40);
    assert!(sim.request(0, 10));
    sim.serial = 2;
    // Told of the new period, the holder closes the old lease and reports it with the next ask.
    sim.exchange(0, 1);
    sim.exchange(0, 0);
    let (old, open) = (sim.book.totals_of(1).unwrap(), sim.book.open_totals());
    assert_eq!((old.spent, old.returned, old.outstanding), (10, 30, 0));
    assert_eq!((open.serial, open.spent, open.returned), (2, 0, 0));
    sim.check();
}

#[test]
fn books_are_closed_after_one_more_period() {
    let mut sim = Sim::new(100, 5, 2);
    sim.exchange(0, 40);
    assert!(sim.request(0, 10));
    sim.serial = 2;
    sim.exchange(1, 1);
    assert!(sim.closed.is_empty());
    sim.serial = 3;
    sim.exchange(1, 1);
    let closed = sim.closed[0];
    assert_eq!((closed.serial, closed.granted, closed.forfeited, closed.outstanding), (1, 40, 40, 0));
    // The old lease comes in at last: refused, counted, and confirmed so that its holder can forget it.
    sim.live(0).ask_failed();
    sim.exchange(0, 0);
    sim.exchange(0, 0);
    assert!(sim.book.counts().fences_rejected > 0 && sim.pops[0].storage.is_empty());
    assert_eq!(sim.book.open_totals().spent, 0);
}

#[test]
fn without_a_ledger_leases_in_hand_are_spent_and_then_it_is_closed() {
    let mut sim = Sim::new(1_000, 5, 1);
    sim.exchange(0, 3);
    assert!((0..3).all(|_| matches!(sim.spend(0, 1, 0), Spend::Taken { .. })) || sim.live(0).in_hand() > 0);
    while matches!(sim.spend(0, 1, 0), Spend::Taken { .. }) {}
    let _ = sim.ask(0, 1);
    sim.live(0).ask_failed();
    assert_eq!(sim.spend(0, 1, 1), Spend::Refused(Refusal::Unavailable));
    let tried = (0..1_000).filter(|_| sim.spend(0, 1, 0) == Spend::Wait).count();
    assert!((5..=25).contains(&tried), "{tried}");
}

#[test]
fn what_was_given_back_is_spent_again() {
    let mut sim = Sim::new(10, 5, 1);
    sim.exchange(0, 10);
    let Spend::Taken { receipt, .. } = sim.spend(0, 7, 0) else { panic!("refused") };
    assert_eq!(sim.live(0).give_back(&receipt), 7);
    assert!(sim.request(0, 10));
    assert_eq!(sim.live(0).give_back(&receipt), 7);
    sim.crash(0);
    assert_eq!(sim.live(0).give_back(&receipt), 0, "another start does not know it");
}

#[test]
fn no_give_back_goes_below_what_an_earlier_start_wrote_off() {
    let mut sim = Sim::new(10, 2, 1);
    sim.exchange(0, 10);
    assert!(sim.request(0, 4));
    sim.crash(0);
    let Spend::Taken { receipt, .. } = sim.spend(0, 3, 0) else { panic!("refused") };
    assert_eq!((sim.live(0).give_back(&receipt), sim.live(0).give_back(&receipt)), (3, 0));
    assert_eq!(sim.live(0).in_hand(), 6);
    // Told that it is used up, the ledger is taken at its word.
    let Spend::Taken { receipt, .. } = sim.spend(0, 6, 0) else { panic!("refused") };
    sim.ask(0, 0);
    assert_eq!(sim.live(0).give_back(&receipt), 0);
}

/// Half a second at a time: the second of two is refused until it gets something; the first has all of its
/// lease written off, and is used as often as that says. How long that takes, in milliseconds.
fn refused_for(every_ms: Option<u64>) -> Option<u64> {
    let mut sim = Sim::new(100, 20, 2);
    sim.exchange(0, 20);
    assert!(sim.request(0, 1));
    // The ledger takes all of it for spent.
    sim.exchange(0, 0);
    assert!((0..80).all(|_| sim.request(1, 1)));
    sim.exchange(1, 0);
    let totals = sim.book.open_totals();
    assert_eq!((totals.spent, totals.outstanding), (100, 0));
    let got = (0..80).find(|step| {
        if every_ms.is_some_and(|every_ms| step * 500 % every_ms == 0) {
            sim.request(0, 1);
            sim.tick(0);
        }
        sim.wait(500);
        sim.request(1, 1)
    });
    sim.drain(1);
    assert_eq!((sim.admitted(), sim.book.open_totals().forfeited), (100, 0));
    got.map(|step| step * 500)
}

#[test]
fn what_one_has_written_off_and_not_spent_is_there_for_others() {
    // Used now and then, it is told; not used at all, it returns its lease after ten seconds.
    for every_ms in [500, 2_500, 4_000, 6_000, 9_000] {
        let waited = refused_for(Some(every_ms));
        assert!(waited.is_some_and(|ms| ms <= 10_000), "used every {every_ms} ms: {waited:?}");
    }
    let waited = refused_for(None);
    assert!(waited.is_some_and(|ms| ms <= 15_000), "not used: {waited:?}");
}

#[test]
fn one_in_constant_use_is_served_while_another_waits_for_more_than_is_free() {
    // Ten requests a second at one place; fifty units at a time are wanted at the other.
    let mut sim = Sim::new(1_000, 20, 2);
    sim.exchange(0, 960);
    assert!(sim.request(1, 1));
    let (mut served, mut large) = (0, 0);
    let before = sim.asks;
    for step in 0.. {
        sim.pass(100);
        if !sim.request(0, 1) {
            break;
        }
        served += 1;
        if sim.tick(0) {
            sim.exchange(0, 0);
        }
        large += u64::from(step % 10 == 0 && sim.request(1, 50));
    }
    assert_eq!((sim.admitted(), sim.book.open_totals().outstanding), (1 + served + 50 * large, 0));
    assert!(large > 5 && sim.admitted() >= 950, "{large}, {served}");
    let asks = sim.asks - before;
    assert!(asks <= served / 2, "{asks} asks for {served} requests");
}

/// A Ledger that never answers, such as one that does not know the quota any more.
#[test]
fn nobody_is_asked_for_ever_at_the_same_pace() {
    use sluicegate::global::{HolderSettings, LeaseHolder, Waiting};

    let (mut holder, _) = LeaseHolder::start("gone/acme", 1, &[], HolderSettings::default(), SteadyMs(0));
    let mut asks = 0;
    for second in 1..=86_400 {
        let now = SteadyMs(second * 1_000);
        if holder.tick(now).ask {
            holder.ask(&[], Waiting::default(), now);
            holder.ask_failed();
            asks += 1;
        }
        assert!(second != 60 || asks >= 11, "a minute's outage changes nothing: {asks}");
    }
    assert!((30..60).contains(&asks), "{asks} in a day");
    let next = holder.next_tick().unwrap();
    assert!(next > SteadyMs(86_400_000) && next < SteadyMs(93_600_000), "it does not give up either");
}
