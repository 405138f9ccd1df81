//! The windows of data for which the window has been reduced (RFC 3168, section 6.1.2): "the TCP sender's
//! congestion window should be reduced only once in response to a series of dropped and/or CE packets
//! from a single window of data".

/// The last reduction of the window that stands, and the CWR flag that it requires.
///
/// It is one word, because each connection has it: the stream offset behind SND.NXT at the time of the
/// reduction, below which an ECE on an acknowledgement may precede the arrival of CWR; and three flags.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks(u64);

/// Whether a loss caused the reduction, in a window of data for which a mark had reduced the window.
const AFTER_MARK: u64 = 1 << 61;

/// Whether a mark caused the reduction.
const BY_MARK: u64 = 1 << 62;

/// Whether the next new data carries CWR.
const CWR_DUE: u64 = 1 << 63;

impl Marks {
    fn until(self) -> u64 {
        self.0 & !(AFTER_MARK | BY_MARK | CWR_DUE)
    }

    /// Records a reduction because of a loss, with this SND.UNA and SND.NXT.
    pub(super) fn on_loss(&mut self, una: u64, nxt: u64) {
        let marked = self.0 & (BY_MARK | AFTER_MARK) != 0 && una + 1 < self.until();
        *self = Self((nxt + 1) | CWR_DUE | if marked { AFTER_MARK } else { 0 });
    }

    /// Records a reduction because of a mark, with this SND.NXT.
    pub(super) fn on_mark(&mut self, nxt: u64) {
        *self = Self((nxt + 1) | BY_MARK | CWR_DUE);
    }

    /// Handles the undoing of the last reduction, which withdraws its CWR. Reductions because of a mark
    /// are never undone, so that one before this reduction still answers the marks of its window of data.
    ///
    /// An ECE on an acknowledgement of `una`, SND.UNA, still belongs to an earlier window of data: the
    /// reduction that is undone may have begun there, after one because of a mark.
    pub(super) fn on_undo(&mut self, una: u64) {
        if self.0 & (BY_MARK | AFTER_MARK) == 0 {
            *self = Self(una + 1);
        }
    }

    /// Returns whether an ECE on an acknowledgement of `una` belongs to a window of data for which the
    /// window has been reduced.
    pub(super) fn are_answered(&self, una: u64) -> bool {
        una < self.until()
    }

    /// Returns whether a loss, with everything below `una` acknowledged, is in a window of data for which
    /// a mark has reduced the window.
    pub(super) fn answer_loss(&self, una: u64) -> bool {
        self.0 & BY_MARK != 0 && una + 1 < self.until()
    }

    /// Returns whether the next new data carries CWR, and clears that.
    pub(super) fn take_cwr(&mut self) -> bool {
        let due = self.0 & CWR_DUE != 0;
        self.0 &= !CWR_DUE;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ece_counts_once_the_segment_with_cwr_is_acknowledged_and_a_loss_of_it_counts() {
        let mut marks = Marks::default();
        assert!(!marks.are_answered(0) && !marks.answer_loss(0));
        marks.on_mark(5000);
        assert_eq!([0, 5000, 5001].map(|una| marks.are_answered(una)), [true, true, false]);
        assert_eq!([0, 4999, 5000].map(|una| marks.answer_loss(una)), [true, true, false]);
        marks.on_loss(5001, 9000);
        assert_eq!([5001, 9000, 9001].map(|una| marks.are_answered(una)), [true, true, false]);
        assert!(!marks.answer_loss(5001), "a loss after a reduction by a loss is not its concern");
    }

    #[test]
    fn cwr_is_sent_once_and_an_undo_withdraws_it() {
        let mut marks = Marks::default();
        marks.on_loss(0, 5000);
        assert_eq!([marks.take_cwr(), marks.take_cwr()], [true, false]);
        marks.on_loss(0, 5000);
        marks.on_undo(4000);
        assert!(!marks.take_cwr());
        assert_eq!([4000, 4001].map(|una| marks.are_answered(una)), [true, false]);
        marks.on_mark(5000);
        marks.on_undo(4000);
        assert!(marks.are_answered(5000) && marks.take_cwr(), "a mark stands");
    }

    #[test]
    fn a_loss_after_a_mark_that_proves_spurious_leaves_the_window_of_data_of_the_mark() {
        let mut marks = Marks::default();
        marks.on_mark(5000);
        // The first segment behind the marked window of data seems lost.
        assert!(!marks.answer_loss(5000));
        marks.on_loss(5000, 9000);
        marks.on_undo(5000);
        assert_eq!([5000, 5001].map(|una| marks.are_answered(una)), [true, false]);
    }

    /// A mark reduces the window at 36,000 of 63,000 octets. A timeout there proves spurious at 54,000.
    #[test]
    fn a_timeout_in_a_marked_window_that_proves_spurious_leaves_the_mark_answered() {
        let mut marks = Marks::default();
        marks.on_mark(63_000);
        marks.on_loss(36_000, 63_000);
        marks.on_undo(54_000);
        assert_eq!([63_000, 63_001].map(|una| marks.are_answered(una)), [true, false]);
        // The next window of data has no mark.
        marks.on_loss(63_000, 70_000);
        marks.on_undo(64_000);
        assert_eq!([64_000, 64_001].map(|una| marks.are_answered(una)), [true, false]);
    }
}
