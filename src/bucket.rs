//! The token bucket: a capacity, and a steady refill in integers.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::clock::SteadyMs;
use crate::window::{Counting, Position, checked_count, decide};
use crate::{Cost, Decision, Error, MAX_COUNT, RetryAfterBasis};

/// How fast a bucket refills: `tokens` per `per_ms` milliseconds, in lowest terms.
///
/// A ratio of integers, since a rate in floating point drifts: 0.1 tokens per second are 1 token per
/// 10,000 ms, and no binary fraction says that.
///
/// # Example
///
/// ```
/// use sluicegate::bucket::Refill;
///
/// assert_eq!(Refill::per_second_f64(0.1)?, Refill::new(1, 10_000)?);
/// assert_eq!(Refill::per_second_f64(1.5)?, Refill::new(3, 2_000)?);
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refill {
    tokens: u64,
    per_ms: NonZeroU64,
}

impl Refill {
    /// Never refills.
    pub const NEVER: Self = Self { tokens: 0, per_ms: NonZeroU64::MIN };

    /// `tokens` per `per_ms` milliseconds. Zero tokens never refill.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error where `per_ms` is zero.
    pub fn new(tokens: u64, per_ms: u64) -> Result<Self, Error> {
        let divisor = gcd(tokens.into(), per_ms.into());
        let reduced = |value: u64| u128::from(value).checked_div(divisor).and_then(|v| u64::try_from(v).ok());
        match (reduced(tokens), reduced(per_ms).and_then(NonZeroU64::new)) {
            (Some(tokens), Some(per_ms)) => Ok(Self { tokens, per_ms }),
            _ => Err(Error::spec("per_ms", "is zero")),
        }
    }

    /// A rate in tokens per second, taken as the shortest decimal that names this number: 0.1 is a tenth,
    /// not its binary neighbour.
    ///
    /// Exact if numerator and denominator fit in 64 bits; otherwise never too fast, and too slow by less
    /// than one part in 2^63. Cut off at 2^53 - 1 tokens per millisecond, which fill any bucket at once;
    /// less than one token in 2^64 - 1 ms is [`NEVER`](Self::NEVER).
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for `refillPerSecond` where `rate` is negative,
    /// infinite or NaN.
    pub fn per_second_f64(rate: f64) -> Result<Self, Error> {
        let invalid = || Error::spec("refillPerSecond", format!("{rate} is not a number from 0"));
        if !rate.is_finite() || rate < 0.0 {
            return Err(invalid());
        }
        // Without the sign of -0.
        let (digits, exponent) = decimal(rate.abs()).ok_or_else(invalid)?;
        // Per millisecond: digits x 10^(exponent - 3).
        let power = exponent.saturating_sub(3);
        let ten_to_power = 10_u128.checked_pow(power.unsigned_abs());
        if power >= 0 {
            let tokens = ten_to_power.map_or(u128::MAX, |scale| scale.saturating_mul(digits.into()));
            return Self::new(u64::try_from(tokens).unwrap_or(MAX_COUNT).min(MAX_COUNT), 1);
        }
        ten_to_power.map_or(Ok(Self::NEVER), |per_ms| Self::closest_below(digits.into(), per_ms))
    }

    /// The largest ratio of 64-bit integers that we can find at or below `tokens / per_ms`.
    fn closest_below(tokens: u128, per_ms: u128) -> Result<Self, Error> {
        let divisor = gcd(tokens, per_ms).max(1);
        let (tokens, per_ms) = (tokens / divisor, per_ms / divisor);
        if let (Ok(tokens), Ok(per_ms)) = (u64::try_from(tokens), u64::try_from(per_ms)) {
            return Self::new(tokens, per_ms);
        }
        // As many tokens as make a denominator that still fits: it is then at least half of 2^64, and
        // rounding it up changes the rate by less than one part in that.
        let fitting = u128::from(u64::MAX).saturating_mul(tokens).checked_div(per_ms).unwrap_or(0);
        if fitting == 0 {
            return Ok(Self::NEVER);
        }
        let rounded = fitting.saturating_mul(per_ms).div_ceil(tokens);
        Self::new(u64::try_from(fitting).unwrap_or(0), u64::try_from(rounded).unwrap_or(u64::MAX))
    }

