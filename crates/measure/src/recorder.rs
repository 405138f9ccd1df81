//! Time series of one flow for plots, sampled while the run is in progress.

use serde::{Deserialize, Serialize};
use unruffled_tcp::Event;
use unruffled_units::{Duration, Instant};

use crate::{End, FlowId, LinkId, Monitor};

/// Kind of a transmission, which determines its mark in the time–sequence plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendKind {
    /// First transmission.
    New,
    /// Retransmission that no DSACK reported as spurious.
    Retransmit,
    /// Retransmission that a DSACK reported as spurious.
    SpuriousRetransmit,
}

/// Transmission of a data segment: a point of the time–sequence plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Time, in seconds since the start of the run.
    pub time_s: f64,
    /// Number of the segment: stream offset divided by segment size.
    pub segment: f64,
    /// Kind of the transmission.
    pub kind: SendKind,
}

/// Time series of one flow, for plots. Times are in seconds since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Times and congestion windows in segments, sampled to the resolution of a plot.
    pub cwnd: Vec<(f64, f64)>,
    /// Times and duplicate thresholds in segments, sampled likewise; empty for senders without one.
    pub dupthresh: Vec<(f64, f64)>,
    /// Times and the longest time in milliseconds that a segment may be in flight before it counts as
    /// lost, for senders that detect losses by time.
    pub patience: Vec<(f64, f64)>,
    /// Data segments sent within the window of the time–sequence plot.
    pub sent: Vec<Sent>,
    /// Times and the highest cumulatively acknowledged segments within the same window.
    pub acked: Vec<(f64, f64)>,
    /// Times and the goodput in Mb/s from then to the next point, at the receiving application. The last
    /// point ends the series. Only for senders whose window is not recorded.
    pub delivered: Vec<(f64, f64)>,
    /// Number of reordering events by length, up to the longest. Index 0 is unused. The count at
    /// [`MAX_REORDERING_LENGTH`](Self::MAX_REORDERING_LENGTH) includes longer ones.
    pub reordering_lengths: Vec<u64>,
}

impl Trace {
    /// Length from which on reordering events are counted together.
    pub const MAX_REORDERING_LENGTH: usize = 256;
}

/// Number that no flow has.
const NO_FLOW: FlowId = FlowId(u32::MAX);

/// Points per curve, more than a plot has pixels.
const CURVE_POINTS: u64 = 2_000;

/// Maximum number of transmissions in the time–sequence plot.
const MAX_TRANSMISSIONS: usize = 5_000;

/// Monitor that records a [`Trace`] of one source. Use it in a pair with a [`Meter`](crate::Meter).
#[derive(Clone, Debug)]
pub struct Recorder {
    trace: Trace,
    /// Source to follow.
    source: u32,
    /// Latest flow of that source.
    flow: FlowId,
    /// Octets in a full segment.
    mss: f64,
    /// Time between points of a curve.
    step: Duration,
    next_point: Instant,
    /// Beginning and end of the time–sequence plot.
    window: (Instant, Instant),
}

impl Recorder {
    /// Creates a recorder of the first source, for a run of `duration` that is measured after `warmup`, in
    /// segments of `mss` octets.
    pub fn new(duration: Duration, warmup: Duration, mss: u32) -> Self {
        let measured = duration.saturating_sub(warmup);
        let from = Instant::ZERO + warmup + measured * 2 / 5;
        Self {
            trace: Trace {
                reordering_lengths: vec![0; Trace::MAX_REORDERING_LENGTH + 1],
                ..Trace::default()
            },
            source: 0,
            flow: FlowId(0),
            mss: f64::from(mss),
            step: duration / CURVE_POINTS,
            next_point: Instant::ZERO,
            window: (from, from + Duration::from_secs(20)),
        }
    }

    /// Follows source number `source` instead of the first.
    #[must_use]
    pub fn following(self, source: u32) -> Self {
        Self { source, flow: FlowId(source), ..self }
    }

    /// Returns the time series.
    pub fn into_trace(mut self) -> Trace {
        let used = self.trace.reordering_lengths.iter().rposition(|&n| n > 0).map_or(0, |i| i + 1);
        self.trace.reordering_lengths.truncate(used);
        self.trace
    }
}

impl Monitor for Recorder {
    fn opened(&mut self, flow: FlowId, source: u32, _now: Instant) {
        if source == self.source {
            self.flow = flow;
        }
    }

    fn closed(&mut self, flow: FlowId, _now: Instant) {
        // Another source may open a flow with the same number.
        if flow == self.flow {
            self.flow = NO_FLOW;
        }
    }

    fn watches(&self, _link: LinkId) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        if end != End::Sender || flow != self.flow {
            return;
        }
        let in_window = now >= self.window.0
            && now < self.window.1
            && self.trace.sent.len() < MAX_TRANSMISSIONS;
        let time_s = now.as_secs_f64();
        match *event {
            Event::Acknowledged { una, cwnd, dupthresh, patience, .. } => {
                if now >= self.next_point {
                    self.next_point = now + self.step;
                    self.trace.cwnd.push((time_s, cwnd));
                    if let Some(dupthresh) = dupthresh {
                        self.trace.dupthresh.push((time_s, f64::from(dupthresh)));
                    }
                    if let Some(patience) = patience {
                        self.trace.patience.push((time_s, patience.as_millis_f64()));
                    }
                }
                if in_window {
                    self.trace.acked.push((time_s, una as f64 / self.mss));
                }
            }
            Event::Timeout { cwnd } => self.trace.cwnd.push((time_s, cwnd)),
            Event::Sent { offset, len: 1.., cause } if in_window => {
                let kind = if cause.is_some() { SendKind::Retransmit } else { SendKind::New };
                self.trace.sent.push(Sent { time_s, segment: offset as f64 / self.mss, kind });
            }
            Event::SpuriousRetransmission { offset, .. } => {
                // The DSACK reports the last copy sent before it.
                let segment = offset as f64 / self.mss;
                let same = |s: &&mut Sent| s.segment == segment && s.kind == SendKind::Retransmit;
                if let Some(sent) = self.trace.sent.iter_mut().rev().find(same) {
                    sent.kind = SendKind::SpuriousRetransmit;
                }
            }
            Event::Reordered { length, .. } => {
                let bin = (length as usize).min(Trace::MAX_REORDERING_LENGTH);
                self.trace.reordering_lengths[bin] += 1;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_flow_number_of_another_source_is_not_followed() {
        let at = Instant::from_millis;
        let mut recorder = Recorder::new(Duration::from_secs(10), Duration::ZERO, 1000);
        let reordered = Event::Reordered { length: 3, delay: Duration::ZERO };
        recorder.opened(FlowId(7), 0, at(0));
        recorder.event(FlowId(7), End::Sender, at(1), &reordered);
        recorder.closed(FlowId(7), at(2));
        recorder.opened(FlowId(7), 1, at(3));
        recorder.event(FlowId(7), End::Sender, at(4), &reordered);
        assert_eq!(recorder.into_trace().reordering_lengths, [0, 0, 0, 1]);
    }

    #[test]
    fn a_fin_is_not_part_of_the_plot() {
        let mut recorder = Recorder::new(Duration::from_secs(10), Duration::ZERO, 1000);
        let mut sent = |offset, len| {
            let event = Event::Sent { offset, len, cause: None };
            recorder.event(FlowId(0), End::Sender, Instant::from_millis(5000), &event);
        };
        sent(0, 1000);
        sent(1000, 0);
        let segments: Vec<f64> = recorder.into_trace().sent.iter().map(|s| s.segment).collect();
        assert_eq!(segments, [0.0]);
    }
}
