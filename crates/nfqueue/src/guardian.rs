//! The guardian: owns the sockets and the rules, starts the worker, and releases what is held if it fails.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::channel::{Channel, MAX_SOCKETS, Message};
use crate::lock;
use crate::queue::real_time;
use crate::queues::Queues;
use crate::rules::{self, Installed};
use crate::settings::Task;
use crate::socket::QUEUE_LENGTH;
use crate::status::{self, Server};
use crate::{Error, Report, Settings};

/// Time without a sign of life after which a queue's thread counts as standing still. With the interval
/// between two signs, packets are released at most 200 ms after the thread has stopped: the minimum of
/// Linux's retransmission timeout, to which each sender adds its round-trip time.
const STANDSTILL: Duration = Duration::from_millis(175);

/// Time within which a new worker shows a sign of life.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Time within which a worker ends after the order to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Number of workers that may fail within [`FAILURE_PERIOD`].
const MAX_FAILURES: usize = 5;

/// Period in which failures are counted.
const FAILURE_PERIOD: Duration = Duration::from_secs(60);

/// A running resequencer. Dropping it stops it.
#[derive(Debug)]
pub struct Guardian {
    shared: Arc<Mutex<Report>>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<Result<Report, Error>>>,
    installed: Installed,
    // Dropped after the thread has ended.
    _server: Option<Server>,
}

impl Guardian {
    /// Starts a worker in the network namespace of the calling thread, and then installs the rules.
    /// `worker` runs [`worker()`](crate::worker()) in a new process.
    ///
    /// # Errors
    /// If the machine or the user lacks something that this needs.
    pub fn start(
        settings: &Settings,
        worker: impl Fn() -> Command + Send + 'static,
    ) -> Result<Self, Error> {
        settings.check()?;
        let shared = Arc::new(Mutex::new(Report::default()));
        let lock = lock::take()?;
        status::remove_stale();
        rules::remove()?;
        let queues = Queues::bind(settings.queues.min(MAX_SOCKETS as u16 - 1))?;
        let task = Task::new(settings, queues.numbers());
        let mut watch = Watch {
            current: Worker::start(&queues, &lock, &task, worker())?,
            queues,
            lock,
            task,
            worker: Box::new(worker),
            failures: Vec::new(),
            earlier: Report::default(),
            shared: Arc::clone(&shared),
        };
        watch.wait_for_pulses()?;
        let installed = rules::install(settings, &watch.task.queues)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = Arc::new(wake.map_err(|errno| Error::kernel("an eventfd", errno))?);
        let server = Server::start(settings, &installed, Arc::clone(&shared));
        let woken = Arc::clone(&wake);
        let thread = thread::Builder::new().name("guardian".into()).spawn(move || {
            real_time();
            watch.run(&woken)
        });
        let thread = thread.map_err(Error::Worker)?;
        Ok(Self { shared, wake, thread: Some(thread), installed, _server: server })
    }

    /// Returns how the packets are queued.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// Returns the current counts, load and paths.
    pub fn report(&self) -> Report {
        self.shared.lock().map(|report| report.clone()).unwrap_or_default()
    }

    /// Returns whether the guardian has given up, because workers keep failing. [`stop`](Self::stop) returns
    /// the reason.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Lets all packets pass, ends the worker, removes the rules, and returns the last report.
    ///
    /// # Errors
    /// If the rules cannot be removed, or if the guardian had given up. Packets pass in any case.
    pub fn stop(mut self) -> Result<Report, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Report, Error> {
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(Report::default()),
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let _ = self.end();
        }
    }
}

/// A worker's process.
#[derive(Debug)]
struct Worker {
    child: Child,
    channel: Channel,
    /// Time of the last sign of life of each queue, from the start of the worker on.
    pulses: Vec<Instant>,
    /// Whether each queue has shown a sign of life.
    has_pulsed: Vec<bool>,
    /// Last report.
    report: Report,
}

impl Worker {
    fn start(
        queues: &Queues,
        lock: &OwnedFd,
        task: &Task,
        mut command: Command,
    ) -> Result<Self, Error> {
        let (own, other) = Channel::pair().map_err(Error::Worker)?;
        // In its own process group, a terminal's Ctrl-C does not reach it.
        command.process_group(0).stdin(Stdio::from(other.into_fd())).stdout(Stdio::null());
        let child = command.spawn().map_err(Error::Worker)?;
        let mut sockets: Vec<_> = queues.all.iter().map(|(socket, _)| socket.as_fd()).collect();
        let worker = Self {
            child,
            channel: own,
            pulses: vec![Instant::now(); sockets.len()],
            has_pulsed: vec![false; sockets.len()],
            report: Report::default(),
        };
        sockets.push(lock.as_fd());
        worker.channel.send_task(task, &sockets).map_err(Error::Worker)?;
        Ok(worker)
    }

