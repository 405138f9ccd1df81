//! Loss detection: is this hole a loss, or is its segment late?
//!
//! A detector takes in *facts* (what an acknowledgement delivered, how long a reordering was, a
//! retransmission that proved spurious) and returns a [`Rule`], a plain value that states which holes
//! are lost. The scoreboard applies it. Each published algorithm has its own file.

pub(crate) mod avg_dev;
pub(crate) mod blanton_allman;
pub(crate) mod dcr;
mod dsack_loss;
mod duplicates;
pub(crate) mod fixed;
#[cfg(test)]
mod fixtures;
pub(crate) mod linux_reordering;
pub(crate) mod ncr;
pub(crate) mod quic;
pub(crate) mod quic_stacks;
pub(crate) mod rack;
pub(crate) mod rr;
mod rr_costs;
mod rr_history;
pub(crate) mod td_fr;
mod two_stage;
pub(crate) mod unruffled;

use std::borrow::Cow;

pub use two_stage::{DsackOutcome, LatenessModel};

use unruffled_units::{Duration, Instant};

use crate::parts::Variable;

/// A detector's verdict on which holes are lost now. A hole that meets any of the conditions is lost.
///
/// ```
/// use unruffled_tcp::detect::Rule;
///
/// // A hole is lost with five SACKed segments above it, or ten segments behind the highest.
/// let rule = Rule { distance: Some(10), ..Rule::dupthresh(5) };
/// assert_eq!(rule.dupthresh, Some(5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// Minimum number of SACKed segments above a lost hole (RFC 6675, IsLost).
    pub dupthresh: Option<u32>,
    /// Minimum distance of a lost hole below the highest delivered segment, in segments of the stream,
    /// delivered or not (RFC 9002, section 6.1.1).
    pub distance: Option<u32>,
    /// Time limit on segments in flight.
    pub overdue: Option<Overdue>,
    /// Time at which the first hole is lost, if it is still open.
    pub first_hole_due: Option<Instant>,
    /// Time after its transmission at which a suspected segment that has not arrived reduces the window
    /// (two-stage detection). A segment that is deemed lost is sent again at once in any case. None
    /// reduces the window at once, too. Only detectors with a [model](LossDetector::two_stage) use it.
    pub confirm_after: Option<Duration>,
}

impl Rule {
    /// Returns the classical rule: a hole is lost when `dupthresh` segments above it are SACKed.
    pub fn dupthresh(dupthresh: u32) -> Self {
        Self { dupthresh: Some(dupthresh), ..Self::default() }
    }
}

/// A time limit on segments that were sent before the latest-sent delivered segment (RFC 8985, section
/// 6.2). Use it in a [`Rule`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overdue {
    /// Time since the last transmission after which a segment is lost.
    pub wait: Duration,
    /// Whether the rule is applied again when the first of the segments is due, and not only when all are.
    pub eager: bool,
}

/// The sender's state that detectors receive. Windows are in segments.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The present time.
    pub now: Instant,
    /// Congestion window.
    pub cwnd: f64,
    /// Whether the window is in slow start.
    pub slow_start: bool,
    /// Segments sent and not cumulatively acknowledged.
    pub flight: u32,
    /// Segments SACKed and not cumulatively acknowledged.
    pub sacked: u32,
    /// Smoothed round-trip time, once there is a sample.
    pub srtt: Option<Duration>,
    /// The last round-trip time measured.
    pub latest_rtt: Option<Duration>,
    /// Minimum recent round-trip time.
    pub min_rtt: Option<Duration>,
    /// The retransmission timeout, without backoff.
    pub rto: Duration,
    /// Whether the sender is in fast recovery, or in recovery after a timeout.
    pub recovering: bool,
    /// Offset of the first octet that is not acknowledged (SND.UNA).
    pub una: u64,
    /// Offset of the next new octet (SND.NXT).
    pub nxt: u64,
}

/// Facts from one acknowledgement beyond the scoreboard, for [`LossDetector::on_ack`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckFacts {
    /// Segments newly delivered, cumulatively or selectively.
    pub delivered: u32,
    /// Segments newly SACKed. If there are any, it is a duplicate acknowledgement (RFC 6675, section 2).
    pub sacked: u32,
    /// Whether it advanced the cumulative point.
    pub advanced: bool,
    /// Whether it carried a DSACK, plausible or not.
    pub dsack: bool,
    /// Whether a segment that was never retransmitted arrived after a later one.
    pub reordered: bool,
    /// Transmission time of the latest-sent newly delivered segment, without ambiguous ones.
    pub latest_sent: Option<Instant>,
    /// Transmission time of the latest-sent newly delivered segment that was sent once.
    pub latest_sent_once: Option<Instant>,
}

/// A hole that closed because its segment was late, for [`LossDetector::on_reordering`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Distance of the highest delivered segment above it, in segments.
    pub length: u32,
    /// Time from the delivery of that highest segment to that of the late one.
    pub delay: Duration,
    /// Whether a DSACK reported it, because the segment had been retransmitted spuriously.
    pub by_dsack: bool,
}

/// A fast retransmit all of whose retransmissions proved spurious, for
/// [`LossDetector::on_spurious_fast_retransmit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpuriousFastRetransmit {
    /// Time from its beginning to the evidence.
    pub lasted: Duration,
    /// The congestion window that is restored: the one before it, or before an earlier spurious fast
    /// retransmit that it overlapped.
    pub window: f64,
    /// Reordering length of the segment that the last DSACK reported, if it could be measured.
    pub length: Option<u32>,
}

/// A packet that was deemed lost and has arrived, for [`LossDetector::on_spurious_loss`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpuriousLoss {
    /// Distance of the highest acknowledged packet above it, in packets.
    pub packets: u32,
    /// Time of its transmission.
    pub sent: Instant,
}

