/// SplitMix64 (Steele, Lea and Flood, 2014): a counter and a mixing function.
///
/// A few lines of our own, since a run must replay for ever and on every platform. Crates say of their
/// small generators that the algorithm may change, and bring the system's randomness along, which wasm does
/// not have. Nothing here needs to be hard to guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The numbers that follow from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Numbers of its own for one purpose: how many are drawn for another does not change them.
    pub fn part(seed: u64, purpose: u64) -> Self {
        Self(Self(seed ^ Self(purpose).number()).number())
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The bias is below end / 2^64.
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low.saturating_add(self.below(high.saturating_sub(low).saturating_add(1)))
    }

    /// True in `ppm` of a million cases.
    pub fn chance(&mut self, ppm: u32) -> bool {
        self.below(1_000_000) < u64::from(ppm)
    }

    /// A gap between two events that come at random, `mean` apart on average.
    ///
    /// In integers: two platforms need not agree about a logarithm's last bit.
    pub fn gap(&mut self, mean: u64) -> u64 {
        const LN_2: u128 = 45_426; // times 2^16
        // -ln(u) is ln 2 times (zeros + 1 - log2 of the rest), for u a fraction of 64 bits.
        let u = self.number() | 1;
        let zeros = u.leading_zeros();
        let (mut rest, mut log2) = (u128::from(u << zeros), 0_u64);
        for _ in 0..16 {
            rest = (rest * rest) >> 63;
            let is_above = rest >> 64 != 0;
            log2 = log2 << 1 | u64::from(is_above);
            rest >>= u32::from(is_above);
        }
        let exponent = ((u64::from(zeros) + 1) << 16).saturating_sub(log2);
        // At most 2^64 x 2^22 x 2^16.
        let gap = (u128::from(mean) * u128::from(exponent) * LN_2) >> 32;
        u64::try_from(gap).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the reference implementation for this seed.
    #[test]
    fn it_is_splitmix64() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.number()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn gaps_are_spread_as_those_of_random_events_are() {
        let mut random = Random::new(7);
        let mut gaps: Vec<u64> = (0..20_000).map(|_| random.gap(1_000)).collect();
        gaps.sort_unstable();
        let mean = gaps.iter().sum::<u64>() / 20_000;
        assert!((970..=1_030).contains(&mean), "{mean}");
        // The median is ln 2 of the mean, and one in e is longer than the mean.
        assert!((670..=715).contains(&gaps[10_000]), "{}", gaps[10_000]);
        let longer = gaps.iter().filter(|gap| **gap > 1_000).count();
        assert!((7_100..=7_620).contains(&longer), "{longer}");
    }

    #[test]
    fn a_number_lies_in_its_range() {
        let mut random = Random::new(3);
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| random.between(5, 8)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [5, 6, 7, 8]);
        assert_eq!((random.below(0), random.chance(0), random.chance(1_000_000)), (0, false, true));
    }
}
