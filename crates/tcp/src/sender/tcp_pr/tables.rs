//! The machine of TCP-PR's Tables 1 and 3, with their line numbers: packets sent and acknowledged go
//! in with the time, drops come out one at a time, and so does whether a packet may leave. Packets are
//! numbered from 0 in the order of the stream.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::settings::{Form, Settings};
use crate::Config;
use crate::parts::control::Window;
use crate::sender::stream::{Renumbered, SegNo};

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

/// One packet that was sent and lies above the cumulative point.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// time(n) and cwnd(n): when it was last sent, and the window then.
    time: Instant,
    cwnd: f64,
    /// Which transmission that was, counted over all packets.
    serial: u64,
    /// It is in to-be-ack.
    waiting: bool,
}

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
///
/// The lists of the paper: to-be-ack is the set of packets that are `waiting`, in the order of
/// their sending in `transmissions`; memorize is the part of it that was sent before `snapshot`;
/// to-be-sent are the packets that were dropped (the scoreboard's lost ones), then new data.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    form: Form,
    alpha: f64,
    beta: f64,
    max_cwnd: f64,
    /// Doubling takes mxrtt no further than this.
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
    /// The last flush ended for want of data or of room at the peer.
    starved: bool,
    /// When something was acknowledged last, or the first of what is outstanding was sent.
    heard: Instant,
    packets: VecDeque<Packet>,
    /// Number of the first of them.
    base: SegNo,
    /// Transmissions by number of their packet, in the order of time; those that are not their
    /// packet's last, or whose packet waits no more, are passed over when they come to the front.
    transmissions: VecDeque<SegNo>,
    /// Serial number of the first of them.
    first_serial: u64,
    /// |to-be-ack|.
    to_be_ack: u32,
    /// Serial number of the first transmission after memorize was filled, and |memorize|.
    snapshot: u64,
    memorized: u32,
}

impl Tables {
    pub(super) fn new(config: &Config, settings: &Settings) -> Self {
        Self {
            form: settings.form,
            alpha: settings.alpha,
            beta: settings.beta,
            max_cwnd: config.max_cwnd.map_or(f64::INFINITY, f64::from),
            max_wait: config.max_rto,
            // Lines 1 to 4b; line 2 says 1, and every sender's initial window is configurable.
            slow_start: true,
            window: Window { cwnd: f64::from(config.initial_window), ssthresh: f64::INFINITY },
            memorized: 0,
            cburst: 0,
            slowdown: Instant::ZERO,
            srtt: 0.0,
            mxrtt: NO_RTT,
            extreme_reached: false,
            answered: None,
            covered: 0,
            byte_counting: config.byte_counting,
            starved: false,
            heard: Instant::ZERO,
            packets: VecDeque::new(),
            base: 0,
            transmissions: VecDeque::new(),
            first_serial: 0,
            to_be_ack: 0,
            snapshot: 0,
        }
    }

    /// cwnd and ssthresh.
    pub(crate) fn window(&self) -> Window {
        self.window
    }

