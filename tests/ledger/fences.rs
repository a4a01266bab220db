//! A reply says of how many leases in the ask the Ledger did not know.

use sluicegate::ledger::LedgerReply;

use crate::support::{Object, Pop, wall};

const fn unknown(reply: &LedgerReply) -> (u64, u64) {
    (reply.fences_rejected, reply.fences_adopted)
}

#[test]
fn a_lease_of_a_period_long_over_is_counted_as_rejected() {
    let mut object = Object::new("UTC", "2026-05-31T00:00:00Z");
    let (mut lax, mut fra) = (Pop::new("LAX", "monthly"), Pop::new("FRA", "monthly"));
    assert_eq!(unknown(&fra.exchange(&mut object, 20)), (0, 0));
    for month in ["2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"] {
        object.host.wall = wall(month);
        assert_eq!(unknown(&lax.exchange(&mut object, 0)), (0, 0));
    }
    assert_eq!(unknown(&fra.exchange(&mut object, 0)), (1, 0));
    // Only what this ask has told: another's knows nothing of it.
    assert_eq!(unknown(&lax.exchange(&mut object, 0)), (0, 0));
}

#[test]
fn a_lease_that_storage_has_lost_is_counted_as_adopted() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let (mut lax, mut fra) = (Pop::new("LAX", "monthly"), Pop::new("FRA", "monthly"));
    lax.exchange(&mut object, 10);
    object.host.disk.clear();
    object.restart();
    fra.exchange(&mut object, 10);
    let reply = lax.exchange(&mut object, 0);
    assert_eq!(unknown(&reply), (0, 1));
    let text = serde_json::to_string(&reply).unwrap();
    assert!(text.contains("\"fences_adopted\":1") && !text.contains("fences_rejected"), "{text}");
    assert_eq!(serde_json::from_str::<LedgerReply>(&text).unwrap(), reply);
}
