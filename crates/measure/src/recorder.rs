//! Records the time series of one run for the plots, thinned while it runs.

use serde::{Deserialize, Serialize};
use unruffled_tcp::Event;
use unruffled_units::{Duration, Instant};

use crate::{End, FlowId, Monitor};

/// What a data segment was when the sender sent it, and what it turned out to be; decides how the
/// time–sequence plot marks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendKind {
    /// First transmission.
    New,
    /// Retransmission that was needed, or was never shown to be spurious.
    Retransmit,
    /// Retransmission that a DSACK showed to be spurious.
    SpuriousRetransmit,
}

/// One data segment leaving the sender: a point of the time–sequence plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Seconds since the start of the run.
    pub time_s: f64,
    /// Segment number: stream offset over segment size.
    pub segment: f64,
    /// First transmission, retransmission, or a spurious one.
    pub kind: SendKind,
}

/// The time series of one run, for the plots; [`Recorder::into_trace`] gives it. Times are in seconds since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// `(time, cwnd in segments)`, thinned to what a plot can show.
    pub cwnd: Vec<(f64, f64)>,
    /// `(time, dupthresh in segments)`, thinned likewise; empty for senders without one.
    pub dupthresh: Vec<(f64, f64)>,
    /// `(time, milliseconds that a segment may be in flight before it counts as lost)`, for senders
    /// that work in time.
    pub patience: Vec<(f64, f64)>,
    /// Every data segment sent within the window of the time–sequence plot.
    pub sent: Vec<Sent>,
    /// `(time, highest cumulatively acknowledged segment)` within the same window.
    pub acked: Vec<(f64, f64)>,
    /// `(time, goodput in Mb/s from then to the next point)`, as the receiving application saw it; the
    /// last point closes. Only where the sender's window is not the same thing told better.
    pub delivered: Vec<(f64, f64)>,
    /// How many reordering events had length `i` (index 0 is unused), up to the longest;
    /// [`LONGEST`](Self::LONGEST) counts longer ones as well.
    pub reordering_lengths: Vec<u64>,
}

impl Trace {
    /// From this length on reordering events are counted together.
    pub const LONGEST: usize = 256;
}

/// No flow has this number.
const NO_FLOW: FlowId = FlowId(u32::MAX);
/// Points per curve: more than a plot has pixels.
const POINTS: u64 = 2_000;
/// Segments of the time–sequence plot's window, at most.
const SENT: usize = 5_000;

/// A monitor that fills a [`Trace`] of one source; put it beside a [`Meter`](crate::Meter) where plots
/// are wanted.
#[derive(Clone, Debug)]
pub struct Recorder {
    trace: Trace,
    /// The source to follow, and its latest flow.
    source: u32,
    flow: FlowId,
    /// Octets of a segment.
    mss: f64,
    /// Time between points of a curve.
    step: Duration,
    next_point: Instant,
    /// The window of the time–sequence plot.
    window: (Instant, Instant),
}

impl Recorder {
    /// For a run of `duration`, measured after `warmup`, in segments of `mss` octets.
    pub fn new(duration: Duration, warmup: Duration, mss: u32) -> Self {
        let measured = duration.saturating_sub(warmup);
        let from = Instant::ZERO + warmup + measured * 2 / 5;
        Self {
            trace: Trace { reordering_lengths: vec![0; Trace::LONGEST + 1], ..Trace::default() },
            source: 0,
            flow: FlowId(0),
            mss: f64::from(mss),
            step: duration / POINTS,
            next_point: Instant::ZERO,
            window: (from, from + Duration::from_secs(20)),
        }
    }

    /// Follows the source of that number in place of the first one.
    #[must_use]
    pub fn of(self, source: u32) -> Self {
        Self { source, flow: FlowId(source), ..self }
    }

    /// What was recorded.
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
        // The number may soon be another source's.
        if flow == self.flow {
            self.flow = NO_FLOW;
        }
    }

    fn watches_links(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        if end != End::Sender || flow != self.flow {
            return;
        }
        let in_window = now >= self.window.0 && now < self.window.1 && self.trace.sent.len() < SENT;
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
                // The copy that the DSACK reports is the last one sent before it.
                let segment = offset as f64 / self.mss;
                let same = |s: &&mut Sent| s.segment == segment && s.kind == SendKind::Retransmit;
                if let Some(sent) = self.trace.sent.iter_mut().rev().find(same) {
                    sent.kind = SendKind::SpuriousRetransmit;
                }
            }
            Event::Reordered { length, .. } => {
                let bin = (length as usize).min(Trace::LONGEST);
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
    fn a_number_that_another_source_has_taken_is_not_followed() {
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
    fn a_fin_is_no_segment_of_the_plot() {
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
