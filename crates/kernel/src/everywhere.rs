//! The daemon of `attach --all`, which attaches every network namespace, including later ones.
//!
//! Each round compares the kernel's list of namespaces with those that were attached. A round begins when an
//! event reports a new namespace; on kernels without such events, at a fixed interval. A namespace is open
//! only while it is attached, so the daemon keeps none alive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use crate::attach::{Registration, register};
use crate::events::Events;
use crate::existing::Connections;
use crate::live::Live;
use crate::namespace::{self, Identity};
use crate::state::{DaemonLock, Everywhere, State, StateLock, seconds_since_1970};
use crate::{Error, Growth, defaults, pins, requirements, search};

/// Interval of the rounds on kernels without events.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of these rounds while namespaces are made, since more may follow: one is seldom made alone.
const ACTIVE_INTERVAL: Duration = Duration::from_millis(25);
const ACTIVE_TIME: Duration = Duration::from_secs(1);
/// Number of namespaces that are open at once, while their former settings are stored together.
const GROUP: usize = 32;
/// Time after an event in which a process enters or mounts its new namespace. Further events of that time
/// are served by the same round.
const SETTLING_TIME: Duration = Duration::from_millis(5);
/// Time after which a namespace that cannot be found is searched again. It doubles with each attempt.
const MIN_RETRY_TIME: Duration = Duration::from_millis(10);
const MAX_RETRY_TIME: Duration = Duration::from_secs(30);
/// Time for which a new daemon waits for the lock of one that is ending.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// Options of [`Daemon::start`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Coverage {
    /// Growth of the window, which selects the congestion control.
    pub growth: Growth,
    /// Whether open connections are switched, too, when their namespace is attached.
    pub existing: bool,
}

/// Attaches every network namespace. When it ends, all namespaces stay attached until
/// [`detach`](crate::detach).
pub struct Daemon {
    coverage: Coverage,
    registration: Registration,
    live: Live,
    /// `None` on kernels without such events.
    events: Option<Events>,
    connections: Option<Connections>,
    /// Reports changes of the state's file.
    watch: OwnedFd,
    /// Namespaces that are attached or excluded.
    served: BTreeSet<Identity>,
    pending: BTreeMap<Identity, Retry>,
    /// Time until which more new namespaces are expected.
    active_until: Instant,
    _lock: DaemonLock,
}

/// A namespace that could not be attached yet.
struct Retry {
    at: Instant,
    /// Time until the attempt after the next.
    time: Duration,
}

impl Retry {
    fn after(former: Option<&Self>) -> Self {
        let time = former.map_or(MIN_RETRY_TIME, |former| former.time);
        Self { at: Instant::now() + time, time: (2 * time).min(MAX_RETRY_TIME) }
    }
}

/// Result of [`Daemon::serve`].
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// Number of namespaces that were attached in this round.
    pub attached: usize,
    /// Number of open connections that were switched in this round.
    pub switched: usize,
    /// Number of namespaces that are attached.
    pub total: usize,
    /// Number of namespaces that cannot be found or attached.
    pub unreachable: usize,
    /// Reasons why namespaces could not be attached in this round.
    pub failures: Vec<String>,
    /// Whether everything was detached by another command. The daemon has then nothing more to do.
    pub is_detached: bool,
}