    /// Tokens per [`per_ms`](Self::per_ms).
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The milliseconds in which [`tokens`](Self::tokens) come in; never zero.
    pub const fn per_ms(&self) -> u64 {
        self.per_ms.get()
    }
}

/// The shortest decimal that reads back as `value`: digits and a power of ten.
fn decimal(value: f64) -> Option<(u64, i32)> {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    let shift = i32::try_from(fraction.len()).ok()?;
    Some((digits, exponent.parse::<i32>().ok()?.checked_sub(shift)?))
}

const fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// At most `capacity` units at once, and as many more as the refill has brought since: in any T
/// milliseconds capacity + rate x T.
///
/// The level is a whole number of token fractions, so that nothing drifts: any number of small credits
/// add up to the large one. Time comes in as elapsed milliseconds, or through [`Counting`] as points on
/// a steady clock.
///
/// The `reset_ms` of a bucket that never fills, or takes longer than that, is 2^53 - 1.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
/// use sluicegate::bucket::{BucketState, Refill, TokenBucket};
///
/// let bucket = TokenBucket::new(10, Refill::new(1, 100)?)?;
/// let mut state = BucketState::default();
/// assert!(bucket.try_take(&mut state, Cost::new(10)?));
/// assert!(!bucket.try_take(&mut state, Cost::ONE));
/// assert_eq!(bucket.wait_ms(&state, Cost::new(3)?), Some(300));
/// bucket.credit(&mut state, 250);
/// assert_eq!(bucket.available(&state), 2);
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct TokenBucket {
    capacity: u64,
    refill: Refill,
}

#[derive(Deserialize)]
struct Fields {
    capacity: u64,
    refill: Refill,
}

impl TryFrom<Fields> for TokenBucket {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        Self::new(fields.capacity, fields.refill)
    }
}

/// What a [`TokenBucket`] keeps per key. The default is a bucket that was never used, and so is full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketState {
    /// `None` is full, whatever the capacity.
    level: Option<Level>,
    /// The steady time up to which the level has been credited.
    mark: SteadyMs,
}

/// Whole tokens and a part of one. The part names its own unit, so that a level stored under another
/// refill is not misread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Level {
    tokens: u64,
    part: u64,
    parts: NonZeroU64,
}

impl TokenBucket {
    /// A bucket of `capacity` tokens with this `refill`.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error at `capacity` above 2^53 - 1.
    pub fn new(capacity: u64, refill: Refill) -> Result<Self, Error> {
        Ok(Self { capacity: checked_count("capacity", capacity)?, refill })
    }

    /// The most tokens the bucket holds.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// How fast it refills.
    pub const fn refill(&self) -> Refill {
        self.refill
    }

    /// A bucket with so many tokens in it, or full where the capacity is less. Its clock is at zero: under
    /// [`Counting`] it is credited from there.
    pub fn fresh(&self, initial_tokens: u64) -> BucketState {
        let level = self.level_from(self.fractions(initial_tokens.min(self.capacity)));
        BucketState { level: Some(level), mark: SteadyMs(0) }
    }

    /// Adds what comes in during `elapsed_ms`, up to the capacity.
    pub fn credit(&self, state: &mut BucketState, elapsed_ms: u64) {
        if state.level.is_some() {
            state.level = Some(self.level_from(self.credited(state, elapsed_ms)));
        }
    }

    /// Whole tokens in the bucket.
    pub fn available(&self, state: &BucketState) -> u64 {
        self.whole(self.level(state))
    }

    /// Takes `cost` if the bucket holds it, and says whether it did. A cost of zero fits, unless the
    /// capacity is zero.
    pub fn try_take(&self, state: &mut BucketState, cost: Cost) -> bool {
        let fits = self.wait_ms(state, cost) == Some(0);
        if fits {
            self.take_saturating(state, cost);
        }
        fits
    }

