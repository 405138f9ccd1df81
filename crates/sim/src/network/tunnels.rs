//! Tunnels over several links, whose packets are numbered where they enter the tunnel.

use unruffled_measure::LinkId;

use super::Step;

/// The tunnels of a network.
#[derive(Debug, Default)]
pub(super) struct Tunnels {
    /// The links at which each tunnel begins, and the link at whose far end it ends.
    pub(super) plans: Vec<(Vec<LinkId>, LinkId)>,
    /// The steps at which packets enter a tunnel, and its index, in ascending order.
    entries: Vec<(u32, usize)>,
    /// Number of packets that have entered each tunnel.
    counts: Vec<u64>,
    /// For each packet, its number in each tunnel, 0 if it has not entered it.
    numbers: Vec<u64>,
}

impl Tunnels {
    /// Returns whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// Finds the steps at which packets enter tunnels, and marks them. All paths must be known.
    pub(super) fn seal(&mut self, steps: &mut [Step]) {
        self.counts = vec![0; self.plans.len()];
        let mut begin = 0;
        while begin < steps.len() {
            let len = steps[begin..].iter().take_while(|step| !step.last).count() + 1;
            let path = &mut steps[begin..begin + len];
            for (tunnel, (opens, closes)) in self.plans.iter().enumerate() {
                let end = path.iter().position(|step| step.link == *closes);
                let entry = path.iter().position(|step| opens.contains(&step.link));
                if let (Some(end), Some(entry)) = (end, entry)
                    && entry <= end
                {
                    path[entry].opens = true;
                    self.entries.push(((begin + entry) as u32, tunnel));
                }
            }
            begin += len;
        }
        self.entries.sort_unstable();
    }

    /// Numbers a packet in the tunnels that it enters at `step`.
    #[cold]
    pub(super) fn enter(&mut self, id: u32, step: u32) {
        let from = self.entries.partition_point(|(entry, _)| *entry < step);
        for index in from..self.entries.len() {
            let (entry, tunnel) = self.entries[index];
            if entry != step {
                break;
            }
            self.counts[tunnel] += 1;
            let place = self.place(id, tunnel);
            self.numbers[place] = self.counts[tunnel];
        }
    }

    /// Returns the number of a packet in the tunnel that ends at the far end of `link`, 0 if it has not entered
    /// it. `None` if no tunnel ends there.
    pub(super) fn number(&self, id: u32, link: LinkId) -> Option<u64> {
        let tunnel = self.plans.iter().position(|(_, closes)| *closes == link)?;
        self.numbers.get(self.place(id, tunnel)).copied()
    }

    /// Removes the numbers of an earlier packet from the packet `id`.
    #[cold]
    pub(super) fn forget(&mut self, id: u32) {
        let count = self.plans.len();
        let begin = self.place(id, 0);
        if self.numbers.len() < begin + count {
            self.numbers.resize(begin + count, 0);
        }
        self.numbers[begin..begin + count].fill(0);
    }

    /// Gives a copy of a packet the packet's numbers.
    #[cold]
    pub(super) fn copy(&mut self, copy: u32, id: u32) {
        let from = self.place(id, 0);
        let to = self.place(copy, 0);
        self.numbers.copy_within(from..from + self.plans.len(), to);
    }

    /// Returns the place of a packet's number in a tunnel.
    fn place(&self, id: u32, tunnel: usize) -> usize {
        id as usize * self.plans.len() + tunnel
    }
}
