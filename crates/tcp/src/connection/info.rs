//! How a connection stands, for those who look at it from outside: what the other getters do not
//! tell.

use unruffled_units::Duration;

use super::Connection;

impl Connection {
    /// RTTVAR (RFC 6298, section 2), once a round-trip time was measured, for senders whose timer is
    /// that of RFC 6298.
    pub fn rttvar(&self) -> Option<Duration> {
        self.sender.estimates().rttvar
    }

    /// Octets of the stream that were sent at least once; the FIN counts as one.
    pub fn sent(&self) -> u64 {
        self.sender.stream.nxt()
    }

    /// The MSS option of the peer's SYN, if it had one.
    pub fn peer_mss(&self) -> Option<u16> {
        self.handshake.peer_mss()
    }

    /// The shift of the peer's window field, which the peer chose (Snd.Wind.Shift of RFC 7323).
    pub fn send_scale(&self) -> u8 {
        self.peer_window.scale
    }

    /// The shift of our window field, as offered or agreed on (Rcv.Wind.Shift of RFC 7323).
    pub fn receive_scale(&self) -> u8 {
        self.receiver.window().scale()
    }

    /// Octets beyond SND.UNA that the peer has room for (SND.WND of RFC 9293).
    pub fn send_window(&self) -> u64 {
        self.sender.stream.window_end().saturating_sub(self.sender.stream.una())
    }
}
