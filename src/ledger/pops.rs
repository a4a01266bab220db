use crate::clock::SteadyMs;
use crate::ordered::Map;

/// A point of presence in use asks every few seconds; one that was silent for so long is not in use.
const LATELY_MS: u64 = 300_000;
/// More than there are: names beyond are not counted.
const MOST_POPS: usize = 1_024;
const LONGEST_NAME: usize = 64;

/// The points of presence heard lately.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    at: Map<String, SteadyMs>,
    /// How many there were before this start. They count until all of them have had the time to ask: a
    /// count that starts from one would tell each to take the whole limit.
    before: u32,
    since: SteadyMs,
}

impl Heard {
    pub const fn new(before: u32, now: SteadyMs) -> Self {
        Self { at: Map::new(), before, since: now }
    }

    pub fn hear(&mut self, pop: &str, now: SteadyMs) {
        if let Some(at) = self.at.get_mut(pop) {
            *at = now;
            return;
        }
        self.at.retain(|_, at| now.since(*at) < LATELY_MS);
        if is_name(pop) && self.at.len() < MOST_POPS {
            self.at.insert(pop.to_owned(), now);
        }
    }

    pub fn count(&self, now: SteadyMs) -> u32 {
        let lately = self.at.values().filter(|at| now.since(**at) < LATELY_MS).count();
        let before = if now.since(self.since) < LATELY_MS { self.before } else { 0 };
        u32::try_from(lately).unwrap_or(u32::MAX).max(before)
    }
}

/// Whether a text can be the name of a point of presence: it becomes part of a row's key.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_last_five_minutes_count() {
        let mut heard = Heard::new(0, SteadyMs(0));
        heard.hear("LAX", SteadyMs(0));
        heard.hear("FRA", SteadyMs(200_000));
        heard.hear("FRA", SteadyMs(250_000));
        assert_eq!(heard.count(SteadyMs(299_999)), 2);
        assert_eq!(heard.count(SteadyMs(300_000)), 1);
    }

    #[test]
    fn those_before_a_restart_count_until_they_could_have_asked() {
        let mut heard = Heard::new(7, SteadyMs(1_000_000));
        heard.hear("LAX", SteadyMs(1_000_000));
        assert_eq!(heard.count(SteadyMs(1_299_999)), 7);
        heard.hear("LAX", SteadyMs(1_299_999));
        assert_eq!(heard.count(SteadyMs(1_300_000)), 1);
    }

    #[test]
    fn names_are_bounded_in_number_and_form() {
        let mut heard = Heard::new(0, SteadyMs(0));
        for index in 0..2_000 {
            heard.hear(&format!("pop-{index}"), SteadyMs(1));
        }
        assert_eq!(heard.count(SteadyMs(1)), 1_024);
        for odd in ["", "two words", "\u{e9}", "a\nb", &"x".repeat(65)] {
            assert!(!is_name(odd), "{odd:?}");
        }
        assert!(is_name(&"x".repeat(64)));
    }
}
