//! Random machines: a model of both halves beside the limiter, and the promises that follow from it.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{DAY, Host, Rig, bucket, with};

const CAPACITY: u64 = 7;
const LIMIT: u64 = 12;
const PER_SECOND: u64 = 3;

/// What happens to a machine between two calls.
#[derive(Clone, Copy, Debug)]
enum Event {
    Nothing,
    Suspended(i64),
    Stepped(i64),
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    advance: i64,
    event: Event,
    units: u64,
    peek: bool,
}

/// Events are far larger than the tolerance, and one at a time: what the tracker can see.
fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let event = prop_oneof![
        4 => Just(Event::Nothing),
        1 => (1_000..2 * DAY).prop_map(Event::Suspended),
        1 => (1_000..2 * DAY).prop_map(Event::Stepped),
        1 => (-2 * DAY..-1_000).prop_map(Event::Stepped),
    ];
    let turn =
        (prop_oneof![0..20_i64, 0..3_000_i64, 0..600_000_i64], event, 0..9_u64, prop::bool::weighted(0.2))
            .prop_map(|(advance, event, units, peek)| Turn { advance, event, units, peek });
    prop::collection::vec(turn, 1..60)
}

fn options(policy: &str) -> Value {
    let quota = json!({ "limit": LIMIT, "period": { "unit": "day", "timeZone": "UTC" } });
    with(bucket(CAPACITY, PER_SECOND as f64, policy), "quota", quota)
}

fn start(reader: bool) -> Host {
    let host = Host::at("2026-05-06T12:00Z");
    if reader { host.with_reader() } else { host }
}

fn happen(host: &mut Host, turn: Turn) {
    host.advance(turn.advance);
    match turn.event {
        Event::Nothing => {}
        Event::Suspended(ms) => host.suspend(ms),
        Event::Stepped(ms) => host.step_wall(ms),
    }
}

/// Milliseconds that a turn is worth to the bucket.
fn credit(turn: Turn, policy: &str, reader: bool) -> u64 {
    let extra = match turn.event {
        Event::Suspended(ms) if reader => ms,
        Event::Suspended(ms) | Event::Stepped(ms) if !reader && policy == "credit" => ms.max(0),
        _ => 0,
    };
    (turn.advance + extra) as u64
}

/// Both halves, in the simplest form that is right for whole days of UTC: thousandths of a token, and the
/// number of the day.
struct Model {
    thousandths: u64,
    day: Option<i64>,
    used: u64,
}

#[derive(Debug, PartialEq)]
struct Said {
    tokens: u64,
    left: u64,
    refusal: Option<&'static str>,
    wait: Option<u64>,
    day_start: i64,
}

impl Model {
    fn turn(&mut self, credit_ms: u64, wall: i64, units: u64, peek: bool) -> Said {
        self.thousandths = (self.thousandths + credit_ms * PER_SECOND).min(CAPACITY * 1_000);
        let today = wall.div_euclid(DAY);
        let (day, used) = match self.day {
            Some(open) if today <= open => (open, self.used),
            _ => (today, 0),
        };
        let refill = (units * 1_000).saturating_sub(self.thousandths).div_ceil(PER_SECOND);
        let period = if used + units > LIMIT { ((day + 1) * DAY - wall) as u64 } else { 0 };
        let (refusal, wait) = match (units > CAPACITY, refill.max(period)) {
            (true, _) => (Some("cost-exceeds-capacity"), None),
            (false, 0) => (None, None),
            (false, wait) => (Some(if period > refill { "quota" } else { "bucket" }), Some(wait)),
        };
        let taken = if refusal.is_none() && !peek { units } else { 0 };
        self.thousandths -= taken * 1_000;
        if !peek {
            (self.day, self.used) = (Some(day), used + taken);
        }
        Said {
            tokens: self.thousandths / 1_000,
            left: LIMIT - used - taken,
            refusal,
            wait,
            day_start: day * DAY,
        }
    }
}

