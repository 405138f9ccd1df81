//! The kinds of advice, each with its data; its text and its command follow from them.

use std::net::IpAddr;

use serde::Serialize;
use unruffled_capture::Tunnel;

use super::replay::ReplayAdvice;
use super::role::Role;
use crate::fit::Growth;
use crate::text::for_shell;

/// The file of a capture that is made anew.
pub(super) const NEW_CAPTURE: &str = "slow.pcap";

/// The kind of an [`Advice`], as JSON has it. A plan's steps are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Enable SACK.
    Sack,
    /// Check whether the receiving program reads what has arrived.
    Inspect,
    /// Let receive buffers grow.
    ReceiveBuffer,
    /// Capture again, with the information that this capture lacks.
    Capture,
    /// Enlarge the replay window of a tunnel, which drops late packets.
    ReplayWindow,
    /// Load the congestion control that distinguishes late packets from lost ones.
    Attach,
    /// Show what it does.
    Status,
    /// Put packets in order at the receiver, or on a gateway before it.
    Resequence,
    /// Disable timestamps where neither is possible.
    Timestamps,
    /// Write a page for the people who run the sender.
    Report,
    /// Show what each sender delivers on the path.
    Compare,
}

/// Advice on one or several transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Enable SACK: without it, the sender does not learn how late packets are.
    EnableSack,
    /// Check whether the receiving program reads more slowly than data arrive.
    InspectReader {
        /// The other end of the connection, as the receiver sees it.
        peer: IpAddr,
    },
    /// Let receive buffers grow beyond their present maximum.
    GrowReceiveBuffer {
        /// The new maximum, in octets.
        max: u64,
    },
    /// Capture again.
    Capture {
        /// What this capture lacks.
        reason: CaptureReason,
        /// The other end of the connection, as the capturing host sees it.
        peer: IpAddr,
    },
    /// Capture into a file, because standard input can be read only once.
    CaptureIntoFile,
    /// Load the congestion control that distinguishes late packets from lost ones.
    Attach {
        /// How its window grows.
        growth: Growth,
    },
    /// Show what the congestion control holds back.
    ShowStatus,
    /// Put packets in order at the receiver, or on a gateway before it.
    Resequence {
        /// Whether the host is a gateway that forwards the packets.
        forwards: bool,
        /// The tunnel that carries the packets, if the capture shows one.
        tunnel: Option<Tunnel>,
    },
    /// Enlarge the replay window of a tunnel.
    RaiseReplayWindow(ReplayAdvice),
    /// Put the packets of a tunnel in order before its replay window.
    ResequenceBeforeWindow {
        /// The tunnel.
        tunnel: Tunnel,
    },
    /// Put packets in order before a firewall or a receiver with room for few ranges.
    ResequenceBeforeLimit {
        /// The number of ranges that it keeps beyond the first gap.
        limit: u32,
    },
    /// Disable timestamps, if neither remedy is possible.
    DisableTimestamps {
        /// The end that the step is for.
        at: Role,
    },
    /// Write a page for the people who run the sender.
    WriteReport {
        /// The capture.
        capture: String,
    },
    /// Compare the senders over the path that was written to a file.
    CompareWritten {
        /// The scenario's file.
        path: String,
    },
    /// Compare the senders over the path with the other reading of its losses.
    CompareOtherReading {
        /// The scenario's file.
        path: String,
    },
    /// Fit a path to a transfer, and compare the senders over it.
    CompareFitted {
        /// The capture.
        capture: String,
        /// The transfer, numbered from 1.
        transfer: usize,
        /// Whether a path can be fitted to other transfers too.
        has_others: bool,
    },
}

/// What a capture lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureReason {
    /// SACK, which has to be enabled before.
    Sack,
    /// A clock that is fine enough.
    FineClock,
    /// Whole headers.
    WholeHeaders,
    /// The view from the sender.
    SenderView,
}

