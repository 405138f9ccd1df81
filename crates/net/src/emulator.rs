//! The emulated path in real time, with one thread for each direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use unruffled_path::Direction;

use crate::device::Device;
use crate::lane::{Lane, LaneReport, Wiring};
use crate::{Chain, Error, Lateness, SeededLink, Tap};

/// Carries packets between two ends until it is stopped or dropped.
#[derive(Debug)]
pub struct Emulator {
    stop: Arc<AtomicBool>,
    lanes: Option<[JoinHandle<LaneReport>; 2]>,
}

/// Counts of a stopped emulator.
#[derive(Clone, Debug)]
pub struct Report {
    /// Left to right, which carries data.
    pub forward: LaneReport,
    /// Right to left, which carries acknowledgements.
    pub reverse: LaneReport,
}

impl Emulator {
    pub(crate) fn start(
        left: &Arc<Device>,
        right: &Arc<Device>,
        hops: &[SeededLink],
        tap: Option<&Tap>,
    ) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let start = Instant::now();
        let lane = |from: &Arc<Device>, to: &Arc<Device>, direction| -> Result<_, Error> {
            let mut chain = Chain::new(hops, direction)?;
            if tap.is_some() {
                chain.show_between();
            }
            let tap = tap.map(|tap| (tap.clone(), direction));
            let (from, to, stop) = (from.clone(), to.clone(), stop.clone());
            Ok(Lane::new(Wiring { from, to, start, stop, tap }, chain))
        };
        let forward = lane(left, right, Direction::Forward)?;
        let reverse = lane(right, left, Direction::Reverse)?;
        let launch = |name: &str, lane: Lane| {
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(|| lane.run()).map_err(|reason| Error::kernel("a thread", reason))
        };
        let forward = launch("forward", forward)?;
        let reverse = launch("reverse", reverse).inspect_err(|_| {
            stop.store(true, Ordering::Relaxed);
        })?;
        Ok(Self { stop, lanes: Some([forward, reverse]) })
    }

    /// Stops the emulator and returns its counts. Packets on their way are discarded.
    pub fn stop(mut self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        let lanes =
            self.lanes.take().expect("only this method takes them, and it consumes the emulator");
        let [forward, reverse] = lanes.map(|lane| match lane.join() {
            Ok(report) => report,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        Report { forward, reverse }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for lane in self.lanes.take().into_iter().flatten() {
            // A panic of the thread has been printed.
            let _ = lane.join();
        }
    }
}

impl Report {
    /// Returns the lateness of the packets of both directions.
    pub fn lateness(&self) -> Lateness {
        self.forward.lateness.clone().merge(&self.reverse.lateness)
    }
}
