use super::batch::{self, Said};
use super::leases;
use super::message::{Measure, PopLimit, PopReceipt, PopReplyLimit};
use super::settings::PopSettings;
use crate::clock::SteadyMs;
use crate::global::{
    CapAnswer, CapAsk, CapHolder, CapKey, CapLimit, CapPage, CapVerdict, Ticket, TokenAnswer, TokenAsk,
    TokenHolder, TokenKey, TokenVerdict,
};
use crate::ledger::{LedgerName, LedgerReply};
use crate::window::FixedWindow;
use crate::{Cost, Refusal};

/// The holders of what Ledgers hand out for rates: caps of windows, and tokens of buckets. What they cannot
/// decide waits in their queues.
#[derive(Debug)]
pub(super) struct Holders {
    pub caps: CapHolder,
    pub tokens: TokenHolder,
}

/// Where a request waits. Each holder numbers its tickets by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Cap(Ticket),
    Token(Ticket),
}

/// The numbers of what one message asks of the two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    pub caps: Option<u64>,
    pub tokens: Option<u64>,
}

/// Requests that waited, and what they are told.
pub(super) type Settled = Vec<(Place, Said)>;

impl Holders {
    pub const fn new(random: u64, settings: &PopSettings) -> Self {
        Self {
            caps: CapHolder::new(random, settings.caps),
            tokens: TokenHolder::new(random, settings.tokens),
        }
    }

    /// Decides what a limit wants of its Ledger, or queues it.
    pub fn request(&mut self, ledger: LedgerName, limit: &PopLimit, now: SteadyMs) -> Result<Said, Place> {
        let (name, cost) = (ledger.to_string(), limit.cost);
        match &limit.measure {
            Measure::Window { window, tolerance_ppm, .. } => {
                let Some(cap) = cap_limit(window, *tolerance_ppm) else { return Ok(Said::OutOfReach) };
                match self.caps.request(&name, &cap_key(limit, window), cap, cost, now) {
                    CapAnswer::Decided(verdict) => Ok(said(capped(verdict))),
                    CapAnswer::Wait(ticket) => Err(Place::Cap(ticket)),
                }
            }
            Measure::Bucket { bucket, .. } => {
                match self.tokens.request(&name, &token_key(limit), *bucket, cost, now) {
                    TokenAnswer::Decided(verdict) => Ok(said(leased(verdict))),
                    TokenAnswer::Wait(ticket) => Err(Place::Token(ticket)),
                }
            }
            Measure::Quota | Measure::Pop(_) => Ok(Said::OutOfReach),
        }
    }

    /// What a limit would say to a request for `cost`, as far as is known here. Takes nothing.
    pub fn peek(&self, limit: &PopLimit, cost: Cost, now: SteadyMs) -> PopReplyLimit {
        match &limit.measure {
            Measure::Window { window, tolerance_ppm, ledger, .. } => {
                let peek = |cap| {
                    let verdict =
                        self.caps.peek(&ledger.to_string(), &cap_key(limit, window), cap, cost, now);
                    capped(verdict)
                };
                cap_limit(window, *tolerance_ppm).map_or_else(leases::unknown, peek)
            }
            Measure::Bucket { bucket, ledger, .. } => {
                leased(self.tokens.peek(&ledger.to_string(), &token_key(limit), *bucket, cost, now))
            }
            Measure::Quota | Measure::Pop(_) => leases::unknown(),
        }
    }

    /// The page of a window that requests are filed on, see [`CapHolder::page_now`].
    pub fn cap_page(
        &self,
        ledger: LedgerName,
        limit: &PopLimit,
        window: &FixedWindow,
        now: SteadyMs,
    ) -> Option<CapPage> {
        self.caps.page_now(&ledger.to_string(), &cap_key(limit, window), now)
    }

    /// Takes a request out of the queue it waits in.
    pub fn abandon(&mut self, ledger: LedgerName, place: Place) {
        let name = ledger.to_string();
        match place {
            Place::Cap(ticket) => self.caps.abandon(&name, ticket),
            Place::Token(ticket) => self.tokens.abandon(&name, ticket),
        };
    }

