//! The list of what is attached.

use std::path::PathBuf;

use serde::Serialize;

use crate::live::Live;
use crate::state::{Cgroup, DaemonLock, State};
use crate::{Error, Growth, cgroup};

/// What is attached: where, since when, and how. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Attachments {
    /// The daemon that attaches every network namespace.
    pub all: Option<Everywhere>,
    /// Network namespaces that have the congestion control as their default.
    pub namespaces: Vec<AttachedNamespace>,
    /// Cgroups whose new connections use it.
    pub cgroups: Vec<AttachedCgroup>,
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

/// A network namespace that has the congestion control as its default.
#[derive(Clone, Debug, Serialize)]
pub struct AttachedNamespace {
    /// Inode, as in the name `net:[4026531840]` of `/proc/PID/ns/net`.
    pub inode: u64,
    /// Default before it was attached, which `detach` restores.
    pub former: String,
    /// Time at which it was attached. `None` if an older version attached it.
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
        // Without BPF programs, namespaces that have ended may be in the list.
        if State::exists()
            && let Ok(namespaces) = Live::new().and_then(|live| live.namespaces())
        {
            state.prune(&namespaces.all);
        }
        let is_running = DaemonLock::is_held()?;
        let all = state.everywhere.map(|daemon| Everywhere {
            growth: daemon.growth,
            process: is_running.then_some(daemon.process),
            since: daemon.since,
        });
        let namespaces = state.defaults.into_iter().map(|former| AttachedNamespace {
            inode: former.namespace.inode,
            former: former.congestion_control,
            since: former.since,
        });
        let exists =
            |one: &Cgroup| cgroup::identity(&one.path).is_ok_and(|inode| inode == one.inode);
        let cgroups = state.cgroups.into_iter().filter(exists).map(|cgroup| AttachedCgroup {
            path: cgroup.path,
            growth: cgroup.growth,
            since: cgroup.since,
        });
        Ok(Self { all, namespaces: namespaces.collect(), cgroups: cgroups.collect() })
    }
}
