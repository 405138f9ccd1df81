//! Loads the congestion control into the kernel.

use std::path::{Path, PathBuf};

use crate::existing::Connections;
use crate::live::Live;
use crate::namespace::Identity;
use crate::state::{Cgroup, State, StateLock, seconds_since_1970};
use crate::target::Target;
use crate::{
    Error, Growth, Registered, cgroup, defaults, namespace, object, pins, requirements, search,
};

/// Options of [`attach`].
#[derive(Clone, Debug, Default)]
pub struct Attachment {
    /// Growth of the window, which selects the congestion control.
    pub growth: Growth,
    /// Whether the congestion control becomes the default of the network namespace, where timestamps are
    /// switched off.
    pub default: bool,
    /// Cgroup whose new connections use the congestion control, without timestamps.
    pub cgroup: Option<PathBuf>,
    /// Network namespace in place of the own one.
    pub namespace: Option<Target>,
    /// Whether open connections are switched, too: those of the namespace with `default`, otherwise those of
    /// the cgroup. Connections whose program has chosen another congestion control than the default keep it.
    pub existing: bool,
}

/// Result of [`attach`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attached {
    /// How the congestion control came into the kernel.
    pub registration: Registration,
    /// Number of open connections that were switched.
    pub switched: usize,
}

/// How the congestion control came into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// The congestion control was registered.
    Now,
    /// The congestion control was registered already.
    Before,
    /// The congestion control of another build was registered already, and stays.
    OfAnotherBuild,
}

/// Registers the congestion control with the requested growth, and applies the options. Earlier attachments
/// stay, except that a default or a cgroup has the latest growth.
///
/// # Errors
/// If the kernel lacks something or rejects a step. If the registration succeeded, the error is
/// [`Error::Partly`], and [`detach`](crate::detach) undoes the earlier steps.
pub fn attach(attachment: &Attachment) -> Result<Attached, Error> {
    requirements::check()?;
    pins::check()?;
    let namespace = attachment.namespace.as_ref().map(Target::open).transpose()?;
    let _lock = StateLock::acquire()?;
    let cgroup = attachment.cgroup.as_deref().map(cgroup::existing).transpose()?;
    let mut state = State::load()?;
    let registration = register(attachment.growth, &mut state)?;
    let mut apply = || apply(attachment, cgroup.as_deref(), &mut state);
    let applied = match &namespace {
        Some(namespace) => namespace::inside(namespace, apply).and_then(|applied| applied),
        None => apply(),
    };
    let switched = applied.map_err(|reason| Error::Partly(Box::new(reason)))?;
    Ok(Attached { registration, switched })
}

/// Registers and pins the congestion control, unless that was done earlier.
pub(crate) fn register(growth: Growth, state: &mut State) -> Result<Registration, Error> {
    let pin = pins::registration(growth);
    if pin.exists() {
        let is_same = state.control(growth).is_some_and(|control| control.build == object::build());
        return Ok(if is_same { Registration::Before } else { Registration::OfAnotherBuild });
    }
    // Registrations of killed commands, on kernels where they outlive the command.
    object::unregister_left(growth);
    let registered = Registered::new(growth).map_err(|error| match growth.is_registered() {
        true => Error::Requirement {
            found: "a command that goes on has registered it".to_owned(),
            expected: "that `unruffled run` or `unruffled race` ends first",
        },
        false => error,
    })?;
    pins::prepare()?;
    state.add_control(growth, object::build());
    state.store()?;
    registered.pin(&pin)?;
    Ok(Registration::Now)
}

/// Applies the options in this thread's namespace, and returns the number of connections that were switched.
fn apply(
    attachment: &Attachment,
    cgroup: Option<&Path>,
    state: &mut State,
) -> Result<usize, Error> {
    let growth = attachment.growth;
    if let Some(cgroup) = cgroup {
        attach_cgroup(cgroup, growth, state)?;
    }
    if !attachment.default && !attachment.existing {
        return Ok(0);
    }
    let live = Live::new()?;
    let own = Identity::own(Some(&live))?;
    if attachment.default {
        state.excluded.retain(|namespace| !namespace.matches(&own));
        defaults::make(growth, state, own)?;
    }
    if !attachment.existing {
        return Ok(0);
    }
    if attachment.default {
        let connections = Connections::new(growth, None)?;
        return connections.switch_over(&defaults::former(state, &own)?);
    }
    let inode = cgroup.map(cgroup::identity).transpose()?;
    // The programs of a cgroup may be in any namespace.
    let connections = Connections::new(growth, inode)?;
    let mut switched = 0;
    let mut failure = None;
    namespace::in_each(search::all, |_, entered| {
        // The process may lack the privileges to enter a namespace.
        if entered.is_err() {
            return;
        }
        let own = Identity::own(Some(&live));
        let former = own.and_then(|own| defaults::former(state, &own));
        match former.and_then(|former| connections.switch_over(&former)) {
            Ok(more) => switched += more,
            Err(error) => failure = failure.take().or(Some(error)),
        }
    });
    failure.map_or(Ok(switched), Err)
}

fn attach_cgroup(cgroup: &Path, growth: Growth, state: &mut State) -> Result<(), Error> {
    // Before the cgroup is attached, so that no connection in between has timestamps.
    let namespace = namespace::own()?;
    let links = object::take_out_timestamps(state)?;
    links.pin(&pins::directory(), &pins::timestamps_prefix(namespace))?;
    let inode = cgroup::identity(cgroup)?;
    state.cgroups.retain(|former| former.inode != inode);
    let since = seconds_since_1970();
    state.cgroups.push(Cgroup { path: cgroup.to_owned(), inode, growth, since });
    state.store()?;
    let links = object::choose_in_cgroup(cgroup, growth)?;
    links.pin(&pins::directory(), &format!("cgroup-{inode}"))
}
