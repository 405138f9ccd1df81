//! Removes the congestion control from the kernel, or from one network namespace.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::{Duration, Instant};

use crate::defaults::{self, Former};
use crate::existing::Connections;
use crate::live::Live;
use crate::namespace::{self, Identity};
use crate::state::{DaemonLock, State, StateLock};
use crate::target::Target;
use crate::{Error, Growth, cgroup, is_registered, object, pins, requirements, search};

/// Result of [`detach`] and [`detach_namespace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// Everything that was attached is undone.
    Now {
        /// Number of open connections that were switched back.
        switched: usize,
        /// Number of attached network namespaces that live and cannot be found. They keep their settings, and
        /// a later `detach` restores them.
        unreachable: usize,
    },
    /// Nothing was attached.
    Nothing,
}

/// Time for which [`detach`] waits for the end of the daemon.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval at which it looks.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Undoes every [`attach`](crate::attach()), and ends the daemon that attaches every namespace. Existing
/// connections keep the congestion control, except those that were switched to it; new ones do not get it,
/// and listeners get the default of their network namespace. If nothing is attached, only root is required.
///
/// # Errors
/// If the kernel rejects a step, or if the state cannot be read.
pub fn detach() -> Result<Detached, Error> {
    requirements::check_root()?;
    let detached = detach_all()?;
    // The daemon ends when the state is gone. Until then it has programs in the kernel.
    let deadline = Instant::now() + DAEMON_TIMEOUT;
    while DaemonLock::is_held()? {
        if Instant::now() > deadline {
            return Err(Error::Requirement {
                found: "all is undone, but `unruffled attach --all` has not ended".to_owned(),
                expected: "that its process is not stopped",
            });
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(detached)
}

fn detach_all() -> Result<Detached, Error> {
    let _lock = StateLock::acquire()?;
    let registered = is_registered();
    let is_attached = State::exists() || pins::directory().exists();
    if registered || is_attached {
        requirements::check()?;
        pins::check()?;
    }
    // Cgroups of killed commands. Without cgroups there are none.
    let _ = cgroup::sweep();
    if !is_attached {
        Growth::ALL.into_iter().for_each(object::unregister_left);
        let done = registered && !is_registered();
        let now = Detached::Now { switched: 0, unreachable: 0 };
        return Ok(if done { now } else { Detached::Nothing });
    }
    let mut state = State::load()?;
    let (switched, unreachable) = restore_namespaces(&state)?;
    object::remove_filters(&state.filters)?;
    for link in pins::links() {
        object::unpin(&link)?;
    }
    for growth in Growth::ALL {
        let pin = pins::registration(growth);
        if pin.exists() {
            object::unregister(&pin, growth)?;
        }
        object::unregister_left(growth);
    }
    // Done before the state is removed; an error is returned after it, so that the other steps are done.
    let listeners = reset_listeners();
    pins::remove();
    state.defaults.retain(|former| unreachable.contains(&former.namespace.inode));
    if state.defaults.is_empty() {
        State::remove();
    } else {
        State::of_defaults(state.defaults).store()?;
    }
    listeners.map(|()| Detached::Now { switched, unreachable: unreachable.len() })
}

/// Restores all network namespaces and switches their open connections back. Returns the number of these
/// connections, and the inodes of attached namespaces that are alive and cannot be found.
fn restore_namespaces(state: &State) -> Result<(usize, BTreeSet<u64>), Error> {
    let live = Live::new().ok();
    let connections = Connections::earlier()?;
    let mut switched = 0;
    let unreachable = Former::new(state, live.as_ref()).restore_all(|| {
        let switch_back = |connections: &Connections| connections.switch_back().unwrap_or(0);
        switched += connections.as_ref().map_or(0, switch_back);
    })?;
    Ok((switched, unreachable))
}

/// Undoes what [`attach`](crate::attach()) did in one network namespace. The congestion control stays in the
/// kernel, and a daemon that attaches every namespace leaves this one alone.
///
/// # Errors
/// If there is no such namespace, if the kernel rejects a step, or if the state cannot be read.
pub fn detach_namespace(target: &Target) -> Result<Detached, Error> {
    requirements::check_root()?;
    let file = target.open()?;
    let inode = file.metadata().map_err(Error::file(namespace::OWN_NAMESPACE))?.ino();
    let _lock = StateLock::acquire()?;
    if !State::exists() && !pins::directory().exists() {
        return Ok(Detached::Nothing);
    }
    requirements::check()?;
    pins::check()?;
    let mut state = State::load()?;
    let live = Live::new()?;
    let own = namespace::inside(&file, || Identity::own(Some(&live)))??;
    let links = pins::links().into_iter().filter(|link| pins::is_of(link, inode));
    let links: Vec<_> = links.collect();
    let filters = state.filters.iter().filter(|filters| filters.namespace.matches(&own));
    let filters: Vec<_> = filters.cloned().collect();
    let is_default = namespace::inside(&file, defaults::is_made)?;
    if state.former(&own).is_none() && links.is_empty() && filters.is_empty() && !is_default {
        return Ok(Detached::Nothing);
    }
    if state.everywhere.is_some() && !state.excluded.iter().any(|one| one.matches(&own)) {
        state.excluded.push(own);
        state.store()?;
    }
    let connections = Connections::earlier()?;
    let former = Former::new(&state, Some(&live));
    let switched = namespace::inside(&file, || {
        former.restore_own();
        connections.as_ref().map_or(Ok(0), Connections::switch_back)
    })??;
    object::remove_filters(&filters)?;
    for link in links {
        object::unpin(&link)?;
    }
    namespace::inside(&file, || object::Listeners::new()?.reset())??;
    state.defaults.retain(|former| !former.namespace.matches(&own));
    state.filters.retain(|filters| !filters.namespace.matches(&own));
    state.store()?;
    Ok(Detached::Now { switched, unreachable: 0 })
}

/// Resets all listeners to the default of their namespace. A listener passes its congestion control on to new
/// connections, even if it is no longer registered.
fn reset_listeners() -> Result<(), Error> {
    let listeners = object::Listeners::new()?;
    let mut failure = None;
    namespace::in_each(search::all, |_, entered| {
        // The process may lack the privileges to enter a namespace.
        if entered.is_ok()
            && let Err(error) = listeners.reset()
        {
            failure = failure.take().or(Some(error));
        }
    });
    failure.map_or(Ok(()), Err)
}
