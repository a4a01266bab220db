//! Rules of the protocol, each broken from outside: what passes between two steps is tampered with, so
//! that the crate itself needs no switches.

use sluicegate::global::{AskNumber, HolderName, LeaseAskItem, LeaseBook, LeaseRow, LeaseWrite};

/// Which rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    Nothing,
    /// A newer lease ends the older ones: the ledger takes their figures for final.
    NewerGrantEndsOlder,
    /// The ledger obeys late and repeated asks.
    OldAsksObeyed,
    /// A holder obeys any reply.
    AnyReplyObeyed,
    /// A lease is spent from before it is written down.
    LeaseNotWritten,
    /// A start trusts that the end of the last chunk was not spent.
    ChunkTrusted,
    /// A closed lease is deleted before it is confirmed.
    ClosedForgotten,
    /// An answer leaves before its write is durable.
    AnswerBeforeWrite,
    /// What an earlier start wrote off is written back.
    BackTooFar,
    /// Units that were forfeited are not counted.
    ForfeitedFree,
    /// Units that are out are not counted.
    OutstandingFree,
    /// What comes back of an older serial may be granted in the open one.
    LateReturnsRefill,
    /// A reply leaves before the ledger has stored it.
    ReplyBeforeStore,
    /// A start takes the number of the one before it.
    BootRepeated,
    /// An older instance can still write.
    ZombieWrites,
}

impl Broken {
    pub fn restart(self, storage: &mut [LeaseRow]) {
        if self == Self::ChunkTrusted {
            storage.iter_mut().filter(|row| !row.closed).for_each(|row| row.off = row.sure);
        }
    }

    pub fn write_back(self, writes: Vec<LeaseWrite>, found: &[LeaseRow]) -> Vec<LeaseWrite> {
        let too_far = |write| match write {
            LeaseWrite::Put(mut row) if self == Self::BackTooFar => {
                let before = found.iter().find(|other| other.fence == row.fence).map_or(0, |other| other.off);
                row.off = row.off.saturating_sub(before);
                row.sure = row.off;
                LeaseWrite::Put(row)
            }
            other => other,
        };
        writes.into_iter().map(too_far).collect()
    }

    pub fn close(self, writes: Vec<LeaseWrite>) -> Vec<LeaseWrite> {
        let forget = |write| match write {
            LeaseWrite::Put(row) if self == Self::ClosedForgotten => LeaseWrite::Delete(row.fence),
            other => other,
        };
        writes.into_iter().map(forget).collect()
    }

    pub fn hear(self, mut writes: Vec<LeaseWrite>) -> Vec<LeaseWrite> {
        let is_grant =
            |write: &LeaseWrite| matches!(write, LeaseWrite::Put(row) if row.off == 0 && !row.closed);
        writes.retain(|write| self != Self::LeaseNotWritten || !is_grant(write));
        writes
    }

    pub fn ask(self, mut ask: LeaseAskItem, book: &LeaseBook, holder: &HolderName) -> LeaseAskItem {
        match self {
            Self::NewerGrantEndsOlder => {
                let older = ask.have.len().saturating_sub(1);
                ask.have.iter_mut().take(older).for_each(|listed| listed.is_final = true);
            }
            Self::OldAsksObeyed => {
                let seen = book.holders().find(|entry| entry.holder == *holder).map(|entry| entry.n);
                if let Some(seen) = seen.filter(|seen| ask.n <= *seen) {
                    ask.n = AskNumber { k: seen.k + 1, ..seen };
                }
            }
            Self::ForfeitedFree => ask.have.iter_mut().for_each(|listed| {
                listed.off = listed.off.saturating_sub(listed.lost);
                listed.lost = 0;
            }),
            _ => (),
        }
        ask
    }

    /// Units that the ledger grants beyond the limit.
    pub fn extra(self, book: &LeaseBook, serial: u64) -> u64 {
        match self {
            Self::OutstandingFree => book.totals_of(serial).map_or(0, |totals| totals.outstanding),
            Self::LateReturnsRefill if serial > 1 => {
                book.totals_of(serial - 1).map_or(0, |totals| totals.returned)
            }
            _ => 0,
        }
    }
}
