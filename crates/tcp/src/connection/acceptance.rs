//! Which segments are acceptable by their sequence numbers (RFC 9293, section 3.10.7.4, Table 6).

/// Whether a segment that takes `len` numbers from `seq` on is acceptable when `next` is expected
/// and `window` octets may come. All numbers are stream offsets.
pub(super) fn acceptable(seq: u64, len: u32, next: u64, window: u64) -> bool {
    let within = |number: u64| next <= number && number < next + window;
    match (len, window) {
        (0, 0) => seq == next,
        (0, _) => within(seq),
        (_, 0) => false,
        (len, _) => within(seq) || within(seq + u64::from(len) - 1),
    }
}

/// Whether a segment without text at `seq`, which is not acceptable, may be of a peer that is no
/// further than it should be when `next` is expected and all before `edge` may come: the octet by
/// which it asks for a window does not count as sent until it knows that it was taken, and its FIN
/// may stand where the window ends. Where both ends are in such a state, each refuses what would end
/// the other's, so the acknowledgement must be read.
pub(super) fn nearly_acceptable(seq: u64, next: u64, edge: u64) -> bool {
    next <= seq + 1 && seq <= edge.max(next) + 1
}

#[cfg(test)]
mod tests {
    use super::{acceptable, nearly_acceptable};

    #[test]
    fn nothing_into_a_closed_window() {
        assert!(acceptable(100, 0, 100, 0));
        assert!(!acceptable(99, 0, 100, 0));
        assert!(!acceptable(101, 0, 100, 0));
    }

    #[test]
    fn nothing_into_an_open_window() {
        assert!(!acceptable(99, 0, 100, 50));
        assert!(acceptable(100, 0, 100, 50));
        assert!(acceptable(149, 0, 100, 50));
        assert!(!acceptable(150, 0, 100, 50));
    }

    #[test]
    fn one_number_off() {
        let near = |seq| nearly_acceptable(seq, 100, 150);
        assert_eq!([98, 99, 150, 151, 152].map(near), [false, true, true, true, false]);
        let closed = |seq| nearly_acceptable(seq, 100, 100);
        assert_eq!([98, 99, 100, 101, 102].map(closed), [false, true, true, true, false]);
    }

    #[test]
    fn something_into_a_closed_window() {
        assert!(!acceptable(100, 1, 100, 0));
    }

    #[test]
    fn something_into_an_open_window() {
        assert!(!acceptable(90, 10, 100, 50), "all of it is old");
        assert!(acceptable(90, 11, 100, 50), "its last octet is new");
        assert!(acceptable(100, 50, 100, 50));
        assert!(acceptable(149, 50, 100, 50), "its first octet is within");
        assert!(!acceptable(150, 1, 100, 50));
    }
}
