//! Segment numbers: from 0, in stream order.

/// A segment's position in the stream, counted in segments.
pub(crate) type SegNo = u64;

/// The numbers that segments have after some of them were split.
#[derive(Clone, Debug)]
pub(crate) struct Renumbered {
    /// The first outstanding segment.
    base: SegNo,
    /// Number of the first piece of each outstanding segment, and then the number after the last piece.
    first: Vec<SegNo>,
}

impl Renumbered {
    /// Returns the numbers for segments from `base` on. `first` contains the number of the first piece of
    /// each segment, and then the number after the last piece.
    pub(crate) fn new(base: SegNo, first: Vec<SegNo>) -> Self {
        Self { base, first }
    }

    /// Returns the first piece of the segment that had this number.
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

    /// Returns the last piece of the segment that had this number.
    pub(crate) fn last(&self, number: SegNo) -> SegNo {
        self.first(number + 1) - 1
    }
}
