//! Reorder density and reorder buffer-occupancy density (RFC 5236), packet by packet.

use std::collections::VecDeque;

/// Displacement threshold DT and buffer threshold BT, in packets. A packet beyond them counts as lost
/// (RFC 5236, section 5, leaves the choice open).
const THRESHOLD: usize = 128;

/// Both densities of one stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Densities {
    // These two suffice while every packet is in order.
    in_order: u64,
    next: u64,
    disorder: Option<Box<Disorder>>,
}

/// State of both algorithms, from the first out-of-order packet on.
#[derive(Clone, Debug)]
struct Disorder {
    /// RI: the receive index.
    index: u64,
    /// Arrivals that have no displacement yet.
    window: VecDeque<u64>,
    /// Early arrivals whose number is above the receive index.
    early: Vec<u64>,
    /// FD: counts by displacement, from −DT to DT.
    displacements: Box<[u64; 2 * THRESHOLD + 1]>,
    /// E: the number of the expected packet.
    expected: u64,
    /// Packets in the hypothetical buffer.
    buffer: Vec<u64>,
    /// FB: counts by occupancy, from 0 to BT.
    occupancies: Box<[u64; THRESHOLD + 1]>,
}

impl Densities {
    /// Records the first arrival of packet `number`. The first number may be any.
    pub(crate) fn arrive(&mut self, number: u64) {
        let Self { in_order, next, disorder } = self;
        if *in_order == 0 {
            *next = number;
        }
        match disorder {
            None if number == *next => {
                *in_order += 1;
                *next += 1;
            }
            None => disorder.insert(Box::new(Disorder::new(*next))).arrive(number),
            Some(disorder) => disorder.arrive(number),
        }
    }

    /// Returns RD: the share of each displacement that occurred.
    pub(crate) fn displacement(&self) -> Vec<(i32, f64)> {
        let mut counts = [0; 2 * THRESHOLD + 1];
        if let Some(disorder) = &self.disorder {
            let mut at_end = disorder.clone();
            at_end.drain();
            counts = *at_end.displacements;
        }
        counts[THRESHOLD] += self.in_order;
        shares(&counts, THRESHOLD as i32)
    }

    /// Returns RBD: the share of each occupancy that occurred.
    pub(crate) fn occupancy(&self) -> Vec<(i32, f64)> {
        let disorder = self.disorder.as_ref();
        let mut counts = disorder.map_or([0; THRESHOLD + 1], |disorder| *disorder.occupancies);
        counts[0] += self.in_order;
        shares(&counts, 0)
    }
}

/// Returns the share of each value that occurred; the first count is that of value `-zero`.
fn shares(counts: &[u64], zero: i32) -> Vec<(i32, f64)> {
    let all: u64 = counts.iter().sum();
    let occurred = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
    occurred.map(|(at, &count)| (at as i32 - zero, count as f64 / all as f64)).collect()
}

impl Disorder {
    fn new(next: u64) -> Self {
        Self {
            index: next,
            window: VecDeque::new(),
            early: Vec::new(),
            displacements: Box::new([0; 2 * THRESHOLD + 1]),
            expected: next,
            buffer: Vec::new(),
            occupancies: Box::new([0; THRESHOLD + 1]),
        }
    }

    fn arrive(&mut self, number: u64) {
        self.displace(number);
        self.occupy(number);
    }

    /// Updates the displacements (RFC 5236, section 7.1).
    ///
    /// The RFC keeps its window full. This counts a displacement as soon as it is certain; the result
    /// is the same, because later arrivals do not change indices already assigned.
    fn displace(&mut self, number: u64) {
        if number == self.index && self.window.is_empty() && self.early.is_empty() {
            self.displacements[THRESHOLD] += 1;
            self.index += 1;
            return;
        }
        if number < self.index || self.early.contains(&number) || self.window.contains(&number) {
            return;
        }
        self.window.push_back(number);
        loop {
            if self.window.contains(&self.index) || self.early.contains(&self.index) {
                self.count();
                if self.window.is_empty() {
                    return;
                }
            } else if self.window.len() > THRESHOLD {
                self.skip();
            } else {
                return;
            }
        }
    }

