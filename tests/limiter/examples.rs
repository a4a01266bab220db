//! What QuotaClock was made for, by name.

use serde_json::json;
use sluicegate::clock::ElapsedMs;

use super::{DAY, HOUR, Host, MINUTE, Rig, SECOND, brief, bucket, kinds, quota, said, wait, with};

const POLICIES: [&str; 3] = ["ignore", "credit", "refuse"];

/// An empty bucket of 100 that earns ten an hour.
fn ten_an_hour(policy: &str, host: Host) -> Rig {
    let options = with(bucket(100, 10.0 / 3600.0, policy), "initialTokens", json!(0));
    Rig::new(&options, host).unwrap()
}

#[test]
fn six_hours_asleep_without_a_reader_are_what_the_policy_says() {
    for (policy, credited, tokens) in [("ignore", 5, 0), ("credit", 6 * HOUR as u64 + 5, 60)] {
        let mut rig = ten_an_hour(policy, Host::at("2026-05-06T22:00Z"));
        rig.host.suspend(6 * HOUR);
        rig.host.advance(5);
        let woken = rig.consume(1);
        assert_eq!(woken.allowed(), tokens > 0, "{policy}");
        assert_eq!(woken.tokens_remaining, tokens - u64::from(woken.allowed()), "{policy}");
        assert_eq!(kinds(&woken.anomalies), ["wall-ahead"], "{policy}");
        assert_eq!(woken.anomalies[0].credited, Some(ElapsedMs(credited)), "{policy}");
        assert!(rig.consume(0).anomalies.is_empty(), "said once");
    }
    let mut rig = ten_an_hour("refuse", Host::at("2026-05-06T22:00Z"));
    rig.host.suspend(6 * HOUR);
    assert_eq!(rig.try_consume(1).unwrap_err().code(), "ambiguous-jump");
    assert_eq!(kinds(rig.limiter.refused().as_slice()), ["wall-ahead"]);
    // One error for one jump: then time goes on, from zero.
    rig.host.advance(6 * MINUTE);
    assert!(rig.consume(1).allowed() && rig.limiter.refused().is_none());
}

#[test]
fn six_hours_asleep_with_a_reader_are_credited_whatever_the_policy() {
    for policy in POLICIES {
        let mut rig = ten_an_hour(policy, Host::at("2026-05-06T22:00Z").with_reader());
        rig.host.suspend(6 * HOUR);
        let woken = rig.consume(1);
        assert_eq!((woken.tokens_remaining, kinds(&woken.anomalies)), (59, vec!["suspend"]), "{policy}");
        // And six hours that were only a correction are credited to nobody.
        rig.host.step_wall(6 * HOUR);
        let stepped = rig.consume(1);
        assert_eq!((stepped.tokens_remaining, kinds(&stepped.anomalies)), (58, vec!["wall-step-forward"]));
    }
}

/// A known limitation, shown as it is: both clocks agree, so nothing is asked and nothing is credited.
#[test]
fn a_suspend_and_an_equal_step_back_are_invisible_until_the_clocks_disagree_again() {
    let opposite = |mut rig: Rig| {
        rig.host.suspend(6 * HOUR);
        rig.host.step_wall(-6 * HOUR);
        rig.host.advance(SECOND);
        let unseen = rig.consume(1);
        assert!(!unseen.allowed() && unseen.anomalies.is_empty(), "{unseen:?}");
        rig.host.step_wall(-HOUR);
        rig
    };
    let mut with_reader = opposite(ten_an_hour("ignore", Host::at("2026-05-06T22:00Z").with_reader()));
    let claimed = with_reader.consume(1);
    assert_eq!(
        (claimed.tokens_remaining, kinds(&claimed.anomalies)),
        (59, vec!["suspend", "wall-step-back"])
    );
    // Without a reader the six hours are never credited.
    let mut without = opposite(ten_an_hour("credit", Host::at("2026-05-06T22:00Z")));
    let lost = without.consume(1);
    assert_eq!((lost.tokens_remaining, kinds(&lost.anomalies)), (0, vec!["wall-step-back"]));
}

#[test]
fn backwards_over_a_boundary_holds_the_period_and_says_so_each_time() {
    let mut rig = Rig::new(
        &quota(100, json!({ "unit": "month", "timeZone": "Europe/Paris" })),
        Host::at("2026-03-31T21:59:59Z"),
    )
    .unwrap();
    assert_eq!(brief(&rig.consume(100)), said("2026-03", 0, true));
    rig.host.advance(SECOND);
    assert_eq!(brief(&rig.consume(60)), said("2026-04", 40, true));

    rig.host.step_wall(-MINUTE);
    let back = rig.consume(41);
    assert_eq!(brief(&back), said("2026-04", 40, false));
    assert_eq!(kinds(&back.anomalies), ["wall-step-back", "period-regression"]);
    assert_eq!(back.anomalies[1].disagreement_ms, -MINUTE);
    // To the end of April from the reading: a minute more than April lasts.
    assert_eq!(wait(&back), (Some(30 * DAY as u64 + MINUTE as u64), Some("wall-period")));
    let held = rig.consume(40);
    assert_eq!((brief(&held), kinds(&held.anomalies)), (said("2026-04", 0, true), vec!["period-regression"]));

    rig.host.advance(MINUTE);
    let again = rig.consume(1);
    assert_eq!((brief(&again), again.anomalies.len()), (said("2026-04", 0, false), 0));
    // Forward it does advance, even by a jump that was an anomaly.
    rig.host.step_wall(30 * DAY);
    let may = rig.consume(1);
    assert_eq!((brief(&may), kinds(&may.anomalies)), (said("2026-05", 99, true), vec!["wall-ahead"]));
}