/// A period without sending, because limited transmit had reached its bound, for
/// [`LossDetector::on_idle`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Its duration.
    pub duration: Duration,
    /// Duplicate acknowledgements that arrived during it.
    pub dupacks: u32,
}

/// An algorithm that distinguishes lost segments from late ones.
///
/// Implement it to try out an algorithm of your own: [`Variant::with_detector`] returns a sender with it,
/// and `examples/own_detector.rs` of this crate is an example.
///
/// [`Variant::with_detector`]: crate::Variant::with_detector
#[allow(unused_variables, reason = "the names document the arguments of methods without a body")]
pub trait LossDetector: core::fmt::Debug + Send {
    /// Returns a description in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// Returns the rule by which holes are deemed lost now.
    fn rule(&self, view: &View) -> Rule;

    /// Returns the duplicate threshold in force, in segments, if the algorithm has one.
    fn dupthresh(&self) -> Option<u32> {
        None
    }

    /// Returns the model of lateness, if the detector uses two-stage detection. A detector that returns
    /// a model at any time must do so from the start of the connection.
    fn two_stage(&mut self) -> Option<&mut dyn LatenessModel> {
        None
    }

    /// An acknowledgement was read into the scoreboard.
    fn on_ack(&mut self, facts: &AckFacts, view: &View) {}

    /// A reordering event was measured.
    fn on_reordering(&mut self, sample: Reordering, view: &View) {}

    /// Fast retransmit began.
    fn on_recovery(&mut self, view: &View) {}

    /// Recovery ended, after a fast retransmit or a timeout.
    fn on_recovery_end(&mut self, view: &View) {}

    /// A fast retransmit proved spurious.
    fn on_spurious_fast_retransmit(&mut self, found: SpuriousFastRetransmit, view: &View) {}

    /// A packet that was deemed lost has arrived. Only senders that number their packets know that of each
    /// packet.
    fn on_spurious_loss(&mut self, loss: SpuriousLoss, view: &View) {}

    /// The retransmission timer expired; `first` unless it expired before for the same data.
    fn on_timeout(&mut self, first: bool, view: &View) {}

    /// Limited transmit was exhausted for a while, and no timeout followed.
    fn on_idle(&mut self, idle: Idle, view: &View) {}

    /// Passes each of the algorithm's variables besides dupthresh to `show`.
    fn variables(&self, view: &View, show: &mut dyn FnMut(Variable)) {}
}

/// A detector of any kind.
#[derive(Debug)]
pub(crate) enum Detector {
    /// The detector of most senders. Direct calls cost nothing per acknowledgement.
    Fixed(fixed::Fixed),
    /// Any other detector, including those from outside the crate. Calls are virtual.
    Own(Box<dyn LossDetector>),
}

impl Detector {
    #[inline]
    fn get(&self) -> &dyn LossDetector {
        match self {
            Self::Fixed(fixed) => fixed,
            Self::Own(own) => own.as_ref(),
        }
    }

    #[inline]
    fn get_mut(&mut self) -> &mut dyn LossDetector {
        match self {
            Self::Fixed(fixed) => fixed,
            Self::Own(own) => own.as_mut(),
        }
    }

    /// Returns the share of the window that is usually late at a time according to the model of
    /// lateness, or zero if there is no model.
    pub(crate) fn late_share(&mut self) -> f64 {
        self.two_stage().map_or(0.0, |model| model.late_share())
    }

    /// Passes the confirmation of a suspicion to the model of lateness, if there is one.
    pub(crate) fn on_confirmed(&mut self) {
        if let Some(model) = self.two_stage() {
            model.on_confirmed();
        }
    }
}

/// Returns `detector` in a box. Calls are virtual.
pub(crate) fn boxed(detector: impl LossDetector + 'static) -> Detector {
    Detector::Own(Box::new(detector))
}

impl LossDetector for Detector {
    fn about(&self) -> Cow<'static, str> {
        self.get().about()
    }

    #[inline]
    fn rule(&self, view: &View) -> Rule {
        match self {
            Self::Fixed(fixed) => fixed.rule(view),
            Self::Own(own) => own.rule(view),
        }
    }

    #[inline]
    fn dupthresh(&self) -> Option<u32> {
        match self {
            Self::Fixed(fixed) => fixed.dupthresh(),
            Self::Own(own) => own.dupthresh(),
        }
    }

    #[inline]
    fn two_stage(&mut self) -> Option<&mut dyn LatenessModel> {
        match self {
            Self::Fixed(_) => None,
            Self::Own(own) => own.two_stage(),
        }
    }

    #[inline]
    fn on_ack(&mut self, facts: &AckFacts, view: &View) {
        self.get_mut().on_ack(facts, view);
    }

    #[inline]
    fn on_reordering(&mut self, sample: Reordering, view: &View) {
        self.get_mut().on_reordering(sample, view);
    }

    fn on_recovery(&mut self, view: &View) {
        self.get_mut().on_recovery(view);
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.get_mut().on_recovery_end(view);
    }

    fn on_spurious_fast_retransmit(&mut self, found: SpuriousFastRetransmit, view: &View) {
        self.get_mut().on_spurious_fast_retransmit(found, view);
    }

    fn on_spurious_loss(&mut self, loss: SpuriousLoss, view: &View) {
        self.get_mut().on_spurious_loss(loss, view);
    }

    fn on_timeout(&mut self, first: bool, view: &View) {
        self.get_mut().on_timeout(first, view);
    }

    fn on_idle(&mut self, idle: Idle, view: &View) {
        self.get_mut().on_idle(idle, view);
    }

    fn variables(&self, view: &View, show: &mut dyn FnMut(Variable)) {
        self.get().variables(view, show);
    }
}
