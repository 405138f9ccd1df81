//! What slowed a transfer, from what was seen of it.

use serde::Serialize;
use unruffled_units::count;

use crate::analysis::{Direction, Limit, Place};

/// Fewer segments than this say nothing.
const FEW: u64 = 20;

/// What slowed a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Packets that were overtaken were deemed lost.
    Reordering,
    /// Nothing was lost or overtaken, and yet sent again: acknowledgements came later than the
    /// sender waited.
    Impatience,
    /// Packets were lost.
    Loss,
    /// The receiver offered no larger window.
    ReceiverWindow,
    /// The application gave nothing to send.
    Application,
    /// The path was full: packets queued.
    Path,
    /// The sender kept less in flight than the path and the receiver took.
    SenderWindow,
    /// Too little was sent, or seen of it.
    Unknown,
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    /// The receiver or the packets themselves say so.
    Certain,
    /// What was seen fits nothing else as well.
    Probable,
    /// It is a guess.
    Possible,
}

/// What slowed one direction of a connection, in words too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What did.
    pub cause: Cause,
    /// How sure that is.
    pub sureness: Sureness,
    /// One or two sentences.
    pub text: String,
}

/// Whether so much of a direction was seen that there is something to judge.
pub fn is_enough(direction: &Direction) -> bool {
    direction.traffic.segments >= FEW
}

/// Judges one direction.
pub fn judge(direction: &Direction) -> Verdict {
    if let Some(limits) = direction.limits.filter(|_| closed(direction) > 0.5) {
        return receiver(direction, limits);
    }
    if !is_enough(direction) {
        let text =
            format!("{}: too little to judge.", count(direction.traffic.segments, "segment"));
        return verdict(Cause::Unknown, Sureness::Certain, text);
    }
    if is_truncated(direction) {
        return truncated(direction);
    }
    if is_blurred(direction) {
        return blurred(direction);
    }
    let late = direction.reordering();
    let resent = &direction.retransmissions;
    let windows = &direction.windows;
    // A cut slows the sender as much, however many segments its recovery repairs.
    let cut = windows.spurious_cuts >= SEVERAL && windows.spurious_cuts * 2 >= windows.cuts;
    if windows.spurious_recoveries > 0 && (cut || resent.spurious * 2 >= resent.total) {
        let reordered = late.reordered > 0 || untold(direction);
        return if reordered { reordering(direction) } else { impatience(direction) };
    }
    if let Some(loss) = loss(direction) {
        return loss;
    }
    let Some(limits) = direction.limits else {
        return near_receiver(direction);
    };
    if limits.timeout + limits.recovery > 0.5 && direction.losses.lost > 0 {
        let share = percent(limits.timeout + limits.recovery);
        let text = format!(
            "Losses: {share} of the time went by in recovery or waiting for a timeout, after {} lost.",
            count(direction.losses.lost, "segment")
        );
        return verdict(Cause::Loss, Sureness::Probable, text);
    }
    let most = [limits.receiver, limits.application, limits.sender_or_path];
    let most = most.into_iter().fold(0.0, f64::max);
    if limits.receiver == most {
        receiver(direction, limits)
    } else if limits.application == most {
        let text = format!(
            "The application: for {} of the time there was nothing to send.",
            percent(limits.application)
        );
        verdict(Cause::Application, Sureness::Probable, text)
    } else {
        flowing(direction)
    }
}

/// A window that is closed for a smaller share of the time is not worth telling of.
const CLOSED: f64 = 0.05;

/// The share of the transfer in which the receiver took nothing at all.
fn closed(direction: &Direction) -> f64 {
    let (closed, all) = (direction.windows.closed_s, direction.traffic.transfer_s);
    if all > 0.0 { closed / all } else { 0.0 }
}

/// The receiver's window was full, or closed.
fn receiver(direction: &Direction, limits: Limit) -> Verdict {
    let windows = &direction.windows;
    let closed = closed(direction);
    let text = if is_closed(direction) {
        let probes = match windows.probes {
            0 => String::new(),
            probes => format!(", and {} found it so", count(probes, "probe")),
        };
        format!(
            "The receiver: its window was closed for {} of the time ({:.1} s){probes}: the application \
             there did not read what had come.",
            percent(closed),
            windows.closed_s,
        )
    } else {
        format!(
            "The receiver's window: it was full for {} of the time, at {} at most.",
            percent(limits.receiver),
            octets(windows.largest_window.unwrap_or(0))
        )
    };
    verdict(Cause::ReceiverWindow, Sureness::Certain, text)
}

/// Whether the receiver's window was closed for most of the time in which it was the limit.
pub fn is_closed(direction: &Direction) -> bool {
    direction.limits.is_some_and(|limits| closed(direction) * 2.0 > limits.receiver)
}

/// A clock with longer steps than this share of the round trip does not tell late from sent again.
const TOO_COARSE: f64 = 0.5;

