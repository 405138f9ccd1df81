//! The plan for a capture: which advice follows from which cause, and for which host.

use std::net::IpAddr;

use unruffled_capture::{
    Cause, Direction, Place, is_blurred, is_closed, is_enough, is_truncated, replay_window,
};

use super::kind::{Action, Advice, CaptureReason, NEW_CAPTURE};
use super::remedy::is_late_here;
use super::replay::ReplayAdvice;
use super::role::Role;
use super::step::{Site, Step};
use crate::fit::{self, Growth};
use crate::transfer::Transfer;

/// The largest lateness with which a sender without timestamps did better in races: the 90th percentile,
/// as a share of the round trip (docs/measurements/2026-11-28-advice.md).
const MAX_LATENESS_SHARE: f64 = 0.4;

/// The smallest share that reordering costs a transfer for which another sender pays.
const MIN_COST_SHARE: f64 = 0.05;

/// A receive buffer that is larger than any default of Linux, in octets.
const MIN_RECEIVE_BUFFER: u64 = 32 << 20;

/// The scenario that was written for a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The transfer, numbered from 1.
    pub transfer: usize,
    /// The file.
    pub path: String,
    /// The file with the other reading of the losses, if there is one.
    pub other: Option<String>,
}

/// Returns the steps for the `transfers` of the capture `name`, in their order.
pub fn plan(name: &str, transfers: &[Transfer<'_>], written: Option<&Written>) -> Vec<Step> {
    let mut plan = Plan { steps: Vec::new() };
    for (number, transfer) in (1..).zip(transfers).filter(|(_, transfer)| !costs_little(transfer)) {
        plan.advise(number, transfer);
    }
    let slowed: Vec<(usize, &Transfer<'_>)> = (1..)
        .zip(transfers)
        .filter(|(_, t)| t.verdict.cause.is_reordering() && !lacks_sack(t.direction))
        .collect();
    let costly = slowed.iter().filter(|(_, transfer)| !costs_little(transfer));
    plan.disable_timestamps(costly.map(|(number, transfer)| (*number, transfer.direction)));

    let numbers = |keep: fn(&Transfer<'_>) -> bool| -> Vec<usize> {
        let kept = slowed.iter().filter(|(_, transfer)| keep(transfer));
        kept.map(|(number, _)| *number).collect()
    };
    let sent_elsewhere =
        numbers(|transfer| matches!(transfer.direction.place, Place::Receiver | Place::Between));
    let fitted = numbers(|transfer| fit::is_long_enough(transfer.direction));
    let file = if name == "-" { NEW_CAPTURE } else { name };
    let reads_file = !sent_elsewhere.is_empty() || !fitted.is_empty() && written.is_none();
    if name == "-" && reads_file {
        plan.anywhere(Advice::CaptureIntoFile, fitted.clone());
    }
    if !sent_elsewhere.is_empty() {
        plan.anywhere(Advice::WriteReport { capture: file.to_owned() }, sent_elsewhere);
    }
    plan.compare(file, &fitted, written);
    // Stable: the steps of one kind stay in the order of their transfers.
    plan.steps.sort_by_key(rank);
    plan.steps
}

/// The steps so far. A host has each step once, for all of its transfers.
struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// Adds the steps for one transfer.
    fn advise(&mut self, number: usize, transfer: &Transfer<'_>) {
        let direction = transfer.direction;
        match transfer.verdict.cause {
            cause if cause.is_reordering() && lacks_sack(direction) => {
                self.on(Advice::EnableSack, Role::Receiver, number, direction);
                self.on(Advice::EnableSack, Role::Sender, number, direction);
                self.capture(CaptureReason::Sack, captured_end(direction), number, direction);
            }
            Cause::Reordering | Cause::Paws => {
                self.attach(number, transfer);
                self.on(Advice::ShowStatus, Role::Sender, number, direction);
                self.resequence(number, transfer);
            }
            Cause::ReplayWindow => self.replay_window(number, transfer),
            Cause::Ranges => {
                let limit = direction.loss_evidence.ranges.limit;
                self.on(Advice::ResequenceBeforeLimit { limit }, Role::Receiver, number, direction);
            }
            Cause::ReceiverWindow => {
                let advice = receiver_advice(direction);
                self.on(advice, Role::Receiver, number, direction);
            }
            Cause::Unknown if !is_enough(direction) => {}
            Cause::Unknown if is_blurred(direction) => {
                self.capture(CaptureReason::FineClock, captured_end(direction), number, direction);
            }
            Cause::Unknown if is_truncated(direction) => {
                let end = captured_end(direction);
                self.capture(CaptureReason::WholeHeaders, end, number, direction);
            }
            Cause::Unknown if direction.place != Place::Sender => {
                self.capture(CaptureReason::SenderView, Role::Sender, number, direction);
            }
            _ => {}
        }
    }

    /// Adds the congestion control at the sender. A host has one for all transfers, whose window grows by
    /// BBR if that pays for any of them: without losses, both growths deliver nearly the same.
    fn attach(&mut self, number: usize, transfer: &Transfer<'_>) {
        let cost = transfer.cost.as_ref().and_then(|cost| cost.as_ref().ok());
        let growth = cost.map_or(Growth::default(), |cost| cost.growth);
        let host = address(Role::Sender, transfer.direction);
        let of_host = self.steps.iter_mut().find(|step| {
            step.advice.action() == Action::Attach
                && step.site.is_some_and(|site| site.host == host)
        });
        let growth = match of_host {
            Some(step) if step.advice == (Advice::Attach { growth: Growth::Bbr }) => Growth::Bbr,
            Some(step) => {
                step.advice = Advice::Attach { growth };
                growth
            }
            None => growth,
        };
        self.on(Advice::Attach { growth }, Role::Sender, number, transfer.direction);
    }

    /// Adds the settings of the tunnel whose replay window drops late packets, and the resequencer before
    /// that window.
    fn replay_window(&mut self, number: usize, transfer: &Transfer<'_>) {
        let direction = transfer.direction;
        let Some(cutoff) = replay_window(direction) else { return };
        let replay = ReplayAdvice { window: cutoff.window, tunnel: transfer.tunnel };
        self.on(Advice::RaiseReplayWindow(replay), Role::Receiver, number, direction);
        if let Some(tunnel) = replay.readable_tunnel() {
            let advice = Advice::ResequenceBeforeWindow { tunnel };
            self.on(advice, Role::Receiver, number, direction);
        }
    }

    /// Adds the resequencer at the receiver, and on the gateway where the capture was made if packets
    /// had lost their order there.
    fn resequence(&mut self, number: usize, transfer: &Transfer<'_>) {
        let direction = transfer.direction;
        let tunnel = transfer.tunnel;
        if direction.place == Place::Between && is_late_here(direction) {
            let advice = Advice::Resequence { forwards: true, tunnel };
            self.on(advice, Role::Gateway, number, direction);
        }
        let advice = Advice::Resequence { forwards: false, tunnel };
        self.on(advice, Role::Receiver, number, direction);
    }

    fn capture(&mut self, reason: CaptureReason, at: Role, number: usize, direction: &Direction) {
        let peer = match at {
            Role::Sender | Role::Gateway => direction.to.ip(),
            Role::Receiver => direction.from.ip(),
        };
        self.on(Advice::Capture { reason, peer }, at, number, direction);
    }

    /// Adds the alternative to `attach` for each host. The setting applies to all connections of a host,
    /// so each of its transfers must be faster with it.
    fn disable_timestamps<'a>(&mut self, slowed: impl Iterator<Item = (usize, &'a Direction)>) {
        let slowed: Vec<_> = slowed.collect();
        for &(number, direction) in &slowed {
            let at = captured_end(direction);
            let host = address(at, direction);
            let mut of_host = slowed.iter().filter(|(_, other)| address(at, other) == host);
            if of_host.all(|(_, other)| gains_without_timestamps(other)) {
                self.on(Advice::DisableTimestamps { at }, at, number, direction);
            }
        }
    }

    /// Adds the comparison of senders over the path that was written, or else over the path of the first
    /// of the `fitted` transfers.
    fn compare(&mut self, capture: &str, fitted: &[usize], written: Option<&Written>) {
        if let Some(Written { transfer, path, other }) = written {
            self.anywhere(Advice::CompareWritten { path: path.clone() }, vec![*transfer]);
            if let Some(path) = other.clone() {
                self.anywhere(Advice::CompareOtherReading { path }, vec![*transfer]);
            }
            return;
        }
        let Some(&transfer) = fitted.first() else { return };
        let has_others = fitted.len() > 1;
        let capture = capture.to_owned();
        let advice = Advice::CompareFitted { capture, transfer, has_others };
        self.anywhere(advice, vec![transfer]);
    }

    /// Adds a step on an end of `direction`, or the transfer to a step that is there already.
    fn on(&mut self, advice: Advice, role: Role, number: usize, direction: &Direction) {
        let host = address(role, direction);
        let captured_here = captured_at(role, direction);
        let command = advice.command();
        for step in &mut self.steps {
            let Some(site) = &mut step.site else { continue };
            let same = site.host == host && site.role == role;
            if same && step.advice.action() == advice.action() && step.advice.command() == command {
                step.transfers.push(number);
                site.captured_here = site.captured_here.or(captured_here);
                return;
            }
        }
        let site = Some(Site { host, role, captured_here });
        self.steps.push(Step { advice, site, transfers: vec![number] });
    }

    /// Adds a step on any machine that has the capture.
    fn anywhere(&mut self, advice: Advice, transfers: Vec<usize>) {
        self.steps.push(Step { advice, site: None, transfers });
    }
}