impl Advice {
    /// The kind of the advice.
    pub fn action(&self) -> Action {
        match self {
            Self::EnableSack => Action::Sack,
            Self::InspectReader { .. } => Action::Inspect,
            Self::GrowReceiveBuffer { .. } => Action::ReceiveBuffer,
            Self::Capture { .. } | Self::CaptureIntoFile => Action::Capture,
            Self::Attach { .. } => Action::Attach,
            Self::ShowStatus => Action::Status,
            Self::RaiseReplayWindow(_) => Action::ReplayWindow,
            Self::Resequence { .. }
            | Self::ResequenceBeforeWindow { .. }
            | Self::ResequenceBeforeLimit { .. } => Action::Resequence,
            Self::DisableTimestamps { .. } => Action::Timestamps,
            Self::WriteReport { .. } => Action::Report,
            Self::CompareWritten { .. }
            | Self::CompareOtherReading { .. }
            | Self::CompareFitted { .. } => Action::Compare,
        }
    }

    /// The command, as a shell takes it.
    pub fn command(&self) -> String {
        match self {
            Self::EnableSack => "sudo sysctl -w net.ipv4.tcp_sack=1".to_owned(),
            Self::InspectReader { peer: IpAddr::V4(peer) } => format!("ss -tmn dst {peer}"),
            Self::InspectReader { peer: IpAddr::V6(peer) } => format!("ss -tmn dst '[{peer}]'"),
            Self::GrowReceiveBuffer { max } => {
                format!("sudo sysctl -w net.ipv4.tcp_rmem='4096 131072 {max}'")
            }
            Self::Capture { peer, reason: _ } => {
                format!("sudo tcpdump -U -i any -s 128 -w {NEW_CAPTURE} 'tcp and host {peer}'")
            }
            Self::CaptureIntoFile => format!("sudo tcpdump -U -i any -s 128 -w {NEW_CAPTURE} tcp"),
            Self::Attach { growth: Growth::Cubic } => "sudo unruffled attach --default".to_owned(),
            Self::Attach { growth: Growth::Bbr } => {
                "sudo unruffled attach --default --growth bbr".to_owned()
            }
            Self::ShowStatus => "sudo unruffled status --watch".to_owned(),
            Self::Resequence { forwards, tunnel } => {
                let forward = if *forwards { " --forward" } else { "" };
                let tunnel = tunnel.map_or(String::new(), |tunnel| format!(" --tunnel {tunnel}"));
                format!("sudo unruffled resequence{forward}{tunnel}")
            }
            Self::RaiseReplayWindow(replay) => replay.command().to_owned(),
            Self::ResequenceBeforeWindow { tunnel } => {
                format!("sudo unruffled resequence --tunnel {tunnel}")
            }
            Self::ResequenceBeforeLimit { .. } => "sudo unruffled resequence --forward".to_owned(),
            Self::DisableTimestamps { .. } => "sudo sysctl -w net.ipv4.tcp_timestamps=0".to_owned(),
            Self::WriteReport { capture } => {
                format!("unruffled analyze {} --report slow.html", for_shell(capture))
            }
            Self::CompareWritten { path } | Self::CompareOtherReading { path } => {
                format!("unruffled compare {}", for_shell(path))
            }
            Self::CompareFitted { capture, transfer, has_others: _ } => {
                let capture = for_shell(capture);
                let choice = match transfer {
                    1 => String::new(),
                    transfer => format!(" --transfer {transfer}"),
                };
                format!(
                    "unruffled analyze {capture} --scenario path.toml{choice} && unruffled compare \
                     path.toml"
                )
            }
        }
    }

