//! Late packets that became losses: a replay window, a limit on ranges, or old timestamps dropped them.
//!
//! A sender that distinguishes late packets from lost ones does not help where something on the way, or
//! the receiver, drops what is late.

use unruffled_units::count;

use crate::analysis::{Direction, Place, RangeEvidence};
use crate::behind::BehindCount;
use crate::cliff::Cliff;
use crate::cutoff::Cutoff;
use crate::verdict::{Cause, Sureness, Verdict, is_judged_by_time};

/// Greatest chance of a false alarm, and the share of the expected number up to which it suffices.
const CLEAR: (f64, f64) = (1e-3, 0.2);

/// The same where more than that share is there. A few packets are misjudged by the analysis itself.
const BLURRED: (f64, f64) = (1e-6, 0.33);

/// Smallest evidence of a replay window: the natural logarithm of the ratio of the likelihoods with and
/// without it.
const MIN_EVIDENCE: f64 = 8.0;

/// The same where only the time distinguishes late packets from retransmissions, so that what is very late
/// is missing anyway.
const MIN_EVIDENCE_BY_TIME: f64 = 12.0;

/// Smallest part of that evidence that the distances of late packets give.
const MIN_CLIFF: f64 = 1.5;

/// Greatest evidence that the distances end elsewhere than at the window.
const MAX_ELSEWHERE: f64 = 3.0;

/// Number of ranges that is not distinguished from greater ones.
const MAX_LIMIT: u32 = 64;

/// Smallest number of losses that is attributed.
const MIN_LOSSES: u64 = 5;

/// Share of the retransmissions from which a cause of losses is the cause of the slowness, though others
/// were spurious.
const MIN_SHARE: f64 = 0.3;

/// Smallest share of the retransmissions that a replay window caused, by the estimate of what it dropped, to
/// be the verdict. It is a setting to change even where most packets were lost otherwise.
const MIN_WINDOW_SHARE: f64 = 0.1;

/// Greatest share of the packets expected beyond a window that came, for the rest to count as evidence.
const MAX_ARRIVED: f64 = 1.0 / 3.0;

/// Losses for each time that the limit on ranges is reached. Packets are lost until a gap is filled.
const MIN_LOSSES_AT_LIMIT: f64 = 0.8;

/// Returns whether `found` events are too few by one of these limits to be due to chance where `expected`
/// are to be expected.
fn is_cut_off(expected: f64, found: u64, limits: &[(f64, f64)]) -> bool {
    let chance = poisson(found, expected);
    let share = found as f64 / expected;
    limits.iter().any(|&(most, of)| share <= of && chance < most)
}

/// Returns the chance of at most `count` events where `mean` are expected (Poisson distribution).
fn poisson(count: u64, mean: f64) -> f64 {
    let mut term = libm::exp(-mean);
    let mut sum = term;
    for n in 1..=count {
        term *= mean / n as f64;
        sum += term;
    }
    sum
}

/// Returns the replay window that dropped late packets of a transfer before the receiver, if the capture
/// shows one: that of the usual windows with the most evidence.
pub fn replay_window(direction: &Direction) -> Option<Cutoff> {
    let reordering = direction.reordering();
    let lost = direction.losses.lost - outdated(direction);
    // Where every n-th packet takes a longer way, none is later than that way, which is a cliff as well.
    if lost < MIN_LOSSES || reordering.in_turn.is_some() || range_limit(direction).is_some() {
        return None;
    }
    let min_evidence =
        if is_judged_by_time(direction) { MIN_EVIDENCE_BY_TIME } else { MIN_EVIDENCE };
    let mut best: Option<(f64, &Cutoff)> = None;
    for cutoff in &reordering.cutoffs {
        let evidence = window_evidence(&reordering.replay.behind, cutoff, lost).unwrap_or_default();
        if evidence >= min_evidence && best.is_none_or(|(most, _)| evidence > most) {
            best = Some((evidence, cutoff));
        }
    }
    best.map(|(_, cutoff)| cutoff.clone())
}

