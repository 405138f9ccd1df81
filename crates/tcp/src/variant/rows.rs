//! The table of senders, each a row; a row says only in what it differs from another.

use super::{Acks, Conduct, Control, Flavour, Reduction, Row, Timer, Undo};
use crate::control::westwood;
use crate::detect::avg_dev::{self, AvgDev};
use crate::detect::blanton_allman::{self, BlantonAllman};
use crate::detect::dcr::{self, Dcr};
use crate::detect::fixed::{self, Fixed};
use crate::detect::linux_reordering::{self, LinuxReordering};
use crate::detect::ncr::{self, Ncr};
use crate::detect::never::Never;
use crate::detect::quic::{self, Quic};
use crate::detect::rack::{self, Rack};
use crate::detect::rr::{self, Rr};
use crate::detect::td_fr::{self, TdFr};
use crate::detect::unruffled::{self, Unruffled};
use crate::sender::tcp_pr::{self, Form};
use crate::sender::{LimitedTransmit, RESTORE, wb_rto};

const RENO: Row = Row {
    name: "reno",
    about: "fast retransmit at three duplicates, fast recovery, no SACK",
    source: "RFC 5681",
    conduct: Conduct::Parts,
    acks: Acks::Reno,
    detector: Fixed::build,
    detection: "fixed dupthresh",
    undo: Undo::None,
    limited_transmit: LimitedTransmit::Rfc3042,
    reduction: Reduction::AtOnce,
    timer: Timer::Rfc6298,
    control: Control::Reno,
    grows_while_waiting: false,
    doubts: false,
    probes: false,
    flavour: Flavour::Mean,
    parameters: fixed::PARAMETERS,
};

const NEWRENO: Row = Row {
    name: "newreno",
    about: "reno, and partial acknowledgements resend the next hole",
    source: "RFC 6582",
    acks: Acks::NewReno,
    ..RENO
};

const SACK: Row = Row {
    name: "sack",
    about: "selective acknowledgements, dupthresh 3, no use of DSACK",
    source: "RFC 6675",
    acks: Acks::Sack,
    ..RENO
};

const DSACK_R: Row = Row {
    name: "dsack-r",
    about: "sack, and the window comes back after a false fast retransmit",
    source: "RR-TCP, table 1 (DSACK-R)",
    undo: Undo::SlowStart,
    parameters: &[fixed::PARAMETERS[0], RESTORE],
    ..SACK
};

const BA_INC: Row = Row {
    name: "ba-inc",
    about: "dsack-r, and each false fast retransmit adds 1 to dupthresh",
    source: "Blanton–Allman 2002 (INC)",
    detector: BlantonAllman::inc,
    detection: "dupthresh moved by false fast retransmits, at most 0.9 cwnd",
    limited_transmit: LimitedTransmit::EveryOther,
    parameters: blanton_allman::INC_PARAMETERS,
    ..DSACK_R
};

const AVG_DEV: Row = Row {
    name: "avg-dev",
    about: "dupthresh is the average of false fast retransmits' lengths and 0.3 of the deviation",
    source: "AVG-DEV, section III",
    detector: AvgDev::build,
    detection: "dupthresh from average and mean deviation of false fast retransmits' lengths",
    limited_transmit: LimitedTransmit::EveryOther,
    parameters: avg_dev::PARAMETERS,
    ..DSACK_R
};

/// No use of DSACK, as Paxson's proposal; `ba-del` is the same wait with Blanton and Allman's
/// restoration.
const TD_FR: Row = Row {
    name: "td-fr",
    about: "three duplicates that persist for half a round trip",
    source: "Paxson 1997, as in TCP-PR, section 2",
    detector: TdFr::build,
    detection: "third duplicate, and half a round trip after the first",
    limited_transmit: LimitedTransmit::EveryOther,
    parameters: td_fr::PARAMETERS,
    ..SACK
};

/// No use of DSACK: the delay takes its place (TCP-DCR, section 3).
const DCR_ACK: Row = Row {
    name: "dcr-ack",
    about: "in congestion avoidance, dupthresh is the flight at the first duplicate",
    source: "TCP-DCR, section 2",
    detector: Dcr::ack_based,
    detection: "dupthresh of one round trip's packets, fixed at the first duplicate",
    limited_transmit: LimitedTransmit::Windows(f64::INFINITY),
    grows_while_waiting: true,
    parameters: dcr::PARAMETERS,
    ..SACK
};