    /// The smallest number of milliseconds after which `cost` fits if nothing else is taken: never early.
    /// `None` where it never does: above the capacity, without a refill, or after more than 2^53 - 1 ms.
    pub fn wait_ms(&self, state: &BucketState, cost: Cost) -> Option<u64> {
        if self.capacity == 0 || cost.get() > self.capacity {
            return None;
        }
        self.wait(self.level(state), cost.get())
    }

    /// Tokens in the unit of the level, 1 / `per_ms` of a token. 128 bits hold any two of 64 multiplied.
    fn fractions(&self, tokens: u64) -> u128 {
        u128::from(tokens).saturating_mul(self.refill.per_ms().into())
    }

    /// The stored level in the unit of this refill, rounded down and cut off at this capacity.
    fn level(&self, state: &BucketState) -> u128 {
        let full = self.fractions(self.capacity);
        state.level.map_or(full, |level| {
            let part = self.fractions(level.part) / u128::from(level.parts.get());
            self.fractions(level.tokens).saturating_add(part).min(full)
        })
    }

    fn credited(&self, state: &BucketState, elapsed_ms: u64) -> u128 {
        let gained = u128::from(elapsed_ms).saturating_mul(self.refill.tokens.into());
        self.level(state).saturating_add(gained).min(self.fractions(self.capacity))
    }

    fn level_from(&self, fractions: u128) -> Level {
        let per_ms = u128::from(self.refill.per_ms());
        let part = u64::try_from(fractions % per_ms).unwrap_or(u64::MAX);
        Level { tokens: self.whole(fractions), part, parts: self.refill.per_ms }
    }

    fn whole(&self, fractions: u128) -> u64 {
        u64::try_from(fractions / u128::from(self.refill.per_ms())).unwrap_or(u64::MAX)
    }

    fn take_saturating(&self, state: &mut BucketState, cost: Cost) {
        if cost > Cost::ZERO {
            let left = self.level(state).saturating_sub(self.fractions(cost.get()));
            state.level = Some(self.level_from(left));
        }
    }

    fn wait(&self, level: u128, units: u64) -> Option<u64> {
        let missing = self.fractions(units).saturating_sub(level);
        if missing == 0 {
            return Some(0);
        }
        let refill = NonZeroU64::new(self.refill.tokens)?;
        u64::try_from(missing.div_ceil(refill.get().into())).ok().filter(|wait_ms| *wait_ms <= MAX_COUNT)
    }
}

impl Counting for TokenBucket {
    type State = BucketState;

    fn look(&self, state: &BucketState, at: Position, cost: Cost) -> Decision {
        let level = self.credited(state, at.steady.since(state.mark));
        // Steady time never goes back; were the mark ahead all the same, nothing comes in until then.
        let ahead_ms = state.mark.since(at.steady);
        decide(self.capacity, self.whole(level), cost, RetryAfterBasis::MonotonicRefill, |units| {
            self.wait(level, units)?.checked_add(ahead_ms)
        })
    }

    fn take(&self, state: &mut BucketState, at: Position, cost: Cost) {
        if cost > Cost::ZERO {
            self.credit(state, at.steady.since(state.mark));
            state.mark = state.mark.max(at.steady);
            self.take_saturating(state, cost);
        }
    }

    /// Put back, up to the capacity.
    fn give_back(&self, state: &mut BucketState, _at: Position, _taken: Position, cost: Cost) {
        // Adding before the time since the mark is credited comes to the same as adding after.
        if state.level.is_some() {
            let level = self.level(state).saturating_add(self.fractions(cost.get()));
            state.level = Some(self.level_from(level.min(self.fractions(self.capacity))));
        }
    }

