//! Into the kernel, and out of it again.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::namespace::Identity;
use crate::state::{Former, State, Turn};
use crate::{
    Error, NAME, Registered, cgroup, is_registered, namespace, object, pins, requirements,
};

/// What is asked for besides the registration.
#[derive(Clone, Debug, Default)]
pub struct Attachment {
    /// It becomes the default of this network namespace, and timestamps are switched off there.
    pub default: bool,
    /// The new connections of this cgroup get it, without timestamps.
    pub cgroup: Option<PathBuf>,
}

/// What attaching came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// The congestion control was registered.
    Now,
    /// It was registered already.
    Before,
    /// That of another build was registered already, and stays.
    OfAnotherBuild,
}

/// What detaching came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// What was attached is undone.
    Now,
    /// Nothing was attached.
    Nothing,
}

const DEFAULT: &str = "tcp_congestion_control";
const TIMESTAMPS: &str = "tcp_timestamps";
const OFF: &str = "0";

/// In place of a default that is there no longer; the kernel always has the second.
const USUAL: [&str; 2] = ["cubic", "reno"];

/// Registers it, and does what is asked for. What was attached before stays.
///
/// # Errors
/// The kernel cannot have it, or a step was refused; after the first, [`Error::Partly`], what was done
/// up to there stays for [`detach`].
pub fn attach(attachment: &Attachment) -> Result<Attached, Error> {
    requirements::check()?;
    pins::check()?;
    let _turn = Turn::wait()?;
    let cgroup = attachment.cgroup.as_deref().map(cgroup::existing).transpose()?;
    let mut state = State::load()?;
    let attached = if pins::registration().exists() {
        if state.build == Some(object::build()) {
            Attached::Before
        } else {
            Attached::OfAnotherBuild
        }
    } else {
        // Of a command that was killed, where it outlives one.
        object::unregister_left();
        let registered = Registered::new().map_err(|error| match is_registered() {
            true => Error::Requirement {
                found: "a command that goes on has registered it".to_owned(),
                expected: "that `unruffled run` or `unruffled race` ends first",
            },
            false => error,
        })?;
        pins::prepare()?;
        state.build = Some(object::build());
        state.store()?;
        registered.pin(&pins::registration())?;
        Attached::Now
    };
    let serve = || {
        if let Some(cgroup) = cgroup {
            serve_cgroup(&cgroup, &mut state)?;
        }
        if attachment.default { make_default(&mut state) } else { Ok(()) }
    };
    serve().map_err(|reason| Error::Partly(Box::new(reason)))?;
    Ok(attached)
}

fn serve_cgroup(cgroup: &Path, state: &mut State) -> Result<(), Error> {
    // Before the cgroup's, so that there is no connection with timestamps in between.
    let namespace = namespace::own()?;
    let links = object::take_out_timestamps(state)?;
    links.pin(&pins::directory(), &format!("timestamps-{namespace}"))?;
    let links = object::choose_in_cgroup(cgroup)?;
    links.pin(&pins::directory(), &format!("cgroup-{}", cgroup::identity(cgroup)?))
}

fn make_default(state: &mut State) -> Result<(), Error> {
    let namespace = Identity::own(Some(&object::Cookies::new()?))?;
    let (control, mut timestamps) = (namespace::sysctl(DEFAULT)?, namespace::sysctl(TIMESTAMPS)?);
    let earlier = state.defaults.iter().find(|former| former.namespace.is(&namespace));
    // A new namespace inherits the default of the first one, and timestamps are its own.
    if control != NAME || earlier.is_none() {
        // Somebody has set another default since: timestamps may be off as an earlier attach left them.
        if let Some(earlier) = earlier
            && timestamps == OFF
        {
            timestamps.clone_from(&earlier.timestamps);
        }
        state.defaults.retain(|former| !former.namespace.is(&namespace));
        state.defaults.push(Former { namespace, congestion_control: control, timestamps });
        state.store()?;
    }
    namespace::set_sysctl(DEFAULT, NAME)?;
    namespace::set_sysctl(TIMESTAMPS, OFF)
}

/// Also where nobody attached: a new network namespace inherits the default of the first one.
fn put_back_defaults(state: &State) -> Result<(), Error> {
    // Without them it is done by inodes.
    let cookies = object::Cookies::new().ok();
    // What this thread's namespace had.
    let own = || {
        let namespace = Identity::own(cookies.as_ref()).ok()?;
        state.defaults.iter().find(|former| former.namespace.is(&namespace))
    };
    let control_of = |former: Option<&Former>| {
        former.map(|f| f.congestion_control.clone()).filter(|control| control != NAME)
    };
    let first = File::open("/proc/1/ns/net").ok();
    let first = first.and_then(|first| namespace::inside(&first, || control_of(own())).ok()?);
    for (inode, namespace) in namespace::all() {
        let done = namespace::inside(&namespace, || {
            let former = own();
            let control = control_of(former).or_else(|| first.clone());
            // What somebody has set since stays.
            if is_set(DEFAULT, NAME) {
                let set = |control: &&str| namespace::set_sysctl(DEFAULT, control).is_ok();
                let _ = control.as_deref().into_iter().chain(USUAL).find(set);
            }
            if let Some(former) = former
                && is_set(TIMESTAMPS, OFF)
            {
                let _ = namespace::set_sysctl(TIMESTAMPS, &former.timestamps);
            }
        });
        if state.defaults.iter().any(|former| former.namespace.inode == inode) {
            done?;
        }
    }
    Ok(())
}

fn is_set(key: &str, value: &str) -> bool {
    namespace::sysctl(key).is_ok_and(|now| now == value)
}

/// What listens hands its congestion control on, even one that is registered no longer.
fn take_back_listeners() -> Result<(), Error> {
    let listeners = object::Listeners::new()?;
    for (_, namespace) in namespace::all() {
        let mut done = Ok(());
        // Another's namespace may not be ours to enter.
        let _ = namespace::inside(&namespace, || done = listeners.take_back());
        done?;
    }
    Ok(())
}

/// Undoes what every [`attach`] did. Connections that live keep it; new ones do not get it, and what
/// listens gets the default of its network namespace. Where nothing is attached, nothing is needed but root.
///
/// # Errors
/// A step was refused, or nothing says whether something is attached.
pub fn detach() -> Result<Detached, Error> {
    requirements::check_root()?;
    let _turn = Turn::wait()?;
    let registered = is_registered();
    let is_attached = State::exists() || pins::directory().exists();
    if registered || is_attached {
        requirements::check()?;
        pins::check()?;
    }
    // Of commands that were killed; without cgroups there are none.
    let _ = cgroup::sweep();
    if !is_attached {
        object::unregister_left();
        let done = registered && !is_registered();
        return Ok(if done { Detached::Now } else { Detached::Nothing });
    }
    let state = State::load()?;
    put_back_defaults(&state)?;
    object::remove_filters(&state)?;
    for link in pins::links() {
        object::unpin(&link)?;
    }
    if pins::registration().exists() {
        object::unregister(&pins::registration())?;
    }
    object::unregister_left();
    // Said last, so that it keeps nothing else; done before it is forgotten that there is something to do.
    let listeners = take_back_listeners();
    pins::remove();
    State::remove();
    listeners.map(|()| Detached::Now)
}
