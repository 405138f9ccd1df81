//! The machine of TCP-PR's Tables 1 and 3, with their line numbers: packets sent and acknowledged go
//! in with the time, drops come out one at a time, and so does whether a packet may leave. Packets are
//! numbered from 0 in the order of the stream.

mod lists;
#[cfg(test)]
mod tests;

use unruffled_units::{Duration, Instant};

use super::settings::{Form, Settings, Whole};
use crate::Config;
use crate::config::Growth;
use crate::parts::control::Window;
use crate::sender::stream::{Renumbered, SegNo};
use lists::Lists;

/// mxrtt without a round-trip time, which the paper leaves open: what RFC 6298 (5.7) takes when the
/// handshake gave none.
const NO_RTT: Duration = Duration::from_secs(3);
/// Line 12e.
const COARSE: Duration = Duration::from_secs(1);
/// No packet is given less than a tick of a coarse clock, which the paper leaves open: doubling would
/// leave a wait of nothing at that, and the packet would be sent again without end.
const MIN_WAIT: Duration = Duration::from_millis(1);
/// The smallest window of Table 1, which has none: line 22 adds 1/cwnd, so that half a packet would
/// grow by two, and a thousandth by a thousand.
const MIN_CWND: f64 = 1.0;
/// A drop is when `time > time(n) + mxrtt`: strictly.
const TICK: Duration = Duration::from_nanos(1);

/// What a drop did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// The first of a burst: the window went down.
    New,
    /// Another one of the burst: the window stays.
    Burst,
    /// Another one, with which the losses became extreme: the window starts from one again.
    Extreme,
}

/// The sender's state. Windows in packets.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    settings: Settings,
    max_cwnd: f64,
    /// mxrtt goes no further than this.
    max_wait: Duration,
    slow_start: bool,
    window: Window,
    /// In seconds; zero before the first sample.
    srtt: f64,
    mxrtt: Duration,
    slowdown: Instant,
    cburst: u32,
    /// Lines 12c to 12f were reached in this burst.
    extreme_reached: bool,
    /// When the packet was sent that the acknowledgement being read answers.
    answered: Option<Instant>,
    /// Packets that it covers, and how many of them count when the window grows.
    covered: u32,
    byte_counting: u32,
    growth: Growth,
    /// The last flush ended for want of data or of room at the peer.
    starved: bool,
    /// When something was acknowledged last, or the first of what is outstanding was sent.
    heard: Instant,
    lists: Lists,
}

impl Tables {
    /// What the lists take, in octets.
    pub(super) fn octets(&self) -> usize {
        self.lists.octets()
    }

    /// Frees what of them is not in use.
    pub(super) fn shrink(&mut self) {
        self.lists.shrink();
    }

    pub(super) fn new(config: &Config, settings: &Settings) -> Self {
        Self {
            settings: *settings,
            max_cwnd: config.window.max.map_or(f64::INFINITY, f64::from),
            max_wait: config.rto.max,
            // Lines 1 to 4b; line 2 says 1, and every sender's initial window is configurable.
            slow_start: true,
            window: Window { cwnd: f64::from(config.window.initial), ssthresh: f64::INFINITY },
            cburst: 0,
            slowdown: Instant::ZERO,
            srtt: 0.0,
            mxrtt: NO_RTT,
            extreme_reached: false,
            answered: None,
            covered: 0,
            byte_counting: config.window.byte_counting,
            growth: config.ns2.growth,
            starved: false,
            heard: Instant::ZERO,
            lists: Lists::default(),
        }
    }

    /// cwnd and ssthresh.
    pub(crate) fn window(&self) -> Window {
        self.window
    }

