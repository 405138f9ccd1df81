//! Further getters for diagnostics.

use unruffled_units::Duration;

use super::Connection;

impl Connection {
    /// Returns RTTVAR (RFC 6298, section 2), once measured, for senders with the timer of RFC 6298.
    pub fn rttvar(&self) -> Option<Duration> {
        self.sender.estimates().rttvar
    }

    /// Returns how many octets of the stream were sent at least once. The FIN counts as one.
    pub fn sent(&self) -> u64 {
        self.sender.stream.nxt()
    }

    /// Returns the MSS option of the peer's SYN.
    pub fn peer_mss(&self) -> Option<u16> {
        self.handshake.peer_mss()
    }

    /// Returns the shift of the peer's window field, which the peer chose (Snd.Wind.Shift of RFC
    /// 7323).
    pub fn send_scale(&self) -> u8 {
        self.peer_window.scale
    }

    /// Returns the shift of our window field, as offered or negotiated (Rcv.Wind.Shift of RFC
    /// 7323).
    pub fn receive_scale(&self) -> u8 {
        self.receiver.window().scale()
    }

    /// Returns whether both ends have agreed on ECN, so that new data is sent ECN-capable (RFC 3168,
    /// section 6.1.1).
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn.is_capable()
    }

    /// Returns how many octets beyond SND.UNA the peer has room for (SND.WND of RFC 9293).
    pub fn send_window(&self) -> u64 {
        self.sender.stream.window_end().saturating_sub(self.sender.stream.una())
    }
}
