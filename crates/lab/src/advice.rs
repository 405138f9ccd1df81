//! What to do about what slowed the transfers of a capture: one plan, each step a command.
//!
//! Each step names its host, since a capture may be made where nothing can be changed: loss is
//! detected, and late packets are told from lost ones, at the sender alone.

use std::net::IpAddr;

use serde::Serialize;
use unruffled_capture::{Cause, Direction, Place, is_enough, is_truncated};

use crate::analysis::Transfer;
use crate::fit;
use crate::text::{for_shell, wrapped};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Switch SACK on.
    Sack,
    /// See whether the receiving program reads what has come.
    Inspect,
    /// Let receive buffers grow.
    ReceiveBuffer,
    /// Capture again, with what this capture lacks.
    Capture,
    /// Load the congestion control that tells late packets from lost ones.
    Attach,
    /// See what it does.
    Status,
    /// Where it cannot be loaded: do without timestamps.
    Timestamps,
    /// Write a page for those who run the sender.
    Report,
    /// See what each sender delivers on the path.
    Compare,
}

/// Which end of a transfer a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The data come from it.
    Sender,
    /// The data go to it.
    Receiver,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Where its command runs; none where any machine with the capture will do.
    pub host: Option<IpAddr>,
    /// Which end of the transfers that is.
    pub role: Option<Role>,
    /// Whether the capture was made there, if that is seen.
    pub captured_here: Option<bool>,
    /// The transfers that it is for, numbered from 1, the largest first.
    pub transfers: Vec<usize>,
    /// What it is for, a sentence or two.
    pub text: String,
    /// The command, as a shell takes it.
    pub command: String,
}

/// The scenario that was written of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Which transfer, numbered from 1.
    pub transfer: usize,
    /// The file.
    pub path: String,
    /// The file with the other reading of the losses, if there is one.
    pub other: Option<String>,
}

/// Late packets of a path on which a sender without timestamps did better in races: nine tenths of
/// them are late by less than this share of the round trip (docs/analyze.md, "Advice, raced").
const SOON: f64 = 0.4;

/// A receive buffer that is larger than any default of Linux.
const BUFFER: u64 = 32 << 20;

/// Transfers whose numbers a step names.
const NAMED: usize = 6;

/// What a capture is called that is made anew.
const ANEW: &str = "slow.pcap";

