//! Several limits in one decision.

use sluicegate::counter::{AskLimit, Op};

use crate::support::{Object, SETTINGS, fixed, limit, remaining};

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    let mut object = Object::new(SETTINGS);
    let (wide, narrow) = (fixed(10, 60_000), fixed(2, 60_000));
    let both = |cost| vec![limit(wide, 1, cost), limit(narrow, 2, cost)];
    assert_eq!(remaining(&object.ask(Op::Take, both(2))), [8, 0]);
    let refused = object.ask(Op::Take, both(1));
    assert!(!refused.allowed && refused.limits[0].decision.allowed());
    assert_eq!(remaining(&refused), [8, 0], "the wide limit kept its units");
    assert!(refused.limits.iter().all(|limit| limit.receipt.is_none()));
}

#[test]
fn a_peek_takes_nothing_and_says_what_a_take_would() {
    let mut object = Object::new(SETTINGS);
    for _ in 0..5 {
        assert!(object.ask(Op::Peek, vec![limit(fixed(1, 60_000), 1, 1)]).allowed);
    }
    assert!(object.take(limit(fixed(1, 60_000), 1, 1)).allowed);
    assert!(!object.ask(Op::Peek, vec![limit(fixed(1, 60_000), 1, 1)]).allowed);
}

#[test]
fn a_shadow_limit_counts_what_gets_through_and_never_refuses() {
    let mut object = Object::new(SETTINGS);
    let shadow = |key| AskLimit { shadow: true, ..limit(fixed(1, 60_000), key, 1) };
    let enforced = limit(fixed(3, 60_000), 7, 1);
    for expected in [true, false, false] {
        let reply = object.ask(Op::Take, vec![enforced.clone(), shadow(1)]);
        assert!(reply.allowed);
        assert_eq!(reply.limits[1].receipt.is_some(), expected);
    }
    assert!(!object.ask(Op::Take, vec![enforced, shadow(2)]).allowed);
    assert!(
        object.ask(Op::Peek, vec![shadow(2)]).limits[0].decision.allowed(),
        "a refused request is not counted"
    );
}

#[test]
fn a_give_back_returns_units_once_and_only_to_the_life_that_took_them() {
    let mut object = Object::new(SETTINGS);
    let one = limit(fixed(5, 60_000), 1, 3);
    let receipt = object.take(one.clone()).limits[0].receipt;
    let give = AskLimit { receipt, ..one.clone() };
    assert_eq!(remaining(&object.ask(Op::Give, vec![give.clone()])), [5]);
    object.take(one);
    object.timer();
    object.crash();
    assert_eq!(remaining(&object.ask(Op::Give, vec![give])), [2], "another life keeps the units taken");
}

#[test]
fn a_changed_window_starts_anew_and_a_changed_limit_does_not() {
    let mut object = Object::new(SETTINGS);
    object.take(limit(fixed(10, 60_000), 1, 10));
    assert_eq!(remaining(&object.ask(Op::Peek, vec![limit(fixed(15, 60_000), 1, 1)])), [5]);
    assert_eq!(remaining(&object.ask(Op::Peek, vec![limit(fixed(4, 60_000), 1, 1)])), [0]);
    assert_eq!(
        remaining(&object.take(limit(fixed(10, 90_000), 1, 1))),
        [9],
        "no epoch of another length is misread"
    );
}

#[test]
fn policies_that_count_the_same_identity_count_apart() {
    let mut object = Object::new(SETTINGS);
    let one = limit(fixed(1, 60_000), 1, 1);
    let other = AskLimit { policy: "q".to_owned(), ..one.clone() };
    assert!(object.take(one.clone()).allowed && object.take(other.clone()).allowed);
    assert!(!object.take(one).allowed && !object.take(other).allowed);
}
