//! The origin of the losses of a transfer, as far as its capture shows it.
//!
//! Losses of the path itself occur without reordering as well. Losses of its queue occur in a model
//! of the queue. Packets that a receiver discards because a retransmission overtook them were never
//! lost. The first kind requires a path with losses, the others one without.

use serde::Serialize;
use unruffled_capture::{Direction, Place, range_limit, replay_window};

/// The origin of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossOrigin {
    /// There were no losses.
    None,
    /// The path, which loses packets independently of reordering.
    Path,
    /// The queue, which overflowed.
    Queue,
    /// Reordering: the receiver discarded packets that a retransmission had overtaken.
    Reordering,
    /// A replay window on the way, which dropped packets that came late.
    ReplayWindow,
    /// The receiver, or a firewall before it, which had no room for more ranges beyond a gap.
    Ranges,
    /// The capture does not show the origin.
    Undecided,
}

/// The origin of the losses, and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// The origin.
    pub decision: LossOrigin,
    /// The evidence as a sentence.
    pub evidence: String,
}

impl Losses {
    /// Returns the origin and the evidence as a sentence.
    pub fn in_words(&self) -> String {
        let whose = match self.decision {
            LossOrigin::None => return self.evidence.clone(),
            LossOrigin::Path => "The losses are the path's",
            LossOrigin::Queue => "The losses are its queue's",
            LossOrigin::Reordering => "The losses are reordering's doing",
            LossOrigin::ReplayWindow => "The losses are a replay window's",
            LossOrigin::Ranges => "The losses are those of a limit on ranges",
            LossOrigin::Undecided => "Whose doing the losses are is undecided",
        };
        let mut evidence = self.evidence.chars();
        let first = evidence.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
        format!("{whose}: {first}{}", evidence.as_str())
    }

    /// Returns whether it is likelier that only the queue of the path drops packets.
    pub fn lossless(&self) -> bool {
        !matches!(self.decision, LossOrigin::Path | LossOrigin::Undecided)
    }
}

/// The share of the losses that decides the origin of all.
const DECISIVE_SHARE: f64 = 0.75;

/// The largest share of the losses that is ignored.
const IGNORED_SHARE: f64 = 0.15;

/// The largest share of segments that the receiver may discard without a visible acknowledgement,
/// because Linux joins some acknowledgements. A path that loses as much cannot be distinguished.
const MAX_UNSEEN_SHARE: f64 = 0.002;

/// The smallest numbers of loss events that show an overflow of the queue, and losses independent
/// of it.
const MIN_EVENTS: (u64, u64) = (4, 8);

/// The share of the path's rate from which a transfer keeps its queue full, so that all losses look
/// alike.
const BUSY_SHARE: f64 = 0.85;

/// The rank of the queueing delay beside a loss, among all segments, from which the queue was full.
/// If losses do not depend on the queue, the mean over the events is 0.5, with a standard deviation
/// of 0.29 divided by the root of their number.
const FULL_QUEUE_RANK: f64 = 0.85;

/// The accepted deviation of a mean, in standard deviations.
const MAX_SIGMAS: f64 = 2.5;

