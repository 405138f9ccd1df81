//! The default congestion control and the timestamps of network namespaces.

use std::collections::BTreeSet;
use std::fs::File;

use crate::live::Live;
use crate::namespace::{self, Identity, Namespaces};
use crate::state::{FormerSettings, State, seconds_since_1970};
use crate::{Error, Growth, search};

const CONTROL_SYSCTL: &str = "tcp_congestion_control";
const TIMESTAMPS_SYSCTL: &str = "tcp_timestamps";
const TIMESTAMPS_OFF: &str = "0";

/// Replacements for a default that the kernel does not have any more. Every kernel has the second one.
const FALLBACK_CONTROLS: [&str; 2] = ["cubic", "reno"];

/// Returns whether a congestion control is one of ours.
fn is_ours(control: &str) -> bool {
    Growth::of_control(control).is_some()
}

/// Makes the congestion control the default of this thread's namespace, and switches timestamps off there.
/// The former settings are stored first.
pub(crate) fn make(growth: Growth, state: &mut State, namespace: Identity) -> Result<(), Error> {
    if record(state, namespace)? {
        state.store()?;
    }
    apply(growth)
}

/// Adds the settings of this thread's namespace to the state, unless they are in it. Returns whether they were
/// added; the state is then to be stored before [`apply`].
pub(crate) fn record(state: &mut State, namespace: Identity) -> Result<bool, Error> {
    let control = namespace::sysctl(CONTROL_SYSCTL)?;
    let mut timestamps = namespace::sysctl(TIMESTAMPS_SYSCTL)?;
    let earlier = state.former(&namespace);
    // A new namespace inherits the default of the first one, but not its timestamps.
    if is_ours(&control) && earlier.is_some() {
        return Ok(false);
    }
    // Another default was set since. Timestamps may still be off from an earlier `attach`.
    if let Some(earlier) = earlier
        && timestamps == TIMESTAMPS_OFF
    {
        timestamps.clone_from(&earlier.timestamps);
    }
    state.defaults.retain(|former| !former.namespace.matches(&namespace));
    let since = Some(seconds_since_1970());
    let former = FormerSettings { namespace, congestion_control: control, timestamps, since };
    state.defaults.push(former);
    Ok(true)
}

/// Sets the default and the timestamps of this thread's namespace.
pub(crate) fn apply(growth: Growth) -> Result<(), Error> {
    namespace::set_sysctl(CONTROL_SYSCTL, growth.control())?;
    namespace::set_sysctl(TIMESTAMPS_SYSCTL, TIMESTAMPS_OFF)
}

/// Returns the default that this thread's namespace had before it was attached.
pub(crate) fn former(state: &State, namespace: &Identity) -> Result<String, Error> {
    match state.former(namespace) {
        Some(former) => Ok(former.congestion_control.clone()),
        None => namespace::sysctl(CONTROL_SYSCTL),
    }
}

/// Returns whether this thread's namespace has one of the congestion controls as its default.
pub(crate) fn is_made() -> bool {
    namespace::sysctl(CONTROL_SYSCTL).is_ok_and(|control| is_ours(&control))
}

/// The settings before every change, and where to look for namespaces.
pub(crate) struct Former<'a> {
    state: &'a State,
    /// Without it, namespaces are identified by their inodes.
    live: Option<&'a Live>,
    namespaces: Option<Namespaces>,
    /// Former default of the first namespace, which later ones have inherited.
    first: Option<String>,
}

impl<'a> Former<'a> {
    pub(crate) fn new(state: &'a State, live: Option<&'a Live>) -> Self {
        let namespaces = live.and_then(|live| live.namespaces().ok());
        let mut former = Self { state, live, namespaces, first: None };
        let first = former.namespaces.as_ref().and_then(|namespaces| namespaces.first);
        former.first = former.control(first.and_then(|first| state.former(&first)));
        if former.first.is_none() {
            let first = File::open("/proc/1/ns/net").ok();
            let control = |first| namespace::inside(&first, || former.control(former.own())).ok();
            former.first = first.and_then(control).flatten();
        }
        former
    }

    /// Returns the former settings of this thread's namespace.
    fn own(&self) -> Option<&FormerSettings> {
        self.state.former(&Identity::own(self.live).ok()?)
    }

    fn control(&self, former: Option<&FormerSettings>) -> Option<String> {
        former.map(|f| f.congestion_control.clone()).filter(|control| !is_ours(control))
    }

    /// Returns all namespaces that can be found.
    pub(crate) fn found(&self) -> Box<dyn Iterator<Item = (u64, File)>> {
        match &self.namespaces {
            Some(namespaces) => {
                let inodes = namespaces.all.iter().map(|namespace| namespace.inode);
                Box::new(search::find(inodes.collect()))
            }
            None => Box::new(search::all()),
        }
    }

    /// Restores all namespaces, including those where nothing was attached: a new namespace inherits the
    /// default of the first one. `work` is done in each. Returns the inodes of attached namespaces that are
    /// alive and cannot be found.
    pub(crate) fn restore_all(
        &self,
        mut work: impl FnMut() + Send,
    ) -> Result<BTreeSet<u64>, Error> {
        let mut left: BTreeSet<u64> =
            self.state.defaults.iter().map(|former| former.namespace.inode).collect();
        let mut failure = None;
        namespace::in_each(
            || self.found(),
            |inode, entered| {
                let is_recorded = left.remove(&inode);
                match entered {
                    Ok(()) => {
                        self.restore_own();
                        work();
                    }
                    Err(error) if is_recorded => failure = failure.take().or(Some(error)),
                    // The process may lack the privileges to enter a namespace.
                    Err(_) => {}
                }
            },
        );
        // Namespaces may have ended since the search began.
        let namespaces = self.live.and_then(|live| live.namespaces().ok()).unwrap_or_default();
        let is_live = |former: &&FormerSettings| {
            namespaces.all.iter().any(|one| one.matches(&former.namespace))
        };
        let live = self.state.defaults.iter().filter(is_live);
        let live: BTreeSet<u64> = live.map(|former| former.namespace.inode).collect();
        failure.map_or(Ok(&left & &live), Err)
    }

    /// Restores this thread's namespace. A setting that was changed since stays.
    pub(crate) fn restore_own(&self) {
        let former = self.own();
        let control = self.control(former).or_else(|| self.first.clone());
        if is_made() {
            let set = |control: &&str| namespace::set_sysctl(CONTROL_SYSCTL, control).is_ok();
            let _ = control.as_deref().into_iter().chain(FALLBACK_CONTROLS).find(set);
        }
        if let Some(former) = former
            && namespace::sysctl(TIMESTAMPS_SYSCTL).is_ok_and(|now| now == TIMESTAMPS_OFF)
        {
            let _ = namespace::set_sysctl(TIMESTAMPS_SYSCTL, &former.timestamps);
        }
    }
}
