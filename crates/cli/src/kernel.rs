//! `unruffled attach`, `detach`, `run` and `status`: the kernel's own TCP, unruffled.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use unruffled_kernel::{Attached, Attachment, NAME, Signal, Status};
use unruffled_units::count;

#[derive(Args)]
pub(crate) struct AttachArguments {
    /// Make it the default of this network namespace, and switch timestamps off there
    #[arg(long)]
    default: bool,
    /// Give it to the new connections of this cgroup (version 2), without timestamps
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct StatusArguments {
    /// Show it anew each second
    #[arg(long)]
    watch: bool,
    /// As JSON; with --watch, a line each second
    #[arg(long)]
    json: bool,
}

pub(crate) fn attach(arguments: &AttachArguments) -> ExitCode {
    let attachment = Attachment { default: arguments.default, cgroup: arguments.cgroup.clone() };
    match unruffled_kernel::attach(&attachment) {
        Err(error) => crate::refuse(format!("attach: {error}")),
        Ok(attached) => {
            let when = match attached {
                Attached::Now => "is in the kernel now",
                Attached::Before => "was in the kernel already",
                Attached::OfAnotherBuild => {
                    "was in the kernel already, by another build, whose it stays until `unruffled detach`"
                }
            };
            let mut text = format!("{NAME} {when}");
            if arguments.default {
                text += ", the default of this network namespace, without timestamps";
            }
            if let Some(cgroup) = &arguments.cgroup {
                let _ = write!(text, ", for new connections of {}", cgroup.display());
            }
            if !arguments.default && arguments.cgroup.is_none() {
                text += "; programs may choose it (TCP_CONGESTION)";
            }
            crate::print(&format!("{text}\n"))
        }
    }
}

pub(crate) fn detach() -> ExitCode {
    match unruffled_kernel::detach() {
        Err(error) => crate::refuse(format!("detach: {error}")),
        Ok(()) => crate::print(&format!("{NAME} is detached\n")),
    }
}

pub(crate) fn run(arguments: &RunArguments) -> ExitCode {
    let Some((program, rest)) = arguments.command.split_first() else {
        return crate::refuse("run: expected a command");
    };
    let signalled = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
        // One that cannot be caught would end us alone.
        let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signalled), signal as usize);
    }
    let taken = || Signal::from_named_raw(signalled.swap(0, Ordering::Relaxed) as i32);
    match unruffled_kernel::run(Command::new(program).args(rest), taken) {
        Err(error) => crate::refuse(format!("run: {error}")),
        // As shells tell of signals.
        Ok(status) => {
            let code = status.code().unwrap_or(128 + status.signal().unwrap_or(0));
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
    }
}

pub(crate) fn status(arguments: &StatusArguments) -> ExitCode {
    let mut before: BTreeMap<u64, (u64, Instant)> = BTreeMap::new();
    loop {
        let now = Instant::now();
        let mut status = match unruffled_kernel::status() {
            Err(error) => return crate::refuse(format!("status: {error}")),
            Ok(status) => status,
        };
        let connections = &mut status.connections;
        // Between two looks it is known what was delivered.
        for connection in connections.iter_mut() {
            if let Some((acked, at)) = before.get(&connection.socket) {
                let octets = connection.acked.saturating_sub(*acked);
                connection.rate_bps = 8.0 * octets as f64 / now.duration_since(*at).as_secs_f64();
            }
        }
        before = connections.iter().map(|c| (c.socket, (c.acked, now))).collect();
        let mut text = if arguments.json {
            let registered = unruffled_kernel::is_registered();
            let document = serde_json::json!({
                "registered": registered,
                "connections": status.connections,
                "others": status.others,
            });
            format!("{document}\n")
        } else {
            table(&status)
        };
        if arguments.watch && !arguments.json && std::io::stdout().is_terminal() {
            // Home, and what stands below away.
            text = format!("\x1b[H\x1b[J{text}");
        }
        match crate::print_on(&text) {
            Ok(_) if arguments.watch => {}
            Ok(status) | Err(status) => return status,
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn table(status: &Status) -> String {
    let mut text = format!(
        "{:<40} {:>9} {:>6} {:>9} {:>9} {:>6} {:>7} {:>8} {:>8} {:>7}\n",
        "peer",
        "Mb/s",
        "cwnd",
        "RTT ms",
        "late ms",
        "held",
        "events",
        "spurious",
        "restored",
        "rtx"
    );
    let millis = |time: Duration| 1e3 * time.as_secs_f64();
    for c in &status.connections {
        let _ = writeln!(
            text,
            "{:<40} {:>9.2} {:>6} {:>9.1} {:>9.1} {:>6} {:>7} {:>8} {:>8} {:>7}",
            c.peer.to_string(),
            c.rate_bps / 1e6,
            c.cwnd,
            millis(c.rtt),
            millis(c.late),
            c.held,
            c.events,
            c.spurious,
            c.restored,
            c.retransmissions,
        );
    }
    text += &count(status.connections.len(), "connection");
    if status.others > 0 {
        let _ = write!(text, "; {} of another version, not shown", status.others);
    }
    text += if unruffled_kernel::is_registered() { "\n" } else { "; not registered\n" };
    text
}