/// Determines the origin of the losses in `direction`.
pub fn losses(direction: &Direction) -> Losses {
    let decide = |decision, evidence: String| Losses { decision, evidence };
    let (lost, seen) = (direction.losses.lost, &direction.loss_evidence);
    if lost == 0 {
        return decide(LossOrigin::None, "No retransmission was needed.".to_owned());
    }
    if let Some(ranges) = range_limit(direction) {
        let evidence = format!(
            "The receiver holds up to {} ranges beyond the first gap, and hardly ever more.",
            ranges.limit
        );
        return decide(LossOrigin::Ranges, evidence);
    }
    if let Some(cutoff) = replay_window(direction) {
        let evidence = format!(
            "Late packets come up to {} behind the newest one, and hardly any further.",
            cutoff.window - 1
        );
        return decide(LossOrigin::ReplayWindow, evidence);
    }
    let share = |part: u64| part as f64 / lost as f64;
    let late = direction.reordering().reordered;
    // A capture at the receiver shows which packets arrived.
    if direction.place == Place::Receiver {
        let (came, missing) = (seen.passed_here, seen.not_passed_here);
        if late > 0 && share(came) >= DECISIVE_SHARE && missing == 0 {
            let evidence = format!(
                "The originals of {came} of {lost} needed retransmissions came late and were discarded \
                 by the receiver (PAWS)."
            );
            return decide(LossOrigin::Reordering, evidence);
        }
        let evidence = format!(
            "The originals of {missing} of {lost} needed retransmissions never came; whether the path or \
             its queue lost them is not seen at the receiver."
        );
        return decide(LossOrigin::Undecided, evidence);
    }
    let refused = if direction.traffic.timestamps { seen.refused } else { 0 };
    let unseen = lost.saturating_sub(refused) as f64 / direction.traffic.segments.max(1) as f64;
    if late > 0 && share(refused) >= DECISIVE_SHARE && unseen < MAX_UNSEEN_SHARE {
        let evidence = format!(
            "For {lost} needed retransmissions there are {refused} acknowledgements that repeat the one \
             before, by which a receiver with timestamps answers to a late packet that it discards \
             (PAWS)."
        );
        return decide(LossOrigin::Reordering, evidence);
    }
    // An overflowing queue drops many segments in one event, a receiver discards few.
    let events = seen.events.max(1) as f64;
    if late > 0 && share(refused).max(refused as f64 / events) > IGNORED_SHARE {
        let evidence = format!(
            "The receiver discarded about {refused} late packets (PAWS), which accounts for a part of {lost} \
             needed retransmissions."
        );
        return decide(LossOrigin::Undecided, evidence);
    }
    // Without DSACK, spurious retransmissions count as losses.
    let reports = direction.retransmissions.dsacks > 0;
    let trusted = late == 0 || reports;
    let (Some(rank), events) = (seen.queue_rank, seen.queue_events) else {
        return decide(
            LossOrigin::Undecided,
            "How full the queue was at the losses is not seen.".to_owned(),
        );
    };
    let error = MAX_SIGMAS * 0.29 / (events.max(1) as f64).sqrt();
    if events < MIN_EVENTS.0 {
        let evidence =
            format!("{events} loss events are too few to decide whether the queue overflowed.");
        return decide(LossOrigin::Undecided, evidence);
    }
    let percent = rank * 100.0;
    if rank >= FULL_QUEUE_RANK && rank > 0.5 + error {
        let evidence = format!(
            "Beside {events} loss events, packets had waited longer in the queue than {percent:.0} % of all \
             did: it overflowed."
        );
        return decide(LossOrigin::Queue, evidence);
    }
    if events < MIN_EVENTS.1 {
        let evidence =
            format!("{events} loss events are too few to decide whether they depend on the queue.");
        return decide(LossOrigin::Undecided, evidence);
    }
    if !trusted {
        let evidence = "The receiver reports no duplicates, so that spurious retransmissions count as \
                        losses.";
        return decide(LossOrigin::Undecided, evidence.to_owned());
    }
    if rank - 0.5 <= error && rank + error < FULL_QUEUE_RANK && !is_busy(direction) {
        let away = seen.away_from_late;
        let near = match (late, away) {
            (0, _) => ", and nothing came late".to_owned(),
            (_, 0) => String::new(),
            (_, away) => format!(", {away} of them while nothing was late"),
        };
        let evidence = format!(
            "The {events} loss events do not depend on the queue: packets beside them had waited longer \
             than {percent:.0} % of all{near}."
        );
        return decide(LossOrigin::Path, evidence);
    }
    let evidence = format!(
        "Beside {events} loss events, packets had waited longer in the queue than {percent:.0} % of all, \
         which fits both losses of the path and an overflowing queue."
    );
    decide(LossOrigin::Undecided, evidence)
}

/// Returns whether the transfer kept its path full all the time.
fn is_busy(direction: &Direction) -> bool {
    let bits = f64::from(direction.traffic.segment_bytes) * 8.0;
    let most_bps = direction.spacing_ms.map(|spacing_ms| bits / spacing_ms.max(1e-6) * 1000.0);
    most_bps.is_some_and(|most_bps| direction.traffic.goodput_bps > BUSY_SHARE * most_bps)
}
