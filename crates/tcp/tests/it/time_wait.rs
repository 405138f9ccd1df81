//! Connections reduced to TIME-WAIT (RFC 9293, sections 3.6.1 and 3.10.7.4; RFC 6191).

use crate::wire::{End, OURS, THEIRS, config, ms, parse};
use unruffled_tcp::{State, TimeWait, Verdict};
use unruffled_units::Instant;

const START: Instant = Instant::from_millis(1_000_000);

/// Returns the reduced form of a connection whose peer's FIN has the number 1.
fn time_wait() -> TimeWait {
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("F. 1 a2").sends(". 2 a2").is(State::TimeWait);
    t.connection.time_wait().expect("is in TIME-WAIT")
}

#[test]
fn only_a_later_plain_syn_begins_a_new_connection() {
    let rest = time_wait();
    let gives_way = |segment| rest.gives_way_to(&parse(segment, THEIRS, OURS));
    assert!(gives_way("S 3") && gives_way("S 5000"));
    for segment in ["S 2", "S 1", "S. 3 a1", "SR 3", ". 3 a2", "- 3", "R 3"] {
        assert!(!gives_way(segment), "{segment}");
    }
}

#[test]
fn data_is_answered_each_time_and_other_segments_at_most_twice_a_second() {
    let mut rest = time_wait();
    let mut at = |after, segment| {
        matches!(
            rest.handle_segment(&parse(segment, THEIRS, OURS), START + ms(after)),
            Verdict::Answer(_)
        )
    };
    assert!(at(0, "P. 1:101 a2") && at(0, "P. 1:101 a2") && at(1, "F. 1 a2") && at(1, "F. 1 a2"));
    assert!(!at(2, ". 2 a2"), "in order, and empty");
    assert!(at(3, ". 50000 a2"), "beyond the window");
    assert!(!at(502, ". 50000 a2") && at(503, ". 50000 a2"));
    assert!(at(504, "P. 1:101 a2"), "text does not wait");
}

#[test]
fn a_repeated_fin_restarts_it_and_only_the_exact_reset_ends_it() {
    let mut rest = time_wait();
    assert_eq!(rest.until(), START + ms(240_000));
    rest.handle_segment(&parse("P. 1:101 a2", THEIRS, OURS), START + ms(10));
    assert_eq!(rest.until(), START + ms(240_000));
    rest.handle_segment(&parse("F. 1 a2", THEIRS, OURS), START + ms(20));
    assert_eq!(rest.until(), START + ms(240_020));
    // A segment with implausible numbers does not prolong it.
    rest.handle_segment(&parse("F. 500000000 a77777777", THEIRS, OURS), START + ms(30));
    assert_eq!(rest.until(), START + ms(240_020));
    assert_eq!(rest.handle_segment(&parse("R 3", THEIRS, OURS), START), Verdict::Drop);
    assert_eq!(rest.handle_segment(&parse("R 2", THEIRS, OURS), START), Verdict::End);
}
