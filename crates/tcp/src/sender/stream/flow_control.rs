//! What the peer's window lets go, and when small segments wait: silly-window avoidance, Nagle's
//! algorithm and window probes (RFC 9293, sections 3.7.4, 3.8.6.1 and 3.8.6.2.1).

use unruffled_units::Instant;

use super::{Stream, Transmission};

/// The sender's part in flow control.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowControl {
    nagle: bool,
    /// First octet beyond the peer's window.
    window_end: u64,
    /// The largest window that the peer has offered (MAX.SND.WND).
    max_window: u64,
    probe: Option<Probe>,
}

/// The octet at SND.NXT left as a probe. It is not on the scoreboard: a peer whose window is closed does
/// not take it, and that is no loss.
#[derive(Clone, Copy, Debug)]
struct Probe {
    sent: Instant,
    /// It left before, too.
    again: bool,
}

impl FlowControl {
    pub(super) fn new(nagle: bool) -> Self {
        Self { nagle, ..Self::default() }
    }

    /// New data from SND.NXT on leaves: a probe's octet goes with it.
    pub(super) fn forget_probe(&mut self) {
        self.probe = None;
    }
}

/// How the window may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowProbe {
    /// With so many octets that fit into it.
    Within(u64),
    /// With an octet beyond it.
    Beyond(Transmission),
}

impl Stream {
    /// The peer offers `window` octets from `acked` on.
    pub(crate) fn set_window(&mut self, acked: u64, window: u64) {
        self.flow_control.max_window = self.flow_control.max_window.max(window);
        self.flow_control.window_end = acked + window;
    }

    /// Whether small segments wait from now on.
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.flow_control.nagle = nagle;
    }

    /// MAX.SND.WND.
    pub(crate) fn max_window(&self) -> u64 {
        self.flow_control.max_window
    }

    /// The same in segments: at least one.
    pub(crate) fn peer_segments(&self) -> f64 {
        let segments = self.flow_control.max_window / u64::from(self.mss.max(1));
        segments.max(1) as f64
    }

    /// First octet beyond the peer's window.
    pub(crate) fn window_end(&self) -> u64 {
        self.flow_control.window_end
    }

    /// Whether the window as last told is used up.
    pub(crate) fn window_closed(&self) -> bool {
        self.flow_control.window_end <= self.nxt
    }

    /// The largest payload from now on.
    pub(crate) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// The highest acknowledgement that can be true.
    pub(crate) fn max_ack(&self) -> u64 {
        self.nxt + u64::from(self.flow_control.probe.is_some())
    }

    /// Whether the application, or the FIN, has anything that was not sent, and the peer has room for
    /// an octet of it.
    #[inline]
    pub(crate) fn has_new(&self) -> bool {
        let unsent = self.nxt < self.written && self.nxt < self.flow_control.window_end;
        unsent || (self.finished && self.nxt == self.written)
    }

    /// Length of the next new segment, if there is one and it may leave.
    pub(crate) fn next_new(&self) -> Option<u64> {
        if self.nxt >= self.written {
            return (self.finished && self.nxt == self.written).then_some(1);
        }
        let FlowControl { nagle, window_end, max_window, .. } = self.flow_control;
        let len = (self.written - self.nxt).min(u64::from(self.mss));
        let room = window_end.saturating_sub(self.nxt);
        let waits = nagle && self.board.outstanding() > 0;
        if len > room {
            // Less than a segment, unless it is half of all that the peer ever offers.
            return (room > 0 && 2 * room >= max_window && !waits).then_some(room);
        }
        // The last segment before the FIN does not wait.
        let small = len < u64::from(self.mss) && !self.finished;
        (!(waits && small)).then_some(len)
    }

    /// Nothing is on its way that an answer could come to, and the window holds back what there is.
    #[inline(always)]
    pub(crate) fn blocked_by_window(&self) -> bool {
        self.nxt < self.written && self.board.outstanding() == 0 && self.next_new().is_none()
    }

    /// Asks for the window, where it holds back what there is: with what fits into it, however
    /// little; with an octet beyond it when it is closed.
    pub(crate) fn probe_window(&mut self, now: Instant) -> Option<WindowProbe> {
        if !self.blocked_by_window() {
            return None;
        }
        let room = self.flow_control.window_end.saturating_sub(self.nxt);
        if room > 0 {
            return Some(WindowProbe::Within(room.min(u64::from(self.mss))));
        }
        let again = self.flow_control.probe.is_some();
        self.flow_control.probe = Some(Probe { sent: now, again });
        let octet = Transmission { offset: self.nxt, len: 1, fin: false, cause: None };
        Some(WindowProbe::Beyond(octet))
    }

    /// `acked` is acknowledged: when that is the probe's octet, the peer has taken it. Says when it
    /// was sent.
    #[inline(always)]
    pub(crate) fn settle_probe(&mut self, acked: u64) -> Option<Instant> {
        let Probe { sent, again } = self.flow_control.probe.take_if(|_| acked > self.nxt)?;
        let number = self.board.push(self.nxt, 1, sent);
        if again {
            // Karn's rule (RFC 6298, section 3): which of them was taken is not known.
            self.board.retransmit(number, sent);
        }
        self.nxt += 1;
        Some(sent)
    }
}
