//! TCP-PR's Tables 1 and 3, with their line numbers. The input is each packet sent or acknowledged,
//! with the time. The output is one drop at a time, and whether a packet may be sent. Packets are
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

/// mxrtt before the first round-trip time, which the paper leaves open. RFC 6298 (5.7) uses this
/// timeout after a handshake that gave no round-trip time.
const INITIAL_MXRTT: Duration = Duration::from_secs(3);
/// Minimum mxrtt after extreme losses (line 12e).
const MIN_MXRTT_AFTER_EXTREME_LOSSES: Duration = Duration::from_secs(1);
/// Shortest silence of the peer that lengthens the timeouts of Table 1 (RFC 6298, 2.4).
const MIN_SILENCE: Duration = Duration::from_secs(1);
/// Minimum mxrtt, a tick of a coarse clock, which the paper leaves open. Without it, an mxrtt of
/// zero would stay zero when doubled, and the packet would be sent again in an endless loop.
const MIN_MXRTT: Duration = Duration::from_millis(1);
/// Minimum window of Table 1, in packets, which the paper leaves open. Line 22 adds 1/cwnd, so a
/// window of half a packet would grow by two packets, and one of a thousandth by a thousand.
const MIN_CWND: f64 = 1.0;
/// Resolution of time. A packet is dropped when `time > time(n) + mxrtt`, strictly.
const TIME_RESOLUTION: Duration = Duration::from_nanos(1);

/// The effect of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// The first drop of a burst, which reduced the window.
    New,
    /// A further drop of the burst, which left the window alone.
    Burst,
    /// A further drop that made the losses extreme, so that the window begins again with one packet.
    Extreme,
}

/// Limits from the connection's settings.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Bound on cwnd, in packets.
    cwnd: f64,
    /// Bound on mxrtt.
    mxrtt: Duration,
    /// Maximum number of packets per acknowledgement that grow the window (RFC 3465).
    byte_counting: u32,
    growth: Growth,
}

/// The state of the tables. Windows are in packets.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    settings: Settings,
    limits: Limits,
    slow_start: bool,
    window: Window,
    /// In seconds, and zero before the first sample.
    srtt: f64,
    mxrtt: Duration,
    slowdown: Instant,
    cburst: u32,
    /// Whether lines 12c to 12f were reached in this burst.
    extreme_reached: bool,
    /// Transmission time of the packet that the current acknowledgement answers.
    answered_sent: Option<Instant>,
    /// Number of packets that the current acknowledgement covers for the first time.
    covered: u32,
    /// The last flush ended because there was no data to send, or no room for it at the peer.
    data_limited: bool,
    /// Time of the last acknowledgement that covered a packet for the first time, or of the first
    /// transmission since nothing was outstanding.
    silent_since: Instant,
    lists: Lists,
}

impl Tables {
    /// Returns the memory of the lists, in octets.
    pub(super) fn octets(&self) -> usize {
        self.lists.octets()
    }

    /// Frees unused memory of the lists.
    pub(super) fn shrink(&mut self) {
        self.lists.shrink();
    }

    pub(super) fn new(config: &Config, settings: &Settings) -> Self {
        Self {
            settings: *settings,
            limits: Limits {
                cwnd: config.window.max.map_or(f64::INFINITY, f64::from),
                mxrtt: config.rto.max,
                byte_counting: config.window.byte_counting,
                growth: config.ns2.growth,
            },
            // Lines 1 to 4b. Line 2 sets the window to 1. Here the initial window is configurable,
            // as for every sender.
            slow_start: true,
            window: Window { cwnd: f64::from(config.window.initial), ssthresh: f64::INFINITY },
            cburst: 0,
            slowdown: Instant::ZERO,
            srtt: 0.0,
            mxrtt: INITIAL_MXRTT,
            extreme_reached: false,
            answered_sent: None,
            covered: 0,
            data_limited: false,
            silent_since: Instant::ZERO,
            lists: Lists::default(),
        }
    }

    /// Returns cwnd and ssthresh.
    pub(crate) fn window(&self) -> Window {
        self.window
    }