/// Returns the evidence that a window dropped late packets, where `lost` packets were lost: that of the
/// distances of the late packets, and that of their late times at different rates.
fn window_evidence(behind: &[BehindCount], cutoff: &Cutoff, lost: u64) -> Option<f64> {
    let cliff = Cliff::at(behind, cutoff.window, MIN_CLIFF)?;
    // What the window drops is sent again.
    let is_one = cliff.log_ratio >= MIN_CLIFF
        && cliff.elsewhere <= MAX_ELSEWHERE
        && lost as f64 >= cliff.missing / 2.0;
    is_one.then(|| cliff.log_ratio + rate_evidence(cutoff))
}

/// Returns the logarithm of the ratio of the likelihoods of as few packets beyond a window as arrived, and as
/// few as that where so many are expected by the late times (Poisson distribution).
fn rate_evidence(&Cutoff { expected, arrived, .. }: &Cutoff) -> f64 {
    let arrived = arrived as f64;
    if arrived >= MAX_ARRIVED * expected {
        return 0.0;
    }
    let surprise = if arrived > 0.0 { arrived * libm::log(expected / arrived) } else { 0.0 };
    expected - arrived - surprise
}

/// Returns the limit on the ranges beyond the first gap, if something on the way or the receiver has one
/// that drops packets.
pub fn range_limit(direction: &Direction) -> Option<RangeEvidence> {
    let ranges = direction.loss_evidence.ranges;
    // Where every n-th packet takes a longer way, as many ranges are open at a time without a limit.
    let is_one = direction.reordering().in_turn.is_none()
        && (2..MAX_LIMIT).contains(&ranges.limit)
        && is_cut_off(ranges.expected, ranges.exceeded, &[CLEAR, BLURRED])
        && !is_judged_by_time(direction)
        // A queue that drops pairs of packets has two gaps at a time.
        && direction.reordering().reordered >= ranges.reached
        && direction.losses.lost as f64 >= MIN_LOSSES_AT_LIMIT * ranges.reached as f64;
    is_one.then_some(ranges)
}

/// Returns how many losses are packets that the receiver discarded for an old timestamp (PAWS).
pub fn outdated(direction: &Direction) -> u64 {
    let evidence = &direction.loss_evidence;
    let discarded = match direction.place {
        _ if !direction.traffic.timestamps => 0,
        Place::Receiver => evidence.outdated,
        _ => evidence.refused.max(evidence.outdated),
    };
    discarded.min(direction.losses.lost)
}

/// Returns the verdict on a transfer whose late packets were dropped, if they were what slowed it most.
pub(crate) fn judge(direction: &Direction) -> Option<Verdict> {
    let lost = direction.losses.lost;
    let spurious = direction.retransmissions.spurious;
    if lost < MIN_LOSSES {
        return None;
    }
    let outdated = outdated(direction);
    let others = lost - outdated;
    let dominates = |losses: u64| losses as f64 >= MIN_SHARE * (lost + spurious) as f64;
    if let Some(ranges) = range_limit(direction).filter(|_| dominates(others)) {
        return Some(verdict(Cause::Ranges, no_room(direction, ranges)));
    }
    let is_cause = |cutoff: &Cutoff| {
        let share = cutoff.dropped / (lost + spurious) as f64;
        dominates(others) && others > outdated && share >= MIN_WINDOW_SHARE
    };
    if let Some(cutoff) = replay_window(direction).filter(is_cause) {
        return Some(verdict(Cause::ReplayWindow, dropped_by_window(direction, &cutoff)));
    }
    let is_late = direction.reordering().reordered > 0;
    let mostly = is_late && outdated >= spurious && outdated * 2 >= lost;
    (outdated >= MIN_LOSSES && mostly).then(|| verdict(Cause::Paws, discarded(direction, outdated)))
}

fn verdict(cause: Cause, text: String) -> Verdict {
    Verdict { cause, sureness: Sureness::Probable, text }
}

fn dropped_by_window(direction: &Direction, cutoff: &Cutoff) -> String {
    format!("A replay window: {}. No sender can avoid that.", end_of_distances(direction, cutoff))
}

