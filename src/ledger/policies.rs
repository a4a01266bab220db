use crate::bucket::TokenBucket;
use crate::config::{Counting, Policy, Scope};
use crate::global::{CapKey, CapLimit, TokenKey};
use crate::ordered::Map;
use crate::policy::Algorithm;
use crate::quota::QuotaSpec;
use crate::window::WindowMs;
use crate::{Cost, MAX_COUNT};

/// What the configuration says about the limits that a Ledger owns.
#[derive(Clone, Debug, Default)]
pub(super) struct Owned {
    windows: Map<String, (WindowMs, CapLimit)>,
    buckets: Map<String, TokenBucket>,
    quotas: Map<String, QuotaSpec>,
}

impl Owned {
    pub fn new(policies: &[Policy]) -> Self {
        let mut owned = Self::default();
        for policy in policies {
            owned.add(policy);
        }
        owned
    }

    /// Takes in a policy, if it is of a kind that a Ledger owns. Numbers that cannot be used leave it out:
    /// a configuration that was read has none.
    fn add(&mut self, policy: &Policy) {
        match &policy.counting {
            Counting::Quota(period) => {
                if let Ok(spec) = QuotaSpec::new(policy.limit, period.clone()) {
                    self.quotas.insert(policy.name.clone(), spec);
                }
            }
            Counting::Rate(rate) => {
                let Scope::Global { tolerance_ppm } = rate.scope else { return };
                let name = || policy.name.clone();
                match rate.algorithm {
                    Algorithm::FixedWindow(_) => {
                        if let Ok(limit) = CapLimit::new(policy.limit, tolerance_ppm) {
                            self.windows.insert(name(), (rate.window, limit));
                        }
                    }
                    Algorithm::TokenBucket(bucket) => drop(self.buckets.insert(name(), bucket)),
                    _ => {}
                }
            }
        }
    }

    /// The limit of a window; `None` for a policy of another name, another kind or another window.
    pub fn window(&self, key: &CapKey) -> Option<CapLimit> {
        let (window, limit) = self.windows.get(&key.policy)?;
        (*window == key.window_ms).then_some(*limit)
    }

    /// The bucket of a key; `None` for a policy of another name or another kind.
    pub fn bucket(&self, key: &TokenKey) -> Option<TokenBucket> {
        self.buckets.get(&key.policy).copied()
    }

    /// The longest of the windows, and of the times in which an empty bucket fills, in milliseconds.
    pub fn longest_ms(&self) -> u64 {
        let windows = self.windows.values().map(|(window, _)| window.get());
        let fills = |bucket: &TokenBucket| {
            bucket.wait_ms(&bucket.fresh(0), Cost::saturating(bucket.capacity())).unwrap_or(MAX_COUNT)
        };
        windows.chain(self.buckets.values().map(fills)).max().unwrap_or(0)
    }

    /// What a calendar quota allows to a tenant without settings.
    pub fn quota(&self, policy: &str) -> Option<&QuotaSpec> {
        self.quotas.get(policy)
    }
}
