//! The receiver of a transfer.

use std::collections::BTreeMap;

use unruffled_capture::Segment;

/// A receiver that acknowledges each segment at once.
pub(crate) struct Receiver {
    sack: bool,
    /// The next octet.
    next: u64,
    /// What is there beyond it: first octets, and those after the last.
    held: BTreeMap<u64, u64>,
    /// The block that came last.
    latest: Option<u64>,
    stamp: Option<u32>,
    /// What is to arrive: when, and in which order it was sent; nothing repeats what was told last.
    coming: BTreeMap<(u64, u64), Option<Segment>>,
    sent: u64,
}

impl Receiver {
    pub(crate) fn new(next: u64, sack: bool) -> Self {
        Self {
            sack,
            next,
            held: BTreeMap::new(),
            latest: None,
            stamp: None,
            coming: BTreeMap::new(),
            sent: 0,
        }
    }

    /// The timestamp that it echoes.
    pub(crate) fn stamp(&mut self, stamp: Option<u32>) {
        self.stamp = stamp;
    }

    /// `segment` arrives at `at`.
    pub(crate) fn expect(&mut self, at: u64, segment: Segment) {
        self.sent += 1;
        self.coming.insert((at, self.sent), Some(segment));
    }

    /// It acknowledges the same once more at `at`.
    pub(crate) fn repeat(&mut self, at: u64) {
        self.sent += 1;
        self.coming.insert((at, self.sent), None);
    }

    /// The next acknowledgement, if it is sent by `until`.
    pub(crate) fn answer(&mut self, until: u64) -> Option<(u64, Segment)> {
        let (at, arrived) = self.coming.pop_first()?;
        if at.0 > until {
            self.coming.insert(at, arrived);
            return None;
        }
        let twice = arrived.and_then(|segment| self.take(&segment));
        let mut told = Segment {
            seq: 1000,
            ack: Some(self.next as u32),
            timestamps: self.stamp.map(|echo| (1 + (at.0 / 1000) as u32, echo)),
            ..Segment::default()
        };
        if self.sack {
            let latest = self.latest.and_then(|at| self.held.range(..=at).next_back());
            let others = self.held.iter().filter(|&block| Some(block) != latest);
            let blocks = latest.into_iter().chain(others).map(|(&from, &to)| (from, to));
            for (slot, (from, to)) in
                told.sack.iter_mut().zip(twice.into_iter().chain(blocks)).take(3)
            {
                *slot = (from as u32, to as u32);
                told.sack_count += 1;
            }
        }
        Some((at.0, told))
    }

    /// Takes a segment; gives what of it was there already, if all was (RFC 2883).
    fn take(&mut self, segment: &Segment) -> Option<(u64, u64)> {
        let ahead = segment.seq.wrapping_sub(self.next as u32) as i32;
        let start = self.next.saturating_add_signed(i64::from(ahead));
        let end = start + u64::from(segment.len);
        if start <= self.next {
            self.stamp = segment.timestamps.map(|(stamp, _)| stamp);
        }
        let there = |(&from, &to): (&u64, &u64)| from <= start && end <= to;
        if end <= self.next || self.held.iter().any(there) {
            return Some((start, end));
        }
        self.latest = Some(start);
        self.held.insert(start, end);
        // What touches is one block.
        let mut whole: Vec<(u64, u64)> = Vec::new();
        for (&from, &to) in &self.held {
            match whole.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => whole.push((from, to)),
            }
        }
        self.held = whole.into_iter().collect();
        while let Some((&from, &to)) = self.held.first_key_value() {
            if from > self.next {
                break;
            }
            self.next = self.next.max(to);
            self.held.remove(&from);
        }
        None
    }
}
