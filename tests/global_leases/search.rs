//! A search through every state that a world can get into.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::time::Instant;

use crate::broken::Broken;
use crate::model::{Action, Config, World};

const MOST_STATES: usize = 1_000_000;

/// What a search found.
pub enum Found {
    /// This many states, and all keep the promises.
    Nothing(usize),
    /// A shortest way to a state that does not, and what is wrong there.
    Counterexample(Vec<Action>, String),
}

/// Breadth first, so that a counterexample is as short as can be. States are told apart by 64 bits of
/// hash: with a million states, one in 40 million searches takes two for one.
pub fn search(config: &Config, broken: Broken) -> Found {
    let first = World::new(config);
    let mut parents: HashMap<u64, Option<(u64, Action)>> = HashMap::from([(first.fingerprint(), None)]);
    let mut queue = VecDeque::from([(first.fingerprint(), first)]);
    while let Some((hash, world)) = queue.pop_front() {
        for action in world.actions(config, broken) {
            let mut next = world.clone();
            next.step(config, broken, action);
            if broken == Broken::Nothing {
                next.prune(config);
            }
            let reached = next.fingerprint();
            let Entry::Vacant(entry) = parents.entry(reached) else { continue };
            entry.insert(Some((hash, action)));
            let mut verdict = next.promises(config);
            if broken == Broken::Nothing {
                verdict = verdict.and_then(|()| next.books(config));
            }
            if let Err(fault) = verdict {
                return Found::Counterexample(path(&parents, reached), fault);
            }
            queue.push_back((reached, next));
            if parents.len() > MOST_STATES {
                return Found::Nothing(parents.len());
            }
        }
    }
    Found::Nothing(parents.len())
}

fn path(parents: &HashMap<u64, Option<(u64, Action)>>, mut at: u64) -> Vec<Action> {
    let mut actions = Vec::new();
    while let Some(Some((before, action))) = parents.get(&at) {
        actions.push(*action);
        at = *before;
    }
    actions.reverse();
    actions
}

/// The configuration has no state that breaks a promise.
pub fn holds(what: &str, config: &Config) {
    let began = Instant::now();
    match search(config, Broken::Nothing) {
        Found::Nothing(states) => println!("{what}: {states} states, {:.1} s", began.elapsed().as_secs_f64()),
        Found::Counterexample(path, fault) => panic!("{what}: {fault}, by {path:#?}"),
    }
}

/// With the rule broken, there is such a state.
pub fn breaks(broken: Broken, config: &Config) {
    match search(config, broken) {
        Found::Nothing(states) => panic!("{broken:?}: {states} states and no counterexample"),
        Found::Counterexample(path, fault) => println!("{broken:?}: {fault}, in {} steps", path.len()),
    }
}