/// Whether most segments below the highest are late or sent again by a clock that does not show it.
pub fn is_blurred(direction: &Direction) -> bool {
    let Some(step) = direction.rtt.clock_step_ms else { return false };
    let coarse = direction.rtt.min_ms.is_none_or(|rtt| step > TOO_COARSE * rtt);
    coarse && is_by_time(direction)
}

fn blurred(direction: &Direction) -> Verdict {
    let step = direction.rtt.clock_step_ms.unwrap_or(0.0);
    let text = format!(
        "The capture's clock moves in steps of {}, so that late segments cannot be told from those sent \
         again ({} judged so).",
        ms(step),
        count(direction.retransmissions.judged_by_time, "segment")
    );
    verdict(Cause::Unknown, Sureness::Certain, text)
}

/// Whether neither timestamps nor identifications told most late segments from those sent again.
fn is_by_time(direction: &Direction) -> bool {
    let resent = &direction.retransmissions;
    let told = resent.total + direction.reordering_here.reordered;
    resent.judged_by_time > 0 && resent.judged_by_time * 2 >= told
}

/// Where so many acknowledgements lack options for each retransmission, some of those that told of it may
/// be among them.
const TRUNCATED: f64 = 0.25;

/// Whether the capture cut off what tells of retransmissions whether they were needed.
pub fn is_truncated(direction: &Direction) -> bool {
    let resent = direction.retransmissions.total;
    resent > 0 && direction.traffic.cut_acks as f64 >= TRUNCATED * resent as f64
}

fn truncated(direction: &Direction) -> Verdict {
    let text = format!(
        "The capture kept too little of each packet: {} lack options, so that late segments cannot be \
         told from lost ones ({} sent again).",
        count(direction.traffic.cut_acks, "acknowledgement"),
        count(direction.retransmissions.total, "segment")
    );
    verdict(Cause::Unknown, Sureness::Certain, text)
}

/// Fewer cuts than this slow nobody for long.
const SEVERAL: u64 = 3;

/// Duplicate acknowledgements that have a sender resend (RFC 5681, section 3.2).
const DUPLICATES: u64 = 3;

/// Round trips measured less often than this are not relied on.
const FEW_TIMES: u64 = 2;

/// Whether packets came late though no SACK tells so: duplicate acknowledgements had the sender
/// resend, and what it took for lost arrived.
fn untold(direction: &Direction) -> bool {
    let recoveries = direction.windows.spurious_recoveries;
    let by_timeout = direction.retransmissions.timeouts;
    direction.reordering_at_receiver.is_none()
        && direction.place != Place::Receiver
        && by_timeout * 2 < recoveries
        && direction.retransmissions.duplicate_acks >= DUPLICATES * (recoveries - by_timeout)
}

fn reordering(direction: &Direction) -> Verdict {
    let (late, resent) = (direction.reordering(), &direction.retransmissions);
    let windows = &direction.windows;
    let told = resent.spurious_by_dsack
        + resent.spurious_by_timestamps
        + resent.spurious_by_acknowledgement
        + resent.spurious_by_original;
    let sureness = match told * 2 >= resent.spurious {
        // The time alone, and that measured once or not at all, makes nothing sure.
        _ if is_by_time(direction) && direction.rtt.times < FEW_TIMES => Sureness::Possible,
        true if !is_by_time(direction) => Sureness::Certain,
        _ => Sureness::Probable,
    };
    let by = late.late_time.as_ref().map_or(String::new(), |time| {
        format!(" by {} (one in ten by more than {})", ms(time.median_ms), ms(time.p90_ms))
    });
    let cuts = match windows.spurious_cuts {
        0 => String::new(),
        1 => ", and once the window was cut for nothing".to_owned(),
        cuts => format!(", and {cuts} times the window was cut for nothing"),
    };
    let late = match late.reordered {
        0 => "how many packets came late is not seen, since the receiver sends no SACK, but"
            .to_owned(),
        _ => format!("{} of the packets came late{by}, and", percent(late.ratio)),
    };
    let text = format!(
        "Reordering: {late} the sender took late ones for lost: {} of {} retransmissions and {} of {} \
         recoveries were spurious{cuts}.",
        resent.spurious, resent.total, windows.spurious_recoveries, windows.recoveries
    );
    verdict(Cause::Reordering, sureness, text)
}

fn impatience(direction: &Direction) -> Verdict {
    let resent = &direction.retransmissions;
    let text = format!(
        "Impatience: {} of {} retransmissions were spurious, though nothing came late: the round trip \
         rose beyond the sender's timeout, or acknowledgements were lost.",
        resent.spurious, resent.total
    );
    verdict(Cause::Impatience, Sureness::Probable, text)
}

