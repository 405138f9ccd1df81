//! Congestion control: how much may be in flight.

pub(crate) mod cubic;
pub(crate) mod reno;
pub(crate) mod westwood;

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use unruffled_units::{Duration, Instant};

pub(crate) use reno::Reno;

use crate::parts::Variable;

/// The congestion window and the slow-start threshold, in segments. Ask
/// [`Connection::window`](crate::Connection::window) for a sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// cwnd.
    pub cwnd: f64,
    /// ssthresh; infinite until the first reduction.
    pub ssthresh: f64,
}

impl Window {
    /// Whether the window is in slow start (RFC 5681, section 3.1).
    pub fn slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Segments are smaller: `ratio` of them fit into one of before.
    pub(crate) fn scale(&mut self, ratio: f64) {
        self.cwnd *= ratio;
        self.ssthresh *= ratio;
    }

    /// How many of `counted` segments grow it before slow start is over.
    pub(crate) fn slow_start_steps(&self, counted: u32) -> f64 {
        (self.ssthresh - self.cwnd).ceil().clamp(0.0, f64::from(counted))
    }
}

/// What congestion controls see of the sender. Use it in a [`CongestionControl`]'s methods.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// The time.
    pub now: Instant,
    /// Segments in flight, at most cwnd: what limited transmit sent beyond it does not count.
    pub flight: f64,
    /// Smoothed round-trip time, once there is a sample.
    pub srtt: Option<Duration>,
    /// Minimum recent round-trip time.
    pub min_rtt: Option<Duration>,
}

/// The variables of a congestion control as they are before a reduction. The sender keeps them with
/// the reduction and gives them back in [`CongestionControl::on_undo`].
#[derive(Clone, Debug, Default)]
pub struct Snapshot(Variables);

#[derive(Clone, Debug, Default)]
enum Variables {
    #[default]
    None,
    Cubic(cubic::State),
    Own(Arc<dyn Any + Send + Sync>),
}

impl Snapshot {
    /// The variables of a congestion control from outside the crate.
    pub fn of<T: Any + Send + Sync>(variables: T) -> Self {
        Self(Variables::Own(Arc::new(variables)))
    }

    /// The variables, if they are of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        match &self.0 {
            Variables::Own(variables) => variables.downcast_ref(),
            Variables::None | Variables::Cubic(_) => None,
        }
    }

    /// Segments are smaller: `ratio` of them fit into one of before. The variables of a control from
    /// outside the crate stay as they are.
    pub(crate) fn scale(&mut self, ratio: f64) {
        if let Variables::Cubic(state) = &mut self.0 {
            state.scale(ratio);
        }
    }
}

/// How the window grows and shrinks. Loss recovery decides *when*; this decides *how much*.
///
/// Implement it to try out an algorithm of your own: [`Variant::with_control`] makes a sender of it.
///
/// [`Variant::with_control`]: crate::Variant::with_control
pub trait CongestionControl: core::fmt::Debug + Send {
    /// What it does, in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// Segments were delivered, cumulatively or selectively, whatever the phase. Without SACK each
    /// duplicate acknowledgement delivered one.
    fn on_delivered(&mut self, _segments: u32, _flow: &Flow) {}

    /// The window was full and `acked` segments were acknowledged cumulatively, of which `counted`
    /// count (RFC 3465, section 2): it may grow.
    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow);

    /// New data was acknowledged, but something else than the window was the limit; or it leaves while
    /// nothing is in flight.
    fn on_limited(&mut self, _flow: &Flow) {}

    /// A loss was detected, by a timeout if `timeout`: the new ssthresh.
    fn on_loss(&mut self, window: &Window, timeout: bool, flow: &Flow) -> f64;

    /// Its variables as they are before [`Self::on_loss`], for [`Self::on_undo`].
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }

    /// A reduction was spurious, and so is all since: return to the variables of before it. `window` is
    /// the present one, before anything of it is restored.
    fn on_undo(&mut self, _window: &Window, _saved: &Snapshot) {}

    /// Segments are smaller: `ratio` of them fit into one of before, and the window has been
    /// multiplied by that.
    fn on_smaller_segments(&mut self, _ratio: f64) {}

    /// Shows the algorithm's variables beside the window, if it has any.
    fn variables(&self, _show: &mut dyn FnMut(Variable)) {}
}