/// The advice for a receiver whose window limits the transfer. If the window closes, the application does
/// not read; otherwise the buffer is too small.
fn receiver_advice(direction: &Direction) -> Advice {
    if is_closed(direction) {
        return Advice::InspectReader { peer: direction.from.ip() };
    }
    let window = direction.windows.largest_window.unwrap_or(0);
    let max = (window * 4).next_power_of_two().clamp(MIN_RECEIVE_BUFFER, 1 << 30);
    Advice::GrowReceiveBuffer { max }
}

/// Returns whether reordering costs the transfer so little that no other sender pays.
fn costs_little(transfer: &Transfer<'_>) -> bool {
    let cost = transfer.cost.as_ref().and_then(|cost| cost.as_ref().ok());
    cost.is_some_and(|cost| cost.share.max(cost.lossless_share) < MIN_COST_SHARE)
}

/// Returns the place of a step in the plan: by kind, but of the remedies for reordering, first those for
/// the host where the capture was made.
fn rank(step: &Step) -> (Action, bool, Action) {
    let action = step.advice.action();
    let captured_here = step.site.and_then(|site| site.captured_here);
    match action {
        Action::Attach | Action::Status | Action::Resequence => {
            (Action::Attach, captured_here == Some(false), action)
        }
        _ => (action, false, action),
    }
}

