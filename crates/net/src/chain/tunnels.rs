//! Tunnels over several links, whose packets are numbered where they enter the tunnel.

use super::Step;
use crate::paths::Tunnel;

/// The tunnels of the paths.
#[derive(Debug)]
pub(super) struct Tunnels {
    /// The link at whose far end each tunnel ends.
    closes: Vec<usize>,
    /// The steps at which packets enter a tunnel, and its index.
    entries: Vec<(usize, usize)>,
    /// Number of packets that have entered each tunnel.
    pub(super) counts: Vec<u64>,
}

impl Tunnels {
    /// Finds the steps at which packets enter the tunnels.
    pub(super) fn new(tunnels: &[Tunnel], steps: &[Step]) -> Self {
        let mut entries = Vec::new();
        let mut begin = 0;
        for way in steps.split_inclusive(|step| step.last) {
            for (index, tunnel) in tunnels.iter().enumerate() {
                let end = way.iter().position(|step| step.link == tunnel.closes);
                let entry = way.iter().position(|step| tunnel.opens.contains(&step.link));
                if let (Some(end), Some(entry)) = (end, entry)
                    && entry <= end
                {
                    entries.push((begin + entry, index));
                }
            }
            begin += way.len();
        }
        let closes = tunnels.iter().map(|tunnel| tunnel.closes).collect();
        Self { closes, entries, counts: vec![0; tunnels.len()] }
    }

    /// Numbers a packet in the tunnels that it enters at `step`.
    pub(super) fn enter(&mut self, step: usize, numbers: &mut [u64]) {
        for &(_, tunnel) in self.entries.iter().filter(|(entry, _)| *entry == step) {
            self.counts[tunnel] += 1;
            numbers[tunnel] = self.counts[tunnel];
        }
    }

    /// Returns the number of a packet in the tunnel that ends at the far end of `link`, of its `numbers`. `None`
    /// if no tunnel ends there.
    pub(super) fn number(&self, link: usize, numbers: &[u64]) -> Option<u64> {
        let tunnel = self.closes.iter().position(|closes| *closes == link)?;
        numbers.get(tunnel).copied()
    }
}
