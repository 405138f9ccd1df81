//! The remedies for reordering, and the hosts on which each of them works.

use serde::Serialize;
use unruffled_capture::{Cause, Direction, Place};

/// The share of the late packets that must be late at the place of the capture for a resequencer there
/// to help. SACK blocks, which show the other late packets, are less exact than the packets.
const MIN_LATE_HERE: f64 = 0.8;

/// A remedy that keeps the goodput of a transfer whose packets come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Remedy {
    /// `unruffled attach` at the sender.
    Attach,
    /// `unruffled resequence` at the receiver.
    Resequence,
    /// `unruffled resequence --forward` on a gateway that the packets pass after they lost their order.
    ResequenceForward,
}

/// Returns the remedy that is possible on the host where the capture was made. None if reordering did
/// not slow the transfer, if the place of the capture is unknown, or if packets lost their order only
/// after they had passed it.
pub fn remedy_here(direction: &Direction, cause: Cause) -> Option<Remedy> {
    if !cause.is_reordering() {
        return None;
    }
    match direction.place {
        Place::Sender => Some(Remedy::Attach),
        Place::Receiver => Some(Remedy::Resequence),
        Place::Between if is_late_here(direction) => Some(Remedy::ResequenceForward),
        Place::Between | Place::Unknown => None,
    }
}

/// Returns whether most of the late packets were late where the capture was made.
pub(super) fn is_late_here(direction: &Direction) -> bool {
    let here = direction.reordering_here.reordered;
    here > 0 && here as f64 >= MIN_LATE_HERE * direction.reordering().reordered as f64
}

/// Describes which remedy is possible on which host in a sentence; none if reordering did not slow the
/// transfer.
pub fn in_words(direction: &Direction, cause: Cause) -> Option<&'static str> {
    let text = match (remedy_here(direction, cause), direction.place) {
        _ if !cause.is_reordering() => return None,
        (Some(Remedy::Attach), _) => {
            "This host is the sender, where `attach` is the remedy; at the receiver it is `resequence`. \
             One of them is enough."
        }
        (Some(Remedy::Resequence), _) => {
            "This host is the receiver, where `resequence` is the remedy; at the sender it is `attach`. \
             One of them is enough."
        }
        (Some(Remedy::ResequenceForward), _) => {
            "This host is between the ends: as a gateway that forwards these packets, it can put them in \
             order with `resequence --forward`. One of that, `resequence` at the receiver and `attach` at \
             the sender is enough."
        }
        (None, Place::Between) => {
            "This host is between the ends, and packets lose their order behind it, where nothing on this \
             host helps: the remedy is `resequence` at the receiver or `attach` at the sender."
        }
        (None, _) => {
            "The capture does not show at which end it was made: the remedy is `resequence` at the \
             receiver or `attach` at the sender."
        }
    };
    Some(text)
}
