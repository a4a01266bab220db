use std::fmt;

use super::{ElapsedMs, SuspendPolicy};

/// What kind of thing happened to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnomalyKind {
    /// The wall clock was set back.
    WallStepBack,
    /// The wall clock ran ahead of the monotonic one, and nothing could tell a suspend from a step.
    WallAhead,
    /// The machine was suspended; a reader said for how long.
    Suspend,
    /// The wall clock was set forward; a reader showed that the machine was awake.
    WallStepForward,
    /// The wall clock went back over the start of the open quota period, which is held.
    PeriodRegression,
}

impl AnomalyKind {
    /// The name in metrics and in JavaScript: `wall-step-back`, `wall-ahead`, `suspend`,
    /// `wall-step-forward` or `period-regression`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WallStepBack => "wall-step-back",
            Self::WallAhead => "wall-ahead",
            Self::Suspend => "suspend",
            Self::WallStepForward => "wall-step-forward",
            Self::PeriodRegression => "period-regression",
        }
    }
}

/// An event of a clock, with its sizes. Its `Display` is a sentence for the person who is woken by it.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{ClockTracker, MonotonicMs, Readings, SuspendPolicy, TrackerConfig, WallMs};
///
/// let at = |monotonic, wall| Readings { monotonic: MonotonicMs(monotonic), wall: WallMs(wall) };
/// let mut tracker = ClockTracker::new(TrackerConfig::new(SuspendPolicy::Ignore));
/// tracker.observe(at(0, 1_760_000_000_000), None)?;
/// let seen = tracker.observe(at(1_000, 1_759_996_401_000), None)?;
/// assert_eq!(seen.anomalies[0].kind.name(), "wall-step-back");
/// assert_eq!(
///     seen.anomalies[0].to_string(),
///     "the wall clock was set back by 1 h 0 min (3600000 ms); 1 s (1000 ms) were credited, as measured by \
///      the monotonic clock",
/// );
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// What happened.
    pub kind: AnomalyKind,
    /// What the wall clock moved by since the reading before, less what the monotonic clock moved by, in
    /// milliseconds. For a period regression: minus the distance to the start of the open period.
    pub disagreement_ms: i64,
    /// How long the machine was suspended, in milliseconds; `None` where no reader could tell.
    pub suspended_ms: Option<u64>,
    /// How far the wall clock was set, negative for back, in milliseconds; `None` where nothing could tell.
    pub stepped_ms: Option<i64>,
    /// What was credited for the time since the reading before; `None` if the reading was refused.
    pub credited: Option<ElapsedMs>,
    /// The policy that decided, where one had to.
    pub decided_by: Option<SuspendPolicy>,
}

impl Anomaly {
    /// The wall clock reads `behind_ms` milliseconds before the start of the open period.
    pub fn period_regression(behind_ms: u64) -> Self {
        Self {
            kind: AnomalyKind::PeriodRegression,
            disagreement_ms: i64::try_from(behind_ms).map_or(i64::MIN, |ms| -ms),
            suspended_ms: None,
            stepped_ms: None,
            credited: None,
            decided_by: None,
        }
    }

    fn stepped(&self) -> Length {
        Length(self.stepped_ms.unwrap_or(self.disagreement_ms).unsigned_abs())
    }

