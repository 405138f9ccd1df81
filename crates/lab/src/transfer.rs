//! The transfers of a capture, each with the cause of its slowness and the cost of reordering.

use std::sync::Arc;

use unruffled_capture::{
    Analysis, Cause, Direction, Sureness, Tunnel, UdpPair, Verdict, is_enough, judge,
};

use crate::cancel::CancellationToken;
use crate::fit::{self, Beside, Cost, FitError, LimitCost, LossOrigin, Losses};
use crate::rate::Scale;

/// The most transfers whose cost is simulated; each simulation takes some seconds.
const MAX_PRICED: usize = 3;

/// The difference between the span of a transfer and that of the tunnel that carries it, in seconds.
const TUNNEL_SLACK_S: f64 = 1.0;

/// A direction of a connection that carried data, with the verdict on it.
#[derive(Debug)]
pub struct Transfer<'a> {
    /// The index of the connection in the analysis.
    pub connection: usize,
    /// The times of the connection's first and last packet, in seconds since the capture's first.
    pub span_s: (f64, f64),
    /// The direction.
    pub direction: &'a Direction,
    /// The verdict: what slowed the transfer.
    pub verdict: Verdict,
    /// The causes of its losses.
    pub losses: Losses,
    /// The tunnel that carries its packets, if the capture shows one.
    pub tunnel: Option<Tunnel>,
    /// The cost of reordering, or the reason why it is unknown; none before [`price`], and for transfers
    /// whose cost is not simulated.
    pub cost: Option<Result<Cost, Arc<FitError>>>,
    /// The cost of a replay window or of a limit on ranges, or the reason why it is unknown; none before
    /// [`price`], and for transfers whose cost is not simulated.
    pub limit_cost: Option<Result<LimitCost, Arc<FitError>>>,
}

impl Transfer<'_> {
    /// Returns the share of this transfer's time during which `other` was active too.
    fn shared_with(&self, other: &Self) -> f64 {
        let (from, to) = self.span_s;
        let (other_from, other_to) = other.span_s;
        if to > from {
            ((to.min(other_to) - from.max(other_from)) / (to - from)).max(0.0)
        } else {
            0.0
        }
    }

    /// Returns the transfers that used the same path at the same time.
    fn beside(&self, transfers: &[Self]) -> Beside {
        let mut beside = Beside::default();
        for other in transfers {
            if other.connection != self.connection && is_enough(other.direction) {
                let share = self.shared_with(other);
                beside.add(self.direction, other.direction, share, other.verdict.cause);
            }
        }
        beside
    }

    /// Describes the cost of reordering, or of the limit that drops late packets, in a sentence; none if it
    /// was not simulated.
    pub fn cost_in_words(&self) -> Option<String> {
        let known = match (&self.cost, &self.limit_cost) {
            (Some(cost), _) => cost.as_ref().map(|cost| &cost.text),
            (None, Some(cost)) => cost.as_ref().map(|cost| &cost.text),
            (None, None) => return None,
        };
        Some(known.map_or_else(|reason| format!("Its cost is unknown: {reason}."), Clone::clone))
    }
}

/// Returns the transfers of a capture, the largest first.
pub fn transfers(analysis: &Analysis) -> Vec<Transfer<'_>> {
    let mut found = Vec::new();
    for (at, connection) in analysis.connections.iter().enumerate() {
        let directions = connection.directions.iter();
        found.extend(directions.filter(|d| d.traffic.segments > 0).map(|d| (at, d)));
    }
    found.sort_by_key(|(_, direction)| std::cmp::Reverse(direction.traffic.payload_bytes));
    let transfer = |(at, direction): (usize, _)| {
        let connection = &analysis.connections[at];
        let span_s = (connection.start_s, connection.start_s + connection.duration_s);
        let losses = fit::losses(direction);
        let verdict = match judge(direction) {
            verdict if verdict.cause != Cause::Loss => verdict,
            _ if losses.decision == LossOrigin::Queue => overflowed(direction),
            verdict => verdict,
        };
        let tunnel = tunnel(analysis, direction, span_s);
        Transfer {
            connection: at,
            span_s,
            direction,
            verdict,
            losses,
            tunnel,
            cost: None,
            limit_cost: None,
        }
    };
    found.into_iter().map(transfer).collect()
}

/// Returns the tunnel that carries a transfer: the largest that was there all the time and carried at least
/// as many octets in one direction. The capture has both where it was made on all interfaces of a host at
/// which the tunnel ends.
fn tunnel(analysis: &Analysis, direction: &Direction, span_s: (f64, f64)) -> Option<Tunnel> {
    let carries = |pair: &&UdpPair| {
        let end_s = pair.start_s + pair.duration_s;
        let is_there =
            pair.start_s <= span_s.0 + TUNNEL_SLACK_S && end_s >= span_s.1 - TUNNEL_SLACK_S;
        is_there && pair.payload_bytes.iter().max() >= Some(&direction.traffic.payload_bytes)
    };
    let tunnels = analysis.udp.iter().filter(|pair| pair.tunnel.is_some());
    let largest = tunnels.filter(carries).max_by_key(|pair| pair.payload_bytes.iter().max());
    largest.and_then(|pair| pair.tunnel)
}

/// Returns the verdict on a transfer whose losses are overflows of the path's queue: it filled the
/// path.
fn overflowed(direction: &Direction) -> Verdict {
    let goodput_bps = direction.traffic.goodput_bps;
    let rate = Scale::of([goodput_bps]).with_unit(goodput_bps).replace('\u{a0}', " ");
    let text = format!(
        "The path: its queue overflowed and dropped {:.2} % of the data; the transfer got {rate}.",
        direction.losses.ratio * 100.0
    );
    Verdict { cause: Cause::Path, sureness: Sureness::Probable, text }
}

/// Simulates the cost of reordering for the largest transfers that it slowed. After a cancellation,
/// the cost of the remaining ones is [`FitError::Cancelled`].
pub fn price(name: &str, transfers: &mut [Transfer<'_>], cancel: &CancellationToken) {
    let slowed = |at: &usize| transfers[*at].verdict.cause.is_reordering();
    let priced: Vec<usize> = (0..transfers.len()).filter(slowed).take(MAX_PRICED).collect();
    for at in priced {
        let beside = transfers[at].beside(transfers);
        let transfer = &mut transfers[at];
        let cause = transfer.verdict.cause;
        let cost = fit::cost(name, transfer.direction, cause, &transfer.losses, &beside, cancel);
        transfer.cost = Some(cost.map_err(Arc::new));
    }
    let limited = |transfer: &&mut Transfer<'_>| {
        matches!(transfer.verdict.cause, Cause::ReplayWindow | Cause::Ranges)
    };
    for transfer in transfers.iter_mut().filter(limited).take(MAX_PRICED) {
        let cost = fit::limit_cost(name, transfer.direction, &transfer.losses, cancel);
        transfer.limit_cost = Some(cost.map_err(Arc::new));
    }
}

/// Returns the transfer with this number, counted from 1.
///
/// # Errors
/// [`FitError::NoTransfer`] if there are fewer.
pub fn numbered<'a, 'b>(
    transfers: &'a [Transfer<'b>],
    number: u32,
) -> Result<&'a Transfer<'b>, FitError> {
    let at = (number as usize).checked_sub(1);
    let chosen = at.and_then(|at| transfers.get(at));
    chosen.ok_or(FitError::NoTransfer { number, found: transfers.len() })
}
