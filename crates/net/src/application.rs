//! Programs at the ends of the path.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::{Error, Namespace};

/// How often a program is looked after.
const TICK: Duration = Duration::from_millis(10);

/// A program that runs in a namespace. Dropping it kills it.
#[derive(Debug)]
pub struct Application {
    child: Child,
    own_group: bool,
}

impl Application {
    /// Starts `command` in `namespace`, in the process group of the caller: a terminal's Ctrl-C is
    /// for it, too, and it may read from the terminal.
    ///
    /// # Errors
    /// See [`Namespace::spawn`].
    pub fn start(namespace: &Namespace, command: &mut Command) -> Result<Self, Error> {
        Ok(Self { child: namespace.spawn(command)?, own_group: false })
    }

    /// Starts `command` in `namespace`, out of a terminal's reach.
    ///
    /// # Errors
    /// See [`Namespace::spawn`].
    pub fn start_in_background(
        namespace: &Namespace,
        command: &mut Command,
    ) -> Result<Self, Error> {
        Ok(Self { child: namespace.spawn(command.process_group(0))?, own_group: true })
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for its end, but for no longer than `patience`.
    pub fn wait_for(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            let ended = self.ended();
            if ended.is_some() || Instant::now() >= deadline {
                return ended;
            }
            thread::sleep(TICK);
        }
    }

    /// Asks it to end, and kills it if it has not after `patience`.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn end(&mut self, patience: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended() {
            return Ok(status);
        }
        // It has not been waited for, so the id is still its own. Failures end in the kill below.
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = match self.own_group {
                true => kill_process_group(pid, Signal::TERM),
                false => kill_process(pid, Signal::TERM),
            };
        }
        if let Some(status) = self.wait_for(patience) {
            return Ok(status);
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // Either fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
