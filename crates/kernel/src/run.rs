//! One program under it.

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

use crate::state::{State, Turn};
use crate::{Error, Hold, cgroup, object, pins, requirements};

/// How often the command is looked after.
const TICK: Duration = Duration::from_millis(50);

/// Runs `command`: its connections, and those of its children, get the congestion control, without
/// timestamps. Nothing is left when it has ended: what it started and left behind is moved to the cgroup
/// of this process. What `signalled` tells, the command is sent; if it is told before that was started,
/// that is how it ended.
///
/// # Errors
/// The kernel cannot have it; the command cannot be started ([`Error::NotStarted`]), or not be looked after
/// any more: then it is killed.
pub fn run(
    command: &mut Command,
    signalled: impl Fn() -> Option<Signal>,
) -> Result<ExitStatus, Error> {
    requirements::check()?;
    let turn = loop {
        if let Some(turn) = Turn::try_take()? {
            break turn;
        }
        if let Some(signal) = signalled() {
            return Ok(ended_by(signal));
        }
        thread::sleep(TICK);
    };
    let status = under(turn, command, signalled);
    remove_filters()?;
    status
}

fn ended_by(signal: Signal) -> ExitStatus {
    ExitStatus::from_raw(signal.as_raw())
}

fn under(
    turn: Turn,
    command: &mut Command,
    signalled: impl Fn() -> Option<Signal>,
) -> Result<ExitStatus, Error> {
    // As long as the command runs; connections that outlive it hold it themselves.
    let mut hold = Hold::default();
    hold.ensure()?;
    let own = cgroup::Own::new()?;
    let mut state = State::load()?;
    let _timestamps = object::take_out_timestamps(&mut state)?;
    let _chosen = object::choose_in_cgroup(own.path())?;
    let name = command.get_program().to_os_string();
    if let Some(signal) = signalled() {
        return Ok(ended_by(signal));
    }
    let child = own.as_member(|| Supervised::spawn(command))?;
    // Until somebody was in it, another's sweep would have taken the cgroup for one that is left.
    drop(turn);
    let mut child = child.map_err(|reason| not_started(&name, reason))?;
    loop {
        if let Some(status) = child.0.try_wait().map_err(Error::file(&name))? {
            return Ok(status);
        }
        if let Some(signal) = signalled().filter(|&signal| !is_from_terminal(signal)) {
            let id = i32::try_from(child.0.id()).ok().and_then(Pid::from_raw);
            // It may have ended.
            let _ = id.map(|id| kill_process(id, signal));
        }
        thread::sleep(TICK);
        // Whoever had registered it may have ended.
        hold.ensure()?;
    }
}

/// Why a command was not started.
fn not_started(command: &OsStr, reason: io::Error) -> Error {
    let not_found = reason.kind() == ErrorKind::NotFound;
    let missing = not_found && !is_there(command);
    let reason = if not_found && !missing {
        io::Error::other("its interpreter does not exist")
    } else {
        reason
    };
    Error::NotStarted { command: command.into(), reason, missing }
}

/// Whether a command's file is there, be it of use or not.
fn is_there(command: &OsStr) -> bool {
    let file = Path::new(command);
    if command.is_empty() || command.as_encoded_bytes().contains(&b'/') {
        return file.exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(file).is_file())
}

/// Whether a terminal sent the signal, as it seems, and so to the command as well.
fn is_from_terminal(signal: Signal) -> bool {
    let in_foreground =
        |terminal| tcgetpgrp(terminal).is_ok_and(|foreground| foreground == getpgrp());
    [Signal::INT, Signal::QUIT].contains(&signal) && File::open("/dev/tty").is_ok_and(in_foreground)
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
