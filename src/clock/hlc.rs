use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::WallMs;

const COUNTER_BITS: u32 = 16;
/// The last millisecond that 48 bits hold, in the year 10889.
const LAST_MS: u64 = (1 << (64 - COUNTER_BITS)) - 1;

/// A stamp of a hybrid logical clock: 48 bits of milliseconds since 1970 above 16 bits of counter.
///
/// Stamps are ordered as their numbers are, and written as 16 hexadecimal digits, which JavaScript can hold
/// and which sort as text in the same order.
///
/// # Example
///
/// ```
/// use sluicegate::clock::Hlc;
///
/// let stamp = Hlc::new(1_760_000_000_000, 7);
/// assert_eq!((stamp.ms(), stamp.counter()), (1_760_000_000_000, 7));
/// assert_eq!(stamp.to_string(), "0199c82cc0000007");
/// assert_eq!("0199c82cc0000007".parse(), Ok(stamp));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hlc(u64);

impl Hlc {
    /// The stamp with these parts; milliseconds beyond 48 bits become the last that fit.
    pub const fn new(ms: u64, counter: u16) -> Self {
        let ms = if ms > LAST_MS { LAST_MS } else { ms };
        Self(ms << COUNTER_BITS | counter as u64)
    }

    /// The stamp as one number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Milliseconds since 1970.
    pub const fn ms(self) -> u64 {
        self.0 >> COUNTER_BITS
    }

    /// The counter that orders events within one millisecond.
    pub const fn counter(self) -> u16 {
        self.0 as u16
    }

    /// The next stamp. A full counter carries into the milliseconds: a counter of its own that wraps would
    /// go back after 65,536 events within one. At the very end it stays.
    const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Hlc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text is not a stamp as [`Hlc`] writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseHlcError;

impl fmt::Display for ParseHlcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a hybrid logical clock stamp is 16 lower-case hexadecimal digits")
    }
}

impl std::error::Error for ParseHlcError {}

impl FromStr for Hlc {
    type Err = ParseHlcError;

    fn from_str(text: &str) -> Result<Self, ParseHlcError> {
        let digits = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 16 || !text.bytes().all(digits) {
            return Err(ParseHlcError);
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| ParseHlcError)
    }
}

impl TryFrom<String> for Hlc {
    type Error = ParseHlcError;

    fn try_from(text: String) -> Result<Self, ParseHlcError> {
        text.parse()
    }
}

impl From<Hlc> for String {
    fn from(stamp: Hlc) -> Self {
        stamp.to_string()
    }
}

/// How a [`HybridClock`] treats its peers and its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HlcConfig {
    /// A peer whose stamp is further ahead of the wall clock here, in milliseconds, is not merged.
    pub most_ahead_ms: u64,
    /// How far ahead of a stamp the bound is stored, in milliseconds: about one write in so many. After a
    /// restart stamps may be ahead by as much, so it must stay well below what peers accept.
    pub bound_lead_ms: u64,
}

impl Default for HlcConfig {
    fn default() -> Self {
        Self { most_ahead_ms: 500, bound_lead_ms: 200 }
    }
}

/// A hybrid logical clock: stamps that order events by cause and stay near the wall clock.
///
/// Each stamp is larger than all that this clock gave out or merged, whatever the wall clock does, so an
/// event sorts after everything it can know of (Kulkarni and others, 2014). Two things are added. A peer
/// that is too far ahead is refused before anything is merged: one bad peer would pull every clock along
/// for good. And a stored bound keeps a restart on a clock that went back from repeating stamps.
///
/// Only records are ordered by it. No admission depends on it.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{Hlc, HlcConfig, HybridClock, Received, WallMs};
///
/// let mut clock = HybridClock::new(HlcConfig::default());
/// let first = clock.tick(WallMs(1_000)).stamp;
/// let second = clock.tick(WallMs(400)).stamp; // the wall clock went back
/// assert!(second > first);
/// assert_eq!((second.ms(), second.counter()), (1_000, 1));
///
/// let peer = Hlc::new(1_501, 0);
/// assert_eq!(clock.receive(WallMs(1_000), peer), Received::TooFarAhead { ahead_ms: 501 });
/// let Received::Merged(stamped) = clock.receive(WallMs(1_001), peer) else { panic!() };
/// assert!(stamped.stamp > peer);
/// ```
///
/// # Panics
///
/// Never. Stamps stop growing at the last one that 48 bits of milliseconds hold, in the year 10889.
#[derive(Clone, Debug)]
pub struct HybridClock {
    config: HlcConfig,
    last: Hlc,
    bound: Hlc,
}

/// A stamp, and what to store before it is told to anyone.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The stamp of the event.
    pub stamp: Hlc,
    /// A new bound to store first, for [`HybridClock::restore`]; `None` while the stored one holds.
    pub store: Option<Hlc>,
}

