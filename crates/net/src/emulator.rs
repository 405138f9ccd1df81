//! The emulated path in real time, with one thread for each direction. If packets of both directions cross a
//! link, one thread carries both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use unruffled_path::Direction;

use crate::device::Device;
use crate::lane::{Lane, LaneReport, Port, Wiring};
use crate::{Chain, Error, Lateness, Paths, Tap};

/// Carries packets between two ends until it is stopped or dropped.
#[derive(Debug)]
pub struct Emulator {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<LaneReport>>>,
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
        paths: &Paths,
        tap: Option<&Tap>,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        // Dropping it stops the threads that have started.
        let mut emulator = Self { stop: Arc::default(), threads: Vec::new() };
        let forward = ("forward", vec![Direction::Forward]);
        let reverse = ("reverse", vec![Direction::Reverse]);
        let both = ("both ways", vec![Direction::Forward, Direction::Reverse]);
        let lanes = if paths.share_links() { vec![both] } else { vec![forward, reverse] };
        for (name, directions) in lanes {
            let mut chain = Chain::over(paths, &directions)?;
            if tap.is_some() {
                chain.show_between();
            }
            let port = |&direction: &Direction| match direction {
                Direction::Forward => Port::new(direction, left, right),
                Direction::Reverse => Port::new(direction, right, left),
            };
            let ports = directions.iter().map(port).collect();
            let stop = Arc::clone(&emulator.stop);
            let lane = Lane::new(Wiring { start, stop, tap: tap.cloned() }, ports, chain);
            let thread = thread::Builder::new().name(name.to_owned());
            let thread = thread.spawn(|| lane.run());
            emulator.threads.push(thread.map_err(|reason| Error::kernel("a thread", reason))?);
        }
        Ok(emulator)
    }

    /// Stops the emulator and returns its counts. Packets on their way are discarded.
    pub fn stop(mut self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        let threads = std::mem::take(&mut self.threads).into_iter();
        let reports = threads.flat_map(|thread| match thread.join() {
            Ok(reports) => reports,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let reports: [LaneReport; 2] =
            reports.collect::<Vec<_>>().try_into().expect("one for each direction, in order");
        let [forward, reverse] = reports;
        Report { forward, reverse }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

impl Report {
    /// Returns the lateness of the packets of both directions.
    pub fn lateness(&self) -> Lateness {
        self.forward.lateness.clone().merge(&self.reverse.lateness)
    }
}
