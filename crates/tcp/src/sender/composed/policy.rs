//! The rules of a composed sender that are fixed for a connection by its row and its settings.

use crate::Config;
use crate::config::{Duplicates, FastRecovery, Growth, Halving, Pipe};
use crate::parts::Maker;
use crate::parts::control::{AnyControl, CongestionControl};
use crate::parts::detect::{Detector, LossDetector};
use crate::parts::limited_transmit::{AnyLimitedTransmit, LimitedTransmit};
use crate::parts::respond::dsack::Restoration;
use crate::parts::respond::eifel::Eifel;
use crate::parts::respond::f_rto::FRto;
use crate::parts::timer::{AnyTimer, Timer};
use crate::sender::Lengths;

/// The kind of acknowledgements, which determines the course of recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acks {
    /// Cumulative only; the first new acknowledgement ends recovery (Reno, RFC 5681).
    Reno,
    /// Cumulative only; partial acknowledgements resend the next hole (NewReno, RFC 6582).
    NewReno,
    /// Selective, with DSACK (RFC 6675).
    Sack,
}

/// Course of the reduction of the window in a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// To ssthresh at once; the pipe limits what is sent (RFC 6675).
    AtOnce,
    /// In proportion to what is delivered (PRR, RFC 9937).
    Proportional,
    /// By the congestion control, which sets the window in recovery as well.
    ByControl,
}

/// The parts of a composed sender.
#[derive(Clone)]
pub(crate) struct Composition {
    pub(crate) acks: Acks,
    pub(crate) reduction: Reduction,
    /// Whether tail loss probes are sent.
    pub(crate) probes: bool,
    pub(crate) lengths: Lengths,
    /// Whether recovery takes the course that it has in Linux.
    pub(crate) linux: bool,
    pub(crate) detector: Maker<Detector>,
    pub(crate) restoration: Maker<Restoration>,
    /// Whether Eifel detection and the response to it are used.
    pub(crate) eifel: bool,
    /// Whether F-RTO and the response to it are used.
    pub(crate) f_rto: bool,
    pub(crate) timer: Maker<AnyTimer>,
    pub(crate) limited_transmit: Maker<AnyLimitedTransmit>,
    pub(crate) control: Maker<AnyControl>,
}

impl core::fmt::Debug for Composition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { acks, reduction, probes, lengths, eifel, f_rto, .. } = self;
        write!(f, "Composition({acks:?}, {reduction:?}, {probes}, {lengths:?}, {eifel}, {f_rto})")
    }
}

impl Acks {
    fn about(self) -> &'static str {
        match self {
            Self::Reno => "cumulative, recovery ends with the first new one",
            Self::NewReno => "cumulative, partial ones resend the next hole",
            Self::Sack => "selective, with DSACK",
        }
    }
}

impl Reduction {
    /// Returns the course of a reduction with this congestion control.
    fn under(self, control: &AnyControl) -> Self {
        if control.samples_path() { Self::ByControl } else { self }
    }

    fn about(self) -> &'static str {
        match self {
            Self::AtOnce => "to ssthresh at once",
            Self::Proportional => "proportional (PRR)",
            Self::ByControl => "by the congestion control",
        }
    }
}

impl Composition {
    fn about_restoration(&self, config: &Config) -> &'static str {
        if self.linux {
            return "DSACK or timestamp restore at once, of the last reduction alone, as in Linux";
        }
        (self.restoration)(config).about()
    }

    /// Returns a description of each part.
    pub(crate) fn about(&self) -> Vec<(&'static str, String)> {
        let config = Config::simulated();
        let limited_transmit = (self.limited_transmit)(&config);
        let control = (self.control)(&config);
        let reduction = self.reduction.under(&control);
        let mut parts = vec![
            ("acknowledgements", self.acks.about().to_owned()),
            ("loss detection", (self.detector)(&config).about().into_owned()),
            ("spurious response", self.about_restoration(&config).to_owned()),
            ("retransmission timer", (self.timer)(&config).about().into_owned()),
            ("limited transmit", limited_transmit.about().into_owned()),
            ("window reduction", reduction.about().to_owned()),
            ("congestion control", control.about().into_owned()),
        ];
        if self.eifel {
            parts.push(("eifel", Eifel::ABOUT.to_owned()));
        }
        if self.f_rto {
            parts.push(("f-rto", FRto::ABOUT.to_owned()));
        }
        if self.probes {
            parts.push(("tail loss probe", "RFC 8985, section 7".to_owned()));
        }
        parts
    }
}

/// The rules that are fixed for a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) acks: Acks,
    pub(super) reduction: Reduction,
    pub(super) probes: bool,
    pub(super) duplicates: Duplicates,
    pub(super) pipe: Pipe,
    pub(super) fast_recovery: FastRecovery,
    pub(super) halving: Halving,
    pub(super) byte_counting: u32,
    pub(super) growth: Growth,
    pub(super) max_cwnd: f64,
    pub(super) initial_window: u32,
    /// Whether the window restarts after an idle period. A congestion control that samples the path
    /// sets the window itself.
    pub(super) restart_window: bool,
    /// Whether pacing has to permit the next segment.
    pub(super) paces: bool,
}

impl Policy {
    pub(super) fn new(config: &Config, parts: &Composition, control: &AnyControl) -> Self {
        Self {
            acks: parts.acks,
            reduction: parts.reduction.under(control),
            probes: parts.probes,
            duplicates: config.ns2.duplicates,
            pipe: config.ns2.pipe,
            fast_recovery: config.ns2.fast_recovery,
            halving: Halving::of(&config.ns2, parts.acks),
            byte_counting: config.window.byte_counting,
            growth: config.ns2.growth,
            max_cwnd: config.window.max.map_or(f64::INFINITY, f64::from),
            initial_window: config.window.initial,
            restart_window: config.window.restart && !control.samples_path(),
            paces: config.pacing || control.samples_path(),
        }
    }
}
