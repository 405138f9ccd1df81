//! Congestion control: how much may be in flight.

mod bandwidth_pacing;
pub(crate) mod bbr;
pub(crate) mod bbr3;
pub(crate) mod cubic;
pub(crate) mod gvisor_reno;
pub(crate) mod hystart;
pub(crate) mod linux_cubic;
pub(crate) mod ngtcp2_cubic;
pub(crate) mod pacing;
mod probe_rtt;
pub(crate) mod quiche_cubic;
pub(crate) mod reno;
mod sample;
pub(crate) mod westwood;
mod windowed_max;

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use unruffled_units::{Duration, Instant};

pub use hystart::RoundTripSample;
pub(crate) use reno::Reno;
use sample::Totals;
pub use sample::{DeliveryRate, LossState, LostSegment, PathSample, SentState};

use crate::parts::Variable;

/// The congestion window and the slow-start threshold, in segments.
/// [`Connection::window`](crate::Connection::window) returns those of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// cwnd.
    pub cwnd: f64,
    /// ssthresh; infinite until the first reduction.
    pub ssthresh: f64,
}

impl Window {
    /// Returns whether the window is in slow start (RFC 5681, section 3.1).
    pub fn slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(crate) fn scale(&mut self, ratio: f64) {
        self.cwnd *= ratio;
        self.ssthresh *= ratio;
    }

    /// Returns how many of `counted` segments grow the window before slow start ends.
    pub(crate) fn slow_start_steps(&self, counted: u32) -> f64 {
        (self.ssthresh - self.cwnd).ceil().clamp(0.0, f64::from(counted))
    }
}

/// State of the sender that congestion controls receive.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Present time.
    pub now: Instant,
    /// Segments in flight, at most cwnd: segments that limited transmit sent beyond it do not
    /// count.
    pub flight: f64,
    /// Smoothed round-trip time, once there is a sample.
    pub srtt: Option<Duration>,
    /// Minimum recent round-trip time.
    pub min_rtt: Option<Duration>,
}

/// Variables of a congestion control before a reduction. The sender stores them with the reduction
/// and passes them to [`CongestionControl::on_undo`].
#[derive(Clone, Debug, Default)]
pub struct Snapshot(Variables);

#[derive(Clone, Debug, Default)]
enum Variables {
    #[default]
    None,
    Cubic(cubic::State),
    Bbr3(bbr3::Undo),
    Ngtcp2Cubic(ngtcp2_cubic::State),
    QuicheCubic(quiche_cubic::State),
    Own(Arc<dyn Any + Send + Sync>),
}

impl Snapshot {
    /// Wraps the variables of a congestion control from outside the crate.
    pub fn of<T: Any + Send + Sync>(variables: T) -> Self {
        Self(Variables::Own(Arc::new(variables)))
    }

    /// Returns the variables if they are of type `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        match &self.0 {
            Variables::Own(variables) => variables.downcast_ref(),
            Variables::None
            | Variables::Cubic(_)
            | Variables::Bbr3(_)
            | Variables::Ngtcp2Cubic(_)
            | Variables::QuicheCubic(_) => None,
        }
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one. The variables of a
    /// control from outside the crate stay unchanged.
    pub(crate) fn scale(&mut self, ratio: f64) {
        match &mut self.0 {
            Variables::Cubic(state) => state.scale(ratio),
            Variables::Bbr3(undo) => undo.scale(ratio),
            Variables::QuicheCubic(state) => state.scale(ratio),
            Variables::None | Variables::Ngtcp2Cubic(_) | Variables::Own(_) => {}
        }
    }
}

/// Decides how the window grows and shrinks. Loss recovery decides *when*; this decides *how much*.
///
/// Implement it to try out an algorithm of your own: [`Variant::with_control`] makes a sender with
/// it.
///
/// [`Variant::with_control`]: crate::Variant::with_control
pub trait CongestionControl: core::fmt::Debug + Send {
    /// Describes the algorithm in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// Called when segments were delivered, cumulatively or selectively, in any phase. Without SACK
    /// each duplicate acknowledgement delivers one.
    fn on_delivered(&mut self, segments: u32, flow: &Flow) {
        let _ = (segments, flow);
    }

    /// Called after [`grow`](Self::grow) with a sample of the rate of delivery, in segments per second, by
    /// senders that number their packets.
    fn on_delivery_rate(&mut self, rate: f64, flow: &Flow) {
        let _ = (rate, flow);
    }

    /// Called when an acknowledgement measures a round-trip time, before
    /// [`grow`](Self::grow). It may end slow start.
    fn on_round_trip(&mut self, sample: &RoundTripSample, window: &mut Window) {
        let _ = (sample, window);
    }