/// Loss, if the sender does about what it can under so much of it: Mathis et al., "The macroscopic
/// behavior of the TCP congestion avoidance algorithm" (1997), equation 3.
fn loss(direction: &Direction) -> Option<Verdict> {
    let losses = &direction.losses;
    if direction.limits.is_some_and(|limits| limits.receiver > 0.5) {
        return None;
    }
    let rtt = direction.rtt.min_ms.filter(|&rtt| rtt > 0.0)?;
    if losses.lost == 0 {
        return None;
    }
    let recoveries = direction.windows.recoveries - direction.windows.spurious_recoveries;
    // A recovery is one event, however many segments it repairs.
    let events = recoveries.max(1) as f64 / direction.traffic.segments as f64;
    let bound_bps =
        f64::from(direction.traffic.segment_bytes) * 8.0 / (rtt / 1000.0) * (1.5 / events).sqrt();
    let goodput_bps = direction.traffic.goodput_bps;
    (goodput_bps > bound_bps / 3.0 && goodput_bps < bound_bps * 3.0).then(|| {
        // A sender that gets more does not halve its window at each.
        let bound = if goodput_bps > bound_bps {
            String::new()
        } else {
            format!(
                "; with so much, a window that is halved at each gives about {} at this round trip of {}",
                rate(bound_bps),
                ms(rtt)
            )
        };
        let timeouts = match direction.retransmissions.timeouts {
            0 => String::new(),
            timeouts => format!(" The sender waited for {}.", count(timeouts, "timeout")),
        };
        let text = format!(
            "Loss: {} of the data was lost, in {}{bound}.{timeouts}{}",
            percent(losses.ratio),
            count(recoveries, "event"),
            by_time(direction)
        );
        verdict(Cause::Loss, Sureness::Probable, text)
    })
}

/// What is added where neither timestamps nor identifications told late segments from those sent again.
fn by_time(direction: &Direction) -> &'static str {
    match is_by_time(direction) {
        true => {
            " Time alone told late segments from those sent again: what came later than a round trip \
             counts as lost."
        }
        false => "",
    }
}

/// The sender is never seen to wait.
fn flowing(direction: &Direction) -> Verdict {
    let rtt = direction.rtt.samples.as_ref();
    let queued = rtt.zip(direction.rtt.beyond_ms).filter(|(samples, least)| {
        *least > 0.0 && samples.median_ms > 1.5 * least && samples.median_ms - least > 1.0
    });
    match queued {
        Some((samples, least)) => {
            let text = format!(
                "The path: packets queued in it, so that the round trip rose from {} to {}; it carries \
                 no more than {}.",
                ms(least),
                ms(samples.median_ms),
                rate(direction.traffic.goodput_bps)
            );
            verdict(Cause::Path, Sureness::Probable, text)
        }
        None => {
            let text = format!(
                "The sender's own window, or a path without queues: up to {} were in flight.",
                octets(direction.windows.largest_flight)
            );
            verdict(Cause::SenderWindow, Sureness::Possible, text)
        }
    }
}

/// At the receiver nobody sees what the sender waits for.
fn near_receiver(direction: &Direction) -> Verdict {
    let late = direction.reordering();
    let text = match (direction.place, direction.rtt.clock_step_ms) {
        (Place::Receiver, _) => {
            "Captured at the receiver, where the sender's waiting is not seen".to_owned()
        }
        (_, Some(step)) if direction.rtt.min_ms.is_none() => format!(
            "The capture's clock moves in steps of {}, so that neither the round trip is seen nor what \
             the sender waits for",
            ms(step)
        ),
        _ => "Nothing tells how far from here the sender is, nor so what it waits for".to_owned(),
    };
    let lost = &direction.losses;
    let closed = match closed(direction) {
        share if share < CLOSED => String::new(),
        share => format!(" The receiver's window was closed for {} of the time.", percent(share)),
    };
    let text = format!(
        "{text}; {} of the packets came late, {} of the data was lost.{closed}{}",
        percent(late.ratio),
        percent(lost.ratio),
        by_time(direction)
    );
    verdict(Cause::Unknown, Sureness::Possible, text)
}

fn verdict(cause: Cause, sureness: Sureness, text: String) -> Verdict {
    Verdict { cause, sureness, text }
}

/// To two digits, as people read it.
fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "none".to_owned(),
        percent if percent < 1.0 => format!("{percent:.2} %"),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

fn ms(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{:.0} us", ms * 1000.0),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

fn rate(bps: f64) -> String {
    match bps {
        bps if bps < 1e6 => format!("{:.0} kb/s", bps / 1e3),
        bps if bps < 1e8 => format!("{:.1} Mb/s", bps / 1e6),
        bps => format!("{:.0} Mb/s", bps / 1e6),
    }
}

fn octets(octets: u64) -> String {
    match octets {
        octets if octets < 10_000 => format!("{octets} B"),
        octets if octets < 10_000_000 => format!("{} kB", octets / 1000),
        octets => format!("{} MB", octets / 1_000_000),
    }
}
