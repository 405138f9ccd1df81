//! What is told of one direction of a connection, from what was followed of it.

use unruffled_units::{Duration, Instant};

use super::{Direction, Limit, Losses, Place, Retransmissions, Rtt, Traffic, Windows};
use crate::connection::Talk;
use crate::half::Half;
use crate::reordering::Arrivals;

/// What tells the reordering of the whole path.
pub(super) fn whole_path(half: &Half) -> &Arrivals {
    let told = half.sacks.seen && place(half) != Place::Receiver;
    if told && half.at_receiver.arrivals.counts().1 >= half.here.arrivals.counts().1 {
        &half.at_receiver.arrivals
    } else {
        &half.here.arrivals
    }
}

/// Where the capture was made: near an end if the round trip to it is less than a tenth of all.
fn place(half: &Half) -> Place {
    let (Some(beyond), Some(behind)) = (half.trips.beyond, half.trips.behind) else {
        return Place::Unknown;
    };
    let share = beyond.ratio(beyond + behind);
    if share > 0.9 {
        Place::Sender
    } else if share < 0.1 {
        Place::Receiver
    } else {
        Place::Between
    }
}

/// What is told of the data that end `from` of the connection sent.
pub(super) fn direction(talk: &Talk, from: usize) -> Direction {
    let half = &talk.halves[from];
    let place = place(half);
    let spacing = match place {
        Place::Receiver => half.here.spacing.mode(),
        // Whatever disturbs packets on their way makes gaps longer.
        _ => [half.trains.spacing(), half.at_receiver.spacing.mode()].into_iter().flatten().min(),
    };
    Direction {
        from: talk.ends[from],
        to: talk.ends[1 - from],
        place,
        traffic: traffic(half, talk.first),
        retransmissions: retransmissions(half),
        losses: losses(half),
        loss_evidence: half.loss_evidence(),
        reordering_here: half.here.arrivals.summary(),
        reordering_at_receiver: half.sacks.seen.then(|| half.at_receiver.arrivals.summary()),
        rtt: Rtt {
            min_ms: half.round_trip().map(Duration::as_millis_f64),
            beyond_ms: half.trips.beyond.map(Duration::as_millis_f64),
            behind_ms: half.trips.behind.map(Duration::as_millis_f64),
            samples: half.trips.samples.summary(),
            over_time: half.shown.rtt.bins(talk.first),
        },
        windows: windows(half),
        limits: limits(half, place),
        crowded: spacing.and_then(|spacing| half.crowding.share(spacing)),
        spacing_ms: spacing.map(Duration::as_millis_f64),
        flight: half.shown.flight.bins(talk.first),
        acked: half.shown.acked.bins(talk.first),
        drawing: half.shown.sketch.as_ref().map(|sketch| sketch.told(talk.first)),
    }
}

/// How much was sent, and how fast, on a connection whose first packet passed at `first`.
fn traffic(half: &Half, first: Instant) -> Traffic {
    let (counts, moments) = (&half.counts, &half.moments);
    let begun = moments.first_data.unwrap_or(first);
    let over = moments.last_ack.or(moments.last_data).unwrap_or(begun).max(begun);
    let transfer = over.since(begun);
    let octets = if counts.acks.all > 0 { half.acknowledged() } else { half.stream() };
    let goodput_bps = if transfer > Duration::ZERO && moments.first_data.is_some() {
        octets as f64 * 8.0 / transfer.as_secs_f64()
    } else {
        0.0
    };
    Traffic {
        packets: counts.packets,
        segments: counts.segments,
        payload_bytes: counts.payload,
        acks: counts.acks.all,
        cut_acks: counts.acks.cut,
        delayed_acks: counts.acks.of_more > counts.acks.of_one,
        timestamps: half.stamps.seen,
        stream_bytes: octets,
        segment_bytes: half.full_segment(),
        transfer_s: transfer.as_secs_f64(),
        goodput_bps,
    }
}

fn retransmissions(half: &Half) -> Retransmissions {
    let counts = &half.counts;
    Retransmissions {
        total: counts.resent,
        needed: needed(half),
        spurious: counts.spurious.total,
        spurious_by_dsack: counts.spurious.by_dsack,
        spurious_by_timestamps: counts.spurious.by_timestamps,
        spurious_by_acknowledgement: counts.spurious.by_acknowledgement,
        spurious_by_original: counts.spurious.by_original,
        spurious_by_time: counts.spurious.by_time,
        timeouts: counts.timeouts,
        syns: counts.syn_resent,
        dsacks: counts.acks.dsacks,
        dsacks_unexplained: counts.acks.dsacks_unexplained,
        duplicates: counts.duplicates,
        duplicate_acks: counts.acks.duplicate,
        keepalives: counts.keepalives,
        judged_by_time: counts.guessed,
    }
}

/// Retransmissions that nothing proved spurious.
fn needed(half: &Half) -> u64 {
    half.counts.resent - half.counts.spurious.total.min(half.counts.resent)
}

fn losses(half: &Half) -> Losses {
    let (counts, lost) = (&half.counts, needed(half));
    let sent = counts.segments + counts.resent;
    Losses {
        lost,
        ratio: if sent == 0 { 0.0 } else { lost as f64 / sent as f64 },
        not_captured: counts.unseen,
        strange: counts.strange,
    }
}

fn windows(half: &Half) -> Windows {
    let judged = half.episodes.judged();
    Windows {
        recoveries: judged.recoveries,
        spurious_recoveries: judged.spurious,
        cuts: judged.cuts,
        spurious_cuts: judged.spurious_cuts,
        recovery_s: judged.time.as_secs_f64(),
        spurious_recovery_s: judged.spurious_time.as_secs_f64(),
        largest_flight: half.offer.largest_flight,
        largest_window: (half.offer.largest > 0).then_some(half.offer.largest),
        zero_windows: half.counts.acks.zero_windows,
    }
}

/// What limited the sender; near the receiver that cannot be seen.
fn limits(half: &Half, place: Place) -> Option<Limit> {
    let times = half.activity.times;
    let parts = [times.idle, times.window_full, times.recovering, times.stalled, times.flowing];
    let all: f64 = parts.iter().map(|part| part.as_secs_f64()).sum();
    let known = matches!(place, Place::Sender | Place::Between) && half.counts.acks.all > 0;
    (known && all > 0.0 && half.counts.segments > 1).then(|| {
        let [application, receiver, recovery, timeout, sender_or_path] =
            parts.map(|part| part.as_secs_f64() / all);
        Limit { application, receiver, recovery, timeout, sender_or_path }
    })
}