fn play(rig: &mut Rig, turn: Turn) -> sluicegate::QuotaClockDecision {
    if turn.peek { rig.try_peek(turn.units).unwrap() } else { rig.consume(turn.units) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Every field of every decision is the model's: both taken from or neither, real time credited and
    /// nothing else, days held and opened.
    #[test]
    fn it_decides_as_the_model_does(
        turns in turns(),
        policy in prop::sample::select(vec!["ignore", "credit"]),
        reader in any::<bool>(),
    ) {
        let mut rig = Rig::new(&options(policy), start(reader)).unwrap();
        let mut model = Model { thousandths: CAPACITY * 1_000, day: None, used: 0 };
        for turn in turns {
            happen(&mut rig.host, turn);
            let decision = play(&mut rig, turn);
            let said = Said {
                tokens: decision.tokens_remaining,
                left: decision.quota_remaining.unwrap(),
                refusal: decision.refusal.map(|refusal| refusal.name()),
                wait: decision.retry_after_ms,
                day_start: decision.period.unwrap().start.0,
            };
            let expected = model.turn(credit(turn, policy, reader), rig.host.wall, turn.units, turn.peek);
            prop_assert_eq!(said, expected, "{:?}", turn);
            let held = decision.anomalies.iter().any(|anomaly| anomaly.kind.name() == "period-regression");
            prop_assert_eq!(held, rig.host.wall < decision.period.unwrap().start.0);
            let clocks = decision.anomalies.len() - usize::from(held);
            prop_assert_eq!(clocks > 0, !matches!(turn.event, Event::Nothing), "{:?}", decision.anomalies);
        }
    }

    /// Whatever happens, also what the tracker cannot see, and with errors in between: no period hands out
    /// more than its limit, no stretch of time more than the capacity and what was earned in it.
    #[test]
    fn it_never_hands_out_more_than_either_half_allows(
        turns in prop::collection::vec(
            (0..5_000_i64, -DAY..2 * DAY, -DAY..DAY, prop::bool::weighted(0.1), 0..9_u64), 1..60),
        policy in prop::sample::select(vec!["ignore", "credit", "refuse"]),
        reader in any::<bool>(),
    ) {
        let mut rig = Rig::new(&options(policy), start(reader)).unwrap();
        let mut per_day = HashMap::new();
        // What was taken, and the most that can have been earned, since each call so far.
        let mut since: Vec<(u64, u64)> = Vec::new();
        for (advance, suspend, step, regress, units) in turns {
            let (suspend, before) = (suspend.max(0), rig.host);
            rig.host.advance(advance);
            rig.host.suspend(suspend);
            rig.host.step_wall(step);
            if regress {
                rig.host.monotonic = before.monotonic - 1;
            }
            let real = match (reader, policy) {
                (true, _) => advance + suspend,
                (false, "credit") => advance + suspend + step.max(0),
                (false, _) => advance,
            };
            let most = real as u64 * PER_SECOND;
            since.push((0, 0));
            let Ok(decision) = rig.try_consume(units) else {
                since.iter_mut().for_each(|(_, earned)| *earned += most);
                continue;
            };
            let taken = if decision.allowed() { units } else { 0 };
            *per_day.entry(decision.period.unwrap().start).or_insert(0) += taken;
            for (sum, earned) in &mut since {
                (*sum, *earned) = (*sum + taken, *earned + most);
                prop_assert!(*sum * 1_000 <= CAPACITY * 1_000 + *earned);
            }
        }
        prop_assert!(per_day.values().all(|&units| units <= LIMIT), "{:?}", per_day);
    }

    /// A wait that is obeyed is enough, and one millisecond less is not.
    #[test]
    fn a_wait_is_exact(turns in turns(), reader in any::<bool>()) {
        let mut rig = Rig::new(&options("ignore"), start(reader)).unwrap();
        for turn in turns {
            happen(&mut rig.host, turn);
            let decision = play(&mut rig, turn);
            if let Some(wait) = decision.retry_after_ms {
                let after = |ms: u64| {
                    let mut later = rig.clone();
                    later.host.advance(ms as i64);
                    later.consume(turn.units).allowed()
                };
                prop_assert!(after(wait) && !after(wait - 1), "{:?}", decision);
            }
        }
    }

    /// Stored and restored at any moment, by way of text: as if nothing had been.
    #[test]
    fn a_restore_is_going_on(
        turns in turns(),
        at in any::<prop::sample::Index>(),
        policy in prop::sample::select(vec!["ignore", "credit"]),
        reader in any::<bool>(),
        down in 0..2 * DAY,
    ) {
        let mut rig = Rig::new(&options(policy), start(reader)).unwrap();
        let (before, after) = turns.split_at(at.index(turns.len()));
        for &turn in before {
            happen(&mut rig.host, turn);
            play(&mut rig, turn);
        }
        let stored = rig.snapshot();
        let mut twin = Rig::restore(&stored, &options(policy), rig.host).unwrap();
        prop_assert_eq!(&twin.snapshot()["quota"], &stored["quota"]);
        for &turn in after {
            happen(&mut rig.host, turn);
            happen(&mut twin.host, turn);
            prop_assert_eq!(play(&mut twin, turn), play(&mut rig, turn));
        }
        // After a time of being down it is the same but for that time, and the twin's date.
        let mut later = Host { monotonic: 0, realtime: rig.host.realtime.map(|_| 0), ..rig.host };
        later.step_wall(down);
        let mut woken = Rig::restore(&rig.snapshot(), &options(policy), later).unwrap();
        rig.host.step_wall(down);
        let (woken, stepped) = (woken.peek(), rig.peek());
        if policy == "ignore" || reader {
            prop_assert_eq!(woken.tokens_remaining, stepped.tokens_remaining);
        }
        prop_assert_eq!((woken.quota_remaining, woken.period), (stepped.quota_remaining, stepped.period));
    }
}