impl Daemon {
    /// Registers the congestion control, and records that every namespace is attached.
    ///
    /// # Errors
    /// If the kernel lacks something or rejects a step, or if such a daemon is running.
    pub fn start(coverage: Coverage) -> Result<Self, Error> {
        requirements::check()?;
        pins::check()?;
        let lock = acquire_daemon_lock()?;
        let _lock = StateLock::acquire()?;
        let mut state = State::load()?;
        let live = Live::new()?;
        let registration = register(coverage.growth, &mut state)?;
        let Coverage { growth, existing } = coverage;
        let started = || -> Result<Self, Error> {
            // After a daemon that was killed, this one continues.
            let former = state.everywhere.take();
            let since = former.map_or_else(seconds_since_1970, |former| former.since);
            let process = std::process::id();
            state.everywhere = Some(Everywhere { growth, existing, process, since });
            state.store()?;
            let watched = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
            let watched = watched.and_then(|watch| {
                let changes = WatchFlags::MOVED_TO | WatchFlags::DELETE | WatchFlags::DELETE_SELF;
                inotify::add_watch(&watch, State::directory(), changes).map(|_| watch)
            });
            let watch = watched.map_err(|e| Error::file(State::directory())(e.into()))?;
            let connections = existing.then(|| Connections::new(growth, None)).transpose()?;
            Ok(Self {
                coverage,
                registration,
                live,
                events: Events::new().ok(),
                connections,
                watch,
                served: BTreeSet::new(),
                pending: BTreeMap::new(),
                active_until: Instant::now(),
                _lock: lock,
            })
        };
        started().map_err(|reason| Error::Partly(Box::new(reason)))
    }

    /// Returns how the congestion control came into the kernel.
    pub fn registration(&self) -> Registration {
        self.registration
    }

    /// Returns whether new namespaces are reported by events. Otherwise they are found by regular rounds.
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// Attaches all namespaces that are not attached yet.
    ///
    /// # Errors
    /// If the kernel rejects a program, or if the state cannot be read or written. A namespace that cannot be
    /// attached is not an error, but one of [`Round::failures`].
    pub fn serve(&mut self) -> Result<Round, Error> {
        let namespaces = self.live.namespaces()?.all;
        let live: BTreeSet<Identity> = namespaces.iter().copied().collect();
        let known = self.served.len();
        self.served.retain(|namespace| live.contains(namespace));
        self.pending.retain(|namespace, _| live.contains(namespace));
        let have_ended = self.served.len() < known;
        let now = Instant::now();
        let is_due =
            |namespace: &&Identity| self.pending.get(namespace).is_none_or(|retry| retry.at <= now);
        let new = live.difference(&self.served).filter(is_due);
        let mut new: BTreeMap<u64, Identity> = new.map(|one| (one.inode, *one)).collect();
        let mut round = Round::default();
        if !new.is_empty() || have_ended || self.state_has_changed() {
            let _lock = StateLock::acquire()?;
            let mut state = State::load()?;
            if state.everywhere.is_none() {
                return Ok(Round { is_detached: true, ..round });
            }
            if state.prune(&namespaces) {
                state.store()?;
            }
            new.retain(|_, namespace| {
                let is_excluded = state.excluded.iter().any(|one| one.matches(namespace));
                if is_excluded {
                    self.served.insert(*namespace);
                }
                !is_excluded
            });
            self.attach(new, &mut state, &mut round)?;
            // The own changes of the file need no round.
            self.state_has_changed();
        }
        if round.attached > 0 {
            self.active_until = Instant::now() + ACTIVE_TIME;
        }
        round.total = self.served.len();
        round.unreachable = self.pending.len();
        Ok(round)
    }

