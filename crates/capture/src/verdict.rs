//! Verdicts: conclusions from an analysis about what slowed a transfer.

use serde::Serialize;
use unruffled_units::count;

use crate::analysis::{Direction, Limit, Place};
use crate::late_loss;

/// Segments below which a direction is not judged.
const MIN_SEGMENTS: u64 = 20;

/// Spurious cuts below which reordering does not slow a sender noticeably.
const MIN_SPURIOUS_CUTS: u64 = 3;

/// Duplicate acknowledgements that cause a retransmission (RFC 5681, section 3.2).
const DUPTHRESH: u64 = 3;

/// Measurements below which a minimum round trip is not relied on.
const MIN_RTT_SAMPLES: u64 = 2;

/// Share of the time below which a zero window is not mentioned.
const MIN_CLOSED_SHARE: f64 = 0.05;

/// Greatest ratio of the clock's step to the round trip at which time distinguishes late segments from
/// retransmissions.
const MAX_STEP_RTTS: f64 = 0.5;

/// Acknowledgements without options per retransmission from which on a DSACK may be among them.
const MIN_CUT_ACKS: f64 = 0.25;

/// Greatest ratio between the goodput and the throughput that the losses permit, either way.
const MAX_MODEL_RATIO: f64 = 3.0;

/// Ratio of the median round trip to the minimum above which packets queued.
const MIN_QUEUED_RTTS: f64 = 1.5;

/// Excess of the median round trip over the minimum above which packets queued, in milliseconds.
const MIN_QUEUED_MS: f64 = 1.0;

/// Cause of a slow transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Packets were reordered, and the sender treated late ones as lost.
    Reordering,
    /// A tunnel's replay window dropped late packets.
    ReplayWindow,
    /// The receiver, or a firewall before it, has no room for more ranges beyond a gap, and dropped what
    /// would open one.
    Ranges,
    /// The receiver discarded late packets for their old timestamps (PAWS, RFC 7323, section 5.3).
    Paws,
    /// Nothing was lost or reordered, but the timeout was shorter than the round trip, or
    /// acknowledgements were lost.
    Impatience,
    /// Packets were lost.
    Loss,
    /// The receiver's window was full or zero.
    ReceiverWindow,
    /// The application had nothing to send.
    Application,
    /// The path was full, and packets queued.
    Path,
    /// The sender kept less in flight than the path and the receiver permitted.
    SenderWindow,
    /// Too little was sent, or the capture shows too little.
    Unknown,
}

impl Cause {
    /// Returns whether late packets slowed the transfer, and a sender that distinguishes them from lost
    /// ones, or a receiver that puts them in order, keeps its speed.
    pub fn is_reordering(self) -> bool {
        matches!(self, Self::Reordering | Self::Paws)
    }
}

/// Degree of certainty of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    /// The packets or the receiver's acknowledgements prove it.
    Certain,
    /// No other cause explains the capture as well.
    Probable,
    /// The verdict is a guess.
    Possible,
}

/// Verdict on one direction of a connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The cause that slowed the transfer.
    pub cause: Cause,
    /// Certainty of the cause.
    pub sureness: Sureness,
    /// Explanation, in one or two sentences.
    pub text: String,
}

/// Returns whether a direction has enough segments to be judged.
pub fn is_enough(direction: &Direction) -> bool {
    direction.traffic.segments >= MIN_SEGMENTS
}

