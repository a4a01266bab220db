//! Exhaustive search: every state that can be reached, breadth first, so that a counterexample is as short
//! as they get.

use std::collections::{HashSet, VecDeque};
use std::fmt::Debug;

/// Something that can be searched.
pub trait Model: Clone {
    type Action: Clone + Debug;

    /// Names the state: two states with one name are taken for the same.
    fn name(&self) -> u128;

    /// Everything that can happen next.
    fn actions(&self) -> Vec<Self::Action>;

    /// Lets it happen, and checks what must hold afterwards.
    fn act(&mut self, action: &Self::Action) -> Result<(), String>;
}

/// What a search found.
#[derive(Debug)]
pub enum Found {
    /// Every reachable state was seen, and all of them are sound.
    Sound { states: usize, steps: usize },
    /// These actions lead to a state that is not.
    Broken { actions: Vec<String>, why: String },
}

/// Searches all states that can be reached from `start`; panics if there are more than `most`, since a
/// search that stops early shows nothing.
pub fn search<M: Model>(start: M, most: usize) -> Found {
    let mut seen = HashSet::from([start.name()]);
    let mut trail: Vec<(usize, Option<M::Action>)> = vec![(0, None)];
    let mut ahead = VecDeque::from([(start, 0)]);
    let mut steps = 0;
    while let Some((state, place)) = ahead.pop_front() {
        for action in state.actions() {
            steps += 1;
            let mut next = state.clone();
            let checked = next.act(&action);
            if let Err(why) = checked {
                trail.push((place, Some(action)));
                return Found::Broken { actions: path(&trail, trail.len() - 1), why };
            }
            if seen.insert(next.name()) {
                assert!(seen.len() <= most, "more than {most} states");
                trail.push((place, Some(action)));
                ahead.push_back((next, trail.len() - 1));
            }
        }
    }
    Found::Sound { states: seen.len(), steps }
}

fn path<A: Debug>(trail: &[(usize, Option<A>)], mut place: usize) -> Vec<String> {
    let mut actions = Vec::new();
    while let Some((before, Some(action))) = trail.get(place) {
        actions.push(format!("{action:?}"));
        place = *before;
    }
    actions.reverse();
    actions
}