    /// Returns the largest recent round-trip time, once one was measured.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt > 0.0).then(|| Duration::from_secs_f64(self.srtt))
    }

    /// Returns the time from its transmission after which a packet without an acknowledgement is
    /// dropped.
    pub(crate) fn mxrtt(&self) -> Duration {
        self.mxrtt
    }

    /// Sets the window to one packet, because a SYN was lost.
    pub(crate) fn after_lost_syn(&mut self) {
        self.window.cwnd = 1.0;
    }

    /// Takes the round-trip time of the handshake.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        self.srtt = self.srtt.max(rtt.as_secs_f64());
        self.update_mxrtt();
    }

    /// Computes mxrtt by line 15.
    fn update_mxrtt(&mut self) {
        let mxrtt = Duration::from_secs_f64(self.settings.beta * self.srtt);
        self.mxrtt = mxrtt.min(self.limits.mxrtt).max(MIN_MXRTT);
    }

    /// Returns whether the condition of line 24a holds.
    pub(crate) fn may_send(&self, now: Instant) -> bool {
        let cwnd = match self.settings.whole {
            Whole::Never => self.window.cwnd,
            Whole::Always => self.window.cwnd.floor().max(1.0),
        };
        self.slowdown <= now && cwnd > f64::from(self.lists.to_be_ack())
    }

    /// Handles the end of a flush. `data_limited` is whether nothing was left to send, although the
    /// window was not full.
    pub(crate) fn on_flushed(&mut self, data_limited: bool) {
        self.data_limited = data_limited;
    }

    /// Records that packet `n`, a new one or one that had been dropped, was sent.
    pub(crate) fn on_sent(&mut self, n: SegNo, now: Instant) {
        if self.lists.is_empty() {
            self.silent_since = now;
        }
        self.lists.on_sent(n, now, self.window.cwnd);
    }

    /// Records that the current acknowledgement covers packet `n` for the first time. `original` is
    /// the time of its first transmission, if that may be the one that arrived. No transmission
    /// after `latest_answerable` can have been acknowledged yet.
    pub(crate) fn on_covered(
        &mut self,
        n: SegNo,
        original: Option<Instant>,
        latest_answerable: Instant,
    ) {
        if let Some(packet) = self.lists.packet(n) {
            let last = packet.time;
            let sent = original.filter(|_| last > latest_answerable).unwrap_or(last);
            self.answered_sent.get_or_insert(sent);
            self.covered += 1;
        }
        // Lines 16 and 17.
        self.lists.remove(n);
    }

    /// Processes the rest of an acknowledgement, after [`Self::on_covered`] for each packet that it
    /// covers for the first time. It is one event, however many packets it covers ("one for each
    /// ACK received", section 3.1), but with byte counting several of them grow the window (RFC
    /// 3465). The window grows to at most `growth_limit`.
    pub(crate) fn on_ack(&mut self, now: Instant, growth_limit: f64) {
        let counted = f64::from(std::mem::take(&mut self.covered).min(self.limits.byte_counting));
        // The packet "whose acknowledgment just arrived" is the first one covered. Its arrival made
        // the receiver acknowledge the packets behind it, which may have arrived long before.
        let Some(sent) = self.answered_sent.take() else { return };
        self.silent_since = now;
        let cwnd = self.window.cwnd;
        // Line 14. After a retransmission, time(n) is the later time, unless the retransmission
        // cannot have been acknowledged yet. So no sample is too large.
        self.srtt = (libm::pow(self.settings.alpha, 1.0 / cwnd) * self.srtt)
            .max(now.since(sent).as_secs_f64());
        self.update_mxrtt();
        if self.settings.form == Form::Extreme {
            // Line 17a. By the text of section 3.2, it applies to lines 18 to 22 as well.
            if self.lists.memorized() > 0 {
                return;
            }
            // Line 17b.
            self.cburst = 0;
            self.extreme_reached = false;
        }
        // The paper's senders always have data. The window of a sender without data would grow
        // without bound.
        if !self.limits.growth.grows(!self.data_limited) {
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
        window.cwnd = window.cwnd.min(self.limits.cwnd.min(growth_limit));
    }

    /// Returns the time of the next check for drops. Table 1 has no backoff, so it would send a
    /// packet every mxrtt, however short, to a peer that is gone. A packet sent after a silence of
    /// [`MIN_SILENCE`] or longer is therefore not dropped before the silence has doubled (RFC 6298,
    /// 2.4 and 5.5).
    pub(crate) fn next_check(&mut self, now: Instant) -> Option<Instant> {
        let next = self.next_event(now)?;
        let basic = self.settings.form == Form::Basic;
        let Some((_, packet)) = self.lists.earliest().filter(|_| basic) else {
            return Some(next);
        };
        let silence = packet.time.since(self.silent_since).min(self.limits.mxrtt);
        Some(if silence >= MIN_SILENCE { next.max(packet.time + silence) } else { next })
    }

    /// Discards the packets below `n`, which have all been acknowledged.
    pub(crate) fn discard_below(&mut self, n: SegNo) {
        self.lists.discard_below(n);
    }

    /// Adapts the windows when packets become smaller by the factor `ratio`. Windows keep their
    /// size in octets.
    pub(crate) fn on_smaller_packets(&mut self, ratio: f64) {
        self.window.cwnd *= ratio;
        self.window.ssthresh *= ratio;
        self.lists.scale(ratio);
    }

    /// Lets slow start fill the window again, after packets were split.
    pub(crate) fn restart(&mut self) {
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
        self.window.cwnd = f64::from(self.lists.to_be_ack()) + 1.0;
        self.slow_start = true;
    }

    /// Reduces the window to at most `window` packets after an idle period. Slow start leads back to
    /// ssthresh.
    pub(super) fn restart_after_idle(&mut self, window: u32) {
        self.window.cwnd = self.window.cwnd.min(f64::from(window));
        self.slow_start = true;
    }

    /// Renumbers packets after some were split. Those for which `lost` holds were too big for the
    /// path and count as dropped (line 6), but are no sign of congestion.
    pub(crate) fn on_split(&mut self, numbers: &Renumbered, lost: impl Fn(SegNo) -> bool) {
        self.lists.split(numbers, lost);
    }

    /// Drops the next packet that is overdue at `now`, if any. Returns the packet and the effect of
    /// the drop. The caller must flush before the next call, because line 13 flushes after each
    /// drop.
    pub(crate) fn next_drop(&mut self, now: Instant) -> Option<(SegNo, Dropped)> {
        let (n, packet) = self.lists.earliest()?;
        if now <= packet.time + self.mxrtt {
            return None;
        }
        // Line 5, and line 12 if n is in memorize. The caller does line 6.
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
                Form::Extreme => {
                    self.mxrtt = (self.mxrtt * 2).min(self.limits.mxrtt.max(self.mxrtt))
                }
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
        self.mxrtt = self.mxrtt.max(MIN_MXRTT_AFTER_EXTREME_LOSSES);
        self.slowdown = now + self.mxrtt;
        let again = std::mem::replace(&mut self.extreme_reached, true);
        Some((n, if again { Dropped::Burst } else { Dropped::Extreme }))
    }

    /// Halves the window because of a mark of the path, and memorizes the packets in flight, so that drops
    /// of them do not halve it again (lines 8 to 10).
    pub(crate) fn on_mark(&mut self) {
        self.lists.memorize();
        self.extreme_reached = false;
        self.window.cwnd = (self.window.cwnd / 2.0).max(MIN_CWND);
        self.window.ssthresh = self.window.cwnd;
    }

    /// Returns the time of the next drop or of the end of the slowdown, whichever comes first.
    pub(crate) fn next_event(&mut self, now: Instant) -> Option<Instant> {
        let wait = self.mxrtt + TIME_RESOLUTION;
        let drop = self.lists.earliest().map(|(_, packet)| packet.time + wait);
        let slowdown = Some(self.slowdown).filter(|&at| at > now);
        drop.into_iter().chain(slowdown).min()
    }
}