    /// The purpose of the command, in a sentence or two.
    pub fn text(&self) -> String {
        let text = match self {
            Self::EnableSack => {
                "`unruffled attach` needs SACK at the receiver, and without it how late packets are is \
                 not seen: switch it on."
            }
            Self::InspectReader { .. } => {
                "where Recv-Q is not 0, the program there reads more slowly than data come, and no \
                 setting of TCP helps."
            }
            Self::GrowReceiveBuffer { .. } => {
                "let receive buffers grow further, but for programs that set SO_RCVBUF themselves."
            }
            Self::Capture { reason, .. } => reason.text(),
            Self::CaptureIntoFile => "Standard input is read only once: capture into a file.",
            Self::Attach { growth: Growth::Bbr } => {
                "distinguish late packets from lost ones, in all connections that begin after it (Linux 6.0 or \
                 later with BBR; the command says what is missing). The path also loses packets without being \
                 full, so the window grows by BBR. It switches timestamps off itself. Then begin the \
                 transfer again; `sudo unruffled detach` undoes it."
            }
            Self::Attach { growth: Growth::Cubic } => {
                "distinguish late packets from lost ones, in all connections that begin after it (Linux 6.0 or \
                 later; the command says what is missing). It switches timestamps off itself. Then \
                 begin the transfer again; `sudo unruffled detach` undoes it."
            }
            Self::ShowStatus => "see what it holds back while the transfer runs.",
            Self::Resequence { forwards, tunnel } => return resequence(*forwards, *tunnel),
            Self::RaiseReplayWindow(replay) => return replay.text(),
            Self::ResequenceBeforeWindow { tunnel } => {
                return format!(
                    "if this is {} and its window cannot be larger: on the host where it ends, put its packets \
                     in order before the window (Linux; the command says what is missing). It runs until \
                     Ctrl-C, which undoes it.",
                    tunnel.name()
                );
            }
            Self::ResequenceBeforeLimit { limit } => {
                return format!(
                    "give the firewall, or the receiver, room for more than {limit} ranges out of order. Where it \
                     has no setting, put packets in order on a gateway before it (Linux; the command says \
                     what is missing). It runs until Ctrl-C, which undoes it. `attach` does not help, since \
                     the packets are lost."
                );
            }
            Self::DisableTimestamps { at: Role::Sender | Role::Gateway } => {
                "only if `attach` is refused, and the receiver cannot have `resequence`: do without timestamps. \
                 Packets are late by much less than a round trip, where that was faster in races. `=1` \
                 undoes it."
            }
            Self::DisableTimestamps { at: Role::Receiver } => {
                "only if the sender cannot have `attach`, and `resequence` is refused here: do without \
                 timestamps, which an end may refuse. Packets are late by much less than a round trip, where \
                 that was faster in races. `=1` undoes it."
            }
            Self::WriteReport { .. } => {
                "If others run the sender: a page that shows them what slows it."
            }
            Self::CompareWritten { .. } => "See what each sender delivers on this path:",
            Self::CompareOtherReading { .. } => "The same with the other reading of its losses:",
            Self::CompareFitted { transfer, has_others, .. } => {
                let more = if *has_others { " (--transfer N takes another one)" } else { "" };
                return format!(
                    "See what each sender delivers on the path of transfer {transfer}{more}:"
                );
            }
        };
        text.to_owned()
    }
}

/// The purpose of `unruffled resequence`.
fn resequence(forwards: bool, tunnel: Option<Tunnel>) -> String {
    let mut text = match forwards {
        false => {
            "put arriving packets in order, so that any sender keeps its speed (Linux; the command says \
             what is missing). It runs until Ctrl-C, which undoes it. Leave it off where the sender has \
             `attach`."
        }
        true => {
            "if it forwards these packets as a gateway, put them in order on their way, so that any sender \
             keeps its speed (Linux; the command says what is missing). It runs until Ctrl-C, which \
             undoes it. If the gateway translates addresses (NAT), leave out `--forward`. Leave it \
             off where the sender has `attach`."
        }
    }
    .to_owned();
    if let Some(tunnel) = tunnel {
        text += &format!(
            " `--tunnel` puts all packets of the {} tunnel in order, QUIC included; a packet that the \
             tunnel loses then delays all packets behind it. Leave it out where the tunnel neither ends on \
             this host nor passes it.",
            tunnel.name()
        );
    }
    text
}

impl CaptureReason {
    fn text(self) -> &'static str {
        match self {
            Self::Sack => "then repeat the transfer, and capture it.",
            Self::FineClock => {
                "capture again with tcpdump, whose clock is finer, or with TCP timestamps at both ends."
            }
            Self::WholeHeaders => "capture 128 octets of each packet.",
            Self::SenderView => "capture there, where it is seen what the sender waits for.",
        }
    }
}
