//! The worker: a process with a thread for each queue.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use unruffled_resequence::Resequencer;

use crate::channel::{Channel, Message};
use crate::queue::{Queue, Shared};
use crate::rules;
use crate::settings::Task;
use crate::socket::Socket;
use crate::status;
use crate::{Error, Report};

/// Interval between two reports to the guardian.
const REPORT_INTERVAL: Duration = Duration::from_millis(250);

/// Threads of queues.
pub(crate) struct Threads {
    all: Vec<(Arc<Shared>, JoinHandle<Resequencer<u32>>)>,
}

impl Threads {
    /// Starts a thread for each socket. `pulse` is called with the index of a queue whose thread runs.
    /// `learnt` has the cores of an earlier run.
    pub(crate) fn start(
        task: &Task,
        sockets: Vec<Socket>,
        learnt: Vec<Resequencer<u32>>,
        pulse: impl Fn(usize) + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let mut learnt = learnt.into_iter();
        let mut threads = Self { all: Vec::new() };
        for (index, (socket, number)) in sockets.into_iter().zip(&task.queues).enumerate() {
            let core = learnt.next().unwrap_or_else(|| Resequencer::new(task.config()));
            let queue = Queue::new(socket, *number, core, task.tunnels());
            let shared = Arc::new(Shared::default());
            let pulse = pulse.clone();
            let published = Arc::clone(&shared);
            let name = format!("queue {number}");
            let run = move || queue.run(&shared, || pulse(index));
            threads.all.push((published, thread::Builder::new().name(name).spawn(run)?));
        }
        Ok(threads)
    }

    /// Returns the sum of the queues' reports.
    pub(crate) fn report(&self) -> Report {
        let mut sum = Report::default();
        for (shared, _) in &self.all {
            if let Ok(report) = shared.report.lock() {
                sum.add(&report);
            }
        }
        sum.name_interfaces();
        sum
    }

    /// Lets all packets pass, ends the threads, and returns the last report and what the cores have learnt.
    pub(crate) fn stop(self) -> (Report, Vec<Resequencer<u32>>) {
        for (shared, _) in &self.all {
            shared.stop.store(true, Ordering::Relaxed);
        }
        let mut sum = Report::default();
        let mut cores = Vec::new();
        for (shared, thread) in self.all {
            cores.extend(thread.join());
            if let Ok(report) = shared.report.lock() {
                sum.add(&report);
            }
        }
        sum.name_interfaces();
        (sum, cores)
    }
}

/// Runs the worker until the guardian stops it or ends. Standard input is the channel to the guardian.
///
/// # Errors
/// If standard input is no such channel, or if no thread can be created.
pub fn worker() -> Result<(), Error> {
    let channel = Arc::new(Channel::from_stdin().map_err(Error::Worker)?);
    let Ok(Some(Message::Task(task, mut sockets))) = channel.receive(true) else {
        let reason = "standard input: expected the channel of `unruffled resequence`";
        return Err(Error::Worker(io::Error::other(reason)));
    };
    // The lock comes after the sockets of the queues. It ends with this process at the earliest.
    let _lock = sockets.split_off(task.queues.len().min(sockets.len()));
    let sockets = sockets.into_iter().map(Socket::from_shared).collect();
    let mut guardian_has_ended = false;
    let pulse = {
        let channel = Arc::clone(&channel);
        move |queue| {
            // A guardian that has ended is noticed below. One that reads nothing needs no more pulses.
            let _ = channel.send_pulse(queue);
        }
    };
    let threads = Threads::start(&task, sockets, Vec::new(), pulse).map_err(Error::Worker)?;
    loop {
        match next(&channel) {
            Ok(Some(Message::Stop)) => break,
            Ok(Some(_)) => {}
            Ok(None) => {
                guardian_has_ended = true;
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let _ = channel.send_report(&threads.report());
            }
            Err(_) => break,
        }
    }
    let (report, _) = threads.stop();
    if guardian_has_ended {
        status::remove_stale();
        let _ = rules::remove();
    }
    let _ = channel.send_report(&report);
    Ok(())
}

/// Returns the next message, or `WouldBlock` if none comes within [`REPORT_INTERVAL`].
fn next(channel: &Channel) -> io::Result<Option<Message>> {
    let timeout = Timespec::try_from(REPORT_INTERVAL).ok();
    match poll(&mut [PollFd::new(channel, PollFlags::IN)], timeout.as_ref()) {
        Ok(_) => channel.receive(false),
        Err(Errno::INTR) => Err(io::ErrorKind::WouldBlock.into()),
        Err(errno) => Err(errno.into()),
    }
}
