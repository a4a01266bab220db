//! What is due: time limits, the timer, the alarm.

use super::host::PopHost;
use super::quotas::soon;
use super::state::Pop;
use crate::clock::{SteadyMs, WallMs};
use crate::counter::Collected;

/// Quotas are looked at no more often than this.
const LOOK_EVERY_MS: u64 = 50;
/// Quotas are swept for some that can be forgotten no more often than this.
const SWEEP_EVERY_MS: u64 = 10_000;
/// While there are leases the alarm comes at the latest after so long: an object that has crashed, and that
/// no request comes for, wakes to return what it has.
const GUARD_MS: u64 = 60_000;
/// The alarm for an idle quota comes so long after the timer, which costs nothing and will have done it where
/// the object is still in memory.
const AFTER_TIMER_MS: u64 = 1_000;

impl Pop {
    /// For the timer: does what is due.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request), for the requests that went on.
    pub fn tick<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        self.look(host);
        self.waking = None;
        let flushed = self.flush_if_due(host);
        self.end_turn(host).and(flushed)
    }

    fn flush_if_due<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        if self.flush_at.is_none_or(|at| at > self.beat.now()) {
            return Ok(());
        }
        self.flush_at = None;
        let rows = self.counter.flush_now(self.wall, || host.exact());
        self.write_journal(&rows, host)
    }

    /// For the alarm: gives memory back that nothing needs, and returns leases that nobody uses.
    ///
    /// # Errors
    ///
    /// Where the journal or the alarm could not be written: it is to be called again.
    pub fn alarm<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        self.look(host);
        self.alarm_set = None;
        if self.counter.alarm().is_none_or(|due| due <= self.wall) {
            match self.counter.collect(self.wall, || host.exact()) {
                Collected::Later(_) | Collected::Nothing => {}
                Collected::Empty { rows, delete } => {
                    self.write_journal(&rows, host)?;
                    let billed = host.delete_journal(&delete)?;
                    self.counter.wrote(billed);
                }
            }
        }
        // The object may have been made for this call, or have lost its leases before.
        if self.leases.start.is_none() && (!self.leases.lost.is_empty() || !host.read_start()?.1.is_empty()) {
            self.begin(host);
        }
        self.return_idle(host);
        let ended = self.end_turn(host);
        match self.counter.alarm() {
            Some(due) => self.want_alarm(due, host).and(ended),
            None => ended,
        }
    }

    /// Ends a turn: looks at what has taken too long, goes on with what can, and sees to it that the object
    /// is called again.
    pub(super) fn end_turn<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        let now = self.beat.now();
        while let Some(id) = self.links.overdue(self.beat, self.settings.ask_limit_ms) {
            self.fail_ask(id, host);
        }
        let is_due = super::earlier(self.leases.due, self.retry_at).is_some_and(|due| due <= now);
        if is_due || (self.leases.due.is_some() && self.counter.is_frozen()) {
            self.look_at_quotas(host);
        }
        for ledger in self.holders.tick(now) {
            self.links.touch(ledger);
        }
        let settled = self.settle(host);
        self.flush_at = match self.flush_at {
            _ if !self.counter.has_unwritten() => None,
            None => Some(now.plus(self.settings.counter.flush_every_ms)),
            at => at,
        };
        self.wake(host);
        self.guard(host).and(settled)
    }

    fn look_at_quotas<H: PopHost>(&mut self, host: &mut H) {
        let now = self.beat.now();
        let has_lost = self.leases.start.is_none() && self.leases.due.is_some_and(|due| due <= now);
        if has_lost {
            self.begin(host);
        }
        // Where timers stand still, whoever comes looks at everything.
        let until = if self.counter.is_frozen() { SteadyMs(u64::MAX) } else { now };
        for name in self.leases.due_by(until) {
            self.tick_quota(&name, host);
        }
        if now.since(self.swept_at) >= SWEEP_EVERY_MS {
            self.swept_at = now;
            self.leases.forget_idle(now);
        }
        if self.leases.start.is_some() {
            self.leases.due = self.leases.next_due().map(|at| soon(at, now, LOOK_EVERY_MS));
        }
        self.retry_at = self.links.review(self.beat, self.settings.retry_ms);
    }

    /// Sets the timer, unless it comes soon enough.
    pub(super) fn wake<H: PopHost>(&mut self, host: &mut H) {
        let now = self.beat.now();
        let asks = self.links.next_due(self.beat, self.settings.ask_limit_ms);
        let due = [asks, self.holders.next_tick(), self.leases.due, self.retry_at, self.flush_at];
        let due = due.into_iter().flatten().min();
        let Some(due) = due else { return };
        if self.waking.is_none_or(|waking| waking <= now || due < waking) {
            self.waking = Some(due);
            host.wake_after(due.since(now).max(1));
        }
    }

    /// Sets the alarm, unless it comes soon enough, while there is something that must return even if the
    /// object leaves memory.
    fn guard<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        let now = self.beat.now();
        let idle_at = self.idle_at.take();
        if self.leases.due.is_none() {
            return Ok(());
        }
        if let Some(at) = idle_at {
            self.want_alarm(self.wall_at(at.plus(AFTER_TIMER_MS)), host)?;
        }
        self.want_alarm(self.wall_at(now.plus(GUARD_MS)), host)
    }

    fn wall_at(&self, at: SteadyMs) -> WallMs {
        WallMs(self.wall.0.saturating_add_unsigned(at.since(self.beat.now())))
    }

    /// Sets the object's one alarm, unless it is set to come sooner.
    pub(super) fn want_alarm<H: PopHost>(&mut self, at: WallMs, host: &mut H) -> Result<(), H::Fault> {
        if self.alarm_set.is_none_or(|set| at < set) {
            host.set_alarm(at)?;
            self.alarm_set = Some(at);
        }
        Ok(())
    }
}
