//! Network namespaces that leave nothing behind.
//!
//! A named namespace (`ip netns add`) is a mount that outlives whoever made it, so a killed program
//! leaves it behind, with every process that runs in it. Here, a namespace has no name. It is kept
//! by a *keeper*, the first process of a process namespace that goes with the network namespace.
//! The keeper only waits for the end of a pipe whose other end its maker holds. When the maker ends,
//! in whatever way, `kill -9` included, the kernel closes the pipe, the keeper ends, and with it the
//! kernel kills everything that was started in the namespace, however far it had detached itself.
//! The network namespace goes with the last of them, and with it its devices.
//!
//! Addresses and routes are set by iproute2's `ip`: its batch is what a reader would type, it is
//! there wherever namespaces are, and a netlink library would bring an asynchronous runtime along
//! for the sake of six messages. Sysctls are files, so they are written as such.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns, unshare};

use crate::Error;

/// A network namespace and the processes in it, all of which end with this value, or with the
/// process that holds it.
#[derive(Debug)]
pub struct Namespace {
    keeper: Child,
    network: File,
    processes: File,
}

impl Namespace {
    /// A namespace with nothing in it but a loopback interface that is up. The keeper shows `name`
    /// in lists of processes.
    ///
    /// # Errors
    /// The process may not, or the kernel cannot.
    pub fn new(name: &str) -> Result<Self, Error> {
        let namespace = on_own_thread(|| -> Result<Self, Error> {
            unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWPID)
                .map_err(|reason| Error::kernel("a network namespace", reason))?;
            let keeper = Command::new("/bin/sh")
                .args(["-c", "read -r _", name])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // A terminal's Ctrl-C is not for it.
                .process_group(0)
                .spawn()
                .map_err(|reason| Error::Program {
                    program: "/bin/sh",
                    package: "a shell",
                    reason,
                })?;
            let open = |kind: &str| {
                let path = format!("/proc/thread-self/ns/{kind}");
                File::open(&path).map_err(|reason| Error::kernel(path, reason))
            };
            Ok(Self { keeper, network: open("net")?, processes: open("pid_for_children")? })
        })?;
        namespace.ip("link set dev lo up\n")?;
        Ok(namespace)
    }

    /// The keeper's process id, for `nsenter --target`.
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    /// Runs `work` on a thread of its own that is in the network namespace.
    ///
    /// Sockets and devices belong for ever to the namespace that they were made in; so do threads
    /// and processes, unless they leave it.
    ///
    /// # Errors
    /// The thread cannot enter, or `work` failed.
    pub fn run<T: Send, E: From<Error> + Send>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, E> {
        on_own_thread(|| {
            self.enter_network()?;
            work()
        })
    }

    /// Starts `command` in the namespace; it ends with the namespace at the latest.
    ///
    /// # Errors
    /// The thread cannot enter, or the command cannot be run.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, Error> {
        on_own_thread(|| {
            self.enter_network()?;
            setns(&self.processes, CloneFlags::CLONE_NEWPID)
                .map_err(|reason| Error::kernel("entering a process namespace", reason))?;
            command.spawn().map_err(|reason| Error::Kernel {
                what: command.get_program().to_string_lossy().into_owned(),
                reason,
            })
        })
    }

    /// Whether anything in it waits for TCP connections, or has a UDP socket with no peer: a server is up.
    /// One that asks for a name has a UDP socket with a peer.
    pub fn is_listening(&self) -> bool {
        // include/net/tcp_states.h
        const LISTEN: &str = "0A";
        const CLOSE: &str = "07";
        let sockets = |table: &str, state: &str| {
            let table = std::fs::read_to_string(format!("/proc/{}/net/{table}", self.keeper()));
            let table = table.unwrap_or_default();
            table.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
        };
        [("tcp", LISTEN), ("tcp6", LISTEN), ("udp", CLOSE), ("udp6", CLOSE)]
            .into_iter()
            .any(|(table, state)| sockets(table, state))
    }

    /// Sets a sysctl of the namespace, such as `net.ipv4.tcp_congestion_control`.
    ///
    /// # Errors
    /// There is no such sysctl, or it does not take the value.
    pub fn sysctl(&self, key: &str, value: &str) -> Result<(), Error> {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        self.run(|| {
            // The kernel shows each thread the sysctls of its own network.
            let result = File::options().write(true).open(path);
            result
                .and_then(|mut file| file.write_all(value.as_bytes()))
                .map_err(|reason| Error::kernel(format!("sysctl {key}={value}"), reason))
        })
    }

    /// Gives `ip` a batch of commands, one a line.
    ///
    /// # Errors
    /// There is no `ip`, or it complains.
    pub fn ip(&self, batch: &str) -> Result<(), Error> {
        self.run(|| {
            let missing = |reason| Error::Program { program: "ip", package: "iproute2", reason };
            let mut ip = Command::new("ip");
            // Where people without root's PATH keep it, too.
            let path = std::env::var("PATH").unwrap_or_default();
            ip.env("PATH", format!("{path}:/usr/sbin:/sbin"));
            ip.args(["-batch", "-"]).stdin(Stdio::piped());
            let mut ip =
                ip.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(missing)?;
            if let Some(mut stdin) = ip.stdin.take() {
                // If it does not listen, its complaint says why.
                let _ = stdin.write_all(batch.as_bytes());
            }
            let mut complaint = String::new();
            if let Some(mut stderr) = ip.stderr.take() {
                stderr.read_to_string(&mut complaint).map_err(missing)?;
            }
            match ip.wait() {
                Ok(status) if status.success() => Ok(()),
                Ok(_) => Err(Error::Ip(complaint.lines().collect::<Vec<_>>().join(" "))),
                Err(reason) => Err(missing(reason)),
            }
        })
    }

    fn enter_network(&self) -> Result<(), Error> {
        setns(&self.network, CloneFlags::CLONE_NEWNET)
            .map_err(|reason| Error::kernel("entering a network namespace", reason))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Only this process may reap it, so the id is still its own.
        let _ = self.keeper.kill();
        // It cannot be reaped before everything else that ran in the namespace was; if the caller
        // has yet to do that, waiting would be for ever.
        let patience = Instant::now() + Duration::from_millis(500);
        while matches!(self.keeper.try_wait(), Ok(None)) && Instant::now() < patience {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Namespaces belong to threads: to enter one for a while is to have a thread for it.
fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Whether the kernel has IPv6 switched on.
pub(crate) fn has_ipv6() -> io::Result<bool> {
    std::fs::exists("/proc/sys/net/ipv6")
}
