//! The judgement of one direction of a connection. docs/internals/doctor.md has the measurements that the constants come
//! from.

use std::time::Duration;

use serde::Serialize;

use crate::flow::MIN_STEPS;
use crate::{Flow, Role};

/// The judgement of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing slows it that is seen here, or a link is the limit.
    Healthy,
    /// Packets are overtaken, and the sender copes.
    Copes,
    /// Spurious retransmissions of overtaken packets keep it slow.
    SlowedByReordering,
    /// Losses keep it slow, and packets are overtaken as well: late packets may be dropped on their way.
    SlowedByLateLosses,
    /// Losses keep it slow, and packets are in order, or a queue overflows.
    SlowedByLosses,
    /// The application writes or reads less than the path carries.
    ApplicationLimited,
    /// The receive window or the send buffer is the limit.
    BufferLimited,
    /// It was seen for too short a time.
    TooShort,
}

impl Verdict {
    /// Returns whether reordering slows the connection.
    pub fn suffers(self) -> bool {
        self == Self::SlowedByReordering
    }
}

/// Time for which a connection must be seen to be judged.
const MIN_TIME: Duration = Duration::from_secs(2);

/// Least share of the time with data to send, or with data that arrives. Below it, the application is the
/// limit.
const MIN_ACTIVE: f64 = 0.7;

/// Largest share of the time in which a buffer is the limit of a connection that losses slow.
const MAX_BUFFER_LIMITED: f64 = 0.5;

/// Least number of segments in a round trip by which a receiver recognises a sender with enough to send.
const MIN_RECEIVED_WINDOW: f64 = 3.0;

/// Share of segments that arrived twice from which a receiver recognises a slow sender whatever the window is.
const WASTEFUL: f64 = 0.2;

/// Least number of spurious retransmissions of a connection that reordering slows.
const MIN_SPURIOUS: u64 = 5;

/// Least number of overtaken packets of such a connection.
const MIN_REORDERED: u64 = 3;

/// Least number of spurious retransmissions that show reordering by themselves: the kernel does not count a packet
/// as overtaken that it has sent again before it arrives, unless there are timestamps.
const MIN_SPURIOUS_ALONE: u64 = 20;

/// Number of spurious retransmissions that one spurious timeout may cause.
const SPURIOUS_PER_TIMEOUT: u64 = 10;

/// Least number of packets out of order of a receiver whose sender reordering slows, and of overtaken packets
/// beside losses that are late packets.
const MIN_OFTEN_REORDERED: u64 = 10;

/// Least number of losses of a connection that losses slow.
const MIN_LOSSES: u64 = 5;

/// Ratio of the greatest round-trip time to the least from which a queue fills, so that losses are congestion.
const MAX_RTT_RATIO: f64 = 1.3;

/// Steadiness from which a link is the limit, and not the sender's window.
const LINK_LIMITED: f64 = 0.85;

/// Share of spurious retransmissions that shows by itself what the window is limited by, whether or not the rate
/// is steady: few packets in a round trip may arrive at a steady rate.
const MANY_SPURIOUS: f64 = 0.01;

/// Largest ratio of the window to that of Reno with the same share of retransmissions, where spurious
/// retransmissions are many.
const MAX_RATIO_IF_MANY: f64 = 6.0;

/// Least number of spurious retransmissions that slow a connection whose rate is not steady, where they are not
/// many. The rate of one that grows is not steady either.
const MIN_SPURIOUS_IF_UNSTEADY: u64 = 20;

/// Largest such ratio where the rate is not steady. A larger window shows that the sender does not reduce it by
/// its retransmissions.
const MAX_RATIO_IF_UNSTEADY: f64 = 16.0;

/// Largest such ratio of losses.
const MAX_RATIO_OF_LOSSES: f64 = 8.0;

/// Least such ratio. A smaller window has another reason.
const MIN_RATIO: f64 = 0.3;