/// Returns a sentence on the replay window of a transfer that something else slowed most, if one dropped
/// packets.
pub(crate) fn window_note(direction: &Direction) -> Option<String> {
    let cutoff = replay_window(direction)?;
    Some(format!(" Besides, a replay window: {}.", end_of_distances(direction, &cutoff)))
}

/// Returns the evidence of a replay window, and what may have it.
fn end_of_distances(direction: &Direction, &Cutoff { window, dropped, .. }: &Cutoff) -> String {
    let lost = direction.losses.lost;
    let within = |from: u64, to: u64| {
        let counts = direction.reordering().replay.behind.iter();
        let counts = counts.filter(|count| (from..to).contains(&count.behind));
        counts.map(|count| count.packets).sum::<u64>()
    };
    let part = window / 4;
    format!(
        "packets come late up to {} behind the newest one, and hardly any further: {} came {} to {} behind, \
         and {} came {window} to {} behind. A tunnel on the way dropped about {} ({}; its window is larger if it \
         carries other packets too), and {} needed in all",
        count(window - 1, "packet"),
        within(window - part, window),
        window - part,
        window - 1,
        within(window, window + part),
        window + part - 1,
        count(dropped.round().clamp(1.0, lost as f64) as u64, "packet"),
        programs(window),
        match lost {
            1 => "1 retransmission was".to_owned(),
            lost => format!("{lost} retransmissions were"),
        },
    )
}

/// Returns the programs that have a window of that size (docs/guide/tunnels.md).
fn programs(window: u64) -> &'static str {
    match window {
        32 => "as ESP of Linux does with its default window of 32",
        64 => "as OpenVPN and DTLS do with their window of 64",
        128 => "as SRTP and tinc 1.0 do with their window of 128",
        256 => "as tinc 1.1 does with its window of 256",
        1024 => "as boringtun and Nebula up to 1.11 do with their window of 1024",
        4096 => "as ESP or OpenVPN do with a window of 4096",
        _ => "as WireGuard does with its window of 8129, and Nebula 1.12 with 8192",
    }
}

fn no_room(direction: &Direction, ranges: RangeEvidence) -> String {
    let RangeEvidence { limit, reached, expected, exceeded } = ranges;
    let at_receiver = direction.place == Place::Receiver;
    let came = direction.loss_evidence.passed_here;
    let place = match at_receiver {
        true if came * 2 >= direction.losses.lost => {
            "The receiver discards them: they passed this host and were not acknowledged"
        }
        true => "A firewall before this host drops them",
        false => "The receiver, or a firewall before it, drops them",
    };
    format!(
        "No room for ranges: the receiver holds up to {limit} ranges beyond the first gap ({reached} times) and \
         hardly ever more ({exceeded} times, where {expected:.0} were to be expected). A packet that would \
         open one more is lost. {place}, and no sender can avoid that."
    )
}

fn discarded(direction: &Direction, outdated: u64) -> String {
    let seen = match direction.place {
        Place::Receiver => "with a timestamp older than that of a retransmission before them",
        _ => "and it repeated its last acknowledgement for each",
    };
    format!(
        "Timestamps: the receiver discarded {} that came late ({seen}: PAWS), so that they were sent again: \
         {outdated} of {} needed retransmissions. {} more were spurious.",
        count(outdated, "packet"),
        direction.losses.lost,
        direction.retransmissions.spurious,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_poisson_distribution() {
        assert!((poisson(0, 7.0) - 0.000_912).abs() < 1e-6);
        assert!((poisson(2, 3.0) - 0.423_19).abs() < 1e-5);
        assert!((poisson(1000, 10.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_where_many_are_expected_are_cut_off() {
        for (expected, found, cut) in [
            (7.0, 0, true),
            (6.0, 0, false),
            (10.0, 1, true),
            (17.0, 6, false),
            (87.0, 26, true),
            (100.0, 60, false),
            (0.0, 0, false),
        ] {
            assert_eq!(is_cut_off(expected, found, &[CLEAR, BLURRED]), cut, "{expected} {found}");
        }
    }
}
