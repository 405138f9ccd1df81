//! Acceptability of segments by their sequence numbers (RFC 9293, section 3.10.7.4, Table 6).

/// Returns whether a segment that occupies `len` sequence numbers from `seq` on is acceptable, when
/// `next` is expected and the window has `window` octets. All numbers are stream offsets.
pub(super) fn acceptable(seq: u64, len: u32, next: u64, window: u64) -> bool {
    let within = |number: u64| next <= number && number < next + window;
    match (len, window) {
        (0, 0) => seq == next,
        (0, _) => within(seq),
        (_, 0) => false,
        (len, _) => within(seq) || within(seq + u64::from(len) - 1),
    }
}

/// Returns whether an unacceptable segment without data at `seq` may come from a peer whose numbers
/// are off by one, when `next` is expected and the window ends at `edge`. Such a peer does not
/// count the octet of a window probe as sent until it is acknowledged, or its FIN follows the end
/// of the window. If both ends are in such a state, each would drop the other's acknowledgement and
/// neither would leave it, so the acknowledgement must be processed.
pub(super) fn nearly_acceptable(seq: u64, next: u64, edge: u64) -> bool {
    next <= seq + 1 && seq <= edge.max(next) + 1
}

#[cfg(test)]
mod tests {
    use super::{acceptable, nearly_acceptable};

    #[test]
    fn an_empty_segment_at_a_closed_window_must_be_at_its_edge() {
        assert!(acceptable(100, 0, 100, 0));
        assert!(!acceptable(99, 0, 100, 0));
        assert!(!acceptable(101, 0, 100, 0));
    }

    #[test]
    fn an_empty_segment_at_an_open_window_must_lie_within() {
        assert!(!acceptable(99, 0, 100, 50));
        assert!(acceptable(100, 0, 100, 50));
        assert!(acceptable(149, 0, 100, 50));
        assert!(!acceptable(150, 0, 100, 50));
    }

    #[test]
    fn numbers_off_by_one_are_nearly_acceptable() {
        let near = |seq| nearly_acceptable(seq, 100, 150);
        assert_eq!([98, 99, 150, 151, 152].map(near), [false, true, true, true, false]);
        let closed = |seq| nearly_acceptable(seq, 100, 100);
        assert_eq!([98, 99, 100, 101, 102].map(closed), [false, true, true, true, false]);
    }

    #[test]
    fn data_at_a_closed_window_is_unacceptable() {
        assert!(!acceptable(100, 1, 100, 0));
    }

    #[test]
    fn data_at_an_open_window_must_overlap_it() {
        assert!(!acceptable(90, 10, 100, 50), "all of it is old");
        assert!(acceptable(90, 11, 100, 50), "its last octet is new");
        assert!(acceptable(100, 50, 100, 50));
        assert!(acceptable(149, 50, 100, 50), "its first octet is within");
        assert!(!acceptable(150, 1, 100, 50));
    }
}
