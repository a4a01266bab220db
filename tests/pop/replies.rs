//! One message, several parts: which of them was answered, and what a point of presence makes of it.

use sluicegate::ledger::{LedgerAsk, LedgerReply};
use sluicegate::policy::OnError;
use sluicegate::pop::{POP_VERSION, PopAsk};
use sluicegate::{DecidedBy, Refusal};

use crate::world::{World, bucket, hundred, local, shadow, take, window};

fn world() -> World {
    World::new(1).with_window("w", 10, 0).with_window("x", 10, 0).with_bucket("b", hundred(1_000))
}

fn w() -> PopAsk {
    take([window("w", 10, 1, OnError::Closed)])
}

fn b() -> PopAsk {
    take([bucket("b", hundred(1_000), 1, OnError::Closed)])
}

/// Takes a part out of a reply.
type Without = fn(&mut LedgerReply);

/// A request for a window and one for a bucket whose asks go in one message, with the same ticket and the same
/// number; what each is told where the reply is without one of its parts.
fn told(without: Without) -> ([bool; 2], World) {
    let mut world = world();
    // With this in flight, the others wait for the next message.
    let other = world.wait(&take([window("x", 10, 1, OnError::Closed)]));
    world.host().sent.clear();
    let (cap, tokens) = (world.wait(&w()), world.wait(&b()));
    let first = sluicegate::pop::AskId(1);
    let empty = LedgerReply {
        v: sluicegate::ledger::LEDGER_VERSION,
        pops: 1,
        caps: None,
        tokens: None,
        leases: None,
        fences_rejected: 0,
        fences_adopted: 0,
    };
    world.hear(0, first, Some(&empty));
    let reply = world.answer(other).expect("the reply has no part for it, so it waits no more");
    assert_eq!(reply.limits[0].decided_by, DecidedBy::OnError);
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    let (id, ask) = world.take_sent();
    assert!(ask.caps.is_some() && ask.tokens.is_some());
    let wall = world.host().wall;
    let mut reply = world.owner.answer(&ask, wall);
    without(&mut reply);
    world.hear(0, id, Some(&reply));
    let told = [cap, tokens].map(|id| {
        let reply = world.answer(id).expect("no part is left open");
        assert_eq!(reply.allowed, reply.limits[0].decision.refusal != Some(Refusal::Unavailable));
        reply.allowed
    });
    (told, world)
}

#[test]
fn a_part_that_the_reply_lacks_has_failed_and_is_asked_again() {
    let cases: [(Without, [bool; 2]); 4] = [
        (|_| (), [true, true]),
        (|reply| reply.caps = None, [false, true]),
        (|reply| reply.tokens = None, [true, false]),
        (|reply| (reply.caps, reply.tokens) = (None, None), [false, false]),
    ];
    for (without, expected) in cases {
        let (told, mut world) = told(without);
        assert_eq!(told, expected);
        assert!(world.decide(&w()).allowed && world.decide(&b()).allowed, "{expected:?}");
        assert_eq!(world.live(0).0.report().requests_waiting, 0);
    }
}

#[test]
fn the_reply_to_another_ask_is_none() {
    let (told, _) = told(|reply| {
        reply.caps.iter_mut().for_each(|caps| caps.n += 7);
        reply.tokens.iter_mut().for_each(|tokens| tokens.n += 7);
    });
    assert_eq!(told, [false, false]);
}

/// What an enforced limit refuses need not be asked about for a shadow one.
#[test]
fn enforced_limits_are_asked_before_shadow_ones() {
    let mut world = world();
    assert!(world.decide(&take([window("w", 10, 10, OnError::Closed)])).allowed);
    let shadows = [
        shadow(bucket("b", hundred(1_000), 1, OnError::Closed)),
        shadow(window("x", 10, 1, OnError::Closed)),
    ];
    let [one, other] = shadows;
    let reply = world.request(&take([one, other, window("w", 10, 1, OnError::Closed)]));
    assert!(!reply.allowed);
    let asked = |ask: &LedgerAsk| {
        let x = ask.caps.iter().flat_map(|caps| &caps.items).any(|item| item.key.policy == "x");
        x || ask.tokens.is_some()
    };
    assert!(!world.host().sent.iter().any(|(_, _, ask)| asked(ask)));
}

#[test]
fn an_ask_of_another_version_is_not_read_and_takes_nothing() {
    let mut world = world();
    let ask = take([local("l", 5, 1)]);
    let later = PopAsk { v: POP_VERSION + 1, ..ask.clone() };
    let reply = world.request(&later);
    assert!(!reply.allowed && reply.limits.len() == 1);
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    assert_eq!(world.live(0).0.report().totals.asks, 0);
    let text = serde_json::to_string(&later).unwrap();
    let error = serde_json::from_str::<PopAsk>(&text).unwrap_err().to_string();
    assert!(error.contains("version 3 is not 2"), "{error}");
    assert_eq!(serde_json::from_str::<PopAsk>(&serde_json::to_string(&ask).unwrap()).unwrap(), ask);
}

#[test]
fn leases_that_the_ledger_does_not_know_are_added_up() {
    let mut world = world();
    world.owner.unknown_fences = (2, 1);
    assert!(world.decide(&w()).allowed && world.decide(&b()).allowed);
    let report = world.live(0).0.report();
    assert_eq!((report.lease_fences_rejected, report.lease_fences_adopted), (4, 2));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["lease_fences_rejected"], 4);
}