    /// Assigns the receive index to the packet at the head of the window.
    fn count(&mut self) {
        let Some(number) = self.window.pop_front() else { return };
        let displacement = self.index as i64 - number as i64;
        if displacement.unsigned_abs() <= THRESHOLD as u64 {
            self.displacements[(displacement + THRESHOLD as i64) as usize] += 1;
            let index = self.index;
            self.early.retain(|&early| early != index);
            if displacement < 0 {
                self.early.push(number);
            }
            self.index += 1;
        }
    }

    /// Advances the receive index past a lost packet.
    fn skip(&mut self) {
        let least = self.window.iter().chain(&self.early).min();
        self.index = least.map_or(self.index + 1, |&least| least.max(self.index + 1));
    }

    /// Counts what is left in the window at the end of the stream.
    fn drain(&mut self) {
        while !self.window.is_empty() {
            if self.window.contains(&self.index) || self.early.contains(&self.index) {
                self.count();
            } else {
                self.skip();
            }
        }
    }

    /// Updates the occupancies (RFC 5236, section 7.2).
    fn occupy(&mut self, number: u64) {
        if number < self.expected || self.buffer.contains(&number) {
            return;
        }
        if number == self.expected {
            self.expected += 1;
            self.release();
        } else if self.buffer.len() < THRESHOLD {
            self.buffer.push(number);
        } else {
            // The expected packet is later than the threshold allows and counts as lost.
            self.buffer.push(number);
            self.expected = self.buffer.iter().min().copied().unwrap_or(number);
            self.release();
        }
        self.occupancies[self.buffer.len().min(THRESHOLD)] += 1;
    }

    /// Removes the packets that are now in order from the buffer.
    fn release(&mut self) {
        while let Some(at) = self.buffer.iter().position(|&held| held == self.expected) {
            self.buffer.swap_remove(at);
            self.expected += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn densities(arrivals: &[u64]) -> Densities {
        let mut densities = Densities::default();
        arrivals.iter().for_each(|&number| densities.arrive(number));
        densities
    }

    /// RFC 5236, section 8, scenario a.
    #[test]
    fn densities_are_those_of_the_example_without_loss() {
        let densities = densities(&[1, 4, 2, 5, 3, 6, 7, 8]);
        let eighths = |n: u32| f64::from(n) / 8.0;
        let expected = [(-2, 1), (-1, 1), (0, 4), (1, 1), (2, 1)];
        assert_eq!(densities.displacement(), expected.map(|(d, n)| (d, eighths(n))));
        assert_eq!(densities.occupancy(), [(0, 5), (1, 2), (2, 1)].map(|(b, n)| (b, eighths(n))));
    }

    /// RFC 5236, section 3.1, example 2, and section 3.3, example 3: packet 2 is lost.
    #[test]
    fn the_receive_index_skips_a_lost_packet() {
        let densities = densities(&[1, 4, 3, 5, 3, 8, 7, 6]);
        let expected = [(-2, 1.0), (-1, 1.0), (0, 3.0), (1, 1.0), (2, 1.0)];
        assert_eq!(densities.displacement(), expected.map(|(d, n)| (d, n / 7.0)));
    }

    #[test]
    fn a_stream_in_order_needs_no_buffers() {
        let numbers: Vec<u64> = (7..10_000).collect();
        let densities = densities(&numbers);
        assert!(densities.disorder.is_none());
        assert_eq!(densities.displacement(), [(0, 1.0)]);
        assert_eq!(densities.occupancy(), [(0, 1.0)]);
    }

    #[test]
    fn losses_without_reordering_cause_no_displacement() {
        let numbers: Vec<u64> = (1..10_000).filter(|n| n % 7 != 0).collect();
        assert_eq!(densities(&numbers).displacement(), [(0, 1.0)]);
    }
}
