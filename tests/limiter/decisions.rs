//! One decision out of two halves.

use serde_json::json;
use sluicegate::QuotaClockRefusal::{Bucket, CostExceedsCapacity, CostExceedsQuota, Quota};

use super::{DAY, HOUR, Host, Rig, SECOND, brief, bucket, quota, said, wait, with};

fn both(capacity: u64, refill: f64, limit: u64) -> Rig {
    let period = json!({ "limit": limit, "period": { "unit": "day", "timeZone": "UTC" } });
    Rig::new(&with(bucket(capacity, refill, "ignore"), "quota", period), Host::at("2026-05-06T12:00Z"))
        .unwrap()
}

#[test]
fn both_are_taken_from_or_neither() {
    let mut rig = both(3, 1.0, 5);
    let first = rig.consume(3);
    assert_eq!((first.tokens_remaining, first.quota_remaining, first.refusal), (0, Some(2), None));
    let bucket = rig.consume(1);
    assert_eq!((bucket.tokens_remaining, bucket.quota_remaining, bucket.refusal), (0, Some(2), Some(Bucket)));
    assert_eq!(wait(&bucket), (Some(1000), Some("monotonic-refill")));
    rig.host.advance(3 * SECOND);
    let quota = rig.consume(3);
    assert_eq!((quota.tokens_remaining, quota.quota_remaining, quota.refusal), (3, Some(2), Some(Quota)));
    assert_eq!(wait(&quota), (Some(12 * HOUR as u64 - 3000), Some("wall-period")));
    let rest = rig.consume(2);
    assert_eq!((rest.tokens_remaining, rest.quota_remaining, rest.refusal), (1, Some(0), None));
}

#[test]
fn where_both_refuse_the_longer_wait_is_said() {
    let mut calendar = both(2, 1.0, 2);
    assert!(calendar.consume(2).allowed());
    assert_eq!(calendar.consume(2).refusal, Some(Quota));
    // A token a day: at noon the bucket is the slower one.
    let mut refill = both(2, 1.0 / 86_400.0, 2);
    assert!(refill.consume(2).allowed());
    let slow = refill.consume(1);
    assert_eq!((slow.refusal, slow.retry_after_basis.unwrap().name()), (Some(Bucket), "monotonic-refill"));
    assert!(slow.retry_after_ms.unwrap() >= DAY as u64);
    // One that never refills has no wait, whatever the calendar says.
    let mut never = both(2, 0.0, 2);
    assert!(never.consume(2).allowed());
    let empty = never.consume(1);
    assert_eq!((empty.refusal, wait(&empty)), (Some(Bucket), (None, None)));
    // All that it held is not too much: it is only gone.
    assert_eq!(never.consume(2).refusal, Some(Bucket));
}

#[test]
fn a_cost_that_never_fits_has_its_own_refusal_and_no_wait() {
    for (capacity, limit, units, refusal) in [
        (10, 100, 11, CostExceedsCapacity),
        (100, 10, 11, CostExceedsQuota),
        (10, 10, 11, CostExceedsCapacity),
        (0, 10, 1, CostExceedsCapacity),
        (10, 0, 1, CostExceedsQuota),
    ] {
        let mut rig = both(capacity, 1.0, limit);
        let refused = rig.consume(units);
        assert_eq!((refused.refusal, wait(&refused)), (Some(refusal), (None, None)));
        assert_eq!((refused.tokens_remaining, refused.quota_remaining), (capacity, Some(limit)));
        assert!(rig.consume(0).allowed());
    }
    // Also where the other half would have it wait.
    let mut rig = both(5, 1.0, 3);
    assert!(rig.consume(3).allowed());
    assert_eq!(rig.consume(4).refusal, Some(CostExceedsQuota));
    assert_eq!(rig.consume(6).refusal, Some(CostExceedsCapacity));
    assert!(rig.consume(0).allowed(), "nothing always fits");
}

#[test]
fn a_peek_says_the_same_and_takes_nothing() {
    let mut rig = both(3, 1.0, 5);
    for units in [0, 1, 3, 4, 6] {
        for _ in 0..3 {
            let mut twin = rig.clone();
            let (peeked, taken) = (rig.try_peek(units).unwrap(), twin.consume(units));
            assert_eq!((peeked.refusal, wait(&peeked)), (taken.refusal, wait(&taken)));
            assert_eq!((peeked.tokens_remaining, peeked.quota_remaining), (3, Some(5)));
        }
    }
    assert!(rig.consume(3).allowed());
}

#[test]
fn a_peek_opens_no_period_and_reports_a_step_once() {
    let mut rig =
        Rig::new(&quota(10, json!({ "unit": "month", "timeZone": "UTC" })), Host::at("2026-03-31T23:00Z"))
            .unwrap();
    assert_eq!(brief(&rig.consume(10)), said("2026-03", 0, true));
    rig.host.step_wall(32 * DAY);
    let peeked = rig.peek();
    assert_eq!((brief(&peeked), peeked.skipped_periods), (said("2026-05", 10, true), 1));
    assert_eq!(peeked.anomalies.len(), 1);
    // The clock comes right before anything was taken there: March it still is, and used up.
    let mut corrected = rig.clone();
    corrected.host.step_wall(-32 * DAY);
    assert_eq!(brief(&corrected.consume(1)), said("2026-03", 0, false));
    let opened = rig.consume(1);
    assert_eq!((brief(&opened), opened.skipped_periods), (said("2026-05", 9, true), 1));
    assert_eq!(opened.anomalies, [], "the peek has said it");
    assert_eq!(rig.consume(1).skipped_periods, 0);
}

#[test]
fn time_is_credited_by_peeks_and_refusals_and_nothing_is_lost_between_them() {
    let mut rig = Rig::new(&bucket(10, 0.3, "ignore"), Host::at("2026-05-06T12:00Z")).unwrap();
    assert!(rig.consume(10).allowed());
    // 10 s in steps of 7 ms: three tokens, to the fraction.
    for step in 0..1428 {
        rig.host.advance(7);
        if step % 3 == 0 {
            rig.peek()
        } else {
            rig.consume(10)
        };
    }
    rig.host.advance(3);
    assert_eq!(rig.peek().tokens_remaining, 2);
    rig.host.advance(1);
    assert_eq!(rig.peek().tokens_remaining, 3);
}

#[test]
fn a_part_of_a_period_is_said_to_be_one() {
    let monthly = |day: u8| quota(310, json!({ "unit": "month", "timeZone": "UTC", "anchorDay": day }));
    let mut rig = Rig::new(&monthly(1), Host::at("2026-03-10T00:00Z")).unwrap();
    assert!(!rig.consume(300).partial);
    let mut rig = Rig::restore(&rig.snapshot(), &monthly(15), rig.host).unwrap();
    let march = rig.consume(11);
    assert_eq!((brief(&march), march.partial), (said("2026-03", 10, false), false));
    rig.host.advance(22 * DAY);
    // From 1 to 15 April: 14 of the 31 days from 15 March on.
    let part = rig.consume(140);
    assert_eq!((brief(&part), part.partial), (said("2026-03", 0, true), true));
    assert_eq!(part.period.unwrap().length_ms(), 14 * DAY as u64);
    // A cost that only a whole period has is told to wait for one.
    let later = rig.consume(200);
    assert_eq!((later.refusal, wait(&later).0), (Some(Quota), Some(14 * DAY as u64)));
    rig.host.advance(14 * DAY);
    let whole = rig.consume(310);
    assert_eq!((brief(&whole), whole.partial), (said("2026-04", 0, true), false));
}
