//! How segments are numbered: from 0, in the order of the stream.

/// A segment's place in the stream, counted in segments.
pub(crate) type SegNo = u64;

/// The numbers that segments have after some of them were split.
#[derive(Clone, Debug)]
pub(crate) struct Renumbered {
    /// The first outstanding segment.
    base: SegNo,
    /// For each outstanding segment, the number of its first piece; then the number after the last.
    first: Vec<SegNo>,
}

impl Renumbered {
    /// `first` has, for each segment from `base` on, the number of its first piece, and then the number
    /// after the last piece.
    pub(crate) fn new(base: SegNo, first: Vec<SegNo>) -> Self {
        Self { base, first }
    }

    /// The first piece of the segment that had this number.
    pub(crate) fn first(&self, number: SegNo) -> SegNo {
        let Some(index) = number.checked_sub(self.base) else { return number };
        match self.first.get(index as usize) {
            Some(&first) => first,
            // A number beyond the end stays as far beyond it as before.
            None => {
                let old = self.first.len() as u64 - 1;
                let new = self.first[self.first.len() - 1];
                new + (index - old)
            }
        }
    }

    /// The last piece of the segment that had this number.
    pub(crate) fn last(&self, number: SegNo) -> SegNo {
        self.first(number + 1) - 1
    }
}