#[test]
fn a_host_that_boots_in_1970_starts_and_credits_no_decades() {
    let options = |policy| {
        let options = with(bucket(100, 1.0, policy), "initialTokens", json!(0));
        with(options, "quota", json!({ "limit": 50, "period": { "unit": "month", "timeZone": "UTC" } }))
    };
    for policy in POLICIES {
        let mut rig = Rig::new(&options(policy), Host::at("1970-01-01T00:00:07Z").with_reader()).unwrap();
        for _ in 0..3 {
            rig.host.advance(10 * SECOND);
            assert_eq!(rig.try_consume(1).unwrap_err().code(), "implausible-wall");
            assert_eq!(rig.try_peek(1).unwrap_err().code(), "implausible-wall");
        }
        // The network is up. Time begins here.
        rig.host.wall = Host::at("2026-05-06T12:00Z").wall;
        let first = rig.consume(1);
        assert_eq!((brief(&first), first.tokens_remaining), (said("2026-05", 50, false), 0), "{policy}");
        assert_eq!(first.anomalies, [], "{policy}");
        rig.host.advance(2 * SECOND);
        assert_eq!(rig.consume(1).tokens_remaining, 1);
        // Back in 1970 while it runs: refused, and what passes meanwhile is credited afterwards.
        let right = rig.host.wall;
        rig.host.wall = 12_345;
        assert_eq!(rig.try_consume(1).unwrap_err().code(), "implausible-wall");
        rig.host.wall = right;
        rig.host.advance(5 * SECOND);
        assert_eq!(rig.consume(0).tokens_remaining, 6);
    }
}

#[test]
fn the_floor_belongs_to_the_quota_and_can_be_moved_and_turned_off() {
    let boot = Host::at("1970-01-01T00:00:07Z");
    assert!(Rig::new(&bucket(1, 1.0, "ignore"), boot).unwrap().consume(1).allowed());
    let yearly = quota(3, json!({ "unit": "year", "timeZone": "UTC" }));
    let off = with(yearly.clone(), "earliestPlausibleWallMs", json!(null));
    assert_eq!(brief(&Rig::new(&off, boot).unwrap().consume(1)), said("1970", 2, true));
    let moved = with(yearly, "earliestPlausibleWallMs", json!(boot.wall + 1));
    let mut rig = Rig::new(&moved, boot).unwrap();
    assert_eq!(rig.try_consume(1).unwrap_err().code(), "implausible-wall");
    rig.host.advance(1);
    assert!(rig.consume(1).allowed());
}

#[test]
fn anchor_31_through_february_with_what_is_used() {
    let mut rig = Rig::new(
        &quota(10, json!({ "unit": "month", "timeZone": "America/New_York", "anchorDay": 31 })),
        Host::at("2026-01-31T05:00Z"),
    )
    .unwrap();
    let mut periods = Vec::new();
    for _ in 0..4 {
        let first = rig.consume(10);
        let period = first.period.unwrap();
        periods.push((period.slot.to_string(), period.length_ms() / HOUR as u64, first.skipped_periods));
        assert!(first.allowed() && !rig.consume(1).allowed());
        rig.host.advance(period.end.0 - rig.host.wall - 1);
        assert_eq!(
            wait(&rig.consume(1)),
            (Some(1), Some("wall-period")),
            "the last millisecond is the old slot's"
        );
        rig.host.advance(1);
    }
    // 31 January, 28 February, 31 March in summer time, 30 April, 31 May.
    let expected = [
        ("2026-01", 28 * 24, 0),
        ("2026-02", 31 * 24 - 1, 0),
        ("2026-03", 30 * 24, 0),
        ("2026-04", 31 * 24, 0),
    ];
    assert_eq!(periods, expected.map(|(slot, hours, skipped)| (slot.to_owned(), hours, skipped)));
}

#[test]
fn half_past_two_that_never_comes_and_half_past_one_that_comes_twice() {
    let daily = |time| quota(1, json!({ "unit": "day", "timeZone": "America/New_York", "anchorTime": time }));
    let mut gap = Rig::new(&daily("02:30"), Host::at("2021-03-14T06:59:59.999Z")).unwrap();
    assert!(gap.consume(1).allowed());
    assert_eq!(wait(&gap.consume(1)).0, Some(1), "the day begins when the gap closes");
    gap.host.advance(1);
    let short = gap.consume(1);
    assert_eq!(
        (brief(&short), short.period.unwrap().start_kind.name()),
        (said("2021-03-14", 0, true), "gap")
    );
    assert_eq!(wait(&gap.consume(1)).0, Some((23 * HOUR + 30 * MINUTE) as u64));

    let mut repeat = Rig::new(&daily("01:30"), Host::at("2021-11-07T05:30Z")).unwrap();
    let long = repeat.consume(1);
    assert_eq!(
        (brief(&long), long.period.unwrap().start_kind.name()),
        (said("2021-11-07", 0, true), "repeat")
    );
    assert_eq!(wait(&repeat.consume(1)).0, Some(25 * HOUR as u64));
    repeat.host.advance(HOUR);
    assert!(!repeat.consume(1).allowed(), "the second 01:30 opens nothing");
}
