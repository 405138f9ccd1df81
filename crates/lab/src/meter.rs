//! Counts what a run's row needs, while the simulation runs.

use unruffled_path::DropCause;
use unruffled_sim::{End, FlowId, Monitor};
use unruffled_tcp::{Cause, Event, Segment};
use unruffled_units::{Duration, Instant};

/// The mean over time of a value that changes in steps.
#[derive(Clone, Copy, Debug, Default)]
struct TimeMean {
    area: f64,
    over: f64,
    since: Option<(Instant, f64)>,
}

impl TimeMean {
    fn set(&mut self, value: f64, now: Instant) {
        self.advance(now);
        self.since = Some((now, value));
    }

    fn advance(&mut self, now: Instant) {
        if let Some((since, value)) = self.since {
            let span = now.since(since).as_secs_f64();
            self.area += value * span;
            self.over += span;
            self.since = Some((now, value));
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.over > 0.0).then(|| self.area / self.over)
    }
}

/// What is counted, from the end of the warm-up on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    from: Instant,
    pub(crate) delivered_bytes: u64,
    pub(crate) sent: u64,
    pub(crate) retransmits: u64,
    pub(crate) fast_retransmits: u64,
    pub(crate) false_fast_retransmits: u64,
    pub(crate) timeouts: u64,
    pub(crate) false_timeouts: u64,
    pub(crate) loss_probes: u64,
    pub(crate) reordering_events: u64,
    pub(crate) dropped: u64,
    pub(crate) arrived: u64,
    pub(crate) out_of_order: u64,
    /// When the last octet was delivered.
    pub(crate) finished: Instant,
    highest_arrived: Option<u64>,
    cwnd: TimeMean,
    dupthresh: TimeMean,
}

impl Meter {
    /// Counts what happens `warmup` after the start and later.
    pub(crate) fn new(warmup: Duration) -> Self {
        Self { from: Instant::ZERO + warmup, ..Self::default() }
    }

    /// Closes the means at the end of the run.
    pub(crate) fn finish(&mut self, now: Instant) {
        self.cwnd.advance(now);
        self.dupthresh.advance(now);
    }

    pub(crate) fn cwnd_mean(&self) -> f64 {
        self.cwnd.mean().unwrap_or(0.0)
    }

    pub(crate) fn dupthresh_mean(&self) -> Option<f64> {
        self.dupthresh.mean()
    }
}

impl Monitor for Meter {
    fn event(&mut self, _flow: FlowId, end: End, now: Instant, event: &Event) {
        if now < self.from {
            return;
        }
        match (end, *event) {
            (End::Sender, Event::Sent { cause, .. }) => {
                self.sent += 1;
                self.retransmits += u64::from(cause.is_some());
            }
            (End::Sender, Event::Acknowledged { cwnd, dupthresh, .. }) => {
                self.cwnd.set(cwnd, now);
                if let Some(dupthresh) = dupthresh {
                    self.dupthresh.set(f64::from(dupthresh), now);
                }
            }
            (End::Sender, Event::Reordered { .. }) => self.reordering_events += 1,
            (End::Sender, Event::FastRetransmit) => self.fast_retransmits += 1,
            (End::Sender, Event::Timeout) => self.timeouts += 1,
            (End::Sender, Event::LossProbe) => self.loss_probes += 1,
            (End::Sender, Event::FalseReduction { cause }) => match cause {
                Cause::Timeout => self.false_timeouts += 1,
                _ => self.false_fast_retransmits += 1,
            },
            (End::Receiver, Event::Delivered { len }) => {
                self.delivered_bytes += len;
                self.finished = now;
            }
            (End::Receiver, Event::Arrived { offset, .. }) => {
                self.arrived += 1;
                self.out_of_order += u64::from(self.highest_arrived.is_some_and(|h| offset < h));
                self.highest_arrived = self.highest_arrived.max(Some(offset));
            }
            _ => {}
        }
    }

    fn dropped(&mut self, _flow: FlowId, now: Instant, _cause: DropCause, segment: &Segment) {
        self.dropped += u64::from(segment.len > 0 && now >= self.from);
    }
}
