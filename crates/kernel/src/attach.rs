//! Into the kernel, and out of it again.

use std::path::PathBuf;

use crate::state::{Former, State};
use crate::{Error, NAME, Registered, cgroup, namespace, object, pins, requirements};

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
}

const DEFAULT: &str = "tcp_congestion_control";
const TIMESTAMPS: &str = "tcp_timestamps";

/// Registers it, and does what is asked for. What was attached before stays.
///
/// # Errors
/// The kernel cannot have it, or a step was refused; what was done up to there stays, for
/// [`detach`].
pub fn attach(attachment: &Attachment) -> Result<Attached, Error> {
    requirements::check()?;
    let cgroup = attachment.cgroup.as_deref().map(cgroup::existing).transpose()?;
    let mut state = State::load()?;
    let attached = if pins::registration().exists() {
        Attached::Before
    } else {
        let registered = Registered::new()?;
        pins::prepare()?;
        state.store()?;
        registered.pin(&pins::registration())?;
        Attached::Now
    };
    if let Some(cgroup) = cgroup {
        // Before the cgroup's, so that there is no connection with timestamps in between.
        let namespace = namespace::own()?;
        let links = object::take_out_timestamps(&mut state)?;
        links.pin(&pins::directory(), &format!("timestamps-{namespace}"))?;
        let links = object::choose_in_cgroup(&cgroup)?;
        links.pin(&pins::directory(), &format!("cgroup-{}", cgroup::identity(&cgroup)?))?;
    }
    if attachment.default {
        make_default(&mut state)?;
    }
    Ok(attached)
}

fn make_default(state: &mut State) -> Result<(), Error> {
    let namespace = namespace::own()?;
    let (control, timestamps) = (namespace::sysctl(DEFAULT)?, namespace::sysctl(TIMESTAMPS)?);
    if control != NAME {
        state.defaults.retain(|former| former.namespace != namespace);
        state.defaults.push(Former { namespace, congestion_control: control, timestamps });
        state.store()?;
    }
    namespace::set_sysctl(DEFAULT, NAME)?;
    namespace::set_sysctl(TIMESTAMPS, "0")
}

/// Undoes what every [`attach`] did. Connections that live keep it; new ones do not get it.
///
/// # Errors
/// There was nothing, or a step was refused.
pub fn detach() -> Result<(), Error> {
    requirements::check()?;
    if !State::exists() && !pins::directory().exists() {
        return Err(Error::Nothing);
    }
    let state = State::load()?;
    for former in &state.defaults {
        namespace::within(former.namespace, || {
            // What somebody has set since stays.
            for (key, ours, before) in
                [(DEFAULT, NAME, &former.congestion_control), (TIMESTAMPS, "0", &former.timestamps)]
            {
                if namespace::sysctl(key).is_ok_and(|value| value == ours) {
                    let _ = namespace::set_sysctl(key, before);
                }
            }
        })?;
    }
    object::remove_filters(&state)?;
    for link in pins::links() {
        object::unpin(&link)?;
    }
    if pins::registration().exists() {
        object::unregister(&pins::registration())?;
    }
    pins::remove();
    State::remove();
    Ok(())
}
