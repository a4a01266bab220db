//! One decision over several limits: all or nothing, also where they are counted by several objects.

use super::pops::Pop;
use crate::Cost;
use crate::config::Policy;
use crate::counter::{Ask, AskLimit, Op, Receipt, Reply, WIRE_VERSION};
use crate::http::{KeyHash, LimitResult};

/// One limit to decide.
pub struct Limit<'a> {
    /// Under which policy.
    pub policy: &'a Policy,
    /// For whom.
    pub key: KeyHash,
    /// How many units.
    pub cost: Cost,
}

/// Decides `limits`: takes them all, or none. A peek takes nothing.
///
/// Policies that count by the same identity meet in one object, which decides them in one turn. Where
/// identities differ, the objects are asked in a fixed order, and if a later one refuses, what an
/// earlier one took is given back, once: a give-back that is lost leaves the units taken.
pub async fn decide<'a>(pop: &Pop, limits: &[Limit<'a>], peek: bool) -> Vec<LimitResult<'a>> {
    let mut results: Vec<LimitResult<'a>> =
        limits.iter().map(|limit| LimitResult::out_of_reach(limit.policy)).collect();
    let mut receipts: Vec<Option<Receipt>> = vec![None; limits.len()];
    let groups = by_shard(pop, limits);
    let deadline = pop.deadline();
    let mut refused = false;
    for (shard, members) in &groups {
        let op = if peek || refused { Op::Peek } else { Op::Take };
        if let Ok(reply) = pop.ask(*shard, &ask(op, limits, members, &receipts), &deadline).await {
            record(&mut results, &reply, members);
            for (index, limit) in members.iter().zip(&reply.limits) {
                receipts[*index] = limit.receipt;
            }
        }
        refused |= members.iter().any(|index| results[*index].refusal().is_some());
    }
    if refused && receipts.iter().any(Option::is_some) {
        give_back(pop, limits, &groups, &receipts, &mut results).await;
    }
    results
}

async fn give_back<'a>(
    pop: &Pop,
    limits: &[Limit<'a>],
    groups: &[(u32, Vec<usize>)],
    receipts: &[Option<Receipt>],
    results: &mut [LimitResult<'a>],
) {
    // A time of its own: the first may have run out, and then giving back matters all the more.
    let deadline = pop.deadline();
    for (shard, members) in groups {
        let taken: Vec<usize> = members.iter().copied().filter(|index| receipts[*index].is_some()).collect();
        if taken.is_empty() {
            continue;
        }
        if let Ok(reply) = pop.ask(*shard, &ask(Op::Give, limits, &taken, receipts), &deadline).await {
            record(results, &reply, &taken);
        }
    }
}

fn ask(op: Op, limits: &[Limit<'_>], members: &[usize], receipts: &[Option<Receipt>]) -> Ask {
    let limits = members.iter().map(|index| {
        let Limit { policy, key, cost } = &limits[*index];
        AskLimit {
            policy: policy.name.clone(),
            algorithm: policy.algorithm,
            key: *key,
            cost: *cost,
            shadow: policy.shadow,
            receipt: receipts[*index],
        }
    });
    Ask { v: WIRE_VERSION, op, limits: limits.collect() }
}

fn record(results: &mut [LimitResult<'_>], reply: &Reply, members: &[usize]) {
    for (index, limit) in members.iter().zip(&reply.limits) {
        results[*index] = LimitResult::counted(results[*index].policy, limit.decision, limit.epoch);
    }
}

/// The limits of each object, objects in order.
fn by_shard(pop: &Pop, limits: &[Limit<'_>]) -> Vec<(u32, Vec<usize>)> {
    let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
    for (index, limit) in limits.iter().enumerate() {
        let shard = pop.shard_of(limit.key);
        match groups.iter_mut().find(|(other, _)| *other == shard) {
            Some((_, members)) => members.push(index),
            None => groups.push((shard, vec![index])),
        }
    }
    groups.sort_unstable_by_key(|(shard, _)| *shard);
    groups
}
