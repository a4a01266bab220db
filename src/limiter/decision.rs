use crate::bucket::{BucketState, TokenBucket};
use crate::calendar::Period;
use crate::clock::{Anomaly, WallMs};
use crate::quota::QuotaVerdict;
use crate::{Cost, RetryAfterBasis};

/// What a [`QuotaClock`](crate::QuotaClock) says to a request. A refusal is a value, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaClockDecision {
    /// Which half refuses the request; `None` when it is allowed.
    pub refusal: Option<QuotaClockRefusal>,
    /// Whole tokens in the bucket, after the request if it was taken.
    pub tokens_remaining: u64,
    /// Units left in the period, after the request if it was taken; `None` without a quota.
    pub quota_remaining: Option<u64>,
    /// Milliseconds after which the same request fits if nothing else is taken meanwhile; never early.
    /// Where both halves refuse, the longer wait. `None` when the request is allowed, and when no wait
    /// cures the refusal: the cost is too large, or the bucket never refills.
    pub retry_after_ms: Option<u64>,
    /// What that wait rests on; there is one wherever there is a wait.
    pub retry_after_basis: Option<RetryAfterBasis>,
    /// The period that the request counts in; `None` without a quota.
    pub period: Option<Period>,
    /// True if that is only a part of a calendar period, with a part of the limit: after a change of
    /// settings. Its start is then where the period before it ended.
    pub partial: bool,
    /// Periods that went by unopened just before this one, at most
    /// [`MOST_SKIPPED`](crate::calendar::MOST_SKIPPED); 0 unless this request opens one.
    pub skipped_periods: u8,
    /// What happened to the clocks since the last call, each event once; and `period-regression` as long
    /// as the wall clock reads an earlier date than the open period, which is held.
    pub anomalies: Vec<Anomaly>,
}

impl QuotaClockDecision {
    /// True when the request may go on.
    pub const fn allowed(&self) -> bool {
        self.refusal.is_none()
    }

    /// Joins what the two halves say.
    pub(super) fn join(
        bucket: Half,
        tokens_remaining: u64,
        verdict: Option<&QuotaVerdict>,
        wall: WallMs,
        mut anomalies: Vec<Anomaly>,
    ) -> Self {
        let (refusal, wait) = judge(bucket, verdict.map_or(Half::Fits, Half::of_quota));
        if let Some(held) = verdict.filter(|verdict| verdict.period_regression) {
            anomalies.push(Anomaly::period_regression(held.period().start.0.abs_diff(wall.0)));
        }
        Self {
            refusal,
            tokens_remaining,
            quota_remaining: verdict.map(|verdict| verdict.decision.limit.saturating_sub(verdict.used)),
            retry_after_ms: wait.map(|(ms, _)| ms),
            retry_after_basis: wait.map(|(_, basis)| basis),
            period: verdict.map(|verdict| *verdict.period()),
            partial: verdict.is_some_and(|verdict| verdict.open.is_part()),
            skipped_periods: verdict.map_or(0, |verdict| verdict.skipped_periods),
            anomalies,
        }
    }
}

/// Which half of a [`QuotaClock`](crate::QuotaClock) refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuotaClockRefusal {
    /// The bucket does not hold enough. Time cures it, unless the bucket never refills.
    Bucket,
    /// The period's units are used up. Its end cures it.
    Quota,
    /// The cost is above the capacity of the bucket. Waiting does not cure it.
    CostExceedsCapacity,
    /// The cost is above the limit of a whole period. Waiting does not cure it.
    CostExceedsQuota,
}

impl QuotaClockRefusal {
    /// The name on the wire: `bucket`, `quota`, `cost-exceeds-capacity` or `cost-exceeds-quota`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bucket => "bucket",
            Self::Quota => "quota",
            Self::CostExceedsCapacity => "cost-exceeds-capacity",
            Self::CostExceedsQuota => "cost-exceeds-quota",
        }
    }
}