/// The address of the host that has this role, if it is known.
fn address(role: Role, direction: &Direction) -> Option<IpAddr> {
    match role {
        Role::Sender => Some(direction.from.ip()),
        Role::Receiver => Some(direction.to.ip()),
        Role::Gateway => None,
    }
}

/// Returns whether the capture was made at the host with this role, if that is known.
fn captured_at(role: Role, direction: &Direction) -> Option<bool> {
    match direction.place {
        Place::Sender => Some(role == Role::Sender),
        Place::Receiver => Some(role == Role::Receiver),
        Place::Between => Some(role == Role::Gateway),
        Place::Unknown => None,
    }
}

/// The end at which the capture was made; the sender if it was made at neither.
fn captured_end(direction: &Direction) -> Role {
    match direction.place {
        Place::Receiver => Role::Receiver,
        _ => Role::Sender,
    }
}

/// Returns whether no late packet is visible because the receiver sends no SACK.
fn lacks_sack(direction: &Direction) -> bool {
    direction.reordering().reordered == 0 && direction.reordering_at_receiver.is_none()
}

/// Returns whether the sender uses timestamps and would be faster without them.
fn gains_without_timestamps(direction: &Direction) -> bool {
    let rtt = direction.rtt.min_ms.or(direction.rtt.beyond_ms);
    let lateness = direction.reordering().late_time.as_ref();
    let (Some(rtt), Some(lateness)) = (rtt, lateness) else { return false };
    direction.traffic.timestamps && lateness.p90_ms < MAX_LATENESS_SHARE * rtt
}