    /// When the bucket is full again; the end of time where it never is.
    fn idle_from(&self, state: &BucketState) -> SteadyMs {
        match self.wait(self.level(state), self.capacity) {
            Some(0) => SteadyMs(0),
            Some(wait_ms) => state.mark.plus(wait_ms),
            None => SteadyMs(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_second: f64) -> (u64, u64) {
        let refill = Refill::per_second_f64(per_second).unwrap();
        (refill.tokens(), refill.per_ms())
    }

    #[test]
    fn a_rate_is_the_decimal_it_was_written_as() {
        assert_eq!([0.1, 0.3, 2.5, 1e3].map(rate), [(1, 10_000), (3, 10_000), (1, 400), (1, 1)]);
        assert_eq!(rate(1.0 / 3.0), (3_333_333_333_333_333, 10_000_000_000_000_000_000));
        assert_eq!([0.0, -0.0, 5e-324, 1e-17].map(rate), [(0, 1); 4]);
        assert_eq!([1e300, f64::MAX, 1e22].map(rate), [(MAX_COUNT, 1); 3]);
    }

    #[test]
    fn a_rate_that_no_ratio_of_64_bits_names_is_never_too_fast_and_hardly_too_slow() {
        let (tokens, per_ms) = rate(1.0 / 7.0);
        let (exact_tokens, exact_per_ms) = (14_285_714_285_714_285_u128, 10_u128.pow(20));
        let (exact, ours) = (exact_tokens * u128::from(per_ms), exact_per_ms * u128::from(tokens));
        assert!(ours <= exact && (exact - ours) < exact >> 63, "{tokens} / {per_ms}");
        assert_eq!(rate(2.7e-16), (4, 14_814_814_814_814_814_815));
    }

    #[test]
    fn a_rate_that_is_none_is_an_error() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -5e-324] {
            assert_eq!(Refill::per_second_f64(bad).unwrap_err().path(), Some("refillPerSecond"));
        }
        assert_eq!(Refill::new(1, 0).unwrap_err().path(), Some("per_ms"));
        assert!(serde_json::from_str::<Refill>(r#"{"tokens": 1, "per_ms": 0}"#).is_err());
        assert_eq!(TokenBucket::new(MAX_COUNT + 1, Refill::NEVER).unwrap_err().path(), Some("capacity"));
    }

    #[test]
    fn a_bucket_that_never_refills_has_no_wait() {
        let bucket = TokenBucket::new(5, Refill::per_second_f64(0.0).unwrap()).unwrap();
        let mut state = bucket.fresh(2);
        assert_eq!(bucket.wait_ms(&state, Cost::new(2).unwrap()), Some(0));
        assert_eq!(bucket.wait_ms(&state, Cost::new(3).unwrap()), None);
        bucket.credit(&mut state, u64::MAX);
        assert_eq!((bucket.available(&state), bucket.idle_from(&state)), (2, SteadyMs(u64::MAX)));
        assert_eq!(bucket.look(&state, Position::default(), Cost::ONE).reset_ms, MAX_COUNT);
    }

    #[test]
    fn a_level_survives_another_rate_and_another_capacity() {
        let slow = TokenBucket::new(10, Refill::new(1, 1000).unwrap()).unwrap();
        let mut state = slow.fresh(4);
        slow.credit(&mut state, 500);
        let fast = TokenBucket::new(10, Refill::new(1, 10).unwrap()).unwrap();
        assert_eq!((fast.available(&state), fast.wait_ms(&state, Cost::new(5).unwrap())), (4, Some(5)));
        let small = TokenBucket::new(3, slow.refill()).unwrap();
        assert_eq!((small.available(&state), small.available(&BucketState::default())), (3, 3));
        let large = TokenBucket::new(20, slow.refill()).unwrap();
        assert_eq!((large.available(&state), large.available(&BucketState::default())), (4, 20));
    }

    #[test]
    fn a_mark_never_goes_back() {
        let bucket = TokenBucket::new(2, Refill::new(1, 1000).unwrap()).unwrap();
        let at = |ms| Position { steady: SteadyMs(ms), ..Position::default() };
        let mut state = BucketState::default();
        bucket.take(&mut state, at(10_000), Cost::ONE);
        bucket.take(&mut state, at(9_000), Cost::ONE);
        let decision = bucket.look(&state, at(9_000), Cost::ONE);
        assert_eq!((state.mark, decision.grows_ms), (SteadyMs(10_000), 2000));
    }
}
