//! Whose doing the losses of a transfer were, as far as its capture tells.
//!
//! What the path itself loses is lost without reordering as well; what its queue drops, a model of
//! the queue drops too; and what a receiver discards because a retransmission overtook it was never
//! lost. The first wants a path with losses, the others one without.

use serde::Serialize;
use unruffled_capture::{Direction, Place};

/// Whose doing losses were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Blamed {
    /// Nothing was lost.
    None,
    /// The path's: it loses packets whether others overtake them or not.
    Path,
    /// The queue's: it overflowed.
    Queue,
    /// That of late packets: the receiver discarded what a retransmission had overtaken.
    Reordering,
    /// The capture does not decide.
    Undecided,
}

/// Whose doing the losses were, and what says so.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// Whose.
    pub decision: Blamed,
    /// One sentence.
    pub evidence: String,
}

impl Losses {
    /// The decision and what says so, as a sentence.
    pub fn in_words(&self) -> String {
        let whose = match self.decision {
            Blamed::None => return self.evidence.clone(),
            Blamed::Path => "The losses are the path's",
            Blamed::Queue => "The losses are its queue's",
            Blamed::Reordering => "The losses are reordering's doing",
            Blamed::Undecided => "Whose doing the losses are is undecided",
        };
        let mut evidence = self.evidence.chars();
        let first = evidence.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
        format!("{whose}: {first}{}", evidence.as_str())
    }

    /// Whether the path is likelier to lose nothing but what its queue drops.
    pub fn lossless(&self) -> bool {
        matches!(self.decision, Blamed::None | Blamed::Queue | Blamed::Reordering)
    }
}

/// This share of the losses decides for all.
const MOST: f64 = 0.75;

/// So little of them is left out of account.
const FEW: f64 = 0.15;

/// Discards that acknowledgements do not show are so few of all segments: Linux joins some
/// acknowledgements into one. A path that loses as much itself is not told from them.
const UNSEEN: f64 = 0.002;

/// Fewer loss events do not tell that the queue overflowed, or that they do not depend on it.
const EVENTS: (u64, u64) = (4, 8);

/// Who gets this share of the path's rate keeps its queue full, so that all losses look alike.
const BUSY: f64 = 0.85;

/// Segments beside a loss waited longer in the queue than this share of all: it was full. Where
/// losses do not depend on the queue, the mean of so many events is 0.5, with a standard deviation of
/// 0.29 by the root of their number.
const FULL: f64 = 0.85;

/// Standard deviations that a mean may be off.
const SIGMAS: f64 = 2.5;

/// Whose doing the losses of `direction` were.
pub fn losses(direction: &Direction) -> Losses {
    let told = |decision, evidence: String| Losses { decision, evidence };
    let (lost, seen) = (direction.losses.lost, &direction.loss_evidence);
    if lost == 0 {
        return told(Blamed::None, "No retransmission was needed.".to_owned());
    }
    let share = |part: u64| part as f64 / lost as f64;
    let late = direction.reordering().reordered;
    // At the receiver it is seen what came.
    if direction.place == Place::Receiver {
        let (came, missing) = (seen.passed_here, seen.not_passed_here);
        if late > 0 && share(came) >= MOST && missing == 0 {
            let evidence = format!(
                "The originals of {came} of {lost} needed retransmissions came late and were discarded \
                 by the receiver (PAWS)."
            );
            return told(Blamed::Reordering, evidence);
        }
        let evidence = format!(
            "The originals of {missing} of {lost} needed retransmissions never came; whether the path or \
             its queue lost them is not seen at the receiver."
        );
        return told(Blamed::Undecided, evidence);
    }
    let refused = if direction.traffic.timestamps { seen.refused } else { 0 };
    let unseen = lost.saturating_sub(refused) as f64 / direction.traffic.segments.max(1) as f64;
    if late > 0 && share(refused) >= MOST && unseen < UNSEEN {
        let evidence = format!(
            "For {lost} needed retransmissions there are {refused} acknowledgements that repeat the one \
             before, by which a receiver with timestamps answers to a late packet that it discards \
             (PAWS)."
        );
        return told(Blamed::Reordering, evidence);
    }
    // A queue that overflows loses many segments in one event, a receiver discards few.
    let events = seen.events.max(1) as f64;
    if late > 0 && share(refused).max(refused as f64 / events) > FEW {
        let evidence = format!(
            "The receiver discarded about {refused} late packets (PAWS), which accounts for a part of {lost} \
             needed retransmissions."
        );
        return told(Blamed::Undecided, evidence);
    }
    // A receiver that sends no DSACK leaves what was spurious among the losses.
    let reports = direction.retransmissions.dsacks > 0;
    let trusted = late == 0 || reports;
    let (Some(rank), events) = (seen.queue_rank, seen.queue_events) else {
        return told(
            Blamed::Undecided,
            "How full the queue was at the losses is not seen.".to_owned(),
        );
    };
    let error = SIGMAS * 0.29 / (events.max(1) as f64).sqrt();
    if events < EVENTS.0 {
        let evidence =
            format!("{events} loss events are too few to tell whether the queue overflowed.");
        return told(Blamed::Undecided, evidence);
    }
    let percent = rank * 100.0;
    if rank >= FULL && rank > 0.5 + error {
        let evidence = format!(
            "Beside {events} loss events, packets had waited longer in the queue than {percent:.0} % of all \
             did: it overflowed."
        );
        return told(Blamed::Queue, evidence);
    }
    if events < EVENTS.1 {
        let evidence =
            format!("{events} loss events are too few to tell whether they depend on the queue.");
        return told(Blamed::Undecided, evidence);
    }
    if !trusted {
        let evidence = "The receiver reports no duplicates, so that spurious retransmissions count as \
                        losses.";
        return told(Blamed::Undecided, evidence.to_owned());
    }
    if rank - 0.5 <= error && rank + error < FULL && !is_busy(direction) {
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
        return told(Blamed::Path, evidence);
    }
    let evidence = format!(
        "Beside {events} loss events, packets had waited longer in the queue than {percent:.0} % of all, \
         which fits both losses of the path and an overflowing queue."
    );
    told(Blamed::Undecided, evidence)
}

/// Whether the transfer had its path full all the time.
fn is_busy(direction: &Direction) -> bool {
    let bits = f64::from(direction.traffic.segment_bytes) * 8.0;
    let most_bps = direction.spacing_ms.map(|spacing_ms| bits / spacing_ms.max(1e-6) * 1000.0);
    most_bps.is_some_and(|most_bps| direction.traffic.goodput_bps > BUSY * most_bps)
}