    /// Called when `acked` segments were acknowledged cumulatively while the window was full; grows
    /// the window. `counted` of them count (RFC 3465, section 2).
    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow);

    /// Called instead of [`grow`](Self::grow) for each acknowledged packet of a sender that numbers its
    /// packets; `part` is its size as a share of a full one. The default returns false, which has `grow`
    /// called once for as many packets as make a full one.
    fn grow_by_packet(&mut self, window: &mut Window, part: f64, flow: &Flow) -> bool {
        let _ = (window, part, flow);
        false
    }

    /// Called when new data was acknowledged although the window was not the limit, or when new
    /// data is sent while nothing is in flight.
    fn on_limited(&mut self, flow: &Flow) {
        let _ = flow;
    }

    /// Called when a loss was detected, by a timeout if `timeout`; returns the new ssthresh.
    fn on_loss(&mut self, window: &Window, timeout: bool, flow: &Flow) -> f64;

    /// Returns the segments by which the window exceeds ssthresh in fast recovery (RFC 5681, section 3.2,
    /// step 3), besides those that duplicates report as arrived.
    fn inflation(&self) -> f64 {
        0.0
    }

    /// Returns whether the window limits what is in flight. If it does not, a retransmission timeout sends
    /// everything again at once, and three duplicates are a loss at any time.
    fn limits(&self) -> bool {
        true
    }

    /// Called for each acknowledgement with ECE, which delivered `segments`, before
    /// [`Self::on_ecn`]. The feedback of RFC 3168 does not show which of them were marked, and it is
    /// repeated until a segment with CWR reaches the receiver.
    fn on_echo(&mut self, segments: u32, flow: &Flow) {
        let _ = (segments, flow);
    }

    /// Called when an acknowledgement reports a mark of the path by ECE, at most once for each window of
    /// data in which the window was reduced (RFC 3168, section 6.1.2); returns the new ssthresh, to which
    /// cwnd falls at once. The default responds as to a loss.
    fn on_ecn(&mut self, window: &Window, flow: &Flow) -> f64 {
        self.on_loss(window, false, flow)
    }

    /// Returns the variables before [`Self::on_loss`], for [`Self::on_undo`].
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }

    /// Called when a reduction, and all since, proved spurious; restores the variables of before
    /// it. `window` is the present one, before it is restored.
    fn on_undo(&mut self, window: &Window, saved: &Snapshot) {
        let _ = (window, saved);
    }

    /// Called when segments become smaller: `ratio` of them fit into a previous one, and the window
    /// has been multiplied by `ratio`.
    fn on_smaller_segments(&mut self, ratio: f64) {
        let _ = ratio;
    }

    /// Returns whether the control sets the window by samples of the path. Then
    /// [`on_sample`](Self::on_sample) sets the window, in recovery as well, and the sender is paced at
    /// [`pacing_rate`](Self::pacing_rate); [`grow`](Self::grow) is called all the same.
    fn samples_path(&self) -> bool {
        false
    }

    /// Called for each acknowledgement, after everything else, if the control
    /// [samples the path](Self::samples_path). Sets the window.
    fn on_sample(&mut self, sample: &PathSample, window: &mut Window, flow: &Flow) {
        let _ = (sample, window, flow);
    }

    /// Called for each segment that was lost, before the sample that counts it, if the control
    /// [samples the path](Self::samples_path).
    fn on_lost(&mut self, lost: &LostSegment, window: &Window, flow: &Flow) {
        let _ = (lost, window, flow);
    }

    /// Called when new data is sent while nothing is in flight, if the control
    /// [samples the path](Self::samples_path).
    fn on_restart(&mut self, window: &mut Window, flow: &Flow) {
        let _ = (window, flow);
    }

    /// Returns the rate at which segments may leave, in segments per second, if the control sets one.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// Returns whether the control at present sends less than the path carries. Segments sent
    /// meanwhile count as limited by the application, since they show no maximum.
    fn holds_back(&self) -> bool {
        false
    }

    /// Calls `show` for each variable of the algorithm, besides the window.
    fn variables(&self, show: &mut dyn FnMut(Variable)) {
        let _ = show;
    }
}

/// A congestion control of any kind. It is an enum because a virtual call would cost more than most
/// parts do.
#[derive(Debug)]
pub(crate) enum AnyControl {
    Reno(Reno),
    Cubic(cubic::Cubic),
    Westwood(westwood::Westwood),
    Bbr(Box<bbr::Bbr>),
    Bbr3(Box<bbr3::Bbr3>),
    LinuxCubic(Box<linux_cubic::LinuxCubic>),
    /// A congestion control from outside the crate.
    Own(Box<dyn CongestionControl>),
}