/// What came of a peer's stamp. A refusal is a value: the event is then stamped with
/// [`HybridClock::tick`] and marked.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Merged: the stamp here is larger than the peer's.
    Merged(Stamped),
    /// The peer, or the clock here, is wrong. Nothing has changed.
    TooFarAhead {
        /// How far the peer's stamp is ahead of the wall clock here, in milliseconds.
        ahead_ms: u64,
    },
}

impl HybridClock {
    /// A clock that has given out nothing yet.
    pub const fn new(config: HlcConfig) -> Self {
        Self::restore(config, Hlc(0))
    }

    /// A clock that goes on above the stored `bound`.
    pub const fn restore(config: HlcConfig, bound: Hlc) -> Self {
        Self { config, last: bound, bound }
    }

    /// The stamp of an event here.
    pub fn tick(&mut self, now: WallMs) -> Stamped {
        self.stamp_above(self.last, now)
    }

    /// The stamp of an event that was caused by a peer's `stamp`, unless that is too far ahead.
    pub fn receive(&mut self, now: WallMs, peer: Hlc) -> Received {
        let ahead_ms = peer.ms().saturating_sub(physical_ms(now));
        if ahead_ms > self.config.most_ahead_ms {
            return Received::TooFarAhead { ahead_ms };
        }
        Received::Merged(self.stamp_above(self.last.max(peer), now))
    }

    /// The counter of the last stamp. One that keeps growing says that the wall clock here is behind what
    /// its peers see, or stands still: a skew alarm.
    pub const fn counter(&self) -> u16 {
        self.last.counter()
    }

    /// How far the last stamp is ahead of the wall clock, in milliseconds. A counter starts again at zero
    /// when it carries; this does not.
    pub fn ahead_ms(&self, now: WallMs) -> u64 {
        self.last.ms().saturating_sub(physical_ms(now))
    }

    fn stamp_above(&mut self, floor: Hlc, now: WallMs) -> Stamped {
        let stamp = floor.next().max(Hlc::new(physical_ms(now), 0));
        self.last = stamp;
        let store = (stamp > self.bound).then(|| {
            self.bound = Hlc::new(stamp.ms().saturating_add(self.config.bound_lead_ms), u16::MAX);
            self.bound
        });
        Stamped { stamp, store }
    }
}

