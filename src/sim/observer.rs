use std::collections::BTreeMap;

use super::ledger_object::Reply;
use super::log::{Log, LogEvent};
use super::naive::{self, Naive};
use super::report::{NaiveReport, PolicyReport, SimReport, SimTotals};
use super::scenario::Scenario;
use super::tally::{Counts, Filed};
use crate::Refusal;
use crate::bucket::TokenBucket;
use crate::calendar::{Utc, period_for};
use crate::clock::WallMs;
use crate::config::{Counting, Policy, Scope};
use crate::decision::DecidedBy;
use crate::global::CapLimit;
use crate::http::KeyHash;
use crate::ledger::LedgerName;
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
    epochs: BTreeMap<(LedgerName, u64), u64>,
    pub totals: SimTotals,
    pub log: Log,
}

#[derive(Debug)]
struct Observed {
    policy: Policy,
    /// The most that the limit promises per epoch.
    ceiling: u64,
    counts: Counts,
    naive: Vec<Naive>,
}

impl Observer {
    pub fn new(scenario: &Scenario) -> Self {
        let pops = scenario.pops.len();
        let observed = |policy: &Policy| {
            let counts =
                Counts::new(policy.limit, policy.window_ms().map(|window| window.get()), bucket(policy));
            let naive = if scenario.naive { naive::instead_of(policy, &counts, pops) } else { Vec::new() };
            Observed { policy: policy.clone(), ceiling: ceiling(policy), counts, naive }
        };
        Self {
            policies: scenario.config.policies().iter().map(observed).collect(),
            epochs: BTreeMap::new(),
            totals: SimTotals::default(),
            log: Log::new(scenario.log),
        }
    }

    /// Asks the naive limiters, at a machine whose clock reads `wall`. `owner` is what the clock reads of whoever
    /// owns the limit: its windows are those that they are measured by.
    pub fn naive(&mut self, policy: usize, pop: usize, wall: WallMs, owner: WallMs, request: Filed) {
        let Some(observed) = self.policies.get_mut(policy).filter(|observed| !observed.naive.is_empty())
        else {
            return;
        };
        let epoch = match &observed.policy.counting {
            Counting::Rate(rate) => {
                u64::try_from(owner.0).ok().and_then(|ms| ms.checked_div(rate.window.get()))
            }
            Counting::Quota(period) => {
                let start = period_for(period, &Utc, owner).map(|period| period.start.0);
                start.ok().and_then(|start| u64::try_from(start).ok())
            }
        };
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
            match limit.decision.refusal {
                None if reply.allowed => {
                    tally.by_on_error += u64::from(limit.decided_by != DecidedBy::Counter);
                    observed.counts.admit(filed);
                }
                None => {}
                Some(Refusal::Unavailable) => {
                    tally.decisions += 1;
                    tally.unavailable += 1;
                }
                Some(Refusal::CostExceedsLimit | Refusal::Blocked) => {
                    tally.decisions += 1;
                    tally.refused += 1;
                }
                Some(Refusal::Limit { .. }) => {
                    let early = observed.counts.refuse(filed);
                    let policy = &observed.policy.name;
                    self.log.add(now, || {
                        let (policy, epoch) = (policy.clone(), filed.epoch);
                        LogEvent::Refused { pop, policy, key, epoch, early }
                    });
                }
            }
        }
    }

    pub fn gave_up(&mut self, pending: &Pending, now: u64) {
        self.totals.gave_up += 1;
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
