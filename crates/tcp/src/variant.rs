//! The senders by name. A variant is one row: it names the parts that a sender is made of.

use crate::control::{CongestionControl, Reno};
use crate::detect::{Fixed, LossDetector, Rack, Rr, RrParameters};
use crate::sender::LimitedTransmit;

/// What a sender does when it finds that a reduction of the window was needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Nothing.
    None,
    /// Slow-start back up to the old window, without a burst (RR-TCP, section 2.1).
    SlowStart,
    /// Take the old window and threshold again at once, as Linux does.
    AtOnce,
}

/// How the window goes down over a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// To ssthresh at once; the pipe paces what is sent (RFC 6675).
    AtOnce,
    /// In proportion to what is delivered (PRR, RFC 6937).
    Proportional,
}

/// Recovery for peers without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Cumulative only; the first new acknowledgement ends recovery (Reno, RFC 5681).
    Reno,
    /// Cumulative only; partial acknowledgements resend the next hole (NewReno, RFC 6582).
    NewReno,
    /// Selective, with DSACK (RFC 6675).
    Sack,
}

/// Which of a retransmitted segment's two acknowledgements measures its reordering length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// The mean of both, once a DSACK has come (RR-TCP's MEAN).
    Mean,
    /// That of the original, known by a bit that only the simulator has (RR-TCP's RTX).
    Rtx,
}

/// A part of a sender, for people: what question it answers, and how.
pub type Part = (&'static str, &'static str);

/// One sender.
pub struct Variant {
    /// Its name, as commands and scenarios write it.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Acknowledgements and recovery.
    pub acks: Acks,
    /// Loss detection.
    pub(crate) detector: fn() -> Box<dyn LossDetector>,
    /// In words.
    pub detection: &'static str,
    /// Response to needless reductions.
    pub undo: Undo,
    /// Limited transmit.
    pub limited_transmit: LimitedTransmit,
    /// Window reduction in recovery.
    pub reduction: Reduction,
    /// RR-TCP's enhanced RTT sampling: the share of samples that the timeout covers.
    pub rtt_percentile: Option<f64>,
    /// Tail loss probes.
    pub probes: bool,
    /// MEAN or RTX.
    pub flavour: Flavour,
    /// Parameters: name, default with unit, meaning.
    pub parameters: &'static [(&'static str, &'static str, &'static str)],
}

impl core::fmt::Debug for Variant {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Variant({})", self.name)
    }
}

fn dupthresh_3() -> Box<dyn LossDetector> {
    Box::new(Fixed { dupthresh: 3 })
}

fn rr_fa() -> Box<dyn LossDetector> {
    Box::new(Rr::new(RrParameters { adapt: false, ..RrParameters::default() }))
}

fn rr_ta() -> Box<dyn LossDetector> {
    Box::new(Rr::new(RrParameters::default()))
}

fn rack() -> Box<dyn LossDetector> {
    Box::new(Rack::new())
}

const RENO: Variant = Variant {
    name: "reno",
    about: "fast retransmit at three duplicates, fast recovery, no SACK",
    source: "RFC 5681",
    acks: Acks::Reno,
    detector: dupthresh_3,
    detection: "dupthresh 3",
    undo: Undo::None,
    limited_transmit: LimitedTransmit::Rfc3042,
    reduction: Reduction::AtOnce,
    rtt_percentile: None,
    probes: false,
    flavour: Flavour::Mean,
    parameters: &[],
};

const NEWRENO: Variant = Variant {
    name: "newreno",
    about: "reno, and partial acknowledgements resend the next hole",
    source: "RFC 6582",
    acks: Acks::NewReno,
    ..RENO
};

const SACK: Variant = Variant {
    name: "sack",
    about: "selective acknowledgements, dupthresh 3, no use of DSACK",
    source: "RFC 6675",
    acks: Acks::Sack,
    ..RENO
};

const DSACK_R: Variant = Variant {
    name: "dsack-r",
    about: "sack, and the window comes back after a false fast retransmit",
    source: "RR-TCP, table 1 (DSACK-R)",
    undo: Undo::SlowStart,
    ..SACK
};