const RR_FA: Row = Row {
    name: "rr-fa",
    about: "dupthresh rides out 90 % of the reordering lengths of the last 80 s",
    source: "RR-TCP, section 4.2 (DSACK-FA-MEAN)",
    detector: Rr::fixed,
    detection: "dupthresh from a histogram of reordering lengths",
    limited_transmit: LimitedTransmit::Windows(1.0),
    parameters: rr::PARAMETERS,
    ..DSACK_R
};

const RR_TA: Row = Row {
    name: "rr-ta",
    about: "rr-fa, with costs of timeouts and idle time adapting the share",
    source: "RR-TCP, section 4.3 (DSACK-TA-MEAN)",
    detector: Rr::adaptive,
    detection: "dupthresh from a histogram of reordering lengths, FA ratio from costs",
    ..RR_FA
};

const RACK: Row = Row {
    name: "rack",
    about: "loss by time: RACK-TLP with PRR and undo, as Linux",
    source: "RFC 8985, RFC 9937",
    detector: Rack::build,
    detection: "time since a later segment was delivered, beyond a reordering window",
    undo: Undo::AtOnce,
    limited_transmit: LimitedTransmit::Windows(f64::INFINITY),
    reduction: Reduction::Proportional,
    probes: true,
    parameters: rack::PARAMETERS,
    ..SACK
};

const WB_MEDIUM: Row = Row {
    name: "wb-medium",
    about: "reno with a timeout drawn at random, longer for those who congest",
    source: "WB-RTO, section 3 and footnote 4 (Medium Scale)",
    timer: Timer::WbRto(wb_rto::MEDIUM),
    parameters: &[fixed::PARAMETERS[0], wb_rto::AWND_GAIN, wb_rto::FORGET],
    ..RENO
};

/// Under cumulative acknowledgements the packets behind one loss are dropped too, so that Table 3
/// would count extreme losses: docs/senders/tcp-pr.md.
const TCP_PR: Row = Row {
    name: "tcp-pr",
    about: "loss by time alone: three times the largest round-trip time, no duplicates counted",
    source: "TCP-PR, table 1",
    conduct: Conduct::TcpPr(Form::Basic),
    acks: Acks::Cumulative,
    detector: Never::build,
    detection: "no acknowledgement within mxrtt of its sending",
    limited_transmit: LimitedTransmit::None,
    parameters: tcp_pr::PARAMETERS,
    ..RENO
};

const NCR_CAREFUL: Row = Row {
    name: "ncr-careful",
    about: "dupthresh about one window, at half the rate while a hole waits",
    source: "RFC 4653 (Careful Limited Transmit)",
    detector: Ncr::build,
    detection: "dupthresh 2/3 of the outstanding data",
    limited_transmit: LimitedTransmit::Careful,
    parameters: ncr::CAREFUL,
    ..SACK
};

const NCR_AGGRESSIVE: Row = Row {
    name: "ncr-aggressive",
    about: "dupthresh about one window, at the full rate while a hole waits",
    source: "RFC 4653 (Aggressive Limited Transmit)",
    detection: "dupthresh 1/2 of the outstanding data",
    limited_transmit: LimitedTransmit::Aggressive,
    parameters: ncr::AGGRESSIVE,
    ..NCR_CAREFUL
};

const LINUX_REORDERING: Row = Row {
    name: "linux-reordering",
    about: "dupthresh is the longest reordering seen, up to 300: Linux before RACK",
    source: "Linux 4.14, tcp_update_reordering",
    detector: LinuxReordering::build,
    detection: "dupthresh from the longest reordering seen",
    probes: false,
    parameters: linux_reordering::PARAMETERS,
    ..RACK
};

/// No restoration: RFC 9002 leaves open what a sender makes of a loss that was none. Its probe
/// timeout is stood in for by the tail loss probe, from which it comes (section 6.2).
const QUIC: Row = Row {
    name: "quic",
    about: "three packets behind, or 9/8 of a round trip old, as QUIC",
    source: "RFC 9002, section 6.1",
    detector: Quic::build,
    detection: "packet threshold and time threshold, both fixed",
    limited_transmit: LimitedTransmit::Windows(f64::INFINITY),
    probes: true,
    parameters: quic::PARAMETERS,
    ..SACK
};

