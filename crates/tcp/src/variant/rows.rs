//! The table of senders, each a row; a row says only in what it differs from another.

use super::{Acks, Control, Flavour, Reduction, Row, Timer, Undo};
use crate::control::westwood;
use crate::detect::fixed::{self, Fixed};
use crate::detect::rack::{self, Rack};
use crate::detect::rr::{self, Rr};
use crate::sender::LimitedTransmit;
use crate::sender::wb_rto;

const RENO: Row = Row {
    name: "reno",
    about: "fast retransmit at three duplicates, fast recovery, no SACK",
    source: "RFC 5681",
    acks: Acks::Reno,
    detector: Fixed::build,
    detection: "fixed dupthresh",
    undo: Undo::None,
    limited_transmit: LimitedTransmit::Rfc3042,
    reduction: Reduction::AtOnce,
    timer: Timer::Rfc6298,
    control: Control::Reno,
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
    source: "RFC 8985, RFC 6937",
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
    parameters: &[fixed::PARAMETERS[0], wb_rto::AWND_GAIN],
    ..RENO
};

/// All senders, in the order in which people should meet them.
pub const ROWS: &[Row] = &[
    RENO,
    NEWRENO,
    SACK,
    DSACK_R,
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
    RACK,
    Row {
        name: "westwood",
        about: "newreno, and after a loss the window is what the acknowledgements' rate says",
        source: "Casetti et al., TCP Westwood, Wireless Networks 8 (2002), with NewReno",
        control: Control::Westwood,
        parameters: &[fixed::PARAMETERS[0], westwood::PARAMETERS[0]],
        ..NEWRENO
    },
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
];
