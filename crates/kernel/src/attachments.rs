//! The list of what is attached.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rustix::net::netdevice::index_to_name;
use rustix::net::{AddressFamily, SocketType, socket};
use serde::Serialize;

use crate::live::Live;
use crate::namespace::{self, Namespaces};
use crate::state::{Cgroup, DaemonLock, State};
use crate::{Error, Growth, cgroup, object, pins, search};

/// What is attached: where, since when, and how. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Attachments {
    /// The congestion controls in the kernel that stay there until `detach`.
    pub controls: Vec<AttachedControl>,
    /// The daemon that attaches every network namespace.
    pub all: Option<Everywhere>,
    /// Network namespaces that have one of the congestion controls as their default, or were attached.
    pub namespaces: Vec<AttachedNamespace>,
    /// Cgroups whose new connections use it.
    pub cgroups: Vec<AttachedCgroup>,
    /// Interfaces with programs that remove timestamps from handshakes.
    pub filters: Vec<AttachedFilter>,
}

/// A congestion control in the kernel.
#[derive(Clone, Debug, Serialize)]
pub struct AttachedControl {
    /// Growth of the window.
    pub growth: Growth,
    /// Version of the command that registered it. `None` if it is older than 0.1.0, and did not record it.
    pub version: Option<String>,
    /// Whether it is the one that this build would register.
    pub is_of_this_build: bool,
    /// Time at which it was registered.
    pub since: Option<u64>,
}

/// The daemon that attaches every network namespace.
#[derive(Clone, Debug, Serialize)]
pub struct Everywhere {
    /// Growth of the window.
    pub growth: Growth,
    /// Process of the daemon. `None` if it has ended: namespaces that were made since are not attached.
    pub process: Option<u32>,
    /// Time at which the first daemon began.
    pub since: u64,
}

/// A network namespace that has one of the congestion controls as its default, or was attached.
#[derive(Clone, Debug, Serialize)]
pub struct AttachedNamespace {
    /// Inode, as in the name `net:[4026531840]` of `/proc/PID/ns/net`.
    pub inode: u64,
    /// Growth of the window by the default. `None` if another default was set since.
    pub growth: Option<Growth>,
    /// Default before it was attached, which `detach` restores. `None` if the namespace was not attached, but
    /// has inherited its default.
    pub former: Option<String>,
    /// Time at which it was attached. `None` if it was not, or if an older version attached it.
    pub since: Option<u64>,
}

/// An interface with programs that remove timestamps from handshakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttachedFilter {
    /// Inode of the network namespace.
    pub namespace: u64,
    /// Number of the interface.
    pub interface: u32,
    /// Name of the interface. `None` if the namespace cannot be entered.
    pub name: Option<String>,
    /// Time at which the programs were attached. `None` if an older version attached them.
    pub since: Option<u64>,
}

/// A cgroup whose new connections use the congestion control.
#[derive(Clone, Debug, Serialize)]
pub struct AttachedCgroup {
    /// Path of its directory.
    pub path: PathBuf,
    /// Growth of the window.
    pub growth: Growth,
    /// Time at which it was attached.
    pub since: u64,
}

impl Attachments {
    /// Reads the list.
    ///
    /// # Errors
    /// If the state cannot be read.
    pub fn read() -> Result<Self, Error> {
        let mut state = State::load()?;
        let mut live = Namespaces::default();
        // Without BPF programs, namespaces that have ended may be in the list.
        if (State::exists() || crate::is_registered())
            && let Ok(namespaces) = Live::new().and_then(|live| live.namespaces())
        {
            state.prune(&namespaces.all);
            live = namespaces;
        }
        let is_running = DaemonLock::is_held()?;
        let all = state.everywhere.as_ref().map(|daemon| Everywhere {
            growth: daemon.growth,
            process: is_running.then_some(daemon.process),
            since: daemon.since,
        });
        let exists =
            |one: &&Cgroup| cgroup::identity(&one.path).is_ok_and(|inode| inode == one.inode);
        let cgroups = state.cgroups.iter().filter(exists).map(|cgroup| AttachedCgroup {
            path: cgroup.path.clone(),
            growth: cgroup.growth,
            since: cgroup.since,
        });
        Ok(Self {
            controls: controls(&state),
            all,
            namespaces: namespaces(&state, &live),
            cgroups: cgroups.collect(),
            filters: with_names(filters(&state)),
        })
    }
}

fn controls(state: &State) -> Vec<AttachedControl> {
    let pinned = Growth::ALL.into_iter().filter(|growth| pins::registration(*growth).exists());
    let control = |growth| {
        let recorded = state.control(growth);
        AttachedControl {
            growth,
            version: recorded.map(|control| control.version.clone()),
            is_of_this_build: recorded.is_some_and(|control| control.build == object::build()),
            since: recorded.map(|control| control.since),
        }
    };
    pinned.map(control).collect()
}

/// Returns the namespaces that were attached, and those that have inherited the default.
fn namespaces(state: &State, live: &Namespaces) -> Vec<AttachedNamespace> {
    let mut defaults = live.defaults.clone();
    let mut attached = Vec::new();
    for former in &state.defaults {
        let own = defaults.keys().find(|one| one.matches(&former.namespace)).copied();
        attached.push(AttachedNamespace {
            inode: former.namespace.inode,
            growth: own.and_then(|own| defaults.remove(&own)),
            former: Some(former.congestion_control.clone()),
            since: former.since,
        });
    }
    let inherited = defaults.into_iter().map(|(namespace, growth)| AttachedNamespace {
        inode: namespace.inode,
        growth: Some(growth),
        former: None,
        since: None,
    });
    attached.extend(inherited);
    attached
}

/// Returns the interfaces with programs: by links, and on kernels without links to interfaces by the state.
fn filters(state: &State) -> Vec<AttachedFilter> {
    let mut found = BTreeMap::new();
    for pin in pins::links() {
        if let Some((namespace, interface)) = pins::interface_of(&pin)
            && object::is_attached(&pin)
        {
            found.entry((namespace, interface)).or_insert_with(|| pins::made(&pin));
        }
    }
    for filters in &state.filters {
        let interface = u32::try_from(filters.interface).unwrap_or_default();
        found.insert((filters.namespace.inode, interface), filters.since);
    }
    let filter = |((namespace, interface), since)| AttachedFilter {
        namespace,
        interface,
        name: None,
        since,
    };
    found.into_iter().map(filter).collect()
}

/// Looks up the names of the interfaces in their namespaces.
fn with_names(mut filters: Vec<AttachedFilter>) -> Vec<AttachedFilter> {
    let inodes: BTreeSet<u64> = filters.iter().map(|filter| filter.namespace).collect();
    if inodes.is_empty() {
        return filters;
    }
    namespace::in_each(
        || search::find(inodes),
        |inode, entered| {
            // The process may lack the privileges to enter a namespace.
            if entered.is_err() {
                return;
            }
            let Ok(socket) = socket(AddressFamily::INET, SocketType::DGRAM, None) else { return };
            for filter in filters.iter_mut().filter(|filter| filter.namespace == inode) {
                filter.name = index_to_name(&socket, filter.interface).ok();
            }
        },
    );
    filters
}
