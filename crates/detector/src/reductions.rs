//! Reductions of the window that may still prove spurious (`docs/senders/unruffled.md`, section 4).

use alloc::collections::VecDeque;

use unruffled_units::Instant;

/// Number of reductions that are remembered.
const MAX_REDUCTIONS: usize = 8;

/// The identity of a reduction. A later reduction has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReductionId(u32);

#[derive(Clone, Debug)]
struct Entry<S> {
    id: ReductionId,
    began: Instant,
    /// The window before it.
    window: u64,
    /// The transport's state before it; none if it was made for another reason than confirmed losses, and
    /// therefore stands for good.
    saved: Option<S>,
    /// Number of confirmed losses that support it.
    confirmations: u32,
}

/// The latest reductions that stand, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Reductions<S> {
    list: VecDeque<Entry<S>>,
    next: u32,
    /// The window before a reduction that was the last one and no longer stands.
    undone: Option<u64>,
    /// The state before it, until the transport has got it.
    restore: Option<S>,
}

impl<S> Reductions<S> {
    pub(crate) fn new() -> Self {
        Self { list: VecDeque::new(), next: 0, undone: None, restore: None }
    }

    /// Records a reduction of `window`. `saved` is the state before it.
    pub(crate) fn begin(&mut self, window: u64, saved: Option<S>, now: Instant) {
        if self.list.len() == MAX_REDUCTIONS {
            self.list.pop_front();
        } else if self.list.capacity() == 0 {
            self.list.reserve_exact(MAX_REDUCTIONS);
        }
        let id = ReductionId(self.next);
        self.next = self.next.wrapping_add(1);
        self.list.push_back(Entry { id, began: now, window, saved, confirmations: 0 });
    }

    /// Counts a confirmed loss in support of the last reduction, and returns which one that is.
    pub(crate) fn confirm_last(&mut self) -> Option<ReductionId> {
        let last = self.list.back_mut()?;
        last.confirmations += 1;
        Some(last.id)
    }

    /// Returns when the last reduction began.
    pub(crate) fn last_began(&self) -> Option<Instant> {
        self.list.back().map(|last| last.began)
    }

    /// Withdraws the support of one loss from a reduction. If none is left, the reduction no longer stands: the
    /// state before it is to be restored, or a later reduction inherits it.
    pub(crate) fn take_support(&mut self, id: ReductionId) {
        let Some(at) = self.list.iter().position(|entry| entry.id == id) else { return };
        let entry = &mut self.list[at];
        entry.confirmations = entry.confirmations.saturating_sub(1);
        if entry.confirmations > 0 || entry.saved.is_none() {
            return;
        }
        let Some(undone) = self.list.remove(at) else { return };
        match self.list.get_mut(at) {
            Some(later) => {
                if later.saved.is_some() && later.window < undone.window {
                    later.window = undone.window;
                    later.saved = undone.saved;
                }
            }
            None => {
                // An acknowledgement may undo several, each of which was the last one then.
                if self.undone.is_none_or(|window| window < undone.window) {
                    self.undone = Some(undone.window);
                    self.restore = undone.saved;
                }
            }
        }
    }

    /// Returns, once, the window before a reduction that was the last one and no longer stands.
    pub(crate) fn take_undone(&mut self) -> Option<u64> {
        self.undone.take()
    }

    /// Returns the state to restore, once.
    pub(crate) fn take_restore(&mut self) -> Option<S> {
        self.restore.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Instant = Instant::from_millis;

    #[test]
    fn a_reduction_is_undone_with_its_last_confirmation() {
        let mut reductions = Reductions::new();
        reductions.begin(100, Some("first"), AT(1));
        let id = reductions.confirm_last().expect("one stands");
        reductions.confirm_last();
        reductions.take_support(id);
        assert_eq!((reductions.take_undone(), reductions.take_restore()), (None, None));
        reductions.take_support(id);
        assert_eq!(
            (reductions.take_undone(), reductions.take_restore()),
            (Some(100), Some("first"))
        );
        assert_eq!((reductions.last_began(), reductions.take_undone()), (None, None));
    }

    #[test]
    fn a_later_reduction_inherits_the_state_before_an_earlier_one() {
        let mut reductions = Reductions::new();
        reductions.begin(100, Some("first"), AT(1));
        let first = reductions.confirm_last().expect("one stands");
        reductions.begin(50, Some("second"), AT(2));
        let second = reductions.confirm_last().expect("one stands");
        reductions.take_support(first);
        assert_eq!(reductions.take_restore(), None, "the second one stands");
        reductions.take_support(second);
        assert_eq!(
            (reductions.take_undone(), reductions.take_restore()),
            (Some(100), Some("first"))
        );
    }

    #[test]
    fn a_later_reduction_keeps_a_larger_window() {
        let mut reductions = Reductions::new();
        reductions.begin(100, Some("first"), AT(1));
        let first = reductions.confirm_last().expect("one stands");
        reductions.begin(120, Some("second"), AT(2));
        let second = reductions.confirm_last().expect("one stands");
        reductions.take_support(first);
        reductions.take_support(second);
        assert_eq!(
            (reductions.take_undone(), reductions.take_restore()),
            (Some(120), Some("second"))
        );
    }

    #[test]
    fn of_two_that_an_acknowledgement_undoes_the_larger_window_comes_back() {
        let mut reductions = Reductions::new();
        reductions.begin(100, Some("first"), AT(1));
        let first = reductions.confirm_last().expect("one stands");
        reductions.begin(50, Some("second"), AT(2));
        let second = reductions.confirm_last().expect("one stands");
        reductions.take_support(second);
        reductions.take_support(first);
        assert_eq!(
            (reductions.take_undone(), reductions.take_restore()),
            (Some(100), Some("first"))
        );
    }

    #[test]
    fn a_reduction_for_another_reason_stands() {
        let mut reductions = Reductions::new();
        reductions.begin(100, Some("loss"), AT(1));
        let loss = reductions.confirm_last().expect("one stands");
        reductions.begin(50, None, AT(2));
        let mark = reductions.confirm_last().expect("one stands");
        reductions.take_support(loss);
        reductions.take_support(mark);
        assert_eq!((reductions.take_undone(), reductions.last_began()), (None, Some(AT(2))));
    }
}