const RR_PARAMETERS: &[(&str, &str, &str)] = &[
    ("fa_ratio", "90 %", "share of reordering events to ride out (initially, if it adapts)"),
    ("min_dupthresh", "3 segments", "least duplicate threshold"),
    ("max_dupthresh", "64 segments", "greatest duplicate threshold; longer lengths count there"),
    ("lifetime", "80 s", "how long a reordering length counts"),
    ("step", "1 %", "step of the FA ratio per false fast retransmit (S)"),
    ("gain", "1/8", "gain of the average duration of false fast retransmits"),
    ("limited_transmit", "1 cwnd", "limited transmit's bound beyond the window (k)"),
    ("rtt_percentile", "99.8 %", "share of round-trip times that the timeout covers"),
];

const RR_FA: Variant = Variant {
    name: "rr-fa",
    about: "dupthresh rides out 90 % of the reordering lengths of the last 80 s",
    source: "RR-TCP, section 4.2 (DSACK-FA-MEAN)",
    detector: rr_fa,
    detection: "dupthresh from a histogram of reordering lengths",
    limited_transmit: LimitedTransmit::Windows(1.0),
    rtt_percentile: Some(0.998),
    parameters: RR_PARAMETERS,
    ..DSACK_R
};

const RR_TA: Variant = Variant {
    name: "rr-ta",
    about: "rr-fa, with costs of timeouts and idle time adapting the share",
    source: "RR-TCP, section 4.3 (DSACK-TA-MEAN)",
    detector: rr_ta,
    detection: "dupthresh from a histogram of reordering lengths, FA ratio from costs",
    ..RR_FA
};

const RACK: Variant = Variant {
    name: "rack",
    about: "loss by time: RACK-TLP with PRR and undo, as Linux",
    source: "RFC 8985, RFC 6937",
    detector: rack,
    detection: "time since a later segment was delivered, beyond a reordering window",
    undo: Undo::AtOnce,
    limited_transmit: LimitedTransmit::Windows(f64::INFINITY),
    reduction: Reduction::Proportional,
    probes: true,
    ..SACK
};

/// All senders, in the order in which people should meet them.
pub const VARIANTS: &[Variant] = &[
    RENO,
    NEWRENO,
    SACK,
    DSACK_R,
    RR_FA,
    Variant {
        name: "rr-fa-rtx",
        about: "rr-fa, knowing originals from retransmissions (simulation only)",
        source: "RR-TCP, section 5.1.1 (DSACK-FA-RTX)",
        flavour: Flavour::Rtx,
        ..RR_FA
    },
    RR_TA,
    Variant {
        name: "rr-ta-rtx",
        about: "rr-ta, knowing originals from retransmissions (simulation only)",
        source: "RR-TCP, section 5.1.1 (DSACK-TA-RTX)",
        flavour: Flavour::Rtx,
        ..RR_TA
    },
    RACK,
];

impl Variant {
    /// The sender called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        VARIANTS.iter().find(|v| v.name == name)
    }

    /// The parts in words, in the order of the questions they answer.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let acks = match self.acks {
            Acks::Reno => "cumulative, recovery ends with the first new one",
            Acks::NewReno => "cumulative, partial ones resend the next hole",
            Acks::Sack => "selective, with DSACK",
        };
        let undo = match self.undo {
            Undo::None => "none",
            Undo::SlowStart => "DSACK restore, slow start up to the old window",
            Undo::AtOnce => "DSACK restore at once",
        };
        let timer = match self.rtt_percentile {
            None => "RFC 6298".to_owned(),
            Some(p) => format!("RFC 6298, at least the {:.1}th percentile", p * 100.0),
        };
        let limited = match self.limited_transmit {
            LimitedTransmit::None => "none".to_owned(),
            LimitedTransmit::Rfc3042 => "RFC 3042, first two duplicates".to_owned(),
            LimitedTransmit::Windows(w) if w.is_infinite() => "one per duplicate".to_owned(),
            LimitedTransmit::Windows(w) => format!("one per duplicate up to {w} cwnd more"),
        };
        let reduction = match self.reduction {
            Reduction::AtOnce => "to ssthresh at once",
            Reduction::Proportional => "proportional (PRR)",
        };
        let mut parts = vec![
            ("acknowledgements", acks.to_owned()),
            ("loss detection", self.detection.to_owned()),
            ("spurious response", undo.to_owned()),
            ("retransmission timer", timer),
            ("limited transmit", limited),
            ("window reduction", reduction.to_owned()),
            ("congestion control", "Reno".to_owned()),
        ];
        if self.probes {
            parts.push(("tail loss probe", "RFC 8985, section 7".to_owned()));
        }
        parts
    }

    pub(crate) fn congestion_control(&self) -> Box<dyn CongestionControl> {
        Box::new(Reno)
    }
}
