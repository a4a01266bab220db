use crate::ordered::Set;
/// How many give-backs are remembered one by one; takes before the oldest of them are given back no more.
const MOST_GIVEN: usize = 4_096;

/// The takes that were given back, so that each is given back once. Bounded: what it has forgotten counts as
/// given back, so its units stay taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    made: u64,
    given: Set<u64>,
    floor: u64,
}

impl Given {
    /// Numbers a take.
    pub const fn take(&mut self) -> u64 {
        self.made = self.made.saturating_add(1);
        self.made
    }

    /// Whether this take can be given back.
    pub fn can_give(&self, take: u64) -> bool {
        take > self.floor && take <= self.made && !self.given.contains(&take)
    }

    /// Notes that it was.
    pub fn gave(&mut self, take: u64) {
        self.given.insert(take);
        if self.given.len() > MOST_GIVEN
            && let Some(oldest) = self.given.pop_first()
        {
            self.floor = self.floor.max(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_is_given_back_once_and_only_if_it_was_made() {
        let mut given = Given::default();
        let (first, second) = (given.take(), given.take());
        assert!(given.can_give(first) && given.can_give(second) && !given.can_give(second + 1));
        given.gave(first);
        assert!(!given.can_give(first) && given.can_give(second));
    }

    #[test]
    fn what_is_forgotten_stays_taken() {
        let mut given = Given::default();
        let takes: Vec<u64> = (0..2 * MOST_GIVEN).map(|_| given.take()).collect();
        let (late, early) = (takes[0], &takes[1..]);
        early.iter().for_each(|take| given.gave(*take));
        assert!(!given.can_give(late) && takes.iter().all(|take| !given.can_give(*take)));
        assert!(given.given.len() <= MOST_GIVEN);
        let next = given.take();
        assert!(given.can_give(next));
    }
}
