//! The obvious limiters beside this one, on the same readings: each is wrong in its own way.

use serde_json::json;

use super::{DAY, HOUR, Host, Rig, SECOND, brief, bucket, ms, quota, said};

/// A bucket on `Date.now()`: the elapsed time is clamped, and then the mark is set.
struct Naive {
    tokens: f64,
    mark: i64,
    /// What becomes of the mark when the clock has gone back.
    next_mark: fn(i64, i64) -> i64,
}

const ASSIGNED: fn(i64, i64) -> i64 = |_, now| now;
const HIGHEST: fn(i64, i64) -> i64 = |mark, now| mark.max(now);

impl Naive {
    /// Empty, ten tokens at most.
    fn new(now: i64, next_mark: fn(i64, i64) -> i64) -> Self {
        Self { tokens: 0.0, mark: now, next_mark }
    }

    fn take(&mut self, now: i64, per_second: f64) -> bool {
        let elapsed = (now - self.mark).max(0);
        self.tokens = (self.tokens + elapsed as f64 / 1_000.0 * per_second).min(10.0);
        self.mark = (self.next_mark)(self.mark, now);
        let fits = self.tokens >= 1.0;
        self.tokens -= f64::from(u8::from(fits));
        fits
    }
}

/// An hour back: the one form loses a request, the other stands still for the hour; this one loses nothing.
#[test]
fn date_now_everywhere_freezes_after_a_step_back() {
    let options = super::with(bucket(10, 1.0, "ignore"), "initialTokens", json!(0));
    let mut rig = Rig::new(&options, Host::at("2026-05-06T12:00Z")).unwrap();
    let mut forms = [ASSIGNED, HIGHEST].map(|form| Naive::new(rig.host.wall, form));
    let mut allowed = [0; 3];
    for second in 0..2 * 3600 {
        if second == 600 {
            rig.host.step_wall(-HOUR);
        }
        rig.host.advance(SECOND);
        allowed[0] += i32::from(rig.consume(1).allowed());
        for (form, count) in forms.iter_mut().zip(&mut allowed[1..]) {
            *count += i32::from(form.take(rig.host.wall, 1.0));
        }
    }
    assert_eq!(allowed, [7200, 7199, 3600]);
}

#[test]
fn date_now_everywhere_refills_for_time_that_did_not_pass() {
    for policy in ["ignore", "refuse"] {
        let options = super::with(bucket(10, 1.0, policy), "initialTokens", json!(0));
        let mut rig = Rig::new(&options, Host::at("2026-05-06T12:00Z")).unwrap();
        let mut forms = [ASSIGNED, HIGHEST].map(|form| Naive::new(rig.host.wall, form));
        rig.host.step_wall(HOUR);
        assert!(!rig.try_consume(1).is_ok_and(|decision| decision.allowed()));
        for form in &mut forms {
            assert_eq!(
                (0..20).filter(|_| form.take(rig.host.wall, 1.0)).count(),
                10,
                "a full bucket from nowhere"
            );
        }
    }
}

/// The same forms where a second writer's clock is behind: assigning the mark is a bypass, time and again.
#[test]
fn a_mark_that_goes_back_credits_the_same_time_over_and_over() {
    let mut forms = [ASSIGNED, HIGHEST].map(|form| Naive::new(0, form));
    let mut allowed = [0; 2];
    for turn in 1..=100 {
        let now = turn * 100;
        for (form, count) in forms.iter_mut().zip(&mut allowed) {
            let reading = if turn % 2 == 0 { now - 900 } else { now };
            *count += i32::from(form.take(reading, 1.0));
        }
    }
    // Ten seconds have passed, at one a second.
    assert_eq!(allowed, [49, 9]);
}

/// "A month" as thirty days of uptime: no such period begins on the first, and a restart begins another.
#[test]
fn monotonic_everywhere_cannot_reset_with_the_month() {
    const LENGTH: i64 = 30 * DAY;
    let monthly = quota(100, json!({ "unit": "month", "timeZone": "America/Los_Angeles" }));
    let mut rig = Rig::new(&monthly, Host::at("2026-01-20T08:00Z")).unwrap();
    let started = rig.host.monotonic;
    let (mut period, mut used) = (0, 0);
    let mut uptime = |host: &Host, units: u64| {
        let now = (host.monotonic - started) / LENGTH;
        if now != period {
            (period, used) = (now, 0);
        }
        let fits = used + units <= 100;
        used += if fits { units } else { 0 };
        fits
    };
    assert!(uptime(&rig.host, 100) && rig.consume(100).allowed());
    // 1 February in Los Angeles: a new allowance, and the other still waits for the 19th.
    rig.host.advance(ms("2026-02-01T08:00Z") - rig.host.wall);
    assert!(!uptime(&rig.host, 1));
    assert_eq!(brief(&rig.consume(100)), said("2026-02", 0, true));
    // The 19th: it hands out a second one in the middle of the month.
    rig.host.advance(ms("2026-02-19T08:00Z") - rig.host.wall);
    assert!(uptime(&rig.host, 100));
    assert_eq!(brief(&rig.consume(1)), said("2026-02", 0, false));
    // And asleep it counts nothing: a laptop's month is as long as its owner works.
    rig.host.suspend(60 * DAY);
    assert!(!uptime(&rig.host, 1));
    assert_eq!(brief(&rig.consume(1)), said("2026-04", 99, true));
}
