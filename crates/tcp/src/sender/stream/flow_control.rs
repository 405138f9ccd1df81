//! Flow control: the peer's window, silly-window avoidance, Nagle's algorithm and window probes (RFC
//! 9293, sections 3.7.4, 3.8.6.1 and 3.8.6.2.1).

use core::num::NonZeroU32;

use unruffled_units::Instant;

use super::{Stream, Transmission};

/// The sender's state of flow control.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowControl {
    /// Whether small segments wait until nothing is outstanding.
    nagle: bool,
    /// Multiples of octets at which a segment ends.
    ring: Option<NonZeroU32>,
    /// First octet beyond the peer's window.
    window_end: u64,
    /// The largest window that the peer has offered (MAX.SND.WND).
    max_window: u64,
    probe: Option<Probe>,
}

/// A window probe with the octet at SND.NXT. It is not on the scoreboard, because a peer whose
/// window is closed does not accept it, and that is no loss.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Time of the last transmission.
    sent: Instant,
    /// Whether the octet was sent more than once.
    again: bool,
}

impl FlowControl {
    pub(super) fn new(nagle: bool, ring: Option<NonZeroU32>) -> Self {
        Self { nagle, ring, ..Self::default() }
    }

    /// Discards the probe when new data from SND.NXT on is sent, because that includes its octet.
    pub(super) fn discard_probe(&mut self) {
        self.probe = None;
    }
}

/// The payload of a window probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowProbe {
    /// The next octets, as many as fit into the window.
    Within(u64),
    /// An octet beyond the window.
    Beyond(Transmission),
}

impl Stream {
    /// Records that the peer offers a window of `window` octets from `acked` on.
    pub(crate) fn set_window(&mut self, acked: u64, window: u64) {
        self.flow_control.max_window = self.flow_control.max_window.max(window);
        self.flow_control.window_end = acked + window;
    }

    /// Sets whether small segments wait from now on.
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.flow_control.nagle = nagle;
    }

    /// Returns MAX.SND.WND, in octets.
    pub(crate) fn max_window(&self) -> u64 {
        self.flow_control.max_window
    }

    /// Returns MAX.SND.WND in segments, at least one.
    pub(crate) fn peer_segments(&self) -> f64 {
        let segments = self.flow_control.max_window / u64::from(self.mss.max(1));
        segments.max(1) as f64
    }

    /// Returns the first octet beyond the peer's window.
    pub(crate) fn window_end(&self) -> u64 {
        self.flow_control.window_end
    }

    /// Returns whether no octet from SND.NXT on fits into the window that the peer last offered.
    pub(crate) fn window_closed(&self) -> bool {
        self.flow_control.window_end <= self.nxt
    }

    /// Sets the largest payload of new segments.
    pub(crate) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// Returns the highest valid acknowledgement: SND.NXT, or the end of a window probe.
    pub(crate) fn max_ack(&self) -> u64 {
        self.nxt + u64::from(self.flow_control.probe.is_some())
    }

    /// Returns whether there is unsent data of which at least one octet fits into the peer's
    /// window, or an unsent FIN.
    #[inline]
    pub(crate) fn has_new(&self) -> bool {
        let unsent = self.nxt < self.written && self.nxt < self.flow_control.window_end;
        unsent || (self.finished && self.nxt == self.written)
    }

    /// Returns the length of the next new segment, if one may be sent now. The FIN has length 1.
    pub(crate) fn next_new(&self) -> Option<u64> {
        if self.nxt >= self.written {
            return (self.finished && self.nxt == self.written).then_some(1);
        }
        let FlowControl { nagle, ring, window_end, max_window, .. } = self.flow_control;
        let until_end = |len: u64| match ring {
            Some(ring) => len.min(u64::from(ring.get()) - self.nxt % u64::from(ring.get())),
            None => len,
        };
        let len = (self.written - self.nxt).min(u64::from(self.mss));
        let room = window_end.saturating_sub(self.nxt);
        let waits = nagle && self.board.outstanding() > 0;
        if len > room {
            // Part of a segment is sent only if it is at least half of the largest window ever
            // offered.
            return (room > 0 && 2 * room >= max_window && !waits).then_some(until_end(room));
        }
        // The last segment before the FIN does not wait.
        let small = len < u64::from(self.mss) && !self.finished;
        (!(waits && small)).then_some(until_end(len))
    }

    /// Returns whether nothing is outstanding that the peer could acknowledge, and the window holds
    /// back all data.
    #[inline(always)]
    pub(crate) fn blocked_by_window(&self) -> bool {
        self.nxt < self.written && self.board.outstanding() == 0 && self.next_new().is_none()
    }

    /// Returns the window probe to send, if the window holds back all data. It consists of the
    /// octets that fit into the window, or of one octet beyond a closed window.
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

    /// Checks whether `acked` covers the octet of a window probe. The peer has then accepted it, so
    /// that it moves to the scoreboard. Returns its time of transmission.
    #[inline(always)]
    pub(crate) fn check_window_probe(&mut self, acked: u64) -> Option<Instant> {
        let Probe { sent, again } = self.flow_control.probe.take_if(|_| acked > self.nxt)?;
        let number = self.board.push(self.nxt, 1, sent);
        if again {
            // Karn's rule (RFC 6298, section 3): it is unknown which transmission the peer accepted.
            self.board.retransmit(number, sent);
        }
        self.nxt += 1;
        Some(sent)
    }
}