impl AnyControl {
    /// Returns whether [`CongestionControl::on_round_trip`] does anything.
    #[inline]
    pub(crate) fn measures_round_trips(&self) -> bool {
        matches!(self, Self::LinuxCubic(_) | Self::Own(_))
    }

    /// Returns whether [`CongestionControl::on_delivered`] does anything.
    #[inline]
    pub(crate) fn counts_deliveries(&self) -> bool {
        !matches!(
            self,
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Bbr(_) | Self::Bbr3(_)
        )
    }
}

impl CongestionControl for AnyControl {
    fn about(&self) -> Cow<'static, str> {
        match self {
            Self::Reno(part) => part.about(),
            Self::Cubic(part) => part.about(),
            Self::LinuxCubic(part) => part.about(),
            Self::Westwood(part) => part.about(),
            Self::Bbr(part) => part.about(),
            Self::Bbr3(part) => part.about(),
            Self::Own(part) => part.about(),
        }
    }

    #[inline]
    fn on_delivered(&mut self, segments: u32, flow: &Flow) {
        match self {
            Self::Reno(part) => part.on_delivered(segments, flow),
            Self::Cubic(part) => part.on_delivered(segments, flow),
            Self::LinuxCubic(part) => part.on_delivered(segments, flow),
            Self::Westwood(part) => part.on_delivered(segments, flow),
            Self::Bbr(part) => part.on_delivered(segments, flow),
            Self::Bbr3(part) => part.on_delivered(segments, flow),
            Self::Own(part) => part.on_delivered(segments, flow),
        }
    }

    fn on_round_trip(&mut self, sample: &RoundTripSample, window: &mut Window) {
        match self {
            Self::LinuxCubic(part) => part.on_round_trip(sample, window),
            Self::Own(part) => part.on_round_trip(sample, window),
            _ => {}
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow) {
        match self {
            Self::Reno(part) => part.grow(window, acked, counted, flow),
            Self::Cubic(part) => part.grow(window, acked, counted, flow),
            Self::LinuxCubic(part) => part.grow(window, acked, counted, flow),
            Self::Westwood(part) => part.grow(window, acked, counted, flow),
            Self::Bbr(part) => part.grow(window, acked, counted, flow),
            Self::Bbr3(part) => part.grow(window, acked, counted, flow),
            Self::Own(part) => part.grow(window, acked, counted, flow),
        }
    }

    fn inflation(&self) -> f64 {
        match self {
            Self::Own(control) => control.inflation(),
            _ => 0.0,
        }
    }

    fn limits(&self) -> bool {
        match self {
            Self::Own(control) => control.limits(),
            _ => true,
        }
    }

    fn on_delivery_rate(&mut self, rate: f64, flow: &Flow) {
        if let Self::Own(control) = self {
            control.on_delivery_rate(rate, flow);
        }
    }

    fn grow_by_packet(&mut self, window: &mut Window, part: f64, flow: &Flow) -> bool {
        match self {
            Self::Own(control) => control.grow_by_packet(window, part, flow),
            _ => false,
        }
    }

    #[inline]
    fn on_limited(&mut self, flow: &Flow) {
        match self {
            Self::Reno(part) => part.on_limited(flow),
            Self::Cubic(part) => part.on_limited(flow),
            Self::LinuxCubic(part) => part.on_limited(flow),
            Self::Westwood(part) => part.on_limited(flow),
            Self::Bbr(part) => part.on_limited(flow),
            Self::Bbr3(part) => part.on_limited(flow),
            Self::Own(part) => part.on_limited(flow),
        }
    }

    fn on_loss(&mut self, window: &Window, timeout: bool, flow: &Flow) -> f64 {
        match self {
            Self::Reno(part) => part.on_loss(window, timeout, flow),
            Self::Cubic(part) => part.on_loss(window, timeout, flow),
            Self::LinuxCubic(part) => part.on_loss(window, timeout, flow),
            Self::Westwood(part) => part.on_loss(window, timeout, flow),
            Self::Bbr(part) => part.on_loss(window, timeout, flow),
            Self::Bbr3(part) => part.on_loss(window, timeout, flow),
            Self::Own(part) => part.on_loss(window, timeout, flow),
        }
    }

    fn on_echo(&mut self, segments: u32, flow: &Flow) {
        match self {
            Self::Reno(part) => part.on_echo(segments, flow),
            Self::Cubic(part) => part.on_echo(segments, flow),
            Self::LinuxCubic(part) => part.on_echo(segments, flow),
            Self::Westwood(part) => part.on_echo(segments, flow),
            Self::Bbr(part) => part.on_echo(segments, flow),
            Self::Bbr3(part) => part.on_echo(segments, flow),
            Self::Own(part) => part.on_echo(segments, flow),
        }
    }

    fn on_ecn(&mut self, window: &Window, flow: &Flow) -> f64 {
        match self {
            Self::Reno(part) => part.on_ecn(window, flow),
            Self::Cubic(part) => part.on_ecn(window, flow),
            Self::LinuxCubic(part) => part.on_ecn(window, flow),
            Self::Westwood(part) => part.on_ecn(window, flow),
            Self::Bbr(part) => part.on_ecn(window, flow),
            Self::Bbr3(part) => part.on_ecn(window, flow),
            Self::Own(part) => part.on_ecn(window, flow),
        }
    }

    #[inline]
    fn snapshot(&self) -> Snapshot {
        match self {
            Self::Reno(part) => part.snapshot(),
            Self::Cubic(part) => part.snapshot(),
            Self::LinuxCubic(part) => part.snapshot(),
            Self::Westwood(part) => part.snapshot(),
            Self::Bbr(part) => part.snapshot(),
            Self::Bbr3(part) => part.snapshot(),
            Self::Own(part) => part.snapshot(),
        }
    }

    fn on_undo(&mut self, window: &Window, saved: &Snapshot) {
        match self {
            Self::Reno(part) => part.on_undo(window, saved),
            Self::Cubic(part) => part.on_undo(window, saved),
            Self::LinuxCubic(part) => part.on_undo(window, saved),
            Self::Westwood(part) => part.on_undo(window, saved),
            Self::Bbr(part) => part.on_undo(window, saved),
            Self::Bbr3(part) => part.on_undo(window, saved),
            Self::Own(part) => part.on_undo(window, saved),
        }
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        match self {
            Self::Reno(part) => part.on_smaller_segments(ratio),
            Self::Cubic(part) => part.on_smaller_segments(ratio),
            Self::LinuxCubic(part) => part.on_smaller_segments(ratio),
            Self::Westwood(part) => part.on_smaller_segments(ratio),
            Self::Bbr(part) => part.on_smaller_segments(ratio),
            Self::Bbr3(part) => part.on_smaller_segments(ratio),
            Self::Own(part) => part.on_smaller_segments(ratio),
        }
    }

    fn variables(&self, show: &mut dyn FnMut(Variable)) {
        match self {
            Self::Reno(part) => part.variables(show),
            Self::Cubic(part) => part.variables(show),
            Self::LinuxCubic(part) => part.variables(show),
            Self::Westwood(part) => part.variables(show),
            Self::Bbr(part) => part.variables(show),
            Self::Bbr3(part) => part.variables(show),
            Self::Own(part) => part.variables(show),
        }
    }

    #[inline]
    fn samples_path(&self) -> bool {
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Westwood(_) => false,
            Self::Bbr(part) => part.samples_path(),
            Self::Bbr3(part) => part.samples_path(),
            Self::Own(part) => part.samples_path(),
        }
    }

    fn on_sample(&mut self, sample: &PathSample, window: &mut Window, flow: &Flow) {
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Westwood(_) => {}
            Self::Bbr(part) => part.on_sample(sample, window, flow),
            Self::Bbr3(part) => part.on_sample(sample, window, flow),
            Self::Own(part) => part.on_sample(sample, window, flow),
        }
    }

    fn on_lost(&mut self, lost: &LostSegment, window: &Window, flow: &Flow) {
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Westwood(_) => {}
            Self::Bbr(part) => part.on_lost(lost, window, flow),
            Self::Bbr3(part) => part.on_lost(lost, window, flow),
            Self::Own(part) => part.on_lost(lost, window, flow),
        }
    }

    fn on_restart(&mut self, window: &mut Window, flow: &Flow) {
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Westwood(_) => {}
            Self::Bbr(part) => part.on_restart(window, flow),
            Self::Bbr3(part) => part.on_restart(window, flow),
            Self::Own(part) => part.on_restart(window, flow),
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Westwood(_) => None,
            Self::Bbr(part) => part.pacing_rate(),
            Self::Bbr3(part) => part.pacing_rate(),
            Self::Own(part) => part.pacing_rate(),
        }
    }

    #[inline(never)]
    fn holds_back(&self) -> bool {
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::LinuxCubic(_) | Self::Westwood(_) => false,
            Self::Bbr(part) => part.holds_back(),
            Self::Bbr3(part) => part.holds_back(),
            Self::Own(part) => part.holds_back(),
        }
    }
}
