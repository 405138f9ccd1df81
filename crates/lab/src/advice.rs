//! What to do about what slowed the transfers of a capture: one plan, each step a command.
//!
//! Each step names its host, since a capture may be made where nothing can be changed: loss is
//! detected, and late packets are told from lost ones, at the sender alone.

use std::net::IpAddr;

use serde::Serialize;
use unruffled_capture::{Cause, Direction, Place, is_blurred, is_closed, is_enough, is_truncated};

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

/// What reordering takes is little below this share.
const LITTLE: f64 = 0.05;

/// Whether reordering takes so little of a transfer that no other sender pays.
fn costs_little(transfer: &Transfer<'_>) -> bool {
    let cost = transfer.cost.as_ref().and_then(|cost| cost.as_ref().ok());
    cost.is_some_and(|cost| cost.share.max(cost.lossless_share) < LITTLE)
}

/// A receive buffer that is larger than any default of Linux.
const BUFFER: u64 = 32 << 20;

/// Transfers whose numbers a step names.
const NAMED: usize = 6;

/// What stands before a command, and before nothing else.
pub const COMMAND: &str = "       ";

/// What a capture is called that is made anew.
const ANEW: &str = "slow.pcap";

/// The steps for the `transfers` of the capture `name`, in their order.
pub fn plan(name: &str, transfers: &[Transfer<'_>], written: Option<&Written>) -> Vec<Step> {
    let mut plan = Plan { steps: Vec::new() };
    for (number, transfer) in (1..).zip(transfers).filter(|(_, transfer)| !costs_little(transfer)) {
        plan.advise(number, transfer.direction, transfer.verdict.cause);
    }
    let slowed = || {
        let all = (1..).zip(transfers);
        all.filter(|(_, t)| t.verdict.cause == Cause::Reordering && !lacks_sack(t.direction))
    };
    let dear = slowed().filter(|(_, transfer)| !costs_little(transfer));
    plan.do_without_timestamps(dear.map(|(number, transfer)| (number, transfer.direction)));
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

/// The plan for the `most` largest transfers and a terminal of `width` columns; each command has a line
/// of its own, which is never broken.
pub(crate) fn render(plan: &[Step], most: usize, width: usize) -> String {
    let mut text = String::new();
    let mut before: Option<&Step> = None;
    for (number, step) in (1..).zip(for_largest(plan, most)) {
        if number == 1 {
            text += "\nWhat to do, in this order:\n";
        }
        let place = |step: &Step| (step.host, step.role, step.transfers.clone());
        let line = match before {
            Some(before) if step.host.is_some() && place(before) == place(step) => {
                format!("{number}. There, {}", step.text)
            }
            _ => format!("{number}. {}", step.in_words()),
        };
        text += &wrapped(&line, width, "  ");
        let commands = step.command.rsplit_once(" && ");
        let commands = commands.map_or(vec![&*step.command], |(first, then)| vec![first, then]);
        for command in commands {
            text += &format!("{COMMAND}{command}\n");
        }
        before = Some(step);
    }
    text
}

impl Step {
    /// Where, for what, and what it is good for.
    pub(crate) fn in_words(&self) -> String {
        let here = match self.captured_here {
            Some(true) => ", where this was captured",
            Some(false) if self.action == Action::Attach => {
                "; this was captured elsewhere, where `attach` does not help"
            }
            Some(false) => "; this was captured elsewhere",
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
                            packets are is not seen: switch it on.";
                for role in [Role::Receiver, Role::Sender] {
                    let command = "sudo sysctl -w net.ipv4.tcp_sack=1".to_owned();
                    self.on(Action::Sack, role, number, direction, text.to_owned(), command);
                }
                self.capture_again(
                    number,
                    direction,
                    here(direction),
                    "then repeat the transfer, and capture it.",
                );
            }
            Cause::Reordering => self.attach(number, direction),
            Cause::ReceiverWindow => self.receive(number, direction),
            Cause::Unknown if !is_enough(direction) => {}
            Cause::Unknown if is_blurred(direction) => {
                let text = "capture again with tcpdump, whose clock is finer, or with TCP timestamps \
                            at both ends.";
                self.capture_again(number, direction, here(direction), text);
            }
            Cause::Unknown if is_truncated(direction) => {
                let text = "capture 128 octets of each packet.";
                self.capture_again(number, direction, here(direction), text);
            }
            Cause::Unknown if direction.place != Place::Sender => {
                let text = "capture there, where it is seen what the sender waits for.";
                self.capture_again(number, direction, Role::Sender, text);
            }
            _ => {}
        }
    }

    fn attach(&mut self, number: usize, direction: &Direction) {
        let text = "tell late packets from lost ones, in all connections that begin after it \
                    (Linux 6.0 or later; the command says what is missing). It switches timestamps \
                    off itself. Then begin the transfer again; `sudo unruffled detach` undoes it.";
        let command = "sudo unruffled attach --default".to_owned();
        self.on(Action::Attach, Role::Sender, number, direction, text.to_owned(), command);
        let text = "see what it holds back while the transfer runs.".to_owned();
        let command = "sudo unruffled status --watch".to_owned();
        self.on(Action::Status, Role::Sender, number, direction, text, command);
    }

    /// A window that closes is an application that does not read; else, a buffer that is too small.
    fn receive(&mut self, number: usize, direction: &Direction) {
        if is_closed(direction) {
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
                Role::Sender => {
                    "only if `attach` is refused: do without timestamps. Packets are late by \
                                 much less than a round trip, where that was faster in races. `=1` \
                                 undoes it."
                }
                Role::Receiver => {
                    "only if the sender cannot have `attach`: do without timestamps, \
                                   which an end may refuse. Packets are late by much less than a round \
                                   trip, where that was faster in races. `=1` undoes it."
                }
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

#[cfg(test)]
mod tests {
    use unruffled_capture::{Analysis, Limit, Sureness, Verdict};

    use super::*;
    use crate::analysis::{tests::captured, transfers};
    use crate::fit::Cost;

    const CAUSES: [Cause; 8] = [
        Cause::Reordering,
        Cause::Impatience,
        Cause::Loss,
        Cause::ReceiverWindow,
        Cause::Application,
        Cause::Path,
        Cause::SenderWindow,
        Cause::Unknown,
    ];
    const PLACES: [Place; 4] = [Place::Sender, Place::Receiver, Place::Between, Place::Unknown];

    /// The plan for transfers that are each like the captured one but for `changes`.
    fn planned(name: &str, changes: &[&dyn Fn(&mut Direction)], cause: Cause) -> Vec<Step> {
        let analysis = captured(0);
        let connections = changes.iter().map(|change| {
            let mut connection = analysis.connections[0].clone();
            change(&mut connection.directions[0]);
            connection.directions[1].traffic.segments = 0;
            connection
        });
        let analysis = Analysis { connections: connections.collect(), ..analysis.clone() };
        let mut found = transfers(&analysis);
        for transfer in &mut found {
            let text = String::new();
            transfer.verdict = Verdict { cause, sureness: Sureness::Probable, text };
        }
        plan(name, &found, None)
    }

    fn at(place: Place) -> impl Fn(&mut Direction) {
        move |direction| direction.place = place
    }

    /// Late by so much of the round trip, with timestamps.
    fn late_by(share: f64) -> impl Fn(&mut Direction) {
        move |direction| {
            let rtt = direction.rtt.min_ms.expect("is seen whole");
            direction.traffic.timestamps = true;
            for seen in
                [Some(&mut direction.reordering_here), direction.reordering_at_receiver.as_mut()]
            {
                if let Some(time) = seen.and_then(|seen| seen.late_time.as_mut()) {
                    time.p90_ms = share * rtt;
                }
            }
        }
    }

    fn actions(plan: &[Step]) -> Vec<Action> {
        plan.iter().map(|step| step.action).collect()
    }

    const SENDER: [u8; 4] = [192, 0, 2, 1];
    const RECEIVER: [u8; 4] = [198, 51, 100, 1];

    #[test]
    fn of_every_verdict_and_place_each_step_is_a_command_for_the_host_that_can_take_it() {
        for (cause, place) in
            CAUSES.into_iter().flat_map(|cause| PLACES.map(|place| (cause, place)))
        {
            let plan = planned("c.pcap", &[&at(place)], cause);
            for step in &plan {
                let what = format!("{cause:?} at {place:?}: {step:?}");
                let starts =
                    ["sudo unruffled ", "unruffled ", "sudo sysctl -w ", "sudo tcpdump ", "ss "];
                assert!(starts.iter().any(|start| step.command.starts_with(start)), "{what}");
                if matches!(step.action, Action::Attach | Action::Status) {
                    assert_eq!(step.host, Some(SENDER.into()), "{what}");
                    let here = [Some(true), Some(false), Some(false), None];
                    let nth = PLACES.iter().position(|&other| other == place).expect("is one");
                    assert_eq!(step.captured_here, here[nth], "{what}");
                }
                assert_eq!(step.host.is_some(), step.role.is_some(), "{what}");
            }
            let wanted: &[Action] = match (cause, place) {
                (Cause::Reordering, Place::Sender | Place::Unknown) => {
                    &[Action::Attach, Action::Status, Action::Compare]
                }
                (Cause::Reordering, _) => {
                    &[Action::Attach, Action::Status, Action::Report, Action::Compare]
                }
                (Cause::ReceiverWindow, _) => &[Action::ReceiveBuffer],
                (Cause::Unknown, Place::Receiver | Place::Between | Place::Unknown) => {
                    &[Action::Capture]
                }
                _ => &[],
            };
            assert_eq!(actions(&plan), wanted, "{cause:?} at {place:?}");
        }
    }

    #[test]
    fn a_plan_says_where_its_capture_was_made() {
        let first = |place| planned("c", &[&at(place)], Cause::Reordering)[0].in_words();
        let on = "On 192.0.2.1, the sender of transfer 1";
        for (place, wanted) in [
            (Place::Sender, ", where this was captured: "),
            (Place::Receiver, "; this was captured elsewhere, where `attach` does not help: "),
            (Place::Between, "; this was captured elsewhere, where `attach` does not help: "),
            (Place::Unknown, "; whether this was captured there is not seen: "),
        ] {
            assert!(first(place).starts_with(&format!("{on}{wanted}")), "{}", first(place));
        }
    }

    #[test]
    fn timestamps_are_a_way_out_only_where_no_transfer_of_the_host_is_slower_without() {
        let soon = planned("c", &[&late_by(0.2)], Cause::Reordering);
        let step = soon.iter().find(|step| step.action == Action::Timestamps).expect("is told");
        assert_eq!(step.command, "sudo sysctl -w net.ipv4.tcp_timestamps=0");
        assert!(step.text.starts_with("only if `attach` is refused"), "{step:?}");
        let tells = |plan: &[Step]| actions(plan).contains(&Action::Timestamps);
        let (soon, late) = (late_by(0.2), late_by(2.0));
        assert!(!tells(&planned("c", &[&late], Cause::Reordering)));
        assert!(!tells(&planned("c", &[&soon, &late], Cause::Reordering)));
        let other = |direction: &mut Direction| {
            late(direction);
            direction.from = "[2001:db8::7]:1".parse().expect("an address");
        };
        let plan = planned("c", &[&soon, &other], Cause::Reordering);
        let hosts = |action| {
            let steps = plan.iter().filter(move |step| step.action == action);
            steps.filter_map(|step| step.host).collect::<Vec<_>>()
        };
        assert_eq!(hosts(Action::Timestamps), [IpAddr::from(SENDER)]);
        assert_eq!(hosts(Action::Attach).len(), 2);
        // No step undoes another.
        assert!(plan.iter().all(|step| !step.command.contains("tcp_timestamps=1")));
    }

    #[test]
    fn the_receiver_can_do_without_timestamps_where_the_sender_cannot_have_attach() {
        let change = |direction: &mut Direction| {
            late_by(0.2)(direction);
            direction.place = Place::Receiver;
            direction.reordering_here = direction.reordering_at_receiver.take().expect("SACK");
        };
        let plan = planned("c", &[&change], Cause::Reordering);
        let step = plan.iter().find(|step| step.action == Action::Timestamps).expect("is told");
        assert_eq!((step.host, step.captured_here), (Some(RECEIVER.into()), Some(true)));
        assert!(step.text.starts_with("only if the sender cannot have `attach`"), "{step:?}");
    }

    #[test]
    fn without_sack_nothing_is_attached_before_it_is_on_at_both_ends() {
        let change = |direction: &mut Direction| {
            direction.reordering_at_receiver = None;
            direction.reordering_here.reordered = 0;
        };
        let plan = planned("c", &[&change], Cause::Reordering);
        assert_eq!(actions(&plan), [Action::Sack, Action::Sack, Action::Capture]);
        let hosts: Vec<_> = plan.iter().filter_map(|step| step.host).collect();
        assert_eq!(hosts, [RECEIVER.into(), SENDER.into(), IpAddr::from(SENDER)]);
    }

    #[test]
    fn a_closed_window_is_a_program_that_does_not_read() {
        let change = |direction: &mut Direction| {
            let transfer = direction.traffic.transfer_s;
            direction.windows.closed_s = 0.9 * transfer;
            direction.limits = Some(Limit { receiver: 0.9, ..Limit::default() });
            direction.from = "[2001:db8::7]:1".parse().expect("an address");
        };
        let plan = planned("c", &[&change], Cause::ReceiverWindow);
        assert_eq!(actions(&plan), [Action::Inspect]);
        assert_eq!(plan[0].command, "ss -tmn dst '[2001:db8::7]'");
        assert_eq!(plan[0].host, Some(RECEIVER.into()));
    }

    #[test]
    fn nothing_is_loaded_where_reordering_cost_next_to_nothing() {
        let analysis = captured(0);
        let mut all = transfers(&analysis);
        crate::analysis::price("c", &mut all, crate::cancel::never());
        let Some(Ok(cost)) = all[0].cost.take() else { panic!("it is priced") };
        for (share, wanted) in [
            (0.2, vec![Action::Attach, Action::Status, Action::Compare]),
            (0.04, vec![Action::Compare]),
        ] {
            let cost = Cost { share, lossless_share: share, ..cost.clone() };
            all[0].cost = Some(Ok(cost));
            assert_eq!(actions(&plan("c", &all, None)), wanted, "{share}");
        }
    }

    #[test]
    fn transfers_of_one_host_share_its_steps() {
        let plan = planned("c", &[&|_| (), &|_| ()], Cause::Reordering);
        assert_eq!(actions(&plan), [Action::Attach, Action::Status, Action::Compare]);
        assert_eq!(plan[0].transfers, [1, 2]);
        assert!(
            plan[0].in_words().starts_with("On 192.0.2.1, the sender of transfers 1, 2, where")
        );
        assert_eq!(lines(&plan, 2).len(), 2, "the path that is compared is the first one's");
    }

    #[test]
    fn standard_input_is_captured_into_a_file_before_it_is_named() {
        let plan = planned("-", &[&|_| ()], Cause::Reordering);
        let wanted = [Action::Capture, Action::Attach, Action::Status, Action::Compare];
        assert_eq!(actions(&plan), wanted);
        assert!(plan[0].command.contains(" -w slow.pcap "));
        let last =
            "unruffled analyze slow.pcap --scenario path.toml && unruffled compare path.toml";
        assert_eq!(plan[3].command, last);
    }

    #[test]
    fn both_readings_of_a_path_that_was_written_are_named() {
        let analysis = captured(0);
        let found = transfers(&analysis);
        let other = Some("my path-lossy.toml".to_owned());
        let written = Written { transfer: 1, path: "my path.toml".to_owned(), other };
        let plan = plan("c", &found, Some(&written));
        let commands: Vec<_> = plan[plan.len() - 2..].iter().map(|step| &step.command).collect();
        let wanted = ["unruffled compare 'my path.toml'", "unruffled compare 'my path-lossy.toml'"];
        assert_eq!(commands, wanted);
    }

    #[test]
    fn commands_are_not_broken_and_text_keeps_to_the_width() {
        let plan = planned("c", &[&|_| ()], Cause::Reordering);
        let text = render(&plan, 12, 60);
        assert!(text.starts_with("\nWhat to do, in this order:\n  1. On 192.0.2.1"), "{text}");
        assert!(
            text.contains("\n       sudo unruffled attach --default\n  2. There, see"),
            "{text}"
        );
        let words = text.lines().filter(|line| !line.starts_with("       "));
        assert!(words.clone().all(|line| line.chars().count() <= 60), "{text}");
        assert_eq!(render(&[], 12, 60), "");
    }
}
