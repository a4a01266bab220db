use std::cmp::Ordering;

use super::epochs::Told;
use super::message::CapReplyItem;
use super::page::Page;
use super::rules::Rules;
use crate::clock::SteadyMs;
use crate::ordered::Map;
use crate::window::Epoch;

/// An honest Ledger opens two epochs of a key at a time; what another says is not kept.
const MOST_PAGES: usize = 4;
/// Refusals number 1, 2, 4 ... 64 and each 64th ask: so a holder whose clock stands still follows.
const MOST_UNASKED: u32 = 64;

/// What a holder has of one key: a page per epoch that is not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    /// The epoch and the generation of the newest reply about it.
    told: Option<(Epoch, u64)>,
    pages: Map<Epoch, Page>,
    /// Units taken since the last ask.
    rate: u64,
    /// Requests refused in this epoch.
    refusals: u32,
    /// Requests that wait.
    pub waiting: u32,
    /// Wants to be part of the next ask.
    pub due: bool,
    /// The number of the newest ask that was answered.
    heard: u64,
}

impl Pages {
    pub fn r#gen(&self) -> u64 {
        self.told.map_or(0, |(_, r#gen)| r#gen)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Epoch, &Page)> {
        self.pages.iter().map(|(epoch, page)| (*epoch, page))
    }

    pub fn page(&self, epoch: Epoch) -> Option<&Page> {
        self.pages.get(&epoch)
    }

    pub fn page_mut(&mut self, epoch: Epoch) -> Option<&mut Page> {
        self.pages.get_mut(&epoch)
    }

    /// The epoch to file under: the largest that was told; or, once the holder's own clock says that it is
    /// over, the one that was opened ahead. `None` means to wait for the Ledger.
    pub fn current(&self, told: &Told, now: SteadyMs) -> Option<Epoch> {
        if told.left_ms(now) > 0 {
            return self.pages.contains_key(&told.epoch).then_some(told.epoch);
        }
        let ahead = self.pages.iter().find(|(epoch, page)| **epoch > told.epoch && page.cap > 0);
        ahead.map(|(epoch, _)| *epoch)
    }

    /// Merges a reply. `open` is the largest epoch told for windows of this length, `n` the number of the
    /// ask that it answers.
    pub fn hear<R: Rules>(&mut self, item: &CapReplyItem, open: Epoch, n: u64) {
        let said = (item.epoch, item.r#gen);
        let known = self.told.unwrap_or((Epoch(0), item.r#gen));
        if item.r#gen != known.1 {
            if R::told_generation(known, said) != Ordering::Greater {
                return;
            }
            self.pages.clear();
        }
        if self.told.is_none() || item.r#gen != known.1 || R::told_epoch(known.0, item.epoch) != known.0 {
            self.told = Some(said);
        }
        if let Some(page) = self.open_page::<R>(item.epoch, open) {
            page.cap = R::told_cap(page.cap, item.cap);
            page.full |= item.full;
            if n >= self.heard {
                self.heard = n;
                self.set_others(item.epoch, item.others);
            }
        }
        if let Some(next) = item.next
            && let Some(page) = self.open_page::<R>(next.epoch, open)
        {
            page.cap = R::told_cap(page.cap, next.cap);
        }
    }

    fn set_others(&mut self, epoch: Epoch, others: u64) {
        if let Some(page) = self.pages.get_mut(&epoch) {
            page.others = others;
        }
    }

    /// The page of an epoch that is not over; a new one is empty.
    fn open_page<R: Rules>(&mut self, epoch: Epoch, open: Epoch) -> Option<&mut Page> {
        if epoch < open || (self.pages.len() >= MOST_PAGES && !self.pages.contains_key(&epoch)) {
            return None;
        }
        let last = self.pages.range(..epoch).next_back();
        let left = last.map_or(0, |(_, page)| page.cap.saturating_sub(page.net()));
        Some(self.pages.entry(epoch).or_insert_with(|| Page::new(R::carried_over(left))))
    }

    /// Forgets what is before `open`. `false` when nothing is left to know.
    pub fn turn_over(&mut self, open: Epoch) -> bool {
        self.pages.retain(|epoch, _| *epoch >= open);
        self.refusals = 0;
        !self.pages.is_empty() || self.waiting > 0 || self.due
    }

    /// Notes units taken.
    pub fn took(&mut self, cost: u64) {
        self.rate = self.rate.saturating_add(cost);
    }

    /// Units taken since this was last called.
    pub fn take_rate(&mut self) -> u64 {
        std::mem::take(&mut self.rate)
    }

    /// Notes a refusal; `true` when it is one that asks.
    pub fn refused(&mut self) -> bool {
        self.refusals = self.refusals.saturating_add(1);
        self.refusals.is_power_of_two() && self.refusals < MOST_UNASKED
            || self.refusals.is_multiple_of(MOST_UNASKED)
    }
}
