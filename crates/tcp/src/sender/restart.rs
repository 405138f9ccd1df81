//! Windows that are worth nothing any more, or never were: after a pause, and after a lost SYN.

use unruffled_units::Instant;

use super::Sender;

impl Sender {
    /// "A TCP SHOULD set cwnd to no more than RW before beginning transmission if the TCP has not
    /// sent data in an interval exceeding the retransmission timeout", and RW is min(IW, cwnd)
    /// (RFC 5681, section 4.1).
    pub(super) fn restart_after_idle(&mut self, now: Instant) {
        if !self.parts.restart_window || self.board.outstanding() > 0 {
            return;
        }
        let Some(sent) = self.last_sent else { return };
        if now.since(sent) <= self.rto.current() || self.next_new().is_none() {
            return;
        }
        self.window.cwnd = self.window.cwnd.min(f64::from(self.parts.initial_window));
        let flow = self.flow(now);
        self.control.on_limited(&flow);
    }

    /// A SYN, or the answer to one, was sent again before the connection stood: "the initial window
    /// (…) MUST be one segment" (RFC 5681, section 3.1), and the timeout "MUST be re-initialized to 3
    /// seconds" (RFC 6298, 5.7).
    pub(crate) fn after_lost_syn(&mut self) {
        self.window.cwnd = 1.0;
        self.rto.after_lost_syn();
    }
}
