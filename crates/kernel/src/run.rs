//! Runs one program under the congestion control.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;

use crate::state::{State, StateLock};
use crate::{Error, Growth, Hold, cgroup, object, pins, requirements};

/// Interval at which the command and the signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `command`. Its connections and those of its children use the congestion control with this growth,
/// without timestamps.
///
/// When the command ends, everything is undone; processes that it leaves behind are moved to the cgroup of
/// this process. `signalled` is polled for signals, which are passed on to the command. A signal before the
/// command is started ends the run with the status of that signal.
///
/// # Errors
/// If the kernel lacks something; if the command cannot be started ([`Error::NotStarted`]); or if the
/// command cannot be supervised any longer, in which case it is killed.
pub fn run(
    command: &mut Command,
    growth: Growth,
    signalled: impl Fn() -> Option<Signal>,
) -> Result<ExitStatus, Error> {
    requirements::check()?;
    let lock = loop {
        if let Some(lock) = StateLock::try_acquire()? {
            break lock;
        }
        if let Some(signal) = signalled() {
            return Ok(ended_by(signal));
        }
        thread::sleep(POLL_INTERVAL);
    };
    let status = run_locked(lock, command, growth, signalled);
    remove_filters()?;
    status
}

fn ended_by(signal: Signal) -> ExitStatus {
    ExitStatus::from_raw(signal.as_raw())
}

fn run_locked(
    lock: StateLock,
    command: &mut Command,
    growth: Growth,
    signalled: impl Fn() -> Option<Signal>,
) -> Result<ExitStatus, Error> {
    // Held while the command runs. Connections that outlive the command keep the programs themselves.
    let mut hold = Hold::new(growth);
    hold.ensure()?;
    let own = cgroup::RunCgroup::new()?;
    let mut state = State::load()?;
    let _timestamps = object::take_out_timestamps(&mut state)?;
    let _chosen = object::choose_in_cgroup(own.path(), growth)?;
    let name = command.get_program().to_os_string();
    if let Some(signal) = signalled() {
        return Ok(ended_by(signal));
    }
    let child = own.as_member(|| Supervised::spawn(command))?;
    // The cgroup has a member now. Before that, the sweep of another process would have removed it.
    drop(lock);
    let mut child = child.map_err(|reason| not_started(&name, reason))?;
    loop {
        if let Some(status) = child.0.try_wait().map_err(Error::file(&name))? {
            return Ok(status);
        }
        if let Some(signal) = signalled().filter(|&signal| !is_from_terminal(signal)) {
            let id = i32::try_from(child.0.id()).ok().and_then(Pid::from_raw);
            // Fails if the command has ended.
            let _ = id.map(|id| kill_process(id, signal));
        }
        thread::sleep(POLL_INTERVAL);
        // The process that registered the congestion control may have ended.
        hold.ensure()?;
    }
}

/// Returns the error for a command that cannot be started.
fn not_started(command: &OsStr, reason: io::Error) -> Error {
    let not_found = reason.kind() == ErrorKind::NotFound;
    let missing = not_found && !exists(command);
    let reason = if not_found && !missing {
        io::Error::other("its interpreter does not exist")
    } else {
        reason
    };
    Error::NotStarted { command: command.into(), reason, missing }
}

/// Returns whether the file of a command exists, executable or not.
fn exists(command: &OsStr) -> bool {
    let file = Path::new(command);
    if command.is_empty() || command.as_encoded_bytes().contains(&b'/') {
        return file.exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(file).is_file())
}

/// Returns whether the signal probably came from a terminal, which sends it to the command as well.
fn is_from_terminal(signal: Signal) -> bool {
    let in_foreground =
        |terminal| tcgetpgrp(terminal).is_ok_and(|foreground| foreground == getpgrp());
    [Signal::INT, Signal::QUIT].contains(&signal) && File::open("/dev/tty").is_ok_and(in_foreground)
}

/// A command that is killed when its supervision ends, since it would otherwise continue with another
/// congestion control.
struct Supervised(Child);

impl Supervised {
    fn spawn(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // Neither has an effect if the command has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Removes filters on kernels without links to interfaces, unless another command or an attached cgroup uses
/// them.
fn remove_filters() -> Result<(), Error> {
    let _lock = StateLock::acquire()?;
    let mut state = State::load()?;
    if state.filters.is_empty() || !pins::links().is_empty() || cgroup::sweep()? > 0 {
        return Ok(());
    }
    object::remove_filters(&state.filters)?;
    state.filters.clear();
    if state.defaults.is_empty() && !pins::has_registration() {
        State::remove();
        return Ok(());
    }
    state.store()
}
