use super::ledger_object::Reply;
use super::log::{Log, LogEvent};
use super::naive::{self, Naive};
use super::report::{NaiveReport, PolicyReport, SimReport, SimTotals};
use super::scenario::Scenario;
use super::tally::{Counts, Filed, PlaceCount, Tally};
use crate::Refusal;
use crate::bucket::TokenBucket;
use crate::calendar::{Utc, period_for};
use crate::clock::WallMs;
use crate::config::{Counting, Policy, Scope};
use crate::decision::DecidedBy;
use crate::global::CapLimit;
use crate::http::KeyHash;
use crate::ledger::LedgerName;
use crate::ordered::Map;
use crate::policy::Algorithm;
use crate::pop::{PopReceipt, PopReply, PopReplyLimit, RequestId};

/// A request that is not answered yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub pop: usize,
    /// The instance that has it.
    pub life: u64,
    /// Its name there, if it waits.
    pub waits: Option<RequestId>,
    /// Indices of the policies that limit it.
    pub policies: Vec<usize>,
    pub key: KeyHash,
    pub cost: u64,
    pub at: u64,
}

/// Sees everything, and nobody sees it.
#[derive(Debug)]
pub(super) struct Observer {
    policies: Vec<Observed>,
    /// The largest epoch told so far.
    epochs: Map<(LedgerName, u64), u64>,
    pub totals: SimTotals,
    pub log: Log,
    log_refusals: bool,
}

#[derive(Debug)]
struct Observed {
    policy: Policy,
    /// The most that the limit promises per epoch.
    ceiling: u64,
    counts: Counts,
    /// By point of presence.
    places: Vec<PlaceCount>,
    naive: Vec<Naive>,
}

impl Observer {
    pub fn new(scenario: &Scenario) -> Self {
        let pops = scenario.pops.len();
        let observed = |policy: &Policy| {
            let counts =
                Counts::new(policy.limit, policy.window_ms().map(|window| window.get()), bucket(policy));
            let naive = if scenario.naive { naive::instead_of(policy, &counts, pops) } else { Vec::new() };
            let places = vec![PlaceCount::default(); pops];
            Observed { policy: policy.clone(), ceiling: ceiling(policy), counts, places, naive }
        };
        Self {
            policies: scenario.config.policies().iter().map(observed).collect(),
            epochs: Map::new(),
            totals: SimTotals::default(),
            log: Log::new(scenario.log),
            log_refusals: scenario.log_refusals,
        }
    }

    /// Asks the naive limiters, at a machine whose clock reads `wall`. `owner` is the time of whoever owns the
    /// limit: its windows are those that they are measured by.
    pub fn naive(&mut self, policy: usize, pop: usize, wall: WallMs, owner: WallMs, request: Filed) {
        let Some(observed) = self.policies.get_mut(policy).filter(|observed| !observed.naive.is_empty())
        else {
            return;
        };
        let epoch = naive_epoch(&observed.policy.counting, owner);
        for naive in &mut observed.naive {
            naive.request(pop, wall, Filed { epoch, ..request });
        }
    }

    pub fn answered(&mut self, pending: &Pending, reply: &PopReply, now: u64) {
        for (policy, limit) in pending.policies.iter().zip(&reply.limits) {
            let Some(observed) = self.policies.get_mut(*policy) else { continue };
            let Pending { key, cost, pop, .. } = *pending;
            let filed = Filed { key, epoch: epoch_of(limit), cost, now };
            if pending.waits.is_some() {
                observed.counts.waited(now.saturating_sub(pending.at));
            }
            let tally = &mut observed.counts.tally;
            let mut unseen = PlaceCount::default();
            let place = observed.places.get_mut(pop).unwrap_or(&mut unseen);
            match limit.decision.refusal {
                None if reply.allowed => {
                    tally.by_on_error += u64::from(limit.decided_by != DecidedBy::Counter);
                    observed.counts.admit(filed);
                    place.admit(filed);
                }
                None => {}
                Some(Refusal::Unavailable) => {
                    tally.decisions += 1;
                    tally.unavailable += 1;
                    place.unavailable += 1;
                }
                Some(Refusal::CostExceedsLimit | Refusal::Blocked) => {
                    tally.decisions += 1;
                    tally.refused += 1;
                    place.refused += 1;
                }
                Some(Refusal::Limit { .. }) => {
                    let early = observed.counts.refuse(filed);
                    place.refused += 1;
                    let policy = &observed.policy.name;
                    if self.log_refusals {
                        self.log.add(now, || {
                            let (policy, epoch) = (policy.clone(), filed.epoch);
                            LogEvent::Refused { pop, policy, key, epoch, early }
                        });
                    }
                }
            }
        }
    }

    pub fn gave_up(&mut self, pending: &Pending, now: u64) {
        self.totals.gave_up += 1;
        for policy in &pending.policies {
            let places = self.policies.get_mut(*policy).map(|observed| &mut observed.places);
            if let Some(place) = places.and_then(|places| places.get_mut(pending.pop)) {
                place.unavailable += 1;
            }
        }
        self.log.add(now, || LogEvent::GaveUp { pop: pending.pop });
    }