/// The reading as 48 bits hold it. One before 1970 or beyond their end is no time: it moves nothing, where
/// taking it for the end would stop the clock for good.
fn physical_ms(now: WallMs) -> u64 {
    u64::try_from(now.0).ok().filter(|ms| *ms <= LAST_MS).unwrap_or(0)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seventy_thousand_events_in_one_millisecond_stay_in_order() {
        let mut clock = HybridClock::new(HlcConfig::default());
        let mut last = Hlc::default();
        for _ in 0..70_000 {
            let stamp = clock.tick(WallMs(1_760_000_000_000)).stamp;
            assert!(stamp > last);
            last = stamp;
        }
        assert_eq!((last.ms(), last.counter()), (1_760_000_000_001, 4_463));
        assert_eq!((clock.counter(), clock.ahead_ms(WallMs(1_760_000_000_000))), (4_463, 1));
        // The naive form keeps two parts and lets the counter wrap: it is back where it was.
        let naive = |event: u32| (1_760_000_000_000u64, event as u16);
        assert!(naive(65_536) < naive(65_535));
    }

    #[test]
    fn a_peer_is_refused_before_it_changes_anything() {
        let mut clock = HybridClock::new(HlcConfig::default());
        let before = clock.tick(WallMs(1_000)).stamp;
        let peer = Hlc::new(86_400_000, 3);
        assert_eq!(clock.receive(WallMs(1_000), peer), Received::TooFarAhead { ahead_ms: 86_399_000 });
        assert_eq!(clock.tick(WallMs(1_000)).stamp, Hlc::new(before.ms(), before.counter() + 1));
        let at_the_edge = Hlc::new(1_500, 3);
        let Received::Merged(merged) = clock.receive(WallMs(1_000), at_the_edge) else { panic!("500 ms") };
        assert_eq!(merged.stamp, Hlc::new(1_500, 4));
        assert!(matches!(clock.receive(WallMs(-5), Hlc::new(501, 0)), Received::TooFarAhead { .. }));
    }

    #[test]
    fn the_end_of_48_bits_neither_panics_nor_goes_back() {
        let end = Hlc::new(LAST_MS, u16::MAX);
        assert_eq!((end, Hlc::new(LAST_MS + 1, 7)), (Hlc(u64::MAX), Hlc::new(LAST_MS, 7)));
        let mut clock = HybridClock::restore(HlcConfig::default(), Hlc::new(LAST_MS, u16::MAX - 1));
        for _ in 0..3 {
            assert_eq!(clock.tick(WallMs(LAST_MS as i64)).stamp, end);
        }
        let mut clock = HybridClock::new(HlcConfig { most_ahead_ms: u64::MAX, bound_lead_ms: u64::MAX });
        assert_eq!(
            clock.receive(WallMs(i64::MIN), end),
            Received::Merged(Stamped { stamp: end, store: Some(end) })
        );
    }

    #[test]
    fn a_reading_that_is_no_time_does_not_pull_the_clock_to_the_end() {
        let mut clock = HybridClock::new(HlcConfig::default());
        let first = clock.tick(WallMs(1_000)).stamp;
        for reading in [i64::MAX, LAST_MS as i64 + 1, -1, i64::MIN] {
            assert_eq!(clock.tick(WallMs(reading)).stamp.ms(), first.ms());
        }
        assert_eq!(clock.tick(WallMs(2_000)).stamp, Hlc::new(2_000, 0));
    }

    #[test]
    fn the_bound_is_stored_rarely_and_leaves_stamps_that_peers_accept() {
        let config = HlcConfig::default();
        let mut clock = HybridClock::new(config);
        let mut stored = Vec::new();
        for ms in 0..10_000 {
            stored.extend(clock.tick(WallMs(1_760_000_000_000 + ms)).store);
        }
        assert_eq!(stored.len(), 50);
        let now = WallMs(1_760_000_009_999);
        let again = HybridClock::restore(config, stored[49]).tick(now).stamp;
        assert!(again > stored[49]);
        assert!(matches!(HybridClock::new(config).receive(now, again), Received::Merged(_)));
    }

    #[test]
    fn text_that_is_not_a_stamp_is_refused() {
        for text in ["", "0", "+199c82cc0000007", "0199C82CC0000007", "0199c82cc00000071", "0199c82cc000000g"]
        {
            assert_eq!(text.parse::<Hlc>(), Err(ParseHlcError), "{text:?}");
        }
        let stamp = Hlc::new(1_760_000_000_000, 7);
        let json = serde_json::to_string(&stamp).unwrap();
        assert_eq!(json, r#""0199c82cc0000007""#);
        assert_eq!(serde_json::from_str::<Hlc>(&json).unwrap(), stamp);
        assert!(serde_json::from_str::<Hlc>("7").is_err());
    }

    #[derive(Clone, Debug)]
    enum Event {
        Local,
        Peer(i64, u16),
        Wall(i64),
        Restart,
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            6 => Just(Event::Local),
            3 => (-2_000i64..2_000, any::<u16>()).prop_map(|(ahead, counter)| Event::Peer(ahead, counter)),
            1 => any::<u64>().prop_map(|bits| Event::Peer((bits >> 20) as i64, bits as u16)),
            3 => (-4_000_000i64..4_000_000).prop_map(Event::Wall),
            1 => any::<i64>().prop_map(Event::Wall),
            1 => Just(Event::Restart),
        ]
    }

    proptest! {
        /// Local events, peers, restarts and a wall clock that goes anywhere.
        #[test]
        fn stamps_only_grow_and_follow_their_causes(events in prop::collection::vec(event(), 1..300)) {
            let mut wall = 1_760_000_000_000i64;
            let mut clock = HybridClock::new(HlcConfig::default());
            let (mut last, mut stored) = (Hlc::default(), Hlc::default());
            for event in events {
                let stamped = match event {
                    Event::Wall(by) => {
                        wall = wall.saturating_add(by);
                        // A garbage reading stays one reading.
                        let seen = clock.tick(WallMs(wall));
                        if !(0..1 << 45).contains(&wall) { wall = 1_760_000_000_000; }
                        seen
                    }
                    Event::Local => clock.tick(WallMs(wall)),
                    Event::Restart => {
                        clock = HybridClock::restore(HlcConfig::default(), stored);
                        clock.tick(WallMs(wall))
                    }
                    Event::Peer(ahead, counter) => {
                        let peer = Hlc::new(u64::try_from(wall.saturating_add(ahead)).unwrap_or(0), counter);
                        match clock.receive(WallMs(wall), peer) {
                            Received::Merged(stamped) => {
                                prop_assert!(ahead <= 500 && stamped.stamp > peer);
                                stamped
                            }
                            Received::TooFarAhead { .. } => {
                                prop_assert!(ahead > 500);
                                clock.tick(WallMs(wall))
                            }
                        }
                    }
                };
                prop_assert!(stamped.stamp > last, "{} after {last}", stamped.stamp);
                last = stamped.stamp;
                stored = stamped.store.unwrap_or(stored);
                prop_assert!(last <= stored, "each stamp is covered by what was stored before it left");
            }
        }
    }
}
