//! Programs at the ends of the path.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::{Error, Namespace};

/// Interval at which a waiting caller checks the program.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A program that runs in a namespace. Dropping it kills it.
#[derive(Debug)]
pub struct Application {
    child: Child,
    own_group: bool,
}

impl Application {
    /// Starts `command` in `namespace`, in the process group of the caller. A terminal's Ctrl-C reaches it,
    /// and it may read from the terminal.
    ///
    /// # Errors
    /// See [`Namespace::spawn`].
    pub fn start(namespace: &Namespace, command: &mut Command) -> Result<Self, Error> {
        Ok(Self { child: namespace.spawn(command)?, own_group: false })
    }

    /// Starts `command` in `namespace`, in its own process group. A terminal's Ctrl-C does not reach it.
    ///
    /// # Errors
    /// See [`Namespace::spawn`].
    pub fn start_in_background(
        namespace: &Namespace,
        command: &mut Command,
    ) -> Result<Self, Error> {
        Ok(Self { child: namespace.spawn(command.process_group(0))?, own_group: true })
    }

    /// Returns the exit status if the program has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for the end of the program, at most for `timeout`.
    pub fn wait_for(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            let ended = self.ended();
            if ended.is_some() || Instant::now() >= deadline {
                return ended;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Sends SIGTERM, and kills the program if it has not ended after `timeout`.
    ///
    /// # Errors
    /// If the system cannot wait for the program.
    pub fn end(&mut self, timeout: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended() {
            return Ok(status);
        }
        // It has not been reaped, so the id still belongs to it. Failures end in the kill below.
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = match self.own_group {
                true => kill_process_group(pid, Signal::TERM),
                false => kill_process(pid, Signal::TERM),
            };
        }
        if let Some(status) = self.wait_for(timeout) {
            return Ok(status);
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // Each fails only if the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
