//! Receiver of a synthetic transfer.

use std::collections::BTreeMap;

use unruffled_capture::Segment;

/// A receiver that acknowledges each segment at once.
pub(crate) struct Receiver {
    sack: bool,
    /// Next octet expected.
    next: u64,
    /// Data received beyond `next`: the first octet of each block, and the octet after its last.
    held: BTreeMap<u64, u64>,
    /// First octet of the segment that arrived last.
    latest: Option<u64>,
    /// Timestamp to echo.
    stamp: Option<u32>,
    /// Future arrivals, by time and by order of sending. `None` repeats the last acknowledgement.
    arrivals: BTreeMap<(u64, u64), Option<Segment>>,
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
            arrivals: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Sets the timestamp to echo.
    pub(crate) fn set_stamp(&mut self, stamp: Option<u32>) {
        self.stamp = stamp;
    }

    /// Schedules the arrival of `segment` at `at`.
    pub(crate) fn expect(&mut self, at: u64, segment: Segment) {
        self.sent += 1;
        self.arrivals.insert((at, self.sent), Some(segment));
    }

    /// Schedules a repetition of the last acknowledgement at `at`.
    pub(crate) fn repeat(&mut self, at: u64) {
        self.sent += 1;
        self.arrivals.insert((at, self.sent), None);
    }

    /// Returns the next acknowledgement and its time, if it is sent by `until`.
    pub(crate) fn answer(&mut self, until: u64) -> Option<(u64, Segment)> {
        let (at, arrived) = self.arrivals.pop_first()?;
        if at.0 > until {
            self.arrivals.insert(at, arrived);
            return None;
        }
        let duplicate = arrived.and_then(|segment| self.accept(&segment));
        let mut answer = Segment {
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
                answer.sack.iter_mut().zip(duplicate.into_iter().chain(blocks)).take(3)
            {
                *slot = (from as u32, to as u32);
                answer.sack_count += 1;
            }
        }
        Some((at.0, answer))
    }

    /// Accepts a segment; returns its bounds if all of it had arrived before (RFC 2883).
    fn accept(&mut self, segment: &Segment) -> Option<(u64, u64)> {
        let ahead = segment.seq.wrapping_sub(self.next as u32) as i32;
        let start = self.next.saturating_add_signed(i64::from(ahead));
        let end = start + u64::from(segment.len);
        if start <= self.next {
            self.stamp = segment.timestamps.map(|(stamp, _)| stamp);
        }
        let contains = |(&from, &to): (&u64, &u64)| from <= start && end <= to;
        if end <= self.next || self.held.iter().any(contains) {
            return Some((start, end));
        }
        self.latest = Some(start);
        self.held.insert(start, end);
        // Adjacent blocks become one.
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (&from, &to) in &self.held {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        self.held = merged.into_iter().collect();
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
