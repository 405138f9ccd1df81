//! One run of a comparison, with what is kept of it.

use std::sync::Arc;

use unruffled_measure::{Monitor, Recorder, RunRecord, Trace};
use unruffled_scenario::Scenario;
use unruffled_tcp::Variant;

use crate::cancel::{CancellationToken, RunError};
use crate::run::Running;

/// A run that is to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// What runs.
    pub(crate) scenario: Arc<Scenario>,
    /// The compared sender.
    pub(crate) variant: Variant,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
    /// What is kept of it besides the records of its flows.
    pub(crate) kept: Kept,
}

/// What is kept of a run besides the records of its flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// The records of links.
    pub(crate) links: bool,
    /// The trace of the first compared flow.
    pub(crate) trace: bool,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The records of the flows, and of the links if they are kept.
    pub(crate) record: RunRecord,
    /// The trace, if it is kept.
    pub(crate) trace: Option<Trace>,
}

impl Ran {
    /// Returns the record of the run.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }
}

impl Job {
    /// Returns the sender's full name.
    pub fn sender(&self) -> &str {
        self.variant.name()
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Begins the run.
    ///
    /// # Errors
    /// A link's configuration that is invalid; loaded scenarios have none.
    pub fn start(&self) -> Result<Working, RunError> {
        let Self { scenario, variant, seed, kept } = self;
        let running = match kept.links {
            true => Running::with_links(scenario, variant, *seed),
            false => Running::new(scenario, variant, *seed),
        }?;
        let recorder = kept.trace.then(|| {
            let Scenario { duration, warmup, sender, .. } = &**scenario;
            Recorder::new(*duration, *warmup, sender.mss).following(scenario.first_compared())
        });
        Ok(Working { running, recorder })
    }

    /// Makes the run.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], or a link's configuration that is invalid; loaded scenarios have none.
    pub fn run(&self, cancel: &CancellationToken) -> Result<Ran, RunError> {
        let mut working = self.start()?;
        while !working.running.is_over() {
            working.advance(cancel)?;
        }
        Ok(working.finish())
    }
}

/// A run that is being made.
#[derive(Debug)]
pub struct Working {
    running: Running,
    recorder: Option<Recorder>,
}

impl Working {
    /// Returns the run.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Makes a small part of the run.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], or too many packets.
    pub fn advance(&mut self, cancel: &CancellationToken) -> Result<(), RunError> {
        let monitor = self.recorder.as_mut().map(|recorder| recorder as &mut dyn Monitor);
        self.running.advance(monitor, cancel)
    }

    /// Returns the result of a run that is over.
    pub fn finish(self) -> Ran {
        let Self { running, recorder } = self;
        Ran { record: running.into_record(), trace: recorder.map(Recorder::into_trace) }
    }
}