    fn credit(&self) -> Length {
        Length(self.credited.unwrap_or_default().0)
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let apart = Length(self.disagreement_ms.unsigned_abs());
        match self.kind {
            AnomalyKind::WallStepBack => {
                write!(
                    f,
                    "the wall clock was set back by {}; {} were credited, ",
                    self.stepped(),
                    self.credit()
                )?;
                f.write_str(match self.suspended_ms {
                    Some(1..) => "with the time the machine was suspended and without the step",
                    _ => "as measured by the monotonic clock",
                })
            }
            AnomalyKind::WallStepForward => write!(
                f,
                "the wall clock was set forward by {}; {} were credited, without the step",
                self.stepped(),
                self.credit()
            ),
            AnomalyKind::Suspend => write!(
                f,
                "the machine was suspended for {}; {} were credited, with that time",
                Length(self.suspended_ms.unwrap_or(0)),
                self.credit()
            ),
            AnomalyKind::WallAhead => {
                write!(
                    f,
                    "the wall clock ran {apart} ahead of the monotonic clock: the machine was suspended or its \
                     clock was set forward, and without a suspend-inclusive reader the two look the same; "
                )?;
                match (self.credited, self.decided_by) {
                    (None, _) => f.write_str("the suspend policy 'refuse' refused the reading, once"),
                    (_, Some(policy)) => {
                        write!(f, "the suspend policy '{}' credited {}", policy.name(), self.credit())
                    }
                    (_, None) => write!(f, "{} were credited", self.credit()),
                }
            }
            AnomalyKind::PeriodRegression => write!(
                f,
                "the wall clock reads {apart} before the start of the open quota period; the period is held \
                 and what is used stays used"
            ),
        }
    }
}

/// A length of time for people: the two largest units, and the exact figure.
pub(super) struct Length(pub(super) u64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0;
        let (seconds, minutes, hours) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
        match ms {
            0..1_000 => return write!(f, "{ms} ms"),
            1_000..60_000 => write!(f, "{seconds} s")?,
            60_000..3_600_000 => write!(f, "{minutes} min {} s", seconds % 60)?,
            3_600_000..86_400_000 => write!(f, "{hours} h {} min", minutes % 60)?,
            _ => write!(f, "{} d {} h", hours / 24, hours % 24)?,
        }
        write!(f, " ({ms} ms)")
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    fn settled(kind: AnomalyKind) -> Anomaly {
        Anomaly {
            kind,
            disagreement_ms: 3_600_000,
            suspended_ms: Some(7_200_000),
            stepped_ms: Some(-3_600_000),
            credited: Some(ElapsedMs(7_200_005)),
            decided_by: None,
        }
    }

    #[test]
    fn lengths_are_readable_and_exact() {
        let shown = [0, 999, 59_999, 61_000, 21_600_000, 90_000_000].map(|ms| Length(ms).to_string());
        let wanted = ["0 ms", "999 ms", "59 s (59999 ms)", "1 min 1 s (61000 ms)", "6 h 0 min (21600000 ms)"];
        assert_eq!(shown[..5], wanted);
        assert_eq!(shown[5], "1 d 1 h (90000000 ms)");
        assert_eq!(Length(u64::MAX).to_string(), "213503982334 d 14 h (18446744073709551615 ms)");
    }

    #[test]
    fn each_kind_says_what_happened_and_what_was_done() {
        let cases = [
            (
                settled(AnomalyKind::Suspend),
                "suspended for 2 h 0 min (7200000 ms); 2 h 0 min (7200005 ms) were",
            ),
            (settled(AnomalyKind::WallStepBack), "set back by 1 h 0 min (3600000 ms)"),
            (
                settled(AnomalyKind::WallStepBack),
                "with the time the machine was suspended and without the step",
            ),
            (Anomaly::period_regression(61_000), "reads 1 min 1 s (61000 ms) before the start of the open"),
            (Anomaly::period_regression(u64::MAX), "before the start of the open"),
        ];
        assert_eq!(Anomaly::period_regression(61_000).disagreement_ms, -61_000);
        for (anomaly, wanted) in cases {
            let said = anomaly.to_string();
            assert!(said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn an_ambiguous_jump_names_the_policy_that_decided() {
        let credited = |decided_by, credited| Anomaly {
            suspended_ms: None,
            stepped_ms: None,
            credited,
            decided_by: Some(decided_by),
            ..settled(AnomalyKind::WallAhead)
        };
        let said = credited(SuspendPolicy::Ignore, Some(ElapsedMs(5))).to_string();
        assert!(said.ends_with("the suspend policy 'ignore' credited 5 ms"), "{said}");
        let said = credited(SuspendPolicy::Refuse, None).to_string();
        assert!(said.ends_with("'refuse' refused the reading, once"), "{said}");
    }
}