/// A congestion control of any kind: an enum, because a call through a table would cost more than most
/// parts do.
#[derive(Debug)]
pub(crate) enum AnyControl {
    Reno(Reno),
    Cubic(cubic::Cubic),
    Westwood(westwood::Westwood),
    /// One from outside the crate.
    Own(Box<dyn CongestionControl>),
}

impl AnyControl {
    /// Whether [`CongestionControl::on_delivered`] does anything.
    #[inline]
    pub(crate) fn counts_deliveries(&self) -> bool {
        !matches!(self, Self::Reno(_) | Self::Cubic(_))
    }
}

impl CongestionControl for AnyControl {
    fn about(&self) -> Cow<'static, str> {
        match self {
            Self::Reno(part) => part.about(),
            Self::Cubic(part) => part.about(),
            Self::Westwood(part) => part.about(),
            Self::Own(part) => part.about(),
        }
    }

    #[inline]
    fn on_delivered(&mut self, segments: u32, flow: &Flow) {
        match self {
            Self::Reno(part) => part.on_delivered(segments, flow),
            Self::Cubic(part) => part.on_delivered(segments, flow),
            Self::Westwood(part) => part.on_delivered(segments, flow),
            Self::Own(part) => part.on_delivered(segments, flow),
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow) {
        match self {
            Self::Reno(part) => part.grow(window, acked, counted, flow),
            Self::Cubic(part) => part.grow(window, acked, counted, flow),
            Self::Westwood(part) => part.grow(window, acked, counted, flow),
            Self::Own(part) => part.grow(window, acked, counted, flow),
        }
    }

    #[inline]
    fn on_limited(&mut self, flow: &Flow) {
        match self {
            Self::Reno(part) => part.on_limited(flow),
            Self::Cubic(part) => part.on_limited(flow),
            Self::Westwood(part) => part.on_limited(flow),
            Self::Own(part) => part.on_limited(flow),
        }
    }

    fn on_loss(&mut self, window: &Window, timeout: bool, flow: &Flow) -> f64 {
        match self {
            Self::Reno(part) => part.on_loss(window, timeout, flow),
            Self::Cubic(part) => part.on_loss(window, timeout, flow),
            Self::Westwood(part) => part.on_loss(window, timeout, flow),
            Self::Own(part) => part.on_loss(window, timeout, flow),
        }
    }

    #[inline]
    fn snapshot(&self) -> Snapshot {
        match self {
            Self::Reno(part) => part.snapshot(),
            Self::Cubic(part) => part.snapshot(),
            Self::Westwood(part) => part.snapshot(),
            Self::Own(part) => part.snapshot(),
        }
    }

    fn on_undo(&mut self, window: &Window, saved: &Snapshot) {
        match self {
            Self::Reno(part) => part.on_undo(window, saved),
            Self::Cubic(part) => part.on_undo(window, saved),
            Self::Westwood(part) => part.on_undo(window, saved),
            Self::Own(part) => part.on_undo(window, saved),
        }
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        match self {
            Self::Reno(part) => part.on_smaller_segments(ratio),
            Self::Cubic(part) => part.on_smaller_segments(ratio),
            Self::Westwood(part) => part.on_smaller_segments(ratio),
            Self::Own(part) => part.on_smaller_segments(ratio),
        }
    }

    fn variables(&self, show: &mut dyn FnMut(Variable)) {
        match self {
            Self::Reno(part) => part.variables(show),
            Self::Cubic(part) => part.variables(show),
            Self::Westwood(part) => part.variables(show),
            Self::Own(part) => part.variables(show),
        }
    }
}
