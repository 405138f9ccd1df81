//! The table of senders. Each row lists only the kinds of parts in which it differs from another
//! row.

use super::row::{Host, Kinds, QuicKinds, Row};
use unruffled_units::Duration;

use crate::Config;
use crate::parts::control::gvisor_reno::GVISOR_RENO;
use crate::parts::control::linux_cubic::LINUX_CUBIC;
use crate::parts::control::ngtcp2_cubic::NGTCP2_CUBIC;
use crate::parts::control::quiche_cubic::QUICHE_CUBIC;
use crate::parts::control::reno;
use crate::parts::control::westwood::WESTWOOD;
use crate::parts::detect::avg_dev::AVG_DEV;
use crate::parts::detect::dcr::{DCR_ACK, DCR_TIMER};
use crate::parts::detect::fixed::FIXED;
use crate::parts::detect::linux_reordering::LINUX_REORDERING;
use crate::parts::detect::quic::QUIC;
use crate::parts::detect::td_fr::TD_FR;
use crate::parts::detect::unruffled::UNRUFFLED;
use crate::parts::detect::{blanton_allman, ncr, quic_stacks, rack, rr};
use crate::parts::limited_transmit::dcr::DCR;
use crate::parts::limited_transmit::every_other::EVERY_OTHER;
use crate::parts::limited_transmit::ncr as extended;
use crate::parts::limited_transmit::rfc3042::RFC_3042;
use crate::parts::limited_transmit::windows::{UNLIMITED, WINDOWS};
use crate::parts::respond::dsack::{AT_ONCE, DSACK, NONE};
use crate::parts::respond::packets;
use crate::parts::timer::linux::LINUX as LINUX_RTO;
use crate::parts::timer::percentile::PERCENTILE;
use crate::parts::timer::rfc6298::RFC_6298;
use crate::parts::timer::wb_rto;
use crate::sender::{Acks, Lengths, Reduction, quic, tcp_pr};

const RENO: Kinds = Kinds {
    acks: Acks::Reno,
    detector: FIXED,
    restoration: NONE,
    timer: RFC_6298,
    limited_transmit: RFC_3042,
    control: reno::RENO,
    reduction: Reduction::AtOnce,
    probes: false,
    host: Host::Any,
    lengths: Lengths::Mean,
};

const NEWRENO: Kinds = Kinds { acks: Acks::NewReno, ..RENO };

const SACK: Kinds = Kinds { acks: Acks::Sack, ..RENO };

const DSACK_R: Kinds = Kinds { restoration: DSACK, ..SACK };

const BA: Kinds = Kinds { limited_transmit: EVERY_OTHER, ..DSACK_R };

const RR_FA: Kinds =
    Kinds { detector: rr::RR_FA, timer: PERCENTILE, limited_transmit: WINDOWS, ..DSACK_R };

const RR_TA: Kinds = Kinds { detector: rr::RR_TA, ..RR_FA };

const RACK: Kinds = Kinds {
    detector: rack::RACK,
    restoration: AT_ONCE,
    limited_transmit: UNLIMITED,
    reduction: Reduction::Proportional,
    probes: true,
    ..SACK
};

/// The rules of Linux 6.18 at both ends; `docs/senders/linux.md` names the source file of each.
const LINUX: Kinds =
    Kinds { control: LINUX_CUBIC, restoration: NONE, timer: LINUX_RTO, host: Host::Linux, ..RACK };

/// quiche with its default CUBIC; `docs/senders/quiche.md` names the source file of each rule.
const QUICHE: QuicKinds = QuicKinds {
    detector: quic_stacks::QUICHE,
    restoration: packets::QUICHE,
    control: QUICHE_CUBIC,
    recovery: quic::Recovery {
        initial_window: Some(10),
        prr: true,
        cancels: false,
        persistent_congestion: false,
        recovers_by_time: true,
        paces: None,
        share: 1.0,
        grows_unused: true,
        room: quic::Room::Cut { header: 47, least: 48 },
    },
    ends: Config::as_quiche,
};

const NGTCP2: QuicKinds = QuicKinds {
    detector: quic_stacks::NGTCP2,
    restoration: packets::NGTCP2,
    control: NGTCP2_CUBIC,
    recovery: quic::Recovery {
        initial_window: Some(10),
        prr: false,
        cancels: true,
        persistent_congestion: true,
        recovers_by_time: true,
        paces: Some(Duration::from_millis(1)),
        share: 1444.0 / 1452.0,
        grows_unused: true,
        room: quic::Room::Any,
    },
    ends: Config::as_ngtcp2,
};

const QUIC_GO: QuicKinds = QuicKinds {
    detector: quic_stacks::QUIC_GO,
    restoration: packets::QUIC_GO,
    control: reno::QUIC_GO,
    recovery: quic::Recovery {
        initial_window: Some(32),
        prr: false,
        cancels: false,
        persistent_congestion: false,
        recovers_by_time: false,
        paces: None,
        share: 1.0,
        grows_unused: false,
        room: quic::Room::Any,
    },
    ends: Config::as_quic_go,
};

