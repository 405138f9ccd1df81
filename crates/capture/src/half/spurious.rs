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
            let (sent, start, octets) = (entry.last.at, entry.start, entry.end - entry.start);
            let (episode, share) = (entry.episode, entry.share);
            let segments = self.counts.prove(self.again.prove(share), octets, reason);
            if segments > 0 {
                self.episodes.spurious(episode, segments);
                self.draw(start, |sketch, at| sketch.spurious(sent, at));
            }
        }
    }
}
