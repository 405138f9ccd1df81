//! Assignment of arrivals to departures.

use super::units::Unit;

/// Fate of a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It did not arrive.
    Missing,
    /// It arrived as this arrival.
    Arrived(u32),
}

/// Departures and arrivals of one flow, and which belong together.
#[derive(Debug)]
pub(super) struct Assignment {
    /// Fate of each departure.
    pub(super) fates: Vec<Fate>,
    /// Arrivals beyond the departures of the same packet: copies that the network made.
    pub(super) duplicated: u64,
    /// Arrivals of packets that did not depart.
    pub(super) undeparted: Vec<u32>,
    /// Arrivals that several departures of the same packet may belong to.
    pub(super) ambiguous: u64,
}

/// Calls `each` with the places of the same packet at both captures, for each packet.
pub(super) fn for_each_packet(
    departures: &[Unit],
    arrivals: &[Unit],
    mut each: impl FnMut(&[u32], &[u32]),
) {
    let sorted = |units: &[Unit]| {
        let mut order: Vec<u32> = (0..units.len() as u32).collect();
        order.sort_unstable_by_key(|&place| (units[place as usize].digest, place));
        order
    };
    let first = sorted(departures);
    let second = sorted(arrivals);
    let mut from = 0;
    let mut other_from = 0;
    while from < first.len() || other_from < second.len() {
        let digest = |order: &[u32], units: &[Unit], at: usize| {
            order.get(at).map(|&place| units[place as usize].digest)
        };
        let here = digest(&first, departures, from);
        let there = digest(&second, arrivals, other_from);
        let Some(digest) = here.into_iter().chain(there).min() else { break };
        let count = |order: &[u32], units: &[Unit], from: usize| {
            let same = |place: &&u32| units[**place as usize].digest == digest;
            order[from..].iter().take_while(same).count()
        };
        let to = from + count(&first, departures, from);
        let other_to = other_from + count(&second, arrivals, other_from);
        each(&first[from..to], &second[other_from..other_to]);
        from = to;
        other_from = other_to;
    }
}

/// Assigns arrivals to departures. `departed` and `arrived` return the times of units by one clock, in
/// nanoseconds; no packet takes less than `least`.
pub(super) fn assign(
    departures: &[Unit],
    arrivals: &[Unit],
    departed: impl Fn(&Unit) -> f64,
    arrived: impl Fn(&Unit) -> f64,
    least: f64,
) -> Assignment {
    let mut assignment = Assignment {
        fates: vec![Fate::Missing; departures.len()],
        duplicated: 0,
        undeparted: Vec::new(),
        ambiguous: 0,
    };
    let ids_are_kept = ids_are_kept(departures, arrivals);
    for_each_packet(departures, arrivals, |sent, received| {
        if sent.is_empty() {
            assignment.undeparted.extend(received);
            return;
        }
        let can_be = |departure: u32, arrival: u32| {
            let departure = &departures[departure as usize];
            let arrival = &arrivals[arrival as usize];
            arrived(arrival) >= departed(departure) + least
                && !(ids_are_kept && departure.id != arrival.id)
        };
        let mut free = sent.to_vec();
        // With an arrival for each departure the earliest belong together; otherwise the latest do,
        // because an earlier departure is sent again only if it seems lost.
        let all_arrived = received.len() >= sent.len();
        let order: Vec<u32> = match all_arrived {
            true => received.to_vec(),
            false => received.iter().rev().copied().collect(),
        };
        for arrival in order {
            let mut possible = (0..free.len()).filter(|&place| can_be(free[place], arrival));
            let chosen = if all_arrived { possible.next() } else { possible.next_back() };
            let Some(chosen) = chosen else {
                assignment.duplicated += 1;
                continue;
            };
            let is_ambiguous = !all_arrived && possible.next().is_some();
            assignment.ambiguous += u64::from(is_ambiguous);
            let departure = free.remove(chosen);
            assignment.fates[departure as usize] = Fate::Arrived(arrival);
        }
    });
    assignment.undeparted.sort_unstable();
    assignment
}

/// Returns whether packets arrive with the identifications with which they departed, one for each.
fn ids_are_kept(departures: &[Unit], arrivals: &[Unit]) -> bool {
    let mut same: u64 = 0;
    let mut other: u64 = 0;
    for_each_packet(departures, arrivals, |sent, received| {
        if let (&[departure], &[arrival]) = (sent, received) {
            let departure = departures[departure as usize].id;
            let is_same = departure != 0 && departure == arrivals[arrival as usize].id;
            same += u64::from(is_same);
            other += u64::from(!is_same);
        }
    });
    let constant = departures.windows(2).filter(|pair| pair[0].id == pair[1].id).count() as u64;
    // The segments of one large packet have the same identification before they are cut up.
    other == 0 && same > 0 && constant * 4 < departures.len() as u64
}
