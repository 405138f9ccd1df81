//! Growth of the window by acknowledged packets, and what proportional rate reduction permits meanwhile.

use unruffled_units::Instant;

use super::Quic;
use crate::parts::control::{CongestionControl, Window};
use crate::sender::stream::Stream;

/// Packets by which the flight may fall short of a window that grows, as a burst.
const BURST: f64 = 3.0;

/// Proportional rate reduction (RFC 6937), counted in packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    pub(super) delivered: f64,
    pub(super) flight: f64,
    pub(super) out: f64,
    pub(super) more: f64,
}

impl Quic {
    /// Grows the window by each packet that was sent after the window was last reduced.
    pub(super) fn grow(&mut self, stream: &Stream, flight_before: f64, marked: bool, now: Instant) {
        let mut flow = self.flow(stream, now);
        if !self.acked.is_empty() && self.control.counts_deliveries() {
            self.control.on_delivered(self.acked.len() as u32, &flow);
        }
        // What was in flight when the acknowledgement came, without what it showed to be lost.
        let octets = self.acked.iter().map(|packet| u64::from(packet.len)).sum();
        let pipe = self.flight(stream) + self.part(stream, octets, self.acked.len() as u32);
        for at in 0..self.acked.len() {
            let packet = self.acked[at];
            if self.cuts.covers(packet.number) {
                self.on_delivered_in_recovery(stream, packet.len, pipe);
                continue;
            }
            let Window { cwnd, .. } = self.window;
            let slow = self.window.slow_start() && flight_before > cwnd / 2.0;
            let unused = self.rules.grows_unused;
            if marked || !(unused || slow || flight_before + BURST >= cwnd) {
                self.control.on_limited(&flow);
                continue;
            }
            if self.cuts.is_small(&self.restoration, cwnd)
                && let Some(prior) = self.cuts.roll_back(self.window)
            {
                self.reinstate(Some(prior));
                continue;
            }
            flow.flight = self.window.cwnd;
            let part = self.part(stream, packet.len.into(), 1);
            if self.control.grow_by_packet(&mut self.window, part, &flow) {
                self.window.cwnd = self.window.cwnd.min(self.max_cwnd);
                continue;
            }
            // Octets count (section 7.3): of packets that are cut, only full ones in sum.
            self.counted += part;
            if self.counted >= 1.0 {
                self.counted -= 1.0;
                self.control.grow(&mut self.window, 1, 1, &flow);
            }
            self.window.cwnd = self.window.cwnd.min(self.max_cwnd);
        }
    }

    /// Passes the rate of delivery to the control.
    pub(super) fn sample_rate(&mut self, stream: &Stream, now: Instant) {
        let Self { spurious, acked, rate, .. } = self;
        for packet in spurious.iter().chain(acked.iter()) {
            rate.on_acknowledged(&packet.before, packet.len, packet.sent, now);
        }
        if let Some(octets) = rate.sample(stream.min_rtt()) {
            let segments = octets * self.rules.share / f64::from(stream.mss());
            self.control.on_delivery_rate(segments, &self.flow(stream, now));
        }
    }

    /// Lets proportional rate reduction permit packets (RFC 6937, section 3), if the stack has it.
    pub(super) fn on_delivered_in_recovery(&mut self, stream: &Stream, octets: u32, pipe: f64) {
        if !self.rules.prr {
            return;
        }
        let part = self.part(stream, octets.into(), 1);
        let Prr { delivered, flight, out, .. } = &mut self.prr;
        *delivered += part;
        let ssthresh = self.window.ssthresh;
        self.prr.more = if pipe > ssthresh {
            if *flight > 0.0 { *delivered * ssthresh / *flight - *out } else { 0.0 }
        } else {
            (ssthresh - pipe).min((*delivered - *out).max(part) + 1.0)
        }
        .max(0.0);
    }
}