/// The steps for the `transfers` of the capture `name`, in their order.
pub fn plan(name: &str, transfers: &[Transfer<'_>], written: Option<&Written>) -> Vec<Step> {
    let mut plan = Plan { steps: Vec::new() };
    for (number, transfer) in (1..).zip(transfers) {
        plan.advise(number, transfer.direction, transfer.verdict.cause);
    }
    let slowed = || {
        let all = (1..).zip(transfers);
        all.filter(|(_, t)| t.verdict.cause == Cause::Reordering && !lacks_sack(t.direction))
    };
    plan.do_without_timestamps(slowed().map(|(number, transfer)| (number, transfer.direction)));
    let file = if name == "-" { ANEW } else { name };
    let elsewhere = |(_, transfer): &(usize, &Transfer<'_>)| {
        matches!(transfer.direction.place, Place::Receiver | Place::Between)
    };
    let told: Vec<usize> = slowed().filter(elsewhere).map(|(number, _)| number).collect();
    let fits = |(_, transfer): &(usize, &Transfer<'_>)| fit::is_long_enough(transfer.direction);
    let fitted: Vec<usize> = slowed().filter(fits).map(|(number, _)| number).collect();
    let wants_file = !told.is_empty() || !fitted.is_empty() && written.is_none();
    if name == "-" && wants_file {
        let text = "Standard input is read only once: capture into a file.";
        let command = format!("sudo tcpdump -U -i any -s 128 -w {ANEW} tcp");
        plan.anywhere(Action::Capture, fitted.clone(), text.to_owned(), command);
    }
    if !told.is_empty() {
        let text = "If others run the sender: a page that shows them what slows it.".to_owned();
        let command = format!("unruffled analyze {} --report slow.html", for_shell(file));
        plan.anywhere(Action::Report, told, text, command);
    }
    plan.compare(file, &fitted, written);
    // Steps of one kind stay in the order of their transfers.
    plan.steps.sort_by_key(|step| step.action);
    plan.steps
}

/// What is advised for transfer `number`, a line for each step.
pub fn lines(plan: &[Step], number: usize) -> Vec<String> {
    let own = plan.iter().filter(|step| step.transfers.contains(&number));
    own.map(|step| format!("{} {}", step.in_words(), step.command)).collect()
}

/// The steps for some of the `most` largest transfers.
pub(crate) fn for_largest(plan: &[Step], most: usize) -> impl Iterator<Item = &Step> {
    plan.iter().filter(move |step| step.transfers.iter().any(|&number| number <= most))
}

/// The plan for the `most` largest transfers and a terminal of `width` columns; commands are never
/// broken.
pub(crate) fn render(plan: &[Step], most: usize, width: usize) -> String {
    let mut text = String::new();
    for (number, step) in (1..).zip(for_largest(plan, most)) {
        if number == 1 {
            text += "\nWhat to do, in this order:\n";
        }
        let line = format!("{number}. {}", step.in_words());
        text += &format!("{}    {}\n", wrapped(&line, width, "  "), step.command);
    }
    text
}

impl Step {
    /// Where, for what, and what it is good for.
    pub(crate) fn in_words(&self) -> String {
        let here = match self.captured_here {
            Some(true) => ", where this was captured",
            Some(false) => "; this was not captured there",
            None => "; whether this was captured there is not seen",
        };
        let numbers: Vec<_> = self.transfers.iter().map(ToString::to_string).collect();
        let transfers = match numbers.as_slice() {
            [one] => format!("transfer {one}"),
            more if more.len() > NAMED => {
                format!("transfers {} and {} more", more[..NAMED].join(", "), more.len() - NAMED)
            }
            more => format!("transfers {}", more.join(", ")),
        };
        let place = match (self.host, self.role) {
            (Some(host), Some(Role::Sender)) => {
                format!("On {host}, the sender of {transfers}{here}: ")
            }
            (Some(host), Some(Role::Receiver)) => {
                format!("On {host}, the receiver of {transfers}{here}: ")
            }
            _ => String::new(),
        };
        format!("{place}{}", self.text)
    }
}

/// Steps, of which hosts have each kind once.
struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// What helps one transfer.
    fn advise(&mut self, number: usize, direction: &Direction, cause: Cause) {
        match cause {
            Cause::Reordering if lacks_sack(direction) => {
                let text = "`unruffled attach` needs SACK at the receiver, and without it how late \
                            packets are is not seen. Switch it on:";
                for role in [Role::Receiver, Role::Sender] {
                    let command = "sudo sysctl -w net.ipv4.tcp_sack=1".to_owned();
                    self.on(Action::Sack, role, number, direction, text.to_owned(), command);
                }
                self.capture_again(number, direction, here(direction), "Then repeat the transfer, and capture it:");
            }
            Cause::Reordering => self.attach(number, direction),
            Cause::ReceiverWindow => self.receive(number, direction),
            Cause::Unknown if !is_enough(direction) => {}
            Cause::Unknown if is_truncated(direction) => {
                let text = "Capture 128 octets of each packet:";
                self.capture_again(number, direction, here(direction), text);
            }
            Cause::Unknown if direction.place != Place::Sender => {
                let text = "Only there is seen what the sender waits for. Capture there:";
                self.capture_again(number, direction, Role::Sender, text);
            }
            _ => {}
        }
    }

    fn attach(&mut self, number: usize, direction: &Direction) {
        let text = "tell late packets from lost ones, in all connections that begin after it \
                    (Linux 6.0 or later; it says what is missing). It does without timestamps by \
                    itself. Then begin the transfer again; `sudo unruffled detach` undoes it.";
        let command = "sudo unruffled attach --default".to_owned();
        self.on(Action::Attach, Role::Sender, number, direction, text.to_owned(), command);
        let text = "see what it holds back while the transfer runs.".to_owned();
        let command = "sudo unruffled status --watch".to_owned();
        self.on(Action::Status, Role::Sender, number, direction, text, command);
    }

    /// A window that closes is an application that does not read; else, a buffer that is too small.
    fn receive(&mut self, number: usize, direction: &Direction) {
        if direction.windows.zero_windows > 0 {
            let text = "where Recv-Q is not 0, the program there reads more slowly than data come, \
                        and no setting of TCP helps.";
            let peer = match direction.from.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("'[{ip}]'"),
            };
            let command = format!("ss -tmn dst {peer}");
            self.on(Action::Inspect, Role::Receiver, number, direction, text.to_owned(), command);
            return;
        }
        let window = direction.windows.largest_window.unwrap_or(0);
        let most = (window * 4).next_power_of_two().clamp(BUFFER, 1 << 30);
        let text = "let receive buffers grow further, but for programs that set SO_RCVBUF \
                    themselves.";
        let command = format!("sudo sysctl -w net.ipv4.tcp_rmem='4096 131072 {most}'");
        self.on(Action::ReceiveBuffer, Role::Receiver, number, direction, text.to_owned(), command);
    }

    fn capture_again(&mut self, number: usize, direction: &Direction, role: Role, text: &str) {
        let peer = if role == Role::Sender { direction.to } else { direction.from };
        let command =
            format!("sudo tcpdump -U -i any -s 128 -w {ANEW} 'tcp and host {}'", peer.ip());
        self.on(Action::Capture, role, number, direction, text.to_owned(), command);
    }

    /// What a host can do where `attach` cannot be had. The setting is one for all of its connections:
    /// none of them may be slower for it.
    fn do_without_timestamps<'a>(&mut self, slowed: impl Iterator<Item = (usize, &'a Direction)>) {
        let slowed: Vec<_> = slowed.collect();
        for &(number, direction) in &slowed {
            let role = here(direction);
            let host = |direction: &Direction| host(role, direction).0;
            let all = slowed.iter().filter(|(_, other)| host(other) == host(direction));
            if !all.clone().all(|(_, other)| is_soon(other)) {
                continue;
            }
            let text = match role {
                Role::Sender => "only if `attach` is refused: do without timestamps. Packets are late by \
                                 much less than a round trip, where that was faster in races. `=1` \
                                 undoes it.",
                Role::Receiver => "only if the sender cannot have `attach`: do without timestamps, \
                                   which an end may refuse. Packets are late by much less than a round \
                                   trip, where that was faster in races. `=1` undoes it.",
            };
            let command = "sudo sysctl -w net.ipv4.tcp_timestamps=0".to_owned();
            self.on(Action::Timestamps, role, number, direction, text.to_owned(), command);
        }
    }

    /// Senders on the path of the first of the `fitted` transfers, or of that which was written.
    fn compare(&mut self, file: &str, fitted: &[usize], written: Option<&Written>) {
        if let Some(Written { transfer, path, other }) = written {
            let text = "See what each sender delivers on this path:".to_owned();
            let command = format!("unruffled compare {}", for_shell(path));
            self.anywhere(Action::Compare, vec![*transfer], text, command);
            if let Some(other) = other {
                let text = "The same with the other reading of its losses:".to_owned();
                let command = format!("unruffled compare {}", for_shell(other));
                self.anywhere(Action::Compare, vec![*transfer], text, command);
            }
            return;
        }
        let Some(&first) = fitted.first() else { return };
        let choice = if first == 1 { String::new() } else { format!(" --transfer {first}") };
        let more = match fitted {
            [_] => "",
            _ => " (--transfer N takes another one)",
        };
        let text = format!("See what each sender delivers on the path of transfer {first}{more}:");
        let command = format!(
            "unruffled analyze {} --scenario path.toml{choice} && unruffled compare path.toml",
            for_shell(file)
        );
        self.anywhere(Action::Compare, vec![first], text, command);
    }

    /// A step on an end of `direction`.
    fn on(
        &mut self,
        action: Action,
        role: Role,
        number: usize,
        direction: &Direction,
        text: String,
        command: String,
    ) {
        let (host, captured_here) = host(role, direction);
        let same = |step: &&mut Step| {
            (step.action, step.host, step.role) == (action, Some(host), Some(role))
                && step.command == command
        };
        if let Some(step) = self.steps.iter_mut().find(same) {
            step.transfers.push(number);
            step.captured_here = step.captured_here.or(captured_here);
            return;
        }
        self.steps.push(Step {
            action,
            host: Some(host),
            role: Some(role),
            captured_here,
            transfers: vec![number],
            text,
            command,
        });
    }

    /// A step on any machine that has the capture.
    fn anywhere(&mut self, action: Action, transfers: Vec<usize>, text: String, command: String) {
        let (host, role, captured_here) = (None, None, None);
        self.steps.push(Step { action, host, role, captured_here, transfers, text, command });
    }
}