/// Concludes what slowed one direction.
pub fn judge(direction: &Direction) -> Verdict {
    if let Some(limits) = direction.limits.filter(|_| closed_share(direction) > 0.5) {
        return receiver_window(direction, limits);
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
    let mut verdict = late_loss::judge(direction).unwrap_or_else(|| slowness(direction));
    if verdict.cause != Cause::ReplayWindow
        && let Some(note) = late_loss::window_note(direction)
    {
        verdict.text.push_str(&note);
    }
    verdict
}

/// Concludes what slowed a direction most, if it is not what dropped late packets.
fn slowness(direction: &Direction) -> Verdict {
    let late = direction.reordering();
    let resent = &direction.retransmissions;
    let windows = &direction.windows;
    // A cut slows the sender regardless of how many segments the recovery repairs.
    let many_spurious_cuts =
        windows.spurious_cuts >= MIN_SPURIOUS_CUTS && windows.spurious_cuts * 2 >= windows.cuts;
    let mostly_spurious = many_spurious_cuts || resent.spurious * 2 >= resent.total;
    if windows.spurious_recoveries > 0 && mostly_spurious {
        let is_reordered = late.reordered > 0 || is_reordered_without_sack(direction);
        return if is_reordered { reordering(direction) } else { impatience(direction) };
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
    let largest = [limits.receiver, limits.application, limits.sender_or_path];
    let largest = largest.into_iter().fold(0.0, f64::max);
    if limits.receiver == largest {
        receiver_window(direction, limits)
    } else if limits.application == largest {
        let text = format!(
            "The application: for {} of the time there was nothing to send.",
            percent(limits.application)
        );
        verdict(Cause::Application, Sureness::Probable, text)
    } else {
        flowing(direction)
    }
}

/// Returns the share of the transfer in which the receiver's window was zero.
fn closed_share(direction: &Direction) -> f64 {
    // The transfer ends with the last acknowledgement, but unanswered probes may follow it.
    let all_s = direction.traffic.transfer_s;
    if all_s > 0.0 { (direction.windows.closed_s / all_s).min(1.0) } else { 0.0 }
}

/// Returns the verdict on a receiver's window that was full or zero.
fn receiver_window(direction: &Direction, limits: Limit) -> Verdict {
    let windows = &direction.windows;
    let text = if is_closed(direction) {
        let probes = match windows.probes {
            0 => String::new(),
            probes => format!(", and {} found it closed", count(probes, "probe")),
        };
        format!(
            "The receiver: its window was closed for {} of the time ({:.1} s){probes}: the application \
             there did not read the data.",
            percent(closed_share(direction)),
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

/// Returns whether the receiver's window was zero for most of the time in which it was the limit.
pub fn is_closed(direction: &Direction) -> bool {
    direction.limits.is_some_and(|limits| closed_share(direction) * 2.0 > limits.receiver)
}

/// Returns whether the capture's clock is too coarse to distinguish late segments from
/// retransmissions, and nothing else distinguishes most of them.
pub fn is_blurred(direction: &Direction) -> bool {
    let Some(step) = direction.rtt.clock_step_ms else { return false };
    let is_coarse = direction.rtt.min_ms.is_none_or(|rtt| step > MAX_STEP_RTTS * rtt);
    is_coarse && is_judged_by_time(direction)
}

fn blurred(direction: &Direction) -> Verdict {
    let step = direction.rtt.clock_step_ms.unwrap_or(0.0);
    let text = format!(
        "The capture's clock moves in steps of {}, so that late segments cannot be distinguished from \
         retransmissions ({} judged so).",
        ms(step),
        count(direction.retransmissions.judged_by_time, "segment")
    );
    verdict(Cause::Unknown, Sureness::Certain, text)
}

/// Returns whether time alone distinguished most late segments from retransmissions, without
/// timestamps and identifications.
pub(crate) fn is_judged_by_time(direction: &Direction) -> bool {
    let resent = &direction.retransmissions;
    let judged = resent.total + direction.reordering_here.reordered;
    resent.judged_by_time > 0 && resent.judged_by_time * 2 >= judged
}

/// Returns whether the capture cut off the options that show which retransmissions were needed.
pub fn is_truncated(direction: &Direction) -> bool {
    let resent = direction.retransmissions.total;
    resent > 0 && direction.traffic.cut_acks as f64 >= MIN_CUT_ACKS * resent as f64
}

fn truncated(direction: &Direction) -> Verdict {
    let text = format!(
        "The capture kept too little of each packet: {} lack options, so that late segments cannot be \
         distinguished from lost ones ({} retransmitted).",
        count(direction.traffic.cut_acks, "acknowledgement"),
        count(direction.retransmissions.total, "segment")
    );
    verdict(Cause::Unknown, Sureness::Certain, text)
}

/// Returns whether packets came late although no SACK shows it: duplicate acknowledgements caused
/// retransmissions of segments that arrived.
fn is_reordered_without_sack(direction: &Direction) -> bool {
    let recoveries = direction.windows.spurious_recoveries;
    let by_timeout = direction.retransmissions.timeouts;
    direction.reordering_at_receiver.is_none()
        && direction.place != Place::Receiver
        && by_timeout * 2 < recoveries
        && direction.retransmissions.duplicate_acks >= DUPTHRESH * (recoveries - by_timeout)
}

fn reordering(direction: &Direction) -> Verdict {
    let late = direction.reordering();
    let resent = &direction.retransmissions;
    let windows = &direction.windows;
    let proved = resent.reasons.dsack
        + resent.reasons.timestamps
        + resent.reasons.acknowledgement
        + resent.reasons.original;
    let sureness = if is_judged_by_time(direction) {
        // A round trip that was hardly measured proves nothing.
        let is_measured = direction.rtt.times >= MIN_RTT_SAMPLES;
        if is_measured { Sureness::Probable } else { Sureness::Possible }
    } else if proved * 2 >= resent.spurious {
        Sureness::Certain
    } else {
        Sureness::Probable
    };
    let by = late.late_time.as_ref().map_or(String::new(), |time| {
        format!(" by {} (one in ten by more than {})", ms(time.median_ms), ms(time.p90_ms))
    });
    let cuts = match windows.spurious_cuts {
        0 => String::new(),
        1 => ", and one of these cut the window".to_owned(),
        cuts => format!(", and {cuts} of these cut the window"),
    };
    let late = match late.reordered {
        0 => "how many packets came late is not seen, since the receiver sends no SACK, but"
            .to_owned(),
        _ => format!("{} of the packets came late{by}, and", percent(late.ratio)),
    };
    let text = format!(
        "Reordering: {late} the sender treated late ones as lost: {} of {} retransmissions and {} of {} \
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

/// Returns the verdict of loss, if the goodput is about what the losses permit: Mathis et al., "The
/// macroscopic behavior of the TCP congestion avoidance algorithm" (1997), equation 3.
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
    // A recovery is one loss event, regardless of how many segments it repairs.
    let events = recoveries.max(1) as f64 / direction.traffic.segments as f64;
    let bound_bps =
        f64::from(direction.traffic.segment_bytes) * 8.0 / (rtt / 1000.0) * (1.5 / events).sqrt();
    let goodput_bps = direction.traffic.goodput_bps;
    (goodput_bps > bound_bps / MAX_MODEL_RATIO && goodput_bps < bound_bps * MAX_MODEL_RATIO).then(|| {
        // A sender above the bound does not halve its window at each event.
        let bound = if goodput_bps > bound_bps {
            String::new()
        } else {
            format!(
                "; a sender that halves its window at each gets about {} at this round trip of {}",
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
            time_note(direction)
        );
        verdict(Cause::Loss, Sureness::Probable, text)
    })
}

/// Returns a sentence that is added where time alone distinguished late segments from
/// retransmissions.
fn time_note(direction: &Direction) -> &'static str {
    if is_judged_by_time(direction) {
        " Only the time distinguished late segments from retransmissions: what came later than a round \
         trip counts as lost."
    } else {
        ""
    }
}

/// Returns the verdict on a sender that neither the receiver, the application nor recovery limited.
fn flowing(direction: &Direction) -> Verdict {
    let rtt = direction.rtt.samples.as_ref();
    let queued = rtt.zip(direction.rtt.beyond_ms).filter(|(samples, min_ms)| {
        *min_ms > 0.0
            && samples.median_ms > MIN_QUEUED_RTTS * min_ms
            && samples.median_ms - min_ms > MIN_QUEUED_MS
    });
    match queued {
        Some((samples, min_ms)) => {
            let text = format!(
                "The path: packets queued in it, so that the round trip rose from {} to {}; it carries \
                 no more than {}.",
                ms(min_ms),
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

/// Returns the verdict on a capture near the receiver, which does not show what the sender waits for.
fn near_receiver(direction: &Direction) -> Verdict {
    let late = direction.reordering();
    let reason = match (direction.place, direction.rtt.clock_step_ms) {
        (Place::Receiver, _) => {
            "Captured at the receiver, where the sender's waiting is not seen".to_owned()
        }
        (_, Some(step)) if direction.rtt.min_ms.is_none() => format!(
            "The capture's clock moves in steps of {}, so that neither the round trip is seen nor what \
             the sender waits for",
            ms(step)
        ),
        _ => {
            "The capture shows neither how far away the sender is nor what it waits for".to_owned()
        }
    };
    let closed = match closed_share(direction) {
        share if share < MIN_CLOSED_SHARE => String::new(),
        share => format!(" The receiver's window was closed for {} of the time.", percent(share)),
    };
    let text = format!(
        "{reason}; {} of the packets came late, {} of the data was lost.{closed}{}",
        percent(late.ratio),
        percent(direction.losses.ratio),
        time_note(direction)
    );
    verdict(Cause::Unknown, Sureness::Possible, text)
}

fn verdict(cause: Cause, sureness: Sureness, text: String) -> Verdict {
    Verdict { cause, sureness, text }
}

/// Formats a share in percent, with about two significant digits.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "none".to_owned(),
        percent if percent < 1.0 => format!("{percent:.2} %"),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// Formats milliseconds.
pub(crate) fn ms(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{:.0} us", ms * 1000.0),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

/// Formats bits per second.
fn rate(bps: f64) -> String {
    match bps {
        bps if bps < 1e6 => format!("{:.0} kb/s", bps / 1e3),
        bps if bps < 1e8 => format!("{:.1} Mb/s", bps / 1e6),
        bps => format!("{:.0} Mb/s", bps / 1e6),
    }
}

/// Formats octets.
fn octets(octets: u64) -> String {
    match octets {
        octets if octets < 10_000 => format!("{octets} B"),
        octets if octets < 10_000_000 => format!("{} kB", octets / 1000),
        octets => format!("{} MB", octets / 1_000_000),
    }
}