/// What one half alone says to a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Fits,
    /// Not now, but after so many milliseconds; `None` where time brings nothing.
    Wait(Option<u64>),
    /// Not ever: it is above what this half can hold.
    TooLarge,
}

impl Half {
    pub(super) fn of_bucket(bucket: &TokenBucket, level: &BucketState, cost: Cost) -> Self {
        if cost == Cost::ZERO {
            return Self::Fits;
        }
        match bucket.wait_ms(level, cost) {
            Some(0) => Self::Fits,
            None if cost.get() > bucket.capacity() => Self::TooLarge,
            wait => Self::Wait(wait),
        }
    }

    fn of_quota(verdict: &QuotaVerdict) -> Self {
        match verdict.decision.refusal {
            None => Self::Fits,
            // The next period always comes, so a refusal without a wait is one of the cost itself.
            Some(refusal) => refusal.retry_after_ms().map_or(Self::TooLarge, |ms| Self::Wait(Some(ms))),
        }
    }
}

type Wait = Option<(u64, RetryAfterBasis)>;

/// Who refuses, and for how long. What waiting cannot cure comes first; of two waits the longer counts,
/// and of two equal ones the measured one, because the other can move.
fn judge(bucket: Half, quota: Half) -> (Option<QuotaClockRefusal>, Wait) {
    let for_bucket = |wait: Option<u64>| {
        (Some(QuotaClockRefusal::Bucket), wait.map(|ms| (ms, RetryAfterBasis::MonotonicRefill)))
    };
    let for_quota = |wait: Option<u64>| {
        (Some(QuotaClockRefusal::Quota), wait.map(|ms| (ms, RetryAfterBasis::WallPeriod)))
    };
    match (bucket, quota) {
        (Half::Fits, Half::Fits) => (None, None),
        (Half::TooLarge, _) => (Some(QuotaClockRefusal::CostExceedsCapacity), None),
        (_, Half::TooLarge) => (Some(QuotaClockRefusal::CostExceedsQuota), None),
        (Half::Wait(wait), Half::Fits) => for_bucket(wait),
        (Half::Fits, Half::Wait(wait)) => for_quota(wait),
        (Half::Wait(refill), Half::Wait(period)) => {
            let longest = |wait: Option<u64>| wait.unwrap_or(u64::MAX);
            if longest(period) > longest(refill) { for_quota(period) } else { for_bucket(refill) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waiting_cannot_cure_comes_first_then_the_longer_wait() {
        use Half::{Fits, TooLarge, Wait};
        let said = |bucket, quota| {
            let (refusal, wait) = judge(bucket, quota);
            (refusal.map(QuotaClockRefusal::name), wait.map(|(ms, basis)| (ms, basis.name())))
        };
        let refill = |ms| (Some("bucket"), Some((ms, "monotonic-refill")));
        let period = |ms| (Some("quota"), Some((ms, "wall-period")));
        assert_eq!(said(Fits, Fits), (None, None));
        assert_eq!(said(Wait(Some(5)), Fits), refill(5));
        assert_eq!(said(Fits, Wait(Some(5))), period(5));
        assert_eq!(said(Wait(Some(5)), Wait(Some(6))), period(6));
        assert_eq!(said(Wait(Some(6)), Wait(Some(5))), refill(6));
        assert_eq!(said(Wait(Some(5)), Wait(Some(5))), refill(5));
        // A bucket that never refills outlasts every period.
        assert_eq!(said(Wait(None), Wait(Some(5))), (Some("bucket"), None));
        for other in [Fits, Wait(Some(5)), Wait(None), TooLarge] {
            assert_eq!(said(TooLarge, other), (Some("cost-exceeds-capacity"), None));
        }
        for other in [Fits, Wait(Some(5)), Wait(None)] {
            assert_eq!(said(other, TooLarge), (Some("cost-exceeds-quota"), None));
        }
    }
}
