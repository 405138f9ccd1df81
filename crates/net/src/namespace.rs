//! Network namespaces that leave nothing behind.
//!
//! A named namespace (`ip netns add`) is a mount. It outlives its creator, so a killed program leaves it
//! behind with every process in it. A [`Namespace`] has no name. Its lifetime is that of a *keeper*, the
//! first process of a process namespace that belongs to the network namespace.
//!
//! The keeper waits for the end of a pipe whose other end its creator holds. When the creator ends in any
//! way, `kill -9` included, the kernel closes the pipe and the keeper ends. The kernel then kills every
//! process that was started in the namespace, even one that has detached itself. The network namespace
//! and its devices disappear with the last process.
//!
//! Addresses and routes are set by iproute2's `ip`, which is installed wherever namespaces are in use. Its
//! batch commands are readable, and a netlink library would add an asynchronous runtime for six messages.
//! Sysctls are files, and are written as files.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns, unshare};

use crate::Error;

/// Time for which a dropped namespace waits for the end of its keeper.
const REAP_TIMEOUT: Duration = Duration::from_millis(500);

/// A network namespace and the processes in it. All end when this value is dropped, or when the process
/// that holds it ends.
#[derive(Debug)]
pub struct Namespace {
    keeper: Child,
    network: File,
    processes: File,
}

impl Namespace {
    /// Creates a namespace whose only interface is the loopback interface, which is up. Lists of
    /// processes show the keeper as `name`.
    ///
    /// # Errors
    /// If the process lacks the required privileges, or the kernel lacks namespaces.
    pub fn new(name: &str) -> Result<Self, Error> {
        let namespace = on_own_thread(|| -> Result<Self, Error> {
            unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWPID)
                .map_err(|reason| Error::kernel("a network namespace", reason))?;
            let keeper = Command::new("/bin/sh")
                .args(["-c", "read -r _", name])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // In its own process group, a terminal's Ctrl-C does not reach it.
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

    /// Returns the keeper's process id, for `nsenter --target`.
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    /// Runs `work` on a new thread in the network namespace.
    ///
    /// Sockets and devices belong permanently to the namespace in which they are created. Threads and
    /// processes belong to it until they leave it.
    ///
    /// # Errors
    /// If the thread cannot enter the namespace, or if `work` fails.
    pub fn run<T: Send, E: From<Error> + Send>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, E> {
        on_own_thread(|| {
            self.enter_network()?;
            work()
        })
    }

    /// Starts `command` in the namespace. The command ends with the namespace at the latest.
    ///
    /// # Errors
    /// If the thread cannot enter the namespace, or if the command cannot be run.
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

    /// Returns whether a server runs in the namespace: a socket that listens for TCP connections, or a UDP
    /// socket without a peer. A program that resolves a name has a UDP socket with a peer.
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
    /// If there is no such sysctl, or if the kernel rejects the value.
    pub fn sysctl(&self, key: &str, value: &str) -> Result<(), Error> {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        self.run(|| {
            // A thread's /proc/sys has the sysctls of its own network.
            let result = File::options().write(true).open(path);
            result
                .and_then(|mut file| file.write_all(value.as_bytes()))
                .map_err(|reason| Error::kernel(format!("sysctl {key}={value}"), reason))
        })
    }

    /// Runs `ip` with a batch of commands, one per line.
    ///
    /// # Errors
    /// If `ip` is not installed, or if it rejects a command.
    pub fn ip(&self, batch: &str) -> Result<(), Error> {
        self.run(|| {
            let missing = |reason| Error::Program { program: "ip", package: "iproute2", reason };
            let mut ip = Command::new("ip");
            // It may be in a folder that is only in root's PATH.
            let path = std::env::var("PATH").unwrap_or_default();
            ip.env("PATH", format!("{path}:/usr/sbin:/sbin"));
            ip.args(["-batch", "-"]).stdin(Stdio::piped());
            let mut ip =
                ip.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(missing)?;
            if let Some(mut stdin) = ip.stdin.take() {
                // If it has ended already, its error message has the reason.
                let _ = stdin.write_all(batch.as_bytes());
            }
            let mut message = String::new();
            if let Some(mut stderr) = ip.stderr.take() {
                stderr.read_to_string(&mut message).map_err(missing)?;
            }
            match ip.wait() {
                Ok(status) if status.success() => Ok(()),
                Ok(_) => Err(Error::Ip(message.lines().collect::<Vec<_>>().join(" "))),
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
        // Only this process reaps it, so the id still belongs to it.
        let _ = self.keeper.kill();
        // It cannot be reaped before every other process of the namespace. The caller may not have
        // reaped its own yet, so the wait has a limit.
        let deadline = Instant::now() + REAP_TIMEOUT;
        while matches!(self.keeper.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Runs `work` on a new thread. A thread belongs to one namespace, so a temporary stay in another takes
/// another thread.
fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Returns whether IPv6 is enabled in the kernel.
pub(crate) fn has_ipv6() -> io::Result<bool> {
    std::fs::exists("/proc/sys/net/ipv6")
}
