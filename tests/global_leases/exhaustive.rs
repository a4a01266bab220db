//! Every state of small configurations, and a counterexample for each rule that is broken.

use crate::broken::Broken;
use crate::model::Config;
use crate::search::{breaks, holds};

const ONE: Config =
    Config { pops: 1, limit: 2, chunk: 2, restarts: 1, asks: 2, turns: 0, costs: &[1], wants: &[1, 2] };

#[test]
fn one_that_restarts() {
    holds("1 PoP, 1 restart, 3 asks a start, limit 2, F 2", &Config { asks: 3, wants: &[1], ..ONE });
    holds("1 PoP, 1 restart, limit 2, F 2", &ONE);
}

#[test]
fn one_that_restarts_twice() {
    holds("1 PoP, 2 restarts, limit 2, F 1", &Config { restarts: 2, chunk: 1, wants: &[2], ..ONE });
    holds("1 PoP, 2 restarts, limit 2, F 2", &Config { restarts: 2, wants: &[2], ..ONE });
}

#[test]
fn one_with_three_units() {
    holds("1 PoP, 1 restart, limit 3, F 2", &Config { limit: 3, wants: &[0, 3], ..ONE });
}

#[test]
fn one_over_two_periods() {
    holds("1 PoP, 1 restart, 2 serials", &Config { turns: 1, wants: &[2], ..ONE });
}

#[test]
fn one_that_spends_two_at_once_from_two_leases() {
    let config = Config { limit: 3, costs: &[1, 2], wants: &[1, 2], chunk: 1, ..ONE };
    holds("1 PoP, 1 restart, costs 1 and 2, limit 3, F 1", &config);
}

#[test]
fn two() {
    holds("2 PoPs, limit 3, F 2", &Config { pops: 2, limit: 3, restarts: 0, ..ONE });
}

#[test]
fn two_that_restart() {
    holds("2 PoPs, 1 restart each", &Config { pops: 2, asks: 1, ..ONE });
}

#[test]
fn two_over_two_periods() {
    holds("2 PoPs, 2 serials", &Config { pops: 2, restarts: 0, turns: 1, wants: &[2], ..ONE });
}

const TWO: Config = Config { pops: 2, restarts: 0, ..ONE };

/// One test for each broken rule.
macro_rules! broken {
    ($($name:ident: $rule:ident in $config:expr;)*) => {
        $(#[test]
        fn $name() {
            breaks(Broken::$rule, &$config);
        })*
    };
}

broken! {
    without_a_newer_lease_beside_older_ones: NewerGrantEndsOlder in Config { asks: 3, restarts: 0, ..ONE };
    without_dropping_old_asks: OldAsksObeyed in Config { asks: 3, restarts: 0, ..ONE };
    without_dropping_old_replies: AnyReplyObeyed in ONE;
    without_writing_a_lease_down: LeaseNotWritten in ONE;
    without_distrust_of_the_last_chunk: ChunkTrusted in ONE;
    without_keeping_a_closed_lease: ClosedForgotten in ONE;
    without_writing_before_the_answer: AnswerBeforeWrite in ONE;
    without_a_floor_for_write_backs: BackTooFar in Config { limit: 4, restarts: 2, asks: 1, wants: &[4], ..ONE };
    without_counting_what_was_forfeited: ForfeitedFree in ONE;
    without_counting_what_is_out: OutstandingFree in TWO;
    without_a_book_for_each_serial: LateReturnsRefill in Config { turns: 1, wants: &[2], ..TWO };
    without_storing_before_the_reply: ReplyBeforeStore in Config { wants: &[2], ..TWO };
    without_a_number_for_each_start: BootRepeated in ONE;
    without_fencing_off_an_old_instance: ZombieWrites in Config { chunk: 1, ..ONE };
}