/// All senders, in the order in which users should meet them.
pub const ROWS: &[Row] = &[
    Row::composed(
        "reno",
        "fast retransmit at three duplicates, fast recovery, no SACK",
        "RFC 5681",
        RENO,
    ),
    Row::composed(
        "newreno",
        "reno, and partial acknowledgements resend the next hole",
        "RFC 6582",
        NEWRENO,
    ),
    Row::composed(
        "sack",
        "selective acknowledgements, dupthresh 3, no use of DSACK",
        "RFC 6675",
        SACK,
    ),
    Row::composed(
        "dsack-r",
        "sack, and the window comes back after a spurious fast retransmit",
        "RR-TCP, table 1 (DSACK-R)",
        DSACK_R,
    ),
    Row::composed(
        "ba-inc",
        "dsack-r, and each spurious fast retransmit adds 1 to dupthresh",
        "Blanton–Allman 2002 (INC)",
        Kinds { detector: blanton_allman::INC, ..BA },
    ),
    Row::composed(
        "ba-inc-n",
        "dsack-r, and each spurious fast retransmit adds its reordering length to dupthresh",
        "Blanton–Allman 2002 (INC-N)",
        Kinds { detector: blanton_allman::INC_N, ..BA },
    ),
    Row::composed(
        "ba-avg",
        "dsack-r, and dupthresh goes half way to each spurious one's reordering length",
        "Blanton–Allman 2002 (AVG)",
        Kinds { detector: blanton_allman::AVG, ..BA },
    ),
    Row::composed(
        "ba-ewma",
        "dsack-r, and dupthresh goes 1/4 of the way to every reordering length",
        "Blanton–Allman 2002 (EWMA)",
        Kinds { detector: blanton_allman::EWMA, ..BA },
    ),
    Row::composed(
        "ba-del",
        "dsack-r, and three duplicates must persist for half a round trip",
        "Blanton–Allman 2002 (DEL)",
        Kinds { detector: TD_FR, ..BA },
    ),
    // No use of DSACK, as in Paxson's proposal; `ba-del` is the same wait with Blanton and Allman's
    // restoration of the window.
    Row::composed(
        "td-fr",
        "three duplicates that persist for half a round trip",
        "Paxson 1997, as in TCP-PR, section 2",
        Kinds { detector: TD_FR, limited_transmit: EVERY_OTHER, ..SACK },
    ),
    Row::composed(
        "rr-fa",
        "dupthresh covers 90 % of the reordering lengths of the last 80 s",
        "RR-TCP, section 4.2 (DSACK-FA-MEAN)",
        RR_FA,
    ),
    Row::composed(
        "rr-fa-rtx",
        "rr-fa, with originals distinguished from retransmissions (simulation only)",
        "RR-TCP, section 5.1.1 (DSACK-FA-RTX)",
        Kinds { lengths: Lengths::Original, ..RR_FA },
    ),
    Row::composed(
        "rr-ta",
        "rr-fa, with costs of timeouts and idle time adapting the share",
        "RR-TCP, section 4.3 (DSACK-TA-MEAN)",
        RR_TA,
    ),
    Row::composed(
        "rr-ta-rtx",
        "rr-ta, with originals distinguished from retransmissions (simulation only)",
        "RR-TCP, section 5.1.1 (DSACK-TA-RTX)",
        Kinds { lengths: Lengths::Original, ..RR_TA },
    ),
    Row::composed(
        "avg-dev",
        "dupthresh is the average of spurious fast retransmits' lengths and 0.3 of the deviation",
        "AVG-DEV, section III",
        Kinds { detector: AVG_DEV, limited_transmit: EVERY_OTHER, ..DSACK_R },
    ),
    // With cumulative acknowledgements the packets after one loss are dropped too, so that Table 3
    // would count extreme losses: docs/measurements/2026-11-27-tcp-pr.md.
    Row::tcp_pr(
        "tcp-pr",
        "loss by time alone: three times the largest round-trip time, no duplicates counted",
        "TCP-PR, table 1",
        tcp_pr::BASIC,
    ),
    Row::tcp_pr(
        "tcp-pr-extreme",
        "tcp-pr, and many drops in a window start from one again after a pause",
        "TCP-PR, table 3",
        tcp_pr::EXTREME,
    ),
    Row::tcp_pr(
        "tcp-pr-sack",
        "tcp-pr-extreme, and SACKed packets count as acknowledged",
        "TCP-PR, tables 1 and 3",
        tcp_pr::SACK,
    ),
    // No use of DSACK: the delay takes its place (TCP-DCR, section 3).
    Row::composed(
        "dcr-ack",
        "in congestion avoidance, dupthresh is the flight at the first duplicate",
        "TCP-DCR, section 2",
        Kinds { detector: DCR_ACK, limited_transmit: DCR, ..SACK },
    ),
    Row::composed(
        "dcr-timer",
        "in congestion avoidance, the response waits one round trip by a timer",
        "TCP-DCR, section 2",
        Kinds { detector: DCR_TIMER, limited_transmit: DCR, ..SACK },
    ),
    Row::composed(
        "ncr-careful",
        "dupthresh about one window, at half the rate while a hole is open",
        "RFC 4653 (Careful Limited Transmit)",
        Kinds { detector: ncr::CAREFUL, limited_transmit: extended::CAREFUL, ..SACK },
    ),
    Row::composed(
        "ncr-aggressive",
        "dupthresh about one window, at the full rate while a hole is open",
        "RFC 4653 (Aggressive Limited Transmit)",
        Kinds { detector: ncr::AGGRESSIVE, limited_transmit: extended::AGGRESSIVE, ..SACK },
    ),
    Row::composed(
        "wb-small",
        "wb-medium with shorter timeouts",
        "WB-RTO, footnote 3 (Small Scale)",
        Kinds { timer: wb_rto::SMALL, ..RENO },
    ),
    Row::composed(
        "wb-medium",
        "reno with a timeout drawn at random, longer for senders that congest",
        "WB-RTO, section 3 and footnote 4 (Medium Scale)",
        Kinds { timer: wb_rto::MEDIUM, ..RENO },
    ),
    Row::composed(
        "wb-wide",
        "wb-medium with longer timeouts",
        "WB-RTO, footnote 5 (Wide Scale)",
        Kinds { timer: wb_rto::WIDE, ..RENO },
    ),
    Row::composed(
        "westwood",
        "newreno, and after a loss the window is what the rate of acknowledgements allows",
        "Casetti et al., TCP Westwood, Wireless Networks 8 (2002), with NewReno",
        Kinds { control: WESTWOOD, ..NEWRENO },
    ),
    Row::composed(
        "linux-reordering",
        "dupthresh is the longest reordering seen, up to 300: Linux before RACK",
        "Linux 4.14, tcp_update_reordering",
        Kinds { detector: LINUX_REORDERING, probes: false, ..RACK },
    ),
    Row::composed(
        "rack",
        "loss by time: RACK-TLP with PRR and undo, as Linux",
        "RFC 8985, RFC 9937",
        RACK,
    ),
    Row::composed(
        "linux",
        "Linux of today at both ends: rack, CUBIC with HyStart, its undo and its PAWS",
        "Linux 6.18, net/ipv4/tcp_input.c, tcp_recovery.c, tcp_cubic.c",
        LINUX,
    ),
    // No restoration: RFC 9002 leaves open how a sender responds to a spurious loss. The tail loss
    // probe, from which its probe timeout derives (section 6.2), stands in for the latter.
    Row::composed(
        "quic",
        "three packets behind, or 9/8 of a round trip old, as QUIC",
        "RFC 9002, section 6.1",
        Kinds { detector: QUIC, limited_transmit: UNLIMITED, probes: true, ..SACK },
    ),
    Row::quic(
        "quiche",
        "quiche with CUBIC: thresholds grow to 20 packets and 5/4, undo at any spurious loss",
        "quiche 0.30.0, src/recovery",
        QUICHE,
    ),
    Row::quic(
        "ngtcp2",
        "ngtcp2 with CUBIC: half the flight behind, undo when no lost packet is open",
        "ngtcp2 0.12.1, lib/ngtcp2_rtb.c, lib/ngtcp2_cc.c",
        NGTCP2,
    ),
    Row::quic(
        "quic-go",
        "quic-go with Reno: no packet threshold after a spurious loss, undo when all were spurious",
        "quic-go 0.65.0, internal/ackhandler, internal/congestion",
        QUIC_GO,
    ),
    // What gVisor's Eifel detection finds it only counts (`snd.go`), so it restores nothing.
    Row::composed(
        "gvisor",
        "gVisor's netstack at both ends: RACK with Reno, no DSACK, no undo",
        "gVisor 20260905, pkg/tcpip/transport/tcp/rack.go, snd.go, sack.go",
        Kinds {
            restoration: NONE,
            control: GVISOR_RENO,
            reduction: Reduction::AtOnce,
            host: Host::Gvisor,
            ..RACK
        },
    ),
    Row::composed(
        "smoltcp",
        "smoltcp at both ends: three duplicates, no congestion control, four islands of data",
        "smoltcp 0.14.0, src/socket/tcp.rs, src/storage/assembler.rs",
        Kinds { control: reno::NONE, host: Host::Smoltcp, ..RENO },
    ),
    Row::composed(
        "unruffled",
        "resends on suspicion, slows down on proof: two waits from the latenesses seen",
        "docs/senders/unruffled.md",
        Kinds { detector: UNRUFFLED, ..RACK },
    ),
];
