//! Records the time series of one run for the plots, thinned while it runs.

use unruffled_sim::{End, FlowId, Monitor};
use unruffled_tcp::Event;
use unruffled_units::{Duration, Instant};

use crate::record::{SendKind, Sent, Trace};

/// Points per curve: more than a plot has pixels.
const POINTS: u64 = 2_000;
/// Segments of the time–sequence plot's window, at most.
const SENT: usize = 5_000;
/// Bins of the histogram of reordering lengths.
const LENGTHS: usize = 257;

/// A monitor that fills a [`Trace`].
#[derive(Clone, Debug)]
pub struct Recorder {
    trace: Trace,
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
            trace: Trace { reordering_lengths: vec![0; LENGTHS], ..Trace::default() },
            mss: f64::from(mss),
            step: duration / POINTS,
            next_point: Instant::ZERO,
            window: (from, from + Duration::from_secs(20)),
        }
    }

    /// What was recorded.
    pub fn into_trace(mut self) -> Trace {
        let used = self.trace.reordering_lengths.iter().rposition(|&n| n > 0).map_or(0, |i| i + 1);
        self.trace.reordering_lengths.truncate(used);
        self.trace
    }
}

impl Monitor for Recorder {
    fn event(&mut self, _flow: FlowId, end: End, now: Instant, event: &Event) {
        if end != End::Sender {
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
            Event::Sent { offset, cause, .. } if in_window => {
                let kind = if cause.is_some() { SendKind::Retransmit } else { SendKind::New };
                self.trace.sent.push(Sent { time_s, segment: offset as f64 / self.mss, kind });
            }
            Event::Needless { offset, .. } => {
                // The copy that the DSACK reports is the last one sent before it.
                let segment = offset as f64 / self.mss;
                let same = |s: &&mut Sent| s.segment == segment && s.kind == SendKind::Retransmit;
                if let Some(sent) = self.trace.sent.iter_mut().rev().find(same) {
                    sent.kind = SendKind::FalseRetransmit;
                }
            }
            Event::Reordered { length, .. } => {
                let bin = (length as usize).min(LENGTHS - 1);
                self.trace.reordering_lengths[bin] += 1;
            }
            _ => {}
        }
    }
}
