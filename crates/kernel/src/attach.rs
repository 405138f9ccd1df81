//! Loads the congestion control into the kernel, and removes it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::cookies::Cookies;
use crate::namespace::Identity;
use crate::state::{FormerSettings, State, StateLock};
use crate::{
    Error, Growth, Registered, cgroup, is_registered, namespace, object, pins, requirements,
};

/// Options of [`attach`].
#[derive(Clone, Debug, Default)]
pub struct Attachment {
    /// Growth of the window, which selects the congestion control.
    pub growth: Growth,
    /// Whether the congestion control becomes the default of this network namespace, where timestamps are
    /// switched off.
    pub default: bool,
    /// Cgroup whose new connections use the congestion control, without timestamps.
    pub cgroup: Option<PathBuf>,
}

/// Result of [`attach`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// The congestion control was registered.
    Now,
    /// The congestion control was registered already.
    Before,
    /// The congestion control of another build was registered already, and stays.
    OfAnotherBuild,
}

/// Result of [`detach`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// Everything that was attached is undone.
    Now,
    /// Nothing was attached.
    Nothing,
}

const CONTROL_SYSCTL: &str = "tcp_congestion_control";
const TIMESTAMPS_SYSCTL: &str = "tcp_timestamps";
const TIMESTAMPS_OFF: &str = "0";

/// Replacements for a default that the kernel does not have any more. Every kernel has the second one.
const FALLBACK_CONTROLS: [&str; 2] = ["cubic", "reno"];

/// Registers the congestion control with the requested growth, and applies the options. Earlier attachments
/// stay, except that a default or a cgroup has the latest growth.
///
/// # Errors
/// If the kernel lacks something or rejects a step. If the registration succeeded, the error is
/// [`Error::Partly`], and [`detach`] undoes the earlier steps.
pub fn attach(attachment: &Attachment) -> Result<Attached, Error> {
    requirements::check()?;
    pins::check()?;
    let _lock = StateLock::acquire()?;
    let cgroup = attachment.cgroup.as_deref().map(cgroup::existing).transpose()?;
    let mut state = State::load()?;
    let growth = attachment.growth;
    let pin = pins::registration(growth);
    let attached = if pin.exists() {
        if *state.build(growth) == Some(object::build()) {
            Attached::Before
        } else {
            Attached::OfAnotherBuild
        }
    } else {
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
        *state.build(growth) = Some(object::build());
        state.store()?;
        registered.pin(&pin)?;
        Attached::Now
    };
    let apply = || {
        if let Some(cgroup) = cgroup {
            attach_cgroup(&cgroup, growth, &mut state)?;
        }
        if attachment.default { make_default(growth, &mut state) } else { Ok(()) }
    };
    apply().map_err(|reason| Error::Partly(Box::new(reason)))?;
    Ok(attached)
}

fn attach_cgroup(cgroup: &Path, growth: Growth, state: &mut State) -> Result<(), Error> {
    // Before the cgroup is attached, so that no connection in between has timestamps.
    let namespace = namespace::own()?;
    let links = object::take_out_timestamps(state)?;
    links.pin(&pins::directory(), &format!("timestamps-{namespace}"))?;
    let links = object::choose_in_cgroup(cgroup, growth)?;
    links.pin(&pins::directory(), &format!("cgroup-{}", cgroup::identity(cgroup)?))
}

/// Returns whether a congestion control is one of ours.
fn is_ours(control: &str) -> bool {
    Growth::of_control(control).is_some()
}

fn make_default(growth: Growth, state: &mut State) -> Result<(), Error> {
    let namespace = Identity::own(Some(&Cookies::new()?))?;
    let control = namespace::sysctl(CONTROL_SYSCTL)?;
    let mut timestamps = namespace::sysctl(TIMESTAMPS_SYSCTL)?;
    let earlier = state.defaults.iter().find(|former| former.namespace.matches(&namespace));
    // A new namespace inherits the default of the first one, but not its timestamps.
    if !is_ours(&control) || earlier.is_none() {
        // Another default was set since. Timestamps may still be off from an earlier `attach`.
        if let Some(earlier) = earlier
            && timestamps == TIMESTAMPS_OFF
        {
            timestamps.clone_from(&earlier.timestamps);
        }
        state.defaults.retain(|former| !former.namespace.matches(&namespace));
        state.defaults.push(FormerSettings { namespace, congestion_control: control, timestamps });
        state.store()?;
    }
    namespace::set_sysctl(CONTROL_SYSCTL, growth.control())?;
    namespace::set_sysctl(TIMESTAMPS_SYSCTL, TIMESTAMPS_OFF)
}

/// Restores the defaults of all network namespaces, including those where nothing was attached: a new
/// namespace inherits the default of the first one.
fn restore_defaults(state: &State) -> Result<(), Error> {
    // Without cookies, namespaces are identified by their inodes.
    let cookies = Cookies::new().ok();
    // Former settings of this thread's namespace.
    let own = || {
        let namespace = Identity::own(cookies.as_ref()).ok()?;
        state.defaults.iter().find(|former| former.namespace.matches(&namespace))
    };
    let control_of = |former: Option<&FormerSettings>| {
        former.map(|f| f.congestion_control.clone()).filter(|control| !is_ours(control))
    };
    let first = File::open("/proc/1/ns/net").ok();
    let first = first.and_then(|first| namespace::inside(&first, || control_of(own())).ok()?);
    for (inode, namespace) in namespace::all() {
        let done = namespace::inside(&namespace, || {
            let former = own();
            let control = control_of(former).or_else(|| first.clone());
            // A setting that was changed since stays.
            if namespace::sysctl(CONTROL_SYSCTL).is_ok_and(|control| is_ours(&control)) {
                let set = |control: &&str| namespace::set_sysctl(CONTROL_SYSCTL, control).is_ok();
                let _ = control.as_deref().into_iter().chain(FALLBACK_CONTROLS).find(set);
            }
            if let Some(former) = former
                && namespace::sysctl(TIMESTAMPS_SYSCTL).is_ok_and(|now| now == TIMESTAMPS_OFF)
            {
                let _ = namespace::set_sysctl(TIMESTAMPS_SYSCTL, &former.timestamps);
            }
        });
        if state.defaults.iter().any(|former| former.namespace.inode == inode) {
            done?;
        }
    }
    Ok(())
}

/// Resets all listeners to the default of their namespace. A listener passes its congestion control on to new
/// connections, even if it is no longer registered.
fn reset_listeners() -> Result<(), Error> {
    let listeners = object::Listeners::new()?;
    for (_, namespace) in namespace::all() {
        let mut done = Ok(());
        // The process may lack the privileges to enter a namespace.
        let _ = namespace::inside(&namespace, || done = listeners.reset());
        done?;
    }
    Ok(())
}

/// Undoes every [`attach`]. Existing connections keep the congestion control, new ones do not get it, and
/// listeners get the default of their network namespace. If nothing is attached, only root is required.
///
/// # Errors
/// If the kernel rejects a step, or if the state cannot be read.
pub fn detach() -> Result<Detached, Error> {
    requirements::check_root()?;
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
        return Ok(if done { Detached::Now } else { Detached::Nothing });
    }
    let state = State::load()?;
    restore_defaults(&state)?;
    object::remove_filters(&state)?;
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
    State::remove();
    listeners.map(|()| Detached::Now)
}
