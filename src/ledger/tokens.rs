use super::row::token_key;
use super::rows::{Batch, is_among};
use super::state::{Ledger, Now};
use crate::global::{TokenAsk, TokenReply, TokenStore};

impl Ledger {
    /// Answers for each bucket of an ask that is configured, and whose row could be read.
    pub(super) fn answer_tokens(&mut self, ask: &TokenAsk, now: Now, batch: &mut Batch) -> TokenReply {
        let (owned, blocked) = (&self.owned, &self.blocked);
        let bucket_of = |key: &_| owned.bucket(key).filter(|_| !is_among(key, token_key, blocked));
        let outcome = self.tokens.answer(ask, bucket_of, &mut self.fences, now.steady);
        store(outcome.store, batch);
        outcome.reply
    }

    /// Ends the leases of holders that fell silent, and forgets the buckets that are full.
    pub(super) fn collect_tokens(&mut self, now: Now, batch: &mut Batch) {
        let owned = &self.owned;
        store(self.tokens.collect(|key| owned.bucket(key), now.steady), batch);
    }
}

/// Adds what the books of buckets want stored; rows are of the clock, so the head goes with them.
fn store(store: TokenStore, batch: &mut Batch) {
    batch.head |= !store.rows.is_empty();
    store.forgotten.iter().for_each(|key| batch.delete_token(key));
    store.rows.into_iter().for_each(|row| batch.put_token(row));
}