/// Resends on suspicion, slows down on proof.
const UNRUFFLED: Row = Row {
    name: "unruffled",
    about: "resends on suspicion, slows down on proof: two waits from the latenesses seen",
    source: "docs/senders/unruffled.md",
    detector: Unruffled::build,
    detection: "time since a later segment was delivered, beyond the lateness that is usual",
    doubts: true,
    parameters: unruffled::PARAMETERS,
    ..RACK
};

/// All senders, in the order in which people should meet them.
pub const ROWS: &[Row] = &[
    RENO,
    NEWRENO,
    SACK,
    DSACK_R,
    BA_INC,
    Row {
        name: "ba-inc-n",
        about: "dsack-r, and each false fast retransmit adds its reordering length to dupthresh",
        source: "Blanton–Allman 2002 (INC-N)",
        detector: BlantonAllman::inc_n,
        parameters: blanton_allman::PARAMETERS,
        ..BA_INC
    },
    Row {
        name: "ba-avg",
        about: "dsack-r, and dupthresh goes half way to each false one's reordering length",
        source: "Blanton–Allman 2002 (AVG)",
        detector: BlantonAllman::avg,
        parameters: blanton_allman::PARAMETERS,
        ..BA_INC
    },
    Row {
        name: "ba-ewma",
        about: "dsack-r, and dupthresh goes 1/4 of the way to every reordering length",
        source: "Blanton–Allman 2002 (EWMA)",
        detector: BlantonAllman::ewma,
        detection: "dupthresh averaged over all reordering lengths, at most 0.9 cwnd",
        parameters: blanton_allman::EWMA_PARAMETERS,
        ..BA_INC
    },
    Row {
        name: "ba-del",
        about: "dsack-r, and three duplicates must persist for half a round trip",
        source: "Blanton–Allman 2002 (DEL)",
        undo: Undo::SlowStart,
        parameters: &[td_fr::PARAMETERS[0], RESTORE],
        ..TD_FR
    },
    TD_FR,
    RR_FA,
    Row {
        name: "rr-fa-rtx",
        about: "rr-fa, knowing originals from retransmissions (simulation only)",
        source: "RR-TCP, section 5.1.1 (DSACK-FA-RTX)",
        flavour: Flavour::Rtx,
        ..RR_FA
    },
    RR_TA,
    Row {
        name: "rr-ta-rtx",
        about: "rr-ta, knowing originals from retransmissions (simulation only)",
        source: "RR-TCP, section 5.1.1 (DSACK-TA-RTX)",
        flavour: Flavour::Rtx,
        ..RR_TA
    },
    AVG_DEV,
    TCP_PR,
    Row {
        name: "tcp-pr-extreme",
        about: "tcp-pr, and many drops in a window start from one again after a pause",
        source: "TCP-PR, table 3",
        conduct: Conduct::TcpPr(Form::Extreme),
        ..TCP_PR
    },
    Row {
        name: "tcp-pr-sack",
        about: "tcp-pr-extreme, and SACKed packets count as acknowledged",
        source: "TCP-PR, tables 1 and 3",
        conduct: Conduct::TcpPr(Form::Extreme),
        acks: Acks::Sack,
        parameters: tcp_pr::SACK_PARAMETERS,
        ..TCP_PR
    },
    DCR_ACK,
    Row {
        name: "dcr-timer",
        about: "in congestion avoidance, the response waits one round trip by a timer",
        source: "TCP-DCR, section 2",
        detector: Dcr::timer_based,
        detection: "one round trip after the first duplicate",
        ..DCR_ACK
    },
    NCR_CAREFUL,
    NCR_AGGRESSIVE,
    Row {
        name: "wb-small",
        about: "wb-medium with shorter timeouts",
        source: "WB-RTO, footnote 3 (Small Scale)",
        timer: Timer::WbRto(wb_rto::SMALL),
        ..WB_MEDIUM
    },
    WB_MEDIUM,
    Row {
        name: "wb-wide",
        about: "wb-medium with longer timeouts",
        source: "WB-RTO, footnote 5 (Wide Scale)",
        timer: Timer::WbRto(wb_rto::WIDE),
        ..WB_MEDIUM
    },
    Row {
        name: "westwood",
        about: "newreno, and after a loss the window is what the acknowledgements' rate says",
        source: "Casetti et al., TCP Westwood, Wireless Networks 8 (2002), with NewReno",
        control: Control::Westwood,
        parameters: &[fixed::PARAMETERS[0], westwood::PARAMETERS[0]],
        ..NEWRENO
    },
    LINUX_REORDERING,
    RACK,
    QUIC,
    UNRUFFLED,
];