    /// A Ledger has sent a reply.
    pub fn told(&mut self, ledger: LedgerName, reply: &Reply, now: u64) {
        let pop = reply.to.pop;
        for item in reply.reply.caps.iter().flat_map(|caps| &caps.items) {
            let (window_ms, epoch) = (item.key.window_ms.get(), item.epoch.0);
            let told = self.epochs.entry((ledger, window_ms)).or_default();
            self.totals.epochs_back += u64::from(epoch < *told);
            if epoch > *told {
                *told = epoch;
                self.log.add(now, || LogEvent::Epoch { ledger, window_ms, epoch });
            }
            let (cap, full) = (item.cap, item.full);
            self.log.add(now, || {
                let (policy, key) = (item.key.policy.clone(), item.key.key);
                LogEvent::Cap { pop, policy, key, epoch, cap, full }
            });
        }
        for item in reply.reply.leases.iter().flat_map(|leases| &leases.items) {
            let (serial, free) = (item.terms.serial, item.free);
            let amount = item.grant.map_or(0, |grant| grant.amount);
            self.log.add(now, || LogEvent::Lease { pop, quota: item.quota.clone(), serial, amount, free });
        }
    }

    /// The units that were let through, by epoch or serial.
    pub fn units(&self, policy: &str, key: KeyHash) -> Vec<(u64, u64)> {
        let observed = self.policies.iter().find(|observed| observed.policy.name == policy);
        observed.map_or_else(Vec::new, |observed| observed.counts.epochs(key))
    }

    /// The units of one client in one epoch or serial.
    pub fn units_in(&self, policy: usize, key: KeyHash, epoch: u64) -> u64 {
        self.policies.get(policy).map_or(0, |observed| observed.counts.units_in(key, epoch))
    }

    /// What a naive limiter did.
    pub fn naive_tally(&self, policy: usize, name: &str) -> Option<Tally> {
        let naive = self.policies.get(policy)?.naive.iter().find(|naive| naive.name == name)?;
        Some(naive.counts.sum())
    }

    /// The units of a naive limiter in the open epoch.
    pub fn naive_in_epoch(&self, policy: usize, name: &str, key: KeyHash, owner: WallMs) -> u64 {
        let Some(observed) = self.policies.get(policy) else { return 0 };
        let naive = observed.naive.iter().find(|naive| naive.name == name);
        let epoch = naive_epoch(&observed.policy.counting, owner);
        naive.zip(epoch).map_or(0, |(naive, epoch)| naive.counts.units_in(key, epoch))
    }

    /// What one limit did.
    pub fn tally_of(&self, policy: usize) -> Tally {
        self.policies.get(policy).map_or_else(Tally::default, |observed| observed.counts.sum())
    }

    /// What one point of presence did with one limit.
    pub fn place(&self, policy: usize, pop: usize) -> Option<&PlaceCount> {
        self.policies.get(policy)?.places.get(pop)
    }

    /// The largest epoch that a Ledger has told for windows of that length.
    pub fn told_epoch(&self, ledger: LedgerName, window_ms: u64) -> Option<u64> {
        self.epochs.get(&(ledger, window_ms)).copied()
    }

    pub fn report(&self, now_ms: u64) -> SimReport {
        let policies = self.policies.iter().map(|observed| PolicyReport {
            policy: observed.policy.name.clone(),
            limit: observed.policy.limit,
            ceiling: observed.ceiling,
            tally: observed.counts.sum(),
            naive: observed
                .naive
                .iter()
                .map(|n| NaiveReport { name: n.name, tally: n.counts.sum() })
                .collect(),
        });
        SimReport { now_ms, policies: policies.collect(), totals: self.totals }
    }
}

/// The owner's epoch, or the begin of its period: what naive limiters are filed under.
fn naive_epoch(counting: &Counting, owner: WallMs) -> Option<u64> {
    match counting {
        Counting::Rate(rate) => u64::try_from(owner.0).ok()?.checked_div(rate.window.get()),
        Counting::Quota(period) => {
            let start = period_for(period, &Utc, owner).ok()?.start.0;
            u64::try_from(start).ok()
        }
    }
}

/// The epoch or serial that a limit was decided in.
fn epoch_of(limit: &PopReplyLimit) -> Option<u64> {
    match &limit.receipt {
        Some(PopReceipt::Cap(receipt)) => Some(receipt.epoch.0),
        Some(PopReceipt::Lease { lease, .. }) => Some(lease.serial),
        _ => limit.epoch.or_else(|| limit.period.as_ref().map(|period| period.serial)),
    }
}

fn bucket(policy: &Policy) -> Option<TokenBucket> {
    match policy.rate()?.algorithm {
        Algorithm::TokenBucket(bucket) => Some(bucket),
        _ => None,
    }
}

fn ceiling(policy: &Policy) -> u64 {
    match policy.rate().map(|rate| rate.scope) {
        Some(Scope::Global { tolerance_ppm }) => {
            CapLimit::new(policy.limit, tolerance_ppm).map_or(policy.limit, CapLimit::ceiling)
        }
        _ => policy.limit,
    }
}