    /// Gives back what the receipt names, if it is one of this limit's.
    pub fn refund(&mut self, measure: &Measure, receipt: &PopReceipt) {
        match (measure, receipt) {
            (Measure::Window { ledger, .. }, PopReceipt::Cap(receipt)) => {
                self.caps.refund(&ledger.to_string(), receipt);
            }
            (Measure::Bucket { ledger, .. }, PopReceipt::Token(receipt)) => {
                self.tokens.refund(&ledger.to_string(), receipt);
            }
            _ => {}
        }
    }

    /// What there is to ask of a Ledger.
    pub fn next_ask(&mut self, ledger: LedgerName, now: SteadyMs) -> (Option<CapAsk>, Option<TokenAsk>) {
        let name = ledger.to_string();
        (self.caps.next_ask(&name, now), self.tokens.next_ask(&name, now))
    }

    /// Takes in a reply to what was `asked`; nothing was where the ask has failed before.
    pub fn reply(&mut self, ledger: LedgerName, asked: Parts, reply: &LedgerReply, now: SteadyMs) -> Settled {
        let name = ledger.to_string();
        let caps = reply.caps.iter().flat_map(|reply| self.caps.reply(&name, reply, now));
        let mut settled: Settled =
            caps.map(|settled| (Place::Cap(settled.ticket), said(capped(settled.verdict)))).collect();
        let tokens = reply.tokens.iter().flat_map(|reply| self.tokens.reply(&name, reply, now));
        settled.extend(tokens.map(|settled| (Place::Token(settled.ticket), said(leased(settled.verdict)))));
        // A part that the reply lacks, or one that is the reply to another ask.
        settled.extend(self.failed(ledger, asked));
        settled
    }

    /// What was asked is not answered: what waited for it is decided by the policy's `on_error`.
    pub fn failed(&mut self, ledger: LedgerName, asked: Parts) -> Settled {
        let name = ledger.to_string();
        let caps = asked.caps.map_or_else(Vec::new, |n| self.caps.failed(&name, n));
        let tokens = asked.tokens.map_or_else(Vec::new, |n| self.tokens.failed(&name, n));
        let caps = caps.into_iter().map(|settled| Place::Cap(settled.ticket));
        let tokens = tokens.into_iter().map(|settled| Place::Token(settled.ticket));
        caps.chain(tokens).map(|place| (place, Said::OutOfReach)).collect()
    }

    /// Does what is due by the clock. Returns the Ledgers that are to be told.
    pub fn tick(&mut self, now: SteadyMs) -> Vec<LedgerName> {
        if self.next_tick().is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.tokens.tick(now).iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// When that is. Caps have nothing that is.
    pub fn next_tick(&self) -> Option<SteadyMs> {
        self.tokens.next_tick()
    }
}

impl Parts {
    pub fn of((caps, tokens): &(Option<CapAsk>, Option<TokenAsk>)) -> Self {
        Self { caps: caps.as_ref().map(|ask| ask.n), tokens: tokens.as_ref().map(|ask| ask.n) }
    }
}

fn cap_key(limit: &PopLimit, window: &FixedWindow) -> CapKey {
    CapKey { policy: limit.policy.clone(), key: limit.key, window_ms: window.window() }
}

fn cap_limit(window: &FixedWindow, tolerance_ppm: u32) -> Option<CapLimit> {
    CapLimit::new(window.limit(), tolerance_ppm.min(CapLimit::WHOLE_PPM)).ok()
}

fn token_key(limit: &PopLimit) -> TokenKey {
    TokenKey { policy: limit.policy.clone(), key: limit.key }
}

fn capped(verdict: CapVerdict) -> PopReplyLimit {
    let epoch = verdict.epoch.map(|epoch| epoch.0);
    PopReplyLimit { epoch, receipt: verdict.receipt.map(PopReceipt::Cap), ..batch::plain(verdict.decision) }
}

fn leased(verdict: TokenVerdict) -> PopReplyLimit {
    PopReplyLimit { receipt: verdict.receipt.map(PopReceipt::Token), ..batch::plain(verdict.decision) }
}

/// What a holder says; a Ledger that does not count the key is as good as out of reach.
pub(super) fn said(limit: PopReplyLimit) -> Said {
    if limit.decision.refusal == Some(Refusal::Unavailable) {
        Said::OutOfReach
    } else {
        Said::Decided(Box::new(limit))
    }
}
