//! The path takes less than the segments hold: what is in flight and too big is split and sent
//! again (RFC 1191, section 6.4; RFC 8201, section 5.4).

use unruffled_units::Instant;

use super::ncr::Ncr;
use super::retransmissions::Cause;
use super::{Phase, Sender};
use crate::timers::Timer;

impl Sender {
    /// From now on segments have at most `mss` octets. That the larger ones were dropped says
    /// nothing of congestion: the window stays, in octets, but is filled again by slow start.
    pub(crate) fn lower_mss(&mut self, mss: u32, now: Instant) {
        let ratio = f64::from(self.mss) / f64::from(mss);
        self.set_mss(mss);
        self.window.cwnd *= ratio;
        self.window.ssthresh *= ratio;
        if let Some(pr) = &mut self.tcp_pr {
            pr.on_smaller_packets(ratio);
        }
        if !self.split() {
            return;
        }
        if let Some(pr) = &mut self.tcp_pr {
            pr.restart();
            self.window = pr.window();
            self.phase = Phase::Loss { point: self.nxt };
            self.timers.set(Timer::Detect, now);
            return;
        }
        self.retransmissions.begin(Cause::Timeout, self.window, now);
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
        self.window.cwnd = f64::from(self.board.pipe()) + 1.0;
        self.phase = Phase::Loss { point: self.nxt };
        self.dupacks = 0;
        self.fast_retransmit_due = false;
        self.counted_pipe.end();
        self.f_rto.stop();
        self.ncr.iter_mut().for_each(Ncr::end);
        self.idle.cancel();
        self.end_probe();
        self.timers.stop(Timer::Detect);
        self.restart_retransmit_timer(now);
    }

    /// RFC 2018, section 8: the receiver has thrown away what it had SACKed. Some of that may have
    /// become too big since.
    pub(super) fn forget_sacks(&mut self) {
        self.board.forget_sacks();
        self.split();
    }

    /// Splits what is too big; says whether there was any.
    fn split(&mut self) -> bool {
        let Some(renumbered) = self.board.split(self.mss) else { return false };
        self.high_rxt = renumbered.first(self.high_rxt);
        self.doubt.iter_mut().for_each(|doubt| doubt.renumber(&renumbered));
        self.retransmissions.renumber(|number| renumbered.first(number));
        if let Some(pr) = &mut self.tcp_pr {
            pr.on_split(&renumbered, |number| self.board.entry(number).is_lost());
        }
        true
    }
}
