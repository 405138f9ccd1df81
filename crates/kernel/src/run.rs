//! One program under it.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use crate::state::{State, Turn};
use crate::{Error, Hold, cgroup, object, pins, requirements};

/// How often the command is looked after.
const TICK: Duration = Duration::from_millis(50);

/// Runs `command`: its connections, and those of its children, get the congestion control, without
/// timestamps. Nothing is left when it has ended. What `signalled` tells, the command is sent.
///
/// # Errors
/// The kernel cannot have it, or the command cannot be started or looked after any more: then it is
/// killed.
pub fn run(
    command: &mut Command,
    signalled: impl Fn() -> Option<Signal>,
) -> Result<ExitStatus, Error> {
    requirements::check()?;
    let status = under(command, signalled);
    remove_filters()?;
    status
}

fn under(
    command: &mut Command,
    signalled: impl Fn() -> Option<Signal>,
) -> Result<ExitStatus, Error> {
    let turn = Turn::wait()?;
    // As long as the command runs; connections that outlive it hold it themselves.
    let mut hold = Hold::default();
    hold.ensure()?;
    let own = cgroup::Own::new()?;
    let mut state = State::load()?;
    let _timestamps = object::take_out_timestamps(&mut state)?;
    let _chosen = object::choose_in_cgroup(own.path())?;
    let name = command.get_program().to_os_string();
    let child = own.as_member(|| Supervised::spawn(command))?;
    // Until somebody was in it, another's sweep would have taken the cgroup for one that is left.
    drop(turn);
    let mut child = child.map_err(Error::file(&name))?;
    loop {
        if let Some(status) = child.0.try_wait().map_err(Error::file(&name))? {
            return Ok(status);
        }
        if let Some(signal) = signalled() {
            let id = i32::try_from(child.0.id()).ok().and_then(Pid::from_raw);
            // It may have ended.
            let _ = id.map(|id| kill_process(id, signal));
        }
        thread::sleep(TICK);
        // Whoever had registered it may have ended.
        hold.ensure()?;
    }
}

/// A command that ends with whoever looks after it: it would go on with another congestion control than
/// it was run for.
struct Supervised(Child);

impl Supervised {
    fn spawn(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // If it has ended, neither does anything.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the kernel has no links to interfaces, filters go with the last command that is run, unless
/// a cgroup has them.
fn remove_filters() -> Result<(), Error> {
    let _turn = Turn::wait()?;
    let mut state = State::load()?;
    if state.filters.is_empty() || !pins::links().is_empty() || cgroup::sweep()? > 0 {
        return Ok(());
    }
    object::remove_filters(&state)?;
    state.filters.clear();
    if state.defaults.is_empty() && !pins::registration().exists() {
        State::remove();
        return Ok(());
    }
    state.store()
}
