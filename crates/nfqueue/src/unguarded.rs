//! Queues within this process.

use std::os::fd::OwnedFd;

use unruffled_resequence::Resequencer;

use crate::lock;
use crate::queues::Queues;
use crate::rules::{self, Installed};
use crate::settings::Task;
use crate::worker::Threads;
use crate::{Error, Report, Settings};

/// A resequencer without a guardian, in the network namespace of the thread that starts it. If the process
/// is killed, the packets held are lost.
pub struct Unguarded {
    // Dropped last: the kernel drops what is held when the last socket is closed.
    threads: Option<Threads>,
    installed: Installed,
    _queues: Queues,
    _lock: OwnedFd,
}

/// What a resequencer has learnt of the paths.
#[derive(Default)]
pub struct Learnt(Vec<Resequencer<u32>>);

impl Unguarded {
    /// Starts the threads, and then installs the rules.
    ///
    /// # Errors
    /// If the machine or the user lacks something that this needs.
    pub fn start(settings: &Settings, learnt: Learnt) -> Result<Self, Error> {
        settings.check()?;
        let lock = lock::take()?;
        rules::remove()?;
        let queues = Queues::bind(settings.queues)?;
        let task = Task::new(settings, queues.numbers());
        let threads = Threads::start(&task, queues.share()?, learnt.0, |_| ());
        let threads = threads.map_err(Error::Worker)?;
        let installed = rules::install(settings, &task.queues);
        match installed {
            Ok(installed) => {
                Ok(Self { threads: Some(threads), installed, _queues: queues, _lock: lock })
            }
            Err(error) => {
                threads.stop();
                Err(error)
            }
        }
    }

    /// Returns how the packets are queued.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// Returns the current counts, load and paths.
    pub fn report(&self) -> Report {
        self.threads.as_ref().map(Threads::report).unwrap_or_default()
    }

    /// Lets all packets pass, removes the rules, and returns the last report and what was learnt.
    ///
    /// # Errors
    /// If the rules cannot be removed. Packets pass in any case.
    pub fn stop(mut self) -> Result<(Report, Learnt), Error> {
        self.end().map(|(report, cores)| (report, Learnt(cores)))
    }

    fn end(&mut self) -> Result<(Report, Vec<Resequencer<u32>>), Error> {
        let ended = self.threads.take().map(Threads::stop).unwrap_or_default();
        rules::remove().map(|_| ended)
    }
}

impl Drop for Unguarded {
    fn drop(&mut self) {
        if self.threads.is_some() {
            let _ = self.end();
        }
    }
}