    /// Reads the messages that wait, and returns whether the worker still runs.
    fn read(&mut self) -> bool {
        loop {
            match self.channel.receive(false) {
                Ok(Some(Message::Pulse(queue))) if queue < self.pulses.len() => {
                    self.pulses[queue] = Instant::now();
                    self.has_pulsed[queue] = true;
                }
                Ok(Some(Message::Report(report))) => self.report = report,
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    fn has_started(&self) -> bool {
        self.has_pulsed.iter().all(|has| *has)
    }

    /// Returns when the worker counts as standing still, if no sign of life comes.
    fn deadline(&self) -> Instant {
        let allowed = if self.has_started() { STANDSTILL } else { START_TIMEOUT };
        let oldest = self.pulses.iter().min().copied();
        oldest.unwrap_or_else(Instant::now) + allowed
    }

    /// Ends the process, also if it is stopped, and waits for its end.
    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Result of a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The worker runs.
    Alive,
    /// The worker has ended or stands still.
    Failed,
    /// The guardian has to stop.
    Stop,
}

/// The guardian's thread.
struct Watch {
    current: Worker,
    queues: Queues,
    lock: OwnedFd,
    task: Task,
    worker: Box<dyn Fn() -> Command + Send>,
    /// Times of the workers' failures.
    failures: Vec<Instant>,
    /// Counts of earlier workers.
    earlier: Report,
    shared: Arc<Mutex<Report>>,
}

impl Watch {
    fn wait_for_pulses(&mut self) -> Result<(), Error> {
        while !self.current.has_started() {
            if self.wait(None) == Event::Failed {
                let status = self.current.child.try_wait().ok().flatten();
                let reason = match status {
                    Some(status) => format!("ended at its start: {status}"),
                    None => "no sign of life after its start".to_owned(),
                };
                return Err(Error::Worker(io::Error::other(reason)));
            }
        }
        Ok(())
    }

    /// Waits until a message of the worker arrives, its deadline passes, or `wake` is written.
    fn wait(&mut self, wake: Option<&OwnedFd>) -> Event {
        let left = self.current.deadline().saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let mut polled = vec![PollFd::new(&self.current.channel, PollFlags::IN)];
        polled.extend(wake.map(|wake| PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN)));
        let _ = poll(&mut polled, timeout.as_ref());
        let stop = polled.get(1).is_some_and(|wake| !wake.revents().is_empty());
        drop(polled);
        // What was sent while this thread did not run is read before the deadline is judged.
        let runs = self.current.read();
        self.publish();
        if stop {
            Event::Stop
        } else if !runs || Instant::now() >= self.current.deadline() {
            Event::Failed
        } else {
            Event::Alive
        }
    }

    fn publish(&self) {
        let mut sum = self.current.report.clone();
        sum.add_counts(&self.earlier);
        if let Ok(mut shared) = self.shared.lock() {
            *shared = sum;
        }
    }

    fn run(mut self, wake: &OwnedFd) -> Result<Report, Error> {
        let mut passing = false;
        loop {
            match self.wait(Some(wake)) {
                Event::Stop => return self.stop(),
                Event::Alive => {
                    if passing && self.current.has_started() {
                        self.queues.set_length(QUEUE_LENGTH);
                        passing = false;
                    }
                }
                Event::Failed => {
                    self.take_over()?;
                    passing = true;
                }
            }
        }
    }

    /// Releases everything that the worker held, and starts another one.
    fn take_over(&mut self) -> Result<(), Error> {
        self.queues.release_all();
        self.current.kill();
        self.queues.discard_messages();
        // What the worker had sent before it ended.
        self.current.read();
        self.earlier.add_counts(&self.current.report);
        self.earlier.takeovers += 1;
        self.current.report = Report::default();
        self.publish();
        let now = Instant::now();
        self.failures.push(now);
        self.failures.retain(|failure| now.duration_since(*failure) < FAILURE_PERIOD);
        if self.failures.len() >= MAX_FAILURES {
            rules::remove()?;
            return Err(Error::WorkerKeepsEnding(MAX_FAILURES, FAILURE_PERIOD.as_secs()));
        }
        match Worker::start(&self.queues, &self.lock, &self.task, (self.worker)()) {
            Ok(worker) => self.current = worker,
            Err(error) => {
                rules::remove()?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Lets the worker release what it holds in order, releases the rest, and removes the rules.
    fn stop(mut self) -> Result<Report, Error> {
        if self.current.channel.send_stop().is_ok() {
            let deadline = Instant::now() + STOP_TIMEOUT;
            while self.current.read() && Instant::now() < deadline {
                let timeout = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
                let mut polled = [PollFd::new(&self.current.channel, PollFlags::IN)];
                let _ = poll(&mut polled, Some(&timeout));
            }
        }
        self.queues.release_all();
        self.publish();
        let report = self.shared.lock().map(|report| report.clone()).unwrap_or_default();
        rules::remove().map(|_| report)
    }
}