/// Judges a flow by its figures.
pub(crate) fn judge(flow: &Flow) -> Verdict {
    if flow.time < MIN_TIME || flow.steps < MIN_STEPS {
        return Verdict::TooShort;
    }
    match flow.role {
        Role::Sender => judge_sender(flow),
        Role::Receiver => judge_receiver(flow),
    }
}

fn judge_sender(flow: &Flow) -> Verdict {
    let is_reordered = is_reordered(flow);
    if flow.active < MIN_ACTIVE && !is_link_limited(flow) {
        return Verdict::ApplicationLimited;
    }
    if is_reordered && flow.active >= MIN_ACTIVE && is_slowed_by_spurious(flow) {
        return match is_buffer_limited(flow) {
            true => Verdict::BufferLimited,
            false => Verdict::SlowedByReordering,
        };
    }
    let losses = flow.retransmitted.saturating_sub(flow.spurious);
    if is_slowed_by_losses(flow, losses) {
        let is_late = flow.reordered >= MIN_OFTEN_REORDERED && flow.rtt_ratio < MAX_RTT_RATIO;
        return match is_late {
            _ if is_buffer_limited(flow) => Verdict::BufferLimited,
            true => Verdict::SlowedByLateLosses,
            false => Verdict::SlowedByLosses,
        };
    }
    if is_reordered { Verdict::Copes } else { Verdict::Healthy }
}

/// Returns whether packets were overtaken.
fn is_reordered(flow: &Flow) -> bool {
    let by_timeouts = SPURIOUS_PER_TIMEOUT * u64::from(flow.timeouts.unwrap_or(0));
    flow.reordered >= MIN_REORDERED
        || flow.spurious.saturating_sub(by_timeouts) >= MIN_SPURIOUS_ALONE
}

fn judge_receiver(flow: &Flow) -> Verdict {
    let is_wasteful = share(flow.spurious, flow.segments) >= WASTEFUL;
    if flow.active < MIN_ACTIVE || flow.window < MIN_RECEIVED_WINDOW && !is_wasteful {
        return Verdict::ApplicationLimited;
    }
    if flow.reordered >= MIN_OFTEN_REORDERED && is_slowed_by_spurious(flow) {
        return Verdict::SlowedByReordering;
    }
    if flow.spurious > 0 { Verdict::Copes } else { Verdict::Healthy }
}

/// Returns whether spurious retransmissions are enough, and frequent enough, to be what limits the window.
fn is_slowed_by_spurious(flow: &Flow) -> bool {
    let ratio = ratio_to_reno(flow, flow.spurious);
    if flow.spurious < MIN_SPURIOUS || ratio < MIN_RATIO {
        return false;
    }
    let are_many = share(flow.spurious, flow.segments) >= MANY_SPURIOUS;
    let is_unsteady = flow.spurious >= MIN_SPURIOUS_IF_UNSTEADY && !is_link_limited(flow);
    are_many && ratio <= MAX_RATIO_IF_MANY || is_unsteady && ratio <= MAX_RATIO_IF_UNSTEADY
}

/// Returns whether losses are enough, and frequent enough, to be what limits the window.
fn is_slowed_by_losses(flow: &Flow, losses: u64) -> bool {
    losses >= MIN_LOSSES
        && !is_link_limited(flow)
        && (MIN_RATIO..=MAX_RATIO_OF_LOSSES).contains(&ratio_to_reno(flow, losses))
}

/// Returns whether the rate is so steady that a link is the limit.
fn is_link_limited(flow: &Flow) -> bool {
    flow.steadiness >= LINK_LIMITED
}

fn is_buffer_limited(flow: &Flow) -> bool {
    flow.receive_window_limited + flow.send_buffer_limited > MAX_BUFFER_LIMITED
}

/// Returns the ratio of the window to that of Reno with a loss event for each of `events`, which is sqrt(3 / 2p)
/// with p the share of events (Mathis et al. 1997, equation 3).
fn ratio_to_reno(flow: &Flow, events: u64) -> f64 {
    flow.window * (2.0 / 3.0 * share(events, flow.segments)).sqrt()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
