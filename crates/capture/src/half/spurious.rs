//! Retransmissions that prove spurious.

use super::Half;
use super::counts::Counts;

impl Half {
    /// One retransmission of entry `at` was not needed.
    pub(super) fn prove_spurious(&mut self, at: usize, reason: impl Fn(&mut Counts) -> &mut u64) {
        let Some(entry) = self.outstanding.get_mut(at) else { return };
        let before = entry.spurious();
        entry.proved = entry.proved.saturating_add(1);
        self.note_spurious(at, before, reason);
    }

    /// Counts a retransmission of entry `at` if more are spurious than `before`.
    pub(super) fn note_spurious(
        &mut self,
        at: usize,
        before: u16,
        reason: impl Fn(&mut Counts) -> &mut u64,
    ) {
        let Some(entry) = self.outstanding.get(at) else { return };
        if entry.spurious() > before {
            self.counts.spurious.total += 1;
            *reason(&mut self.counts) += 1;
            self.episodes.spurious(entry.episode);
            let (sent, start) = (entry.last.at, entry.start);
            self.draw(start, |sketch, at| sketch.spurious(sent, at));
        }
    }
}
