//! The crate in a native program: a bucket per user, on a clock of the program's own.
//!
//! `cargo run --example native`

use std::collections::HashMap;

use sluicegate::bucket::{BucketState, Refill, TokenBucket};
use sluicegate::{Cost, Error};

/// Messages a user may send: three at once, two a second in the long run.
struct Outbox {
    bucket: TokenBucket,
    users: HashMap<String, (BucketState, u64)>,
}

impl Outbox {
    fn new() -> Result<Self, Error> {
        let bucket = TokenBucket::new(3, Refill::new(2, 1_000)?)?;
        Ok(Self { bucket, users: HashMap::new() })
    }

    /// Sends one message at `now_ms`, or says how long to wait. A real program reads a monotonic clock
    /// here, such as `std::time::Instant`: the wall clock can be set back.
    fn send(&mut self, user: &str, now_ms: u64) -> Result<(), u64> {
        let (state, last_ms) = self.users.entry(user.to_owned()).or_insert((BucketState::default(), now_ms));
        self.bucket.credit(state, now_ms.saturating_sub(*last_ms));
        *last_ms = now_ms;
        if self.bucket.try_take(state, Cost::ONE) {
            return Ok(());
        }
        Err(self.bucket.wait_ms(state, Cost::ONE).unwrap_or(u64::MAX))
    }
}

fn main() -> Result<(), Error> {
    let mut outbox = Outbox::new()?;
    for user in ["alice", "bob"] {
        let sent = (0..5).take_while(|_| outbox.send(user, 0).is_ok()).count();
        let wait_ms = outbox.send(user, 0).err().unwrap_or(0);
        println!("{user}: {sent} of 5 sent, then wait {wait_ms} ms");
    }
    let later = outbox.send("alice", 500).map_or("refused", |()| "sent");
    println!("alice, 500 ms later: {later}");
    Ok(())
}