    /// The largest recent round-trip time, once there is a sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt > 0.0).then(|| Duration::from_secs_f64(self.srtt))
    }

    /// How long a packet may take.
    pub(crate) fn mxrtt(&self) -> Duration {
        self.mxrtt
    }

    /// A SYN was lost: the window begins with one packet.
    pub(crate) fn after_lost_syn(&mut self) {
        self.window.cwnd = 1.0;
    }

    /// A round trip was timed by the handshake.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        self.srtt = self.srtt.max(rtt.as_secs_f64());
        self.measure();
    }

    /// Line 15.
    fn measure(&mut self) {
        let mxrtt = Duration::from_secs_f64(self.settings.beta * self.srtt);
        self.mxrtt = mxrtt.min(self.max_wait).max(MIN_WAIT);
    }

    /// The condition of line 24a.
    pub(crate) fn may_send(&self, now: Instant) -> bool {
        let cwnd = match self.settings.whole {
            Whole::Never => self.window.cwnd,
            Whole::Always => self.window.cwnd.floor().max(1.0),
        };
        self.slowdown <= now && cwnd > f64::from(self.lists.to_be_ack())
    }

    /// A flush came to its end; `starved` if nothing was left to send, not the window used up.
    pub(crate) fn on_flushed(&mut self, starved: bool) {
        self.starved = starved;
    }

    /// Packet `n` left, a new one or one that had been dropped.
    pub(crate) fn on_sent(&mut self, n: SegNo, now: Instant) {
        if self.lists.is_empty() {
            self.heard = now;
        }
        self.lists.on_sent(n, now, self.window.cwnd);
    }

    /// The acknowledgement being read covers packet `n`, which none did before. `original`: when it
    /// was sent first, if what was sent after `soon` cannot have been acknowledged yet.
    pub(crate) fn on_covered(&mut self, n: SegNo, original: Option<Instant>, soon: Instant) {
        if let Some(packet) = self.lists.packet(n) {
            let last = packet.time;
            self.answered.get_or_insert(original.filter(|_| last > soon).unwrap_or(last));
            self.covered += 1;
        }
        // Lines 16 and 17.
        self.lists.remove(n);
    }

    /// All that the acknowledgement newly covers has been told: the rest of its event, which is one
    /// however many packets it covers ("one for each ACK received", section 3.1), unless up to so
    /// many of them count (RFC 3465). The window grows to `most` at most.
    pub(crate) fn on_ack(&mut self, now: Instant, most: f64) {
        let counted = f64::from(std::mem::take(&mut self.covered).min(self.byte_counting));
        // The packet "whose acknowledgment just arrived" is the first one covered: that it came is
        // what made the receiver acknowledge those behind it, which may have come long before.
        let Some(sent) = self.answered.take() else { return };
        self.heard = now;
        let cwnd = self.window.cwnd;
        // Line 14. After a retransmission time(n) is the later time, unless it was not that which
        // came: no sample is too large.
        self.srtt =
            (self.settings.alpha.powf(1.0 / cwnd) * self.srtt).max(now.since(sent).as_secs_f64());
        self.measure();
        if self.settings.form == Form::Extreme {
            // Line 17a; it covers lines 18 to 22 as well, by the text of section 3.2.
            if self.lists.memorized() > 0 {
                return;
            }
            // Line 17b.
            self.cburst = 0;
            self.extreme_reached = false;
        }
        // The paper's senders always have data; without, the window would grow without bound.
        if !self.growth.grows(!self.starved) {
            return;
        }
        let window = &mut self.window;
        // Line 18.
        if self.slow_start && cwnd + 1.0 <= window.ssthresh {
            // Line 19.
            window.cwnd += counted;
        } else {
            // Lines 21 and 22.
            self.slow_start = false;
            window.cwnd += counted / cwnd;
        }
        window.cwnd = window.cwnd.min(self.max_cwnd.min(most));
    }

    /// When to look for drops again. Table 1 has no backoff: to a peer that is gone it would send a
    /// packet every mxrtt, however short that is. So what is sent after a silence of a second or more
    /// is given as long as the silence before it (RFC 6298, 2.4 and 5.5).
    pub(crate) fn next_look(&mut self, now: Instant) -> Option<Instant> {
        let next = self.next_event(now)?;
        let (heard, most) = (self.heard, self.max_wait);
        let basic = self.settings.form == Form::Basic;
        let Some((_, packet)) = self.lists.earliest().filter(|_| basic) else {
            return Some(next);
        };
        let silence = packet.time.since(heard).min(most);
        Some(if silence >= COARSE { next.max(packet.time + silence) } else { next })
    }

    /// Every packet below `n` has been acknowledged.
    pub(crate) fn forget_below(&mut self, n: SegNo) {
        self.lists.forget_below(n);
    }

    /// Packets are smaller than before by `ratio`: the windows stay, in octets.
    pub(crate) fn on_smaller_packets(&mut self, ratio: f64) {
        self.window.cwnd *= ratio;
        self.window.ssthresh *= ratio;
        self.lists.scale(ratio);
    }

    /// What had to be split is sent anew: the window is filled again by slow start.
    pub(crate) fn restart(&mut self) {
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
        self.window.cwnd = f64::from(self.lists.to_be_ack()) + 1.0;
        self.slow_start = true;
    }

    /// After a pause the window is no larger than `most`, and slow start leads back to ssthresh.
    pub(super) fn restart_after_idle(&mut self, most: u32) {
        self.window.cwnd = self.window.cwnd.min(f64::from(most));
        self.slow_start = true;
    }

    /// Packets were split; what was too big for the path counts as dropped (line 6), which says
    /// nothing of congestion.
    pub(crate) fn on_split(&mut self, numbers: &Renumbered, lost: impl Fn(SegNo) -> bool) {
        self.lists.split(numbers, lost);
    }

    /// Finds one drop, if there is one at `now`: the packet, and what its drop did. As line 13
    /// flushes after each, so shall the caller before it asks again.
    pub(crate) fn on_time(&mut self, now: Instant) -> Option<(SegNo, Dropped)> {
        let (n, packet) = self.lists.earliest()?;
        if now <= packet.time + self.mxrtt {
            return None;
        }
        // Line 5; line 6 is the caller's. If n is in memorize this is line 12 as well.
        let memorized = self.lists.remove(n);
        // Line 7.
        if !memorized {
            // Line 8.
            self.lists.memorize();
            self.extreme_reached = false;
            match self.settings.form {
                // Line 9 of Table 1.
                Form::Basic => self.window.cwnd = (packet.cwnd / 2.0).max(MIN_CWND),
                // Lines 8a and 9 of Table 3.
                Form::Extreme if packet.cwnd > 1.0 => self.window.cwnd = packet.cwnd / 2.0,
                // Line 9b.
                Form::Extreme => self.mxrtt = (self.mxrtt * 2).min(self.max_wait.max(self.mxrtt)),
            }
            // Line 10.
            self.window.ssthresh = self.window.cwnd;
            return Some((n, Dropped::New));
        }
        if self.settings.form == Form::Basic {
            return Some((n, Dropped::Burst));
        }
        // Line 12a.
        self.cburst = if self.lists.memorized() == 0 { 0 } else { self.cburst + 1 };
        // Line 12b.
        if f64::from(self.cburst) <= self.window.cwnd / 2.0 + 1.0 {
            return Some((n, Dropped::Burst));
        }
        // Lines 12c to 12f.
        self.window.cwnd = 1.0;
        self.slow_start = true;
        self.mxrtt = self.mxrtt.max(COARSE);
        self.slowdown = now + self.mxrtt;
        let again = std::mem::replace(&mut self.extreme_reached, true);
        Some((n, if again { Dropped::Burst } else { Dropped::Extreme }))
    }

    /// When to look again at the latest: at the next drop, or when the slowdown ends.
    pub(crate) fn next_event(&mut self, now: Instant) -> Option<Instant> {
        let drop = self.lists.earliest().map(|(_, packet)| packet.time + self.mxrtt + TICK);
        let slowdown = Some(self.slowdown).filter(|&at| at > now);
        drop.into_iter().chain(slowdown).min()
    }
}
