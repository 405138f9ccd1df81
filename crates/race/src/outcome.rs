//! The result of a transfer, as a row and a trace.

use std::iter::repeat;
use std::sync::{Arc, Mutex, PoisonError};

use unruffled_lab::Scenario;
use unruffled_lab::record::{RunRow, Trace};
use unruffled_measure::{End, FlowId, FlowMeter, Monitor, Recorder, share};
use unruffled_net::{Counts, Statistics};
use unruffled_tcp::{Config, EcnMode, Event};
use unruffled_units::{Duration, Instant};

use crate::counters;
use crate::foreign::{Totals, missing};
use crate::transfer::{Received, SLICE};

/// Measures our sender by its events.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Time of the stack at the start.
    origin: Instant,
    meter: FlowMeter,
    recorder: Recorder,
}

impl Watch {
    /// Creates a watch for a transfer of about `duration` that starts at `origin`, by a stack with the
    /// settings of `sender`.
    pub(crate) fn new(origin: Instant, duration: Duration, sender: &Config) -> Arc<Mutex<Self>> {
        let meter = FlowMeter::default().with_ecn(sender.ecn == EcnMode::Request);
        let recorder = Recorder::new(duration, Duration::ZERO, sender.mss);
        Arc::new(Mutex::new(Self { origin, meter, recorder }))
    }

    pub(crate) fn event(&mut self, now: Instant, event: &Event) {
        let now = Instant::ZERO + now.since(self.origin);
        self.meter.event(End::Sender, now, event);
        self.recorder.event(FlowId(0), End::Sender, now, event);
    }
}

/// Source of a sender's counters.
#[derive(Debug)]
pub(crate) enum Account {
    /// The sending kernel.
    Kernel(Statistics),
    /// Our own sender.
    Ours(Arc<Mutex<Watch>>),
    /// A foreign stack.
    Foreign(Totals),
}

/// A finished transfer.
#[derive(Debug)]
pub(crate) struct Transferred {
    pub(crate) received: Received,
    pub(crate) account: Account,
    /// Name of the row.
    pub(crate) name: String,
    pub(crate) seed: u64,
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
}

impl Transferred {
    /// Returns the row and the trace. `path` has the counts of the direction of the data.
    pub(crate) fn into_row(self, scenario: &Scenario, path: &Counts) -> (RunRow, Trace) {
        let Self { received, account, name, seed, seconds } = self;
        let end = Instant::ZERO + Duration::from_secs_f64(seconds);
        let finish = |meter: &mut FlowMeter| {
            let delivered = Event::Delivered { len: received.octets };
            meter.event(End::Receiver, end, &delivered);
            let record = meter.record(end, Instant::ZERO, scenario.sender.mss);
            RunRow::of(&scenario.name, &name, seed, record)
        };
        let (mut row, mut trace) = match account {
            Account::Kernel(statistics) => {
                let mut row = finish(&mut FlowMeter::default());
                counters::fill(&mut row, &statistics);
                (row, Trace::default())
            }
            Account::Foreign(totals) => {
                let mut row = finish(&mut FlowMeter::default());
                totals.fill(&mut row, path);
                (row, Trace::default())
            }
            Account::Ours(watch) => {
                let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
                (finish(&mut watch.meter), watch.recorder.clone().into_trace())
            }
        };
        row.loss_rate = share(missing(path), path.offered);
        row.out_of_order_rate = share(path.overtaken, path.delivered);
        let width = SLICE.as_secs_f64();
        let whole = (seconds / width) as usize;
        // Slices after the last octet are empty.
        let slices = received.slices.iter().copied().chain(repeat(0)).take(whole).enumerate();
        trace.delivered =
            slices.map(|(i, n)| (i as f64 * width, n as f64 * 8e-6 / width)).collect();
        // A curve needs the end of the last slice, too.
        let end = trace.delivered.last().map(|&(start, mbps)| (start + width, mbps));
        trace.delivered.extend(end);
        (row, trace)
    }
}
