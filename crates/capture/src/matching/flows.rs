//! Pairs of flows that are the same in two captures.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::{FixedState, RandomState};

use super::trace::{ACK, Flow, Record, Trace};

/// Smallest number of packets that flows with different addresses must have in common.
const MIN_COMMON_PACKETS: u32 = 3;

/// Smallest share of the packets of the smaller flow that both must have in common: one in so many.
const MIN_COMMON_SHARE: u32 = 20;

/// Returns the flows that both traces have, by their places in each.
///
/// Behind a NAT the addresses and ports differ. The sequence numbers and the acknowledgement numbers, which
/// begin at random, then show which flows are the same.
pub(super) fn pairs(first: &Trace, second: &Trace) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut paired: HashSet<usize, RandomState> = HashSet::default();
    let mut unpaired = Vec::new();
    for (place, flow) in first.flows.iter().enumerate() {
        match second.flow(flow.key).filter(|&other| have_common(flow, &second.flows[other])) {
            Some(other) => {
                paired.insert(other);
                pairs.push((place, other));
            }
            None => unpaired.push(place),
        }
    }
    if unpaired.is_empty() || paired.len() == second.flows.len() {
        return pairs;
    }
    let mut owners: HashMap<u64, usize, RandomState> = HashMap::default();
    for (place, flow) in second.flows.iter().enumerate() {
        if !paired.contains(&place) {
            owners.extend(flow.records.iter().map(|record| (vote(flow, record), place)));
        }
    }
    for place in unpaired {
        let flow = &first.flows[place];
        let mut votes: HashMap<usize, u32, RandomState> = HashMap::default();
        for record in &flow.records {
            if let Some(&owner) = owners.get(&vote(flow, record)) {
                *votes.entry(owner).or_default() += 1;
            }
        }
        let best = votes.into_iter().max_by_key(|&(other, votes)| (votes, usize::MAX - other));
        let Some((other, votes)) = best else { continue };
        let smaller = flow.records.len().min(second.flows[other].records.len()) as u32;
        if votes >= MIN_COMMON_PACKETS.max(smaller / MIN_COMMON_SHARE) && paired.insert(other) {
            pairs.push((place, other));
        }
    }
    pairs
}

/// Returns whether two flows of the same addresses have a packet in common.
fn have_common(first: &Flow, second: &Flow) -> bool {
    let (small, large) =
        if first.records.len() < second.records.len() { (first, second) } else { (second, first) };
    let seen: HashSet<u64, RandomState> =
        small.records.iter().map(|record| vote(small, record)).collect();
    large.records.iter().any(|record| seen.contains(&vote(large, record)))
}

/// Returns a digest that a packet has in common with the larger one that it was cut from or joined to.
fn vote(flow: &Flow, record: &Record) -> u64 {
    if !flow.key.is_tcp {
        return record.digest(false, false);
    }
    let mut digest = FixedState::with_seed(2).build_hasher();
    digest.write_u32(record.seq);
    digest.write_u8(record.flags & ACK);
    digest.write_u32(record.ack);
    digest.write_u8(u8::from(record.len > 0));
    digest.finish()
}