    /// Attaches these namespaces. Those that cannot be found are tried again later.
    fn attach(
        &mut self,
        mut new: BTreeMap<u64, Identity>,
        state: &mut State,
        round: &mut Round,
    ) -> Result<(), Error> {
        let growth = self.coverage.growth;
        let live = &self.live;
        let connections = self.connections.as_ref();
        let results = namespace::on_a_journey(|| {
            let mut results = Vec::new();
            let mut found = search::find(new.keys().copied().collect());
            loop {
                let group: Vec<_> = found.by_ref().take(GROUP).collect();
                if group.is_empty() {
                    return Ok(results);
                }
                let mut recorded = Vec::new();
                let mut is_changed = false;
                for (inode, file) in group {
                    let Some(expected) = new.get(&inode) else { continue };
                    match record(&file, *expected, live, state) {
                        Ok(None) => {}
                        Ok(Some(is_added)) => {
                            is_changed |= is_added;
                            recorded.push((*expected, file));
                        }
                        Err(error) => results.push((*expected, Err(error))),
                    }
                }
                if is_changed {
                    state.store()?;
                }
                for (identity, file) in recorded {
                    let former = defaults::former(state, &identity);
                    let attached = former.and_then(|former| {
                        namespace::move_to(&file)?;
                        defaults::apply(growth)?;
                        connections.map_or(Ok(0), |connections| connections.switch_over(&former))
                    });
                    results.push((identity, attached));
                }
            }
        });
        for (identity, attached) in results? {
            match attached {
                Ok(switched) => {
                    round.attached += 1;
                    round.switched += switched;
                    self.served.insert(identity);
                    self.pending.remove(&identity);
                    new.remove(&identity.inode);
                }
                Err(error) => round.failures.push(format!("net:[{}]: {error}", identity.inode)),
            }
        }
        for identity in new.into_values() {
            let retry = Retry::after(self.pending.get(&identity));
            self.pending.insert(identity, retry);
        }
        Ok(())
    }

    /// Returns whether the state's file was changed since the last call.
    fn state_has_changed(&self) -> bool {
        let mut has_changed = false;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.watch, &mut buffer);
        while events.next().is_ok() {
            has_changed = true;
        }
        has_changed
    }

    /// Waits until there may be something to do, `wake` is readable, or `longest` has passed.
    ///
    /// # Errors
    /// If the descriptors cannot be polled.
    pub fn wait(&self, wake: BorrowedFd<'_>, longest: Duration) -> Result<(), Error> {
        let now = Instant::now();
        let retries = self.pending.values().map(|retry| retry.at.saturating_duration_since(now));
        let interval = if now < self.active_until { ACTIVE_INTERVAL } else { POLL_INTERVAL };
        let interval = self.events.is_none().then_some(interval);
        let timeout = retries.chain(interval).fold(longest, Duration::min);
        let timeout = Timespec::try_from(timeout).ok();
        let poll = |events: Option<BorrowedFd<'_>>| {
            let mut polled = vec![
                PollFd::from_borrowed_fd(wake, PollFlags::IN),
                PollFd::new(&self.watch, PollFlags::IN),
            ];
            polled.extend(events.map(|events| PollFd::from_borrowed_fd(events, PollFlags::IN)));
            match poll(&mut polled, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(reason) => return Err(Error::file("poll")(reason.into())),
            }
            Ok(polled.get(2).is_some_and(|events| !events.revents().is_empty()))
        };
        let Some(events) = &self.events else { return poll(None).map(|_| ()) };
        if events.with_descriptor(poll)? {
            thread::sleep(SETTLING_TIME);
            events.drop_all();
        }
        Ok(())
    }
}

/// Adds the settings of a namespace to the state. Returns whether the state has changed, and `None` if the
/// file leads to another namespace with the same inode by now, which the next round finds.
fn record(
    file: &File,
    expected: Identity,
    live: &Live,
    state: &mut State,
) -> Result<Option<bool>, Error> {
    namespace::move_to(file)?;
    if Identity::own(Some(live))? != expected {
        return Ok(None);
    }
    defaults::record(state, expected).map(Some)
}

fn acquire_daemon_lock() -> Result<DaemonLock, Error> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        if let Some(lock) = DaemonLock::try_acquire()? {
            return Ok(lock);
        }
        if Instant::now() > deadline {
            let everywhere = State::load().ok().and_then(|state| state.everywhere);
            let process = everywhere.map(|daemon| format!(" as process {}", daemon.process));
            return Err(Error::Requirement {
                found: format!("`attach --all` runs already{}", process.unwrap_or_default()),
                expected: "that it ends first, by `unruffled detach` or by SIGTERM",
            });
        }
        thread::sleep(MIN_RETRY_TIME);
    }
}
