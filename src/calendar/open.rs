use serde::{Deserialize, Serialize};

use super::period::{Period, period_for};
use super::spec::PeriodSpec;
use super::zone::ZoneOffsets;
use crate::Error;
use crate::clock::WallMs;

/// Periods that were skipped are counted up to here: an exact figure would make one request walk
/// through six hundred months after a clock has jumped.
pub const MOST_SKIPPED: u8 = 4;

/// The period that is being counted in: what its owner keeps.
///
/// It is left only forward. A reading before it holds it, so that a clock set back never hands out an
/// allowance twice; a reading past its end opens the period that the reading lies in. Inside it no
/// zone is asked, whatever has changed about the zone or the settings: an open period keeps its end.
///
/// Where the next period of the calendar has begun before this one ends (the settings have changed, or
/// the zone's rules have), the rest of it comes next as a **part**, with the same part of the
/// limit. So a change of settings opens neither a second whole quota nor an empty period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPeriod {
    /// How many periods this owner has opened, this one included. Newer is larger, always: unlike the
    /// slot's name, which a change of settings can bring back.
    pub serial: u64,
    /// Its slot, start and end. Of a part, the start is where the period before it ended.
    pub period: Period,
    /// For a part, the length of the whole period it lies in, in milliseconds.
    pub part_of_ms: Option<u64>,
}

/// What a wall reading does to the open period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The reading lies in it.
    Inside,
    /// The reading lies before it: a regression. It is held, and nothing that was counted is undone.
    Held,
    /// Another period opens.
    Opened {
        /// Periods in between that were never opened, at most [`MOST_SKIPPED`].
        skipped: u8,
    },
}

impl OpenPeriod {
    /// Opens the first period of an owner: the whole one that `wall` lies in.
    ///
    /// # Errors
    ///
    /// As [`period_for`].
    pub fn first(spec: &PeriodSpec, zone: &(impl ZoneOffsets + ?Sized), wall: WallMs) -> Result<Self, Error> {
        Ok(Self { serial: 1, period: period_for(spec, zone, wall)?, part_of_ms: None })
    }

    /// The period that is open at `wall`, this one or a newer, and how it came to be.
    ///
    /// # Errors
    ///
    /// As [`period_for`], and only if a period opens.
    pub fn at(
        &self,
        spec: &PeriodSpec,
        zone: &(impl ZoneOffsets + ?Sized),
        wall: WallMs,
    ) -> Result<(Self, Step), Error> {
        if wall < self.period.start {
            return Ok((*self, Step::Held));
        }
        if wall < self.period.end {
            return Ok((*self, Step::Inside));
        }
        let mut period = period_for(spec, zone, wall)?;
        let skipped = self.count_skipped(spec, zone, &period)?;
        let whole_ms = period.length_ms();
        let is_part = period.start < self.period.end;
        if is_part {
            (period.start, period.start_kind) = (self.period.end, self.period.end_kind);
        }
        let serial = self.serial.saturating_add(1);
        Ok((Self { serial, period, part_of_ms: is_part.then_some(whole_ms) }, Step::Opened { skipped }))
    }

    /// Opens the period that `wall` lies in although it is not newer: for an operator who corrects what
    /// one wrong reading has done. It has a serial of its own.
    ///
    /// # Errors
    ///
    /// As [`period_for`].
    pub fn reopen(
        &self,
        spec: &PeriodSpec,
        zone: &(impl ZoneOffsets + ?Sized),
        wall: WallMs,
    ) -> Result<Self, Error> {
        Ok(Self { serial: self.serial.saturating_add(1), ..Self::first(spec, zone, wall)? })
    }

    /// True when it is only the rest of a calendar period.
    pub const fn is_part(&self) -> bool {
        self.part_of_ms.is_some()
    }

    /// What a limit of `limit` units a period comes to in this one: all of it, or of a part
    /// `floor(limit x length / length of the whole)`.
    pub fn units(&self, limit: u64) -> u64 {
        let Some(whole_ms) = self.part_of_ms else { return limit };
        let share = u128::from(limit) * u128::from(self.period.length_ms()) / u128::from(whole_ms.max(1));
        u64::try_from(share).unwrap_or(u64::MAX).min(limit)
    }

    /// Milliseconds from `wall` to its end; longer than the period while it is held.
    pub fn left_ms(&self, wall: WallMs) -> u64 {
        if wall < self.period.end { self.period.end.0.abs_diff(wall.0) } else { 0 }
    }

    fn count_skipped(
        &self,
        spec: &PeriodSpec,
        zone: &(impl ZoneOffsets + ?Sized),
        next: &Period,
    ) -> Result<u8, Error> {
        let (mut at, mut skipped) = (self.period.end, 0);
        while at < next.start && skipped < MOST_SKIPPED {
            at = period_for(spec, zone, at)?.end;
            skipped += 1;
        }
        Ok(skipped)
    }
}
