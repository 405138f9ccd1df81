//! What is told of one direction of a connection, from what was followed of it.

use unruffled_units::{Duration, Instant};

use super::{Direction, Limit, Losses, Place, Retransmissions, Rtt, Traffic, Windows};
use crate::connection::Talk;
use crate::half::{Half, Trips};
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
    let (Some(beyond), Some(behind)) = (half.trips.beyond.least, half.trips.behind.least) else {
        return Place::Unknown;
    };
    if half.is_below_tick(beyond + behind) {
        return Place::Unknown;
    }
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
pub(super) fn direction(talk: &Talk, from: usize, tick: Duration) -> Direction {
    let half = &talk.halves[from];
    let place = place(half);
    let spacing = match place {
        Place::Receiver => half.here.spacing.mode(),
        // Whatever disturbs packets on their way makes gaps longer.
        _ => [half.trains.spacing(), half.at_receiver.spacing.mode()].into_iter().flatten().min(),
    };
    // The clock does not show less than its step.
    let spacing = spacing.filter(|&spacing| spacing >= tick);
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
        rtt: rtt(talk, from, place, tick),
        windows: windows(half),
        limits: limits(half, place),
        crowded: spacing.and_then(|spacing| half.crowding.share(spacing)),
        spacing_ms: spacing.map(Duration::as_millis_f64),
        flight: half.shown.flight.bins(talk.first),
        acked: half.shown.acked.bins(talk.first),
        drawing: half.shown.sketch.as_ref().map(|sketch| sketch.told(talk.first)),
    }
}

/// Round trips, as far as a clock of that step shows them.
fn rtt(talk: &Talk, from: usize, place: Place, tick: Duration) -> Rtt {
    let half = &talk.halves[from];
    let Trips { beyond, behind, samples } = &half.trips;
    // The data of the other end measures the same way.
    let other = &talk.halves[1 - from].trips;
    let times = [beyond.samples + other.behind.samples, behind.samples + other.beyond.samples];
    let ms = |span: Option<Duration>| {
        span.filter(|&span| span >= tick.max(Duration::from_nanos(1))).map(Duration::as_millis_f64)
    };
    let samples = samples.summary();
    let samples = samples.filter(|samples| samples.median_ms >= tick.as_millis_f64().max(0.001));
    Rtt {
        min_ms: ms(half.round_trip()),
        beyond_ms: ms(beyond.least),
        behind_ms: ms(behind.least),
        times: match place {
            Place::Sender => times[0],
            Place::Receiver => times[1],
            Place::Between => times[0].min(times[1]),
            Place::Unknown => 0,
        },
        clock_step_ms: (tick > Duration::ZERO).then(|| tick.as_millis_f64()),
        over_time: samples.as_ref().map_or_else(Vec::new, |_| half.shown.rtt.bins(talk.first)),
        samples,
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
    half.counts.resent - half.counts.spurious.total
}

fn losses(half: &Half) -> Losses {
    let counts = &half.counts;
    let lost_bytes = counts.resent_octets - counts.spurious.octets;
    // What never passed was sent as well.
    let sent = half.stream() + counts.resent_octets;
    Losses {
        lost: needed(half),
        lost_bytes,
        ratio: if sent == 0 { 0.0 } else { lost_bytes as f64 / sent as f64 },
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
        closed_s: half.activity.times.closed.as_secs_f64(),
        probes: half.counts.probes,
    }
}

/// What limited the sender; near the receiver that cannot be seen, but for a closed window.
fn limits(half: &Half, place: Place) -> Option<Limit> {
    let times = half.activity.times;
    let parts = [times.idle, times.window_full, times.recovering, times.stalled, times.flowing];
    let all: f64 = parts.iter().map(|part| part.as_secs_f64()).sum();
    let closed = times.closed.as_secs_f64() / all;
    let known = matches!(place, Place::Sender | Place::Between) && half.counts.acks.all > 0;
    if !known && closed > 0.5 {
        return Some(Limit { receiver: closed, sender_or_path: 1.0 - closed, ..Limit::default() });
    }
    (known && all > 0.0 && half.counts.segments > 1).then(|| {
        let [application, receiver, recovery, timeout, sender_or_path] =
            parts.map(|part| part.as_secs_f64() / all);
        Limit { application, receiver, recovery, timeout, sender_or_path }
    })
}