/// The host that has this role, and whether the capture was made there.
fn host(role: Role, direction: &Direction) -> (IpAddr, Option<bool>) {
    let captured_here = match direction.place {
        Place::Sender => Some(role == Role::Sender),
        Place::Receiver => Some(role == Role::Receiver),
        Place::Between => Some(false),
        Place::Unknown => None,
    };
    match role {
        Role::Sender => (direction.from.ip(), captured_here),
        Role::Receiver => (direction.to.ip(), captured_here),
    }
}

/// The end at which the capture was made, or else the one that matters more.
fn here(direction: &Direction) -> Role {
    match direction.place {
        Place::Receiver => Role::Receiver,
        _ => Role::Sender,
    }
}

/// Whether late packets are not seen because the receiver tells of none.
fn lacks_sack(direction: &Direction) -> bool {
    direction.reordering().reordered == 0 && direction.reordering_at_receiver.is_none()
}

/// Whether the sender would be faster without the timestamps that it has.
fn is_soon(direction: &Direction) -> bool {
    let rtt = direction.rtt.min_ms.or(direction.rtt.beyond_ms);
    let late = direction.reordering().late_time.as_ref();
    let soon = rtt.zip(late).is_some_and(|(rtt, time)| time.p90_ms < SOON * rtt);
    soon && direction.traffic.timestamps
}
