//! Tokens: leases from one token bucket, for points of presence that spend them.
//!
//! A [`TokenLedger`] owns each key's bucket and moves tokens from it into the leases of [`TokenHolder`]s. A
//! lease is three grow-only counts of the holder's ([`TokenBook`]: spent, returned, given back) and one of the
//! Ledger's (granted), under a [`Fence`](crate::fence::Fence). Sums are told, never differences, so messages
//! may be lost, repeated, delayed and reordered.
//!
//! # The bound
//!
//! What a lease has `out` is `granted - spent - returned`, as far as the Ledger has heard; what its holder has
//! in hand is never more. In every state
//!
//! ```text
//! level + out <= capacity
//! ```
//!
//! since tokens out count as still in the bucket: the refill stops at `capacity - out`. A grant moves tokens
//! from the level to what is out, a report moves them from there to spent, or back. So what can be admitted at
//! a point in time is at most the capacity, and it grows by nothing but the refill and what requests give
//! back: **in any T milliseconds at most `capacity + rate x T` tokens are spent**, net of what is given back.
//! Traffic, delays, crashes, restarts and the number of points of presence are not in that argument.
//!
//! Two details carry it. The refill up to a report stopped at what was out *before* it, since nobody knows when
//! in between the tokens were spent. And a refund goes back into the bucket, cut off at the room there is, not
//! into the hand that spent: by then the room that it left may have refilled, and only the Ledger knows.
//!
//! # Silence
//!
//! A holder that dies keeps its tokens from refilling. So the Ledger ends a lease that it has not heard of for
//! `max(60 s, capacity / rate)`: what was out counts as spent from then on. The reply says how long it promises
//! to keep the lease, and a holder stops spending after half of that, counted from when it sent the last ask
//! that was answered. Only the reply to the ask in flight counts, so that it knows when that was.
//!
//! **This is the one place where clocks matter, and only as durations.** It takes that a holder's clock runs
//! at no less than half the speed of the Ledger's over such a time. Where one is slower, or the Ledger's
//! leaps ahead by more than half of that time, a holder can spend once what it had in hand, after it was
//! counted as spent: by so much, and no more, is the bound then passed.
//!
//! # Nothing is stuck
//!
//! A holder reports what it spent after 5 s, and returns what it has not spent from for 10 s. Where tokens lack
//! that others have, the Ledger grants nothing on top for a while. A refused holder refuses alone until its
//! wait is over by its own clock; in case that stands still it asks on refusals number 1, 2, 4 ... 64 and each
//! 64th. What is told of the bucket decides how long to wait, never what to admit.
//!
//! The [rules](token_rules) are one function each, and each has a test in which it is broken and the bound
//! with it.
//!
//! ```
//! use sluicegate::Cost;
//! use sluicegate::bucket::{Refill, TokenBucket};
//! use sluicegate::clock::SteadyMs;
//! use sluicegate::fence::FenceSource;
//! use sluicegate::global::{
//!     TokenAnswer, TokenHolder, TokenHolderSettings, TokenKey, TokenLedger, TokenLedgerSettings,
//! };
//! use sluicegate::http::KeyHash;
//!
//! let bucket = TokenBucket::new(100, Refill::new(10, 1_000)?)?; // 100 at once, 10 per second
//! let key = TokenKey { policy: "api".into(), key: KeyHash::new(7) };
//! let mut ledger: TokenLedger = TokenLedger::new(TokenLedgerSettings::default());
//! let mut fences = FenceSource::new(0xfe2ce); // a random number, drawn at each start
//! let mut pop: TokenHolder = TokenHolder::new(0x5eed, TokenHolderSettings::default());
//!
//! // The two clocks have nothing to do with each other.
//! let (pop_now, ledger_now) = (SteadyMs(5), SteadyMs(1_000_000));
//! let TokenAnswer::Wait(ticket) = pop.request("shard/0", &key, bucket, Cost::ONE, pop_now) else { panic!() };
//! let ask = pop.next_ask("shard/0", pop_now).unwrap();
//! let outcome = ledger.answer(&ask, |_| Some(bucket), &mut fences, ledger_now);
//! // ... here `outcome.store` is written, and only then does the reply leave ...
//! let settled = pop.reply("shard/0", &outcome.reply, pop_now);
//! assert!(settled[0].ticket == ticket && settled[0].verdict.decision.allowed());
//! assert_eq!(settled[0].verdict.decision.remaining, 99);
//! # Ok::<(), sluicegate::Error>(())
//! ```

mod account;
mod hand;
mod holder;
mod ledger;
mod link;
mod message;
pub mod token_rules;
mod verdict;

pub use account::{TokenRow, TokenRowLease, TokenTotals};
pub use holder::{TokenHolder, TokenHolderSettings};
pub use ledger::{TokenLedger, TokenLedgerSettings, TokenOutcome, TokenStore};
pub use message::{
    TOKEN_WIRE_VERSION, TokenAsk, TokenAskItem, TokenBook, TokenKey, TokenLease, TokenReply, TokenReplyItem,
};
pub use verdict::{TokenAnswer, TokenReceipt, TokenSettled, TokenVerdict};
