//! What the peer's window lets go, and when small segments wait: silly-window avoidance, Nagle's
//! algorithm and window probes (RFC 9293, sections 3.7.4, 3.8.6.1 and 3.8.6.2.1).

use unruffled_units::Instant;

use super::scoreboard::SegNo;
use super::{Sender, Transmission};
use crate::timers::Timer;

/// The sender's part in flow control.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowControl {
    nagle: bool,
    /// The greatest window that the peer has offered (MAX.SND.WND).
    max_window: u64,
    /// When the octet at SND.NXT left as a probe. It is not on the scoreboard: a peer whose window
    /// is closed does not take it, and that is no loss.
    probe: Option<Instant>,
}

impl FlowControl {
    pub(super) fn new(nagle: bool) -> Self {
        Self { nagle, ..Self::default() }
    }
}

impl Sender {
    /// The peer offers `window` octets from `acked` on.
    pub(crate) fn set_window(&mut self, acked: u64, window: u64) {
        self.flow_control.max_window = self.flow_control.max_window.max(window);
        self.window_end = acked + window;
    }

    /// Whether small segments wait from now on.
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.flow_control.nagle = nagle;
    }

    /// MAX.SND.WND.
    pub(crate) fn max_window(&self) -> u64 {
        self.flow_control.max_window
    }

    /// First octet beyond the peer's window.
    pub(crate) fn window_end(&self) -> u64 {
        self.window_end
    }

    /// Whether the window as last told is used up.
    pub(crate) fn window_closed(&self) -> bool {
        self.window_end <= self.nxt
    }

    /// The largest payload from now on.
    pub(crate) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// First octet that the application has not written yet.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether anything is on its way to the peer.
    pub(crate) fn outstanding(&self) -> bool {
        self.board.outstanding() > 0
    }

    /// The highest acknowledgement that can be true.
    pub(crate) fn max_ack(&self) -> u64 {
        self.nxt + u64::from(self.flow_control.probe.is_some())
    }

    /// Whether the application, or the FIN, has anything that was not sent, and the peer has room for
    /// an octet of it.
    #[inline]
    pub(super) fn has_new(&self) -> bool {
        let unsent = self.nxt < self.written && self.nxt < self.window_end;
        unsent || (self.finished && self.nxt == self.written)
    }

    /// Length of the next new segment, if there is one and it may leave.
    pub(super) fn next_new(&self) -> Option<u64> {
        if self.nxt >= self.written {
            return (self.finished && self.nxt == self.written).then_some(1);
        }
        let len = (self.written - self.nxt).min(u64::from(self.mss));
        let room = self.window_end.saturating_sub(self.nxt);
        let FlowControl { nagle, max_window, .. } = self.flow_control;
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
    pub(crate) fn blocked_by_window(&self) -> bool {
        self.nxt < self.written && self.board.outstanding() == 0 && self.next_new().is_none()
    }

    /// Asks for the window: with what fits into it, however little; with an octet beyond it when
    /// it is closed.
    pub(crate) fn probe_window(&mut self, now: Instant) -> Option<Transmission> {
        if !self.blocked_by_window() {
            return None;
        }
        let room = self.window_end.saturating_sub(self.nxt);
        if room > 0 {
            let number = self.board.end();
            let transmission = self.push_new(room.min(u64::from(self.mss)), now);
            self.tell_tcp_pr(number, now);
            return Some(transmission);
        }
        self.flow_control.probe = Some(now);
        Some(Transmission { offset: self.nxt, len: 1, fin: false, cause: None })
    }

    /// `acked` is acknowledged: when that is the probe's octet, the peer has taken it.
    pub(crate) fn settle_probe(&mut self, acked: u64) {
        if acked > self.nxt
            && let Some(sent) = self.flow_control.probe.take()
        {
            let number = self.board.push(self.nxt, 1, sent);
            self.nxt += 1;
            self.tell_tcp_pr(number, sent);
        }
    }

    /// TCP-PR times every packet, those that its flush did not send too.
    fn tell_tcp_pr(&mut self, number: SegNo, sent: Instant) {
        if let Some(pr) = &mut self.tcp_pr {
            pr.on_sent(number, sent);
            self.timers.set(Timer::Detect, sent);
        }
    }

    /// New data from SND.NXT on leaves: a probe's octet goes with it.
    pub(super) fn forget_probe(&mut self) {
        self.flow_control.probe = None;
    }
}