    /// The largest round-trip time of late, once there is a sample.
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
        self.mxrtt = Duration::from_secs_f64(self.beta * self.srtt).max(MIN_WAIT);
    }

    /// The condition of line 24a.
    pub(crate) fn may_send(&self, now: Instant) -> bool {
        self.slowdown <= now && self.window.cwnd > f64::from(self.to_be_ack)
    }

    /// A flush came to its end; `starved` if nothing was left to send, not the window used up.
    pub(crate) fn on_flushed(&mut self, starved: bool) {
        self.starved = starved;
    }

    /// Packet `n` left, a new one or one that had been dropped.
    pub(crate) fn on_sent(&mut self, n: SegNo, now: Instant) {
        if self.packets.is_empty() {
            self.heard = now;
        }
        let serial = self.next_serial();
        let packet = Packet { time: now, cwnd: self.window.cwnd, serial, waiting: true };
        // Lines 26 and 27.
        match self.packets.get_mut((n - self.base) as usize) {
            Some(old) => {
                debug_assert!(!old.waiting, "sent again without having been dropped");
                *old = packet;
            }
            None => self.packets.push_back(packet),
        }
        self.transmissions.push_back(n);
        self.to_be_ack += 1;
    }

    /// The acknowledgement being read covers packet `n`, which none did before.
    pub(crate) fn on_covered(&mut self, n: SegNo) {
        if let Some(packet) = self.packet(n) {
            self.answered.get_or_insert(packet.time);
            self.covered += 1;
        }
        // Lines 16 and 17.
        self.remove(n);
    }

    /// All that the acknowledgement newly covers has been told: the rest of its event, which is one
    /// however many packets it covers ("one for each ACK received", section 3.1), unless up to so
    /// many of them count (RFC 3465).
    pub(crate) fn on_ack(&mut self, now: Instant) {
        let counted = f64::from(std::mem::take(&mut self.covered).min(self.byte_counting));
        // The packet "whose acknowledgment just arrived" is the first one covered: that it came is
        // what made the receiver acknowledge those behind it, which may have come long before.
        let Some(sent) = self.answered.take() else { return };
        self.heard = now;
        let cwnd = self.window.cwnd;
        // Line 14. After a retransmission time(n) is the later time: no sample is too large.
        self.srtt = (self.alpha.powf(1.0 / cwnd) * self.srtt).max(now.since(sent).as_secs_f64());
        self.measure();
        if self.form == Form::Extreme {
            // Line 17a; it covers lines 18 to 22 as well, by the text of section 3.2.
            if self.memorized > 0 {
                return;
            }
            // Line 17b.
            self.cburst = 0;
            self.extreme_reached = false;
        }
        // The paper's senders always have data; without, the window would grow without bound.
        if self.starved {
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
        window.cwnd = window.cwnd.min(self.max_cwnd);
    }

    /// When to look for drops again. Table 1 has no backoff: to a peer that is gone it would send a
    /// packet every mxrtt, however short that is. So what is sent after a silence of a second or more
    /// is given as long as the silence before it (RFC 6298, 2.4 and 5.5).
    pub(crate) fn next_look(&mut self, now: Instant) -> Option<Instant> {
        let next = self.next_event(now)?;
        let (heard, most) = (self.heard, self.max_wait);
        let basic = self.form == Form::Basic;
        let Some((_, packet)) = self.earliest().filter(|_| basic) else {
            return Some(next);
        };
        let silence = packet.time.since(heard).min(most);
        Some(if silence >= COARSE { next.max(packet.time + silence) } else { next })
    }

    /// Every packet below `n` has been acknowledged.
    pub(crate) fn forget_below(&mut self, n: SegNo) {
        while self.base < n && self.packets.pop_front().is_some() {
            self.base += 1;
        }
    }

    /// Packets are smaller than before by `ratio`: the windows stay, in octets.
    pub(crate) fn on_smaller_packets(&mut self, ratio: f64) {
        self.window.cwnd *= ratio;
        self.window.ssthresh *= ratio;
        self.packets.iter_mut().for_each(|packet| packet.cwnd *= ratio);
    }

    /// What had to be split is sent anew: the window is filled again by slow start.
    pub(crate) fn restart(&mut self) {
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
        self.window.cwnd = f64::from(self.to_be_ack) + 1.0;
        self.slow_start = true;
    }

    /// Packets were split; what was too big for the path counts as dropped (line 6), which says
    /// nothing of congestion.
    pub(crate) fn on_split(&mut self, numbers: &Renumbered, lost: impl Fn(SegNo) -> bool) {
        let mut packets = VecDeque::with_capacity(self.packets.len());
        for n in self.base..self.base + self.packets.len() as u64 {
            let pieces = numbers.first(n)..numbers.first(n + 1);
            if lost(pieces.start) {
                self.remove(n);
            }
            packets.extend(pieces.filter_map(|_| self.packet(n)));
        }
        self.packets = packets;
        self.base = numbers.first(self.base);
        for n in &mut self.transmissions {
            *n = numbers.first(*n);
        }
    }

    /// Finds one drop, if there is one at `now`: the packet, and what its drop did. As line 13
    /// flushes after each, so shall the caller before it asks again.
    pub(crate) fn on_time(&mut self, now: Instant) -> Option<(SegNo, Dropped)> {
        let (n, packet) = self.earliest()?;
        if now <= packet.time + self.mxrtt {
            return None;
        }
        // Line 5; line 6 is the caller's. If n is in memorize this is line 12 as well.
        let memorized = self.remove(n);
        // Line 7.
        if !memorized {
            // Line 8.
            self.snapshot = self.next_serial();
            self.memorized = self.to_be_ack;
            self.extreme_reached = false;
            match self.form {
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
        if self.form == Form::Basic {
            return Some((n, Dropped::Burst));
        }
        // Line 12a.
        self.cburst = if self.memorized == 0 { 0 } else { self.cburst + 1 };
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
        let drop = self.earliest().map(|(_, packet)| packet.time + self.mxrtt + TICK);
        let slowdown = Some(self.slowdown).filter(|&at| at > now);
        drop.into_iter().chain(slowdown).min()
    }

    /// The packet of to-be-ack that was sent first.
    fn earliest(&mut self) -> Option<(SegNo, Packet)> {
        while let Some(&n) = self.transmissions.front() {
            if let Some(packet) = self.packet(n)
                && packet.waiting
                && packet.serial == self.first_serial
            {
                return Some((n, packet));
            }
            self.transmissions.pop_front();
            self.first_serial += 1;
        }
        None
    }

    fn packet(&self, n: SegNo) -> Option<Packet> {
        self.packets.get(n.checked_sub(self.base)? as usize).copied()
    }

    fn next_serial(&self) -> u64 {
        self.first_serial + self.transmissions.len() as u64
    }

    /// Takes packet `n` out of to-be-ack and memorize; says whether it was in memorize.
    fn remove(&mut self, n: SegNo) -> bool {
        let Some(packet) = self.packets.get_mut((n - self.base) as usize) else { return false };
        if !std::mem::take(&mut packet.waiting) {
            return false;
        }
        self.to_be_ack -= 1;
        let memorized = packet.serial < self.snapshot;
        self.memorized -= u32::from(memorized);
        memorized
    }
}
