//! One decision over several limits: all or nothing, also where they are counted by several objects.

use super::pops::Pop;
use super::visits;
use crate::Cost;
use crate::config::{Policy, Settings};
use crate::counter::Op;
use crate::http::{KeyHash, LimitResult};
use crate::pop::{Measure, POP_VERSION, PopAsk, PopLimit, PopReceipt, PopReply};

/// One limit to decide.
pub struct Limit<'a> {
    /// Under which policy.
    pub policy: &'a Policy,
    /// For whom.
    pub key: KeyHash,
    /// How many units.
    pub cost: Cost,
}

/// The limits of one object.
struct Group {
    shard: u32,
    members: Vec<usize>,
    has_quota: bool,
}

/// Decides `limits`: takes them all, or none. A peek takes nothing.
///
/// Policies that count by the same identity meet in one object, which decides them in one turn. Where
/// identities differ, the objects are asked in a fixed order, those with quotas last, and if a later one
/// refuses, what an earlier one took is given back, once: a give-back that is lost leaves the units taken.
pub async fn decide<'a>(
    pop: &Pop,
    settings: &Settings,
    limits: &[Limit<'a>],
    peek: bool,
) -> Vec<LimitResult<'a>> {
    let mut results: Vec<LimitResult<'a>> =
        limits.iter().map(|limit| LimitResult::out_of_reach(limit.policy)).collect();
    let mut asked: Vec<PopLimit> = limits.iter().map(|limit| asked_of(limit, settings)).collect();
    let groups = by_shard(pop, &asked);
    let deadline = pop.deadline();
    let mut refused = false;
    for Group { shard, members, has_quota } in &groups {
        let op = if peek || refused { Op::Peek } else { Op::Take };
        if *has_quota && op == Op::Take {
            visits::plan(pop, *shard);
        }
        if let Ok(reply) = pop.ask(*shard, &ask(pop, op, &asked, members), &deadline).await {
            let receipts = record(&mut results, reply, members);
            for (index, receipt) in members.iter().zip(receipts) {
                asked[*index].receipt = receipt;
            }
        }
        refused |= members.iter().any(|index| results[*index].refusal().is_some());
    }
    if refused && asked.iter().any(|limit| limit.receipt.is_some()) {
        give_back(pop, &asked, &groups, &mut results).await;
    }
    results
}

async fn give_back(pop: &Pop, asked: &[PopLimit], groups: &[Group], results: &mut [LimitResult<'_>]) {
    // A time of its own: the first may have run out, and then giving back matters all the more.
    let deadline = pop.deadline();
    for Group { shard, members, .. } in groups {
        let taken: Vec<usize> =
            members.iter().copied().filter(|index| asked[*index].receipt.is_some()).collect();
        if taken.is_empty() {
            continue;
        }
        if let Ok(reply) = pop.ask(*shard, &ask(pop, Op::Give, asked, &taken), &deadline).await {
            record(results, reply, &taken);
        }
    }
}

fn asked_of(limit: &Limit<'_>, settings: &Settings) -> PopLimit {
    let Limit { policy, key, cost } = limit;
    PopLimit {
        policy: policy.name.clone(),
        measure: policy.measure(*key, settings),
        key: *key,
        cost: *cost,
        shadow: policy.shadow,
        receipt: None,
    }
}

fn ask(pop: &Pop, op: Op, asked: &[PopLimit], members: &[usize]) -> PopAsk {
    let limits = members.iter().map(|index| asked[*index].clone());
    PopAsk { v: POP_VERSION, op, pop: pop.name.clone(), limits: limits.collect() }
}

/// Notes what was said. Returns what can be given back, by limit.
fn record(results: &mut [LimitResult<'_>], reply: PopReply, members: &[usize]) -> Vec<Option<PopReceipt>> {
    let mut receipts = Vec::with_capacity(members.len());
    for (index, mut limit) in members.iter().zip(reply.limits) {
        receipts.push(limit.receipt.take());
        results[*index] = LimitResult::counted(results[*index].policy, limit);
    }
    receipts
}

/// The limits of each object, in the order in which the objects are asked.
fn by_shard(pop: &Pop, limits: &[PopLimit]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, limit) in limits.iter().enumerate() {
        let shard = pop.shard_of(limit.key);
        let is_quota = limit.measure == Measure::Quota;
        match groups.iter_mut().find(|group| group.shard == shard) {
            Some(group) => {
                group.members.push(index);
                group.has_quota |= is_quota;
            }
            None => groups.push(Group { shard, members: vec![index], has_quota: is_quota }),
        }
    }
    groups.sort_unstable_by_key(|group| (group.has_quota, group.shard));
    groups
}
