//! The object dies between any two things that it has its host do. What clients were let through with stays
//! within the limits, and what is stored and booked adds up.

use sluicegate::policy::OnError;
use sluicegate::pop::PopAsk;

use crate::world::{World, give, local, quota, quota_name, take, window};

const LIMIT: u64 = 40;

fn batch() -> PopAsk {
    take([local("l", 1_000, 1), window("w", 30, 1, OnError::Closed), quota("q", 2)])
}

/// A little of everything, up to a crash before host call number `dies_at`.
fn life(world: &mut World, dies_at: u64) -> bool {
    world.live(0);
    let host = world.host();
    host.dies_at = Some(host.calls + dies_at);
    let mut ids = Vec::new();
    for round in 0..4 {
        if world.host().is_dead() {
            break;
        }
        match world.try_request(0, &batch()).unwrap() {
            Ok(reply) if round == 2 && reply.allowed && !world.host().is_dead() => {
                let limits = batch().limits;
                world.request(&give(&limits, &reply));
            }
            Ok(_) => {}
            Err(id) => ids.push(id),
        }
        world.deliver(0);
        world.host().wall += 3_000;
        let (pop, host) = world.live(0);
        pop.tick(host).unwrap();
        world.deliver(0);
    }
    for id in ids {
        if let Some(reply) = world.answer(id) {
            world.note(&batch().limits, &reply);
        }
    }
    world.host().is_dead()
}

#[test]
fn a_crash_between_any_two_calls_passes_no_limit() {
    let mut deaths = 0;
    for first in 1..80 {
        for second in [1, 4, 9, 20] {
            let mut world = World::new(1).with_window("w", 30, 0).with_quota("q", LIMIT);
            deaths += u64::from(life(&mut world, first));
            world.evict(0);
            deaths += u64::from(life(&mut world, second));
            world.evict(0);
            // And now as much as it takes.
            for _ in 0..40 {
                let reply = world.decide(&batch());
                world.note(&batch().limits, &reply);
                world.run(11_000);
            }
            let context = format!("died at {first} and {second}: {:?} {:?}", world.spent, world.taken);
            assert!(world.spent.values().all(|units| *units <= LIMIT), "{context}");
            assert!(world.taken.values().all(|units| *units <= 30), "{context}");
            let spent: u64 = world.spent.values().sum();
            let book = world.owner.quotas[&quota_name("q").to_string()].book().open_totals();
            assert!(book.used() >= spent && book.used() <= LIMIT, "{context}: {book:?}");
            // All of it was used or is lost for good: nothing is stuck.
            assert!(book.used() >= LIMIT - 1 && book.outstanding == 0, "{context}: {book:?}");
        }
    }
    assert!(deaths > 150, "{deaths}");
}
