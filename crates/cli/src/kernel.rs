//! `unruffled attach`, `detach`, `run` and `status`: the congestion controls for the kernel's own TCP.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use unruffled_kernel::{
    Attachment, Coverage, Detached, Error, Growth, Registration, Signal, Target,
};
use unruffled_units::count;

use crate::Printed;

mod daemon;
mod exporter;
mod service;
mod status;

pub(crate) use status::{StatusArguments, status};

/// Value of `--growth`.
#[derive(Clone, Copy, ValueEnum)]
enum GrowthArgument {
    /// CUBIC, which shares a path with most other traffic equally
    Cubic,
    /// The kernel's BBR, for paths that also lose packets at random
    Bbr,
}

impl From<GrowthArgument> for Growth {
    fn from(argument: GrowthArgument) -> Self {
        match argument {
            GrowthArgument::Cubic => Self::Cubic,
            GrowthArgument::Bbr => Self::Bbr,
        }
    }
}

#[derive(Args)]
pub(crate) struct AttachArguments {
    #[command(flatten)]
    pub(crate) config: crate::config::ConfigArgument,
    /// How the window grows between losses: as unruffled (cubic) or unruffled_bbr
    #[arg(long, value_enum, value_name = "GROWTH", default_value = "cubic")]
    growth: GrowthArgument,
    /// Make it the default of this network namespace, and switch timestamps off there
    #[arg(long)]
    default: bool,
    /// Give it to the new connections of this cgroup (version 2), without timestamps
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,
    /// Make it the default of every network namespace, including later ones, until this command ends
    #[arg(long, conflicts_with_all = ["cgroup", "netns", "pid"])]
    all: bool,
    /// With --all, export metrics at this port of 127.0.0.1, at /metrics; see docs/guide/monitoring.md
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    metrics_port: Option<u16>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Switch open connections, too, unless their program has chosen another one than the default
    #[arg(long)]
    existing: bool,
}

#[derive(Args)]
pub(crate) struct DetachArguments {
    #[command(flatten)]
    namespace: NamespaceArguments,
}

/// The network namespace to act on.
#[derive(Args)]
pub(crate) struct NamespaceArguments {
    /// Only this network namespace: a name of `ip netns`, or a path
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "pid", value_parser = not_empty)]
    netns: Option<PathBuf>,
    /// Only the network namespace of this process
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,
}

impl NamespaceArguments {
    pub(crate) fn target(&self) -> Option<Target> {
        let named = self.netns.clone().map(Target::Named);
        named.or(self.pid.map(Target::Process))
    }
}

/// Parses a path, which may not be empty.
fn not_empty(text: &str) -> Result<PathBuf, String> {
    match text {
        "" => Err("expected a name or a path".to_owned()),
        text => Ok(text.into()),
    }
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// How the window grows between losses: as unruffled (cubic) or unruffled_bbr
    #[arg(long, value_enum, value_name = "GROWTH", default_value = "cubic")]
    growth: GrowthArgument,
    /// The program and its arguments, which may follow `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn attach(arguments: &AttachArguments) -> ExitCode {
    if arguments.all {
        let growth = Growth::from(arguments.growth);
        let coverage = Coverage { growth, existing: arguments.existing };
        return daemon::serve(coverage, arguments.metrics_port);
    }
    if arguments.metrics_port.is_some() {
        return crate::refuse("attach: --metrics-port: expected --all with it");
    }
    attach_once(arguments).unwrap_or_else(|error| crate::refuse(format!("attach: {error}")))
}

fn attach_once(arguments: &AttachArguments) -> Result<ExitCode, Error> {
    let growth = Growth::from(arguments.growth);
    let cgroup = arguments.cgroup.clone();
    let namespace = arguments.namespace.target();
    let default = arguments.default || (namespace.is_some() && cgroup.is_none());
    let existing = arguments.existing;
    if existing && !default && cgroup.is_none() {
        let refusal =
            "attach: --existing: expected --all, --default, --netns, --pid or --cgroup with it";
        return Ok(crate::refuse(refusal));
    }
    let place = match &namespace {
        None => "this network namespace".to_owned(),
        Some(Target::Named(name)) => format!("network namespace {}", name.display()),
        Some(Target::Process(pid)) => format!("the network namespace of process {pid}"),
    };
    let attachment = Attachment { growth, default, cgroup, namespace, existing };
    let attached = unruffled_kernel::attach(&attachment)?;
    let mut text = format!("{} {}", growth.control(), registration(attached.registration));
    if default {
        text += match attached.registration {
            Registration::Now => ", ",
            _ => "; it is now ",
        };
        let _ = write!(text, "the default of {place}, without timestamps");
    }
    if let Some(cgroup) = &arguments.cgroup {
        let _ = write!(text, ", for new connections of {}", cgroup.display());
    }
    if !default && arguments.cgroup.is_none() {
        text += "; programs may choose it (TCP_CONGESTION)";
    }
    if existing {
        let _ = write!(text, "; {} switched", count(attached.switched, "open connection"));
    }
    Ok(print_line(&text))
}

/// Returns how the congestion control came into the kernel.
fn registration(registration: Registration) -> &'static str {
    match registration {
        Registration::Now => "is in the kernel now",
        Registration::Before => "was in the kernel already",
        Registration::OfAnotherBuild => {
            "was in the kernel already, by another build, whose it stays until `unruffled detach`"
        }
    }
}

pub(crate) fn detach(arguments: &DetachArguments) -> ExitCode {
    if let Some(target) = arguments.namespace.target() {
        return match unruffled_kernel::detach_namespace(&target) {
            Err(error) => crate::refuse(format!("detach: {error}")),
            Ok(detached) => print_line(&namespace_line(detached)),
        };
    }
    let detached = unruffled_kernel::detach();
    // One part is undone even if the other cannot be.
    let rules = remove_rules();
    let detached = match detached {
        Err(error) => return crate::refuse(format!("detach: {error}")),
        Ok(detached) => detached,
    };
    let rules = match rules {
        Err(error) => return crate::refuse(format!("detach: {error}")),
        Ok(rules) => rules,
    };
    let mut lines = match detached {
        Detached::Now { switched, unreachable } => {
            let mut line = format!("unruffled is detached{}", switched_back(switched));
            if unreachable > 0 {
                let _ = write!(
                    line,
                    "; {} cannot be entered: expected a process, a mount or an open file that leads there; \
                     it is restored by the next `unruffled detach` that can enter it",
                    count(unreachable, "network namespace")
                );
            }
            line + "\n"
        }
        Detached::Nothing if unruffled_kernel::is_registered() => {
            "nothing is attached; a `run` or `race` that goes on has unruffled in the kernel until it ends\n"
                .to_owned()
        }
        Detached::Nothing if rules.is_some() => String::new(),
        Detached::Nothing => "nothing is attached\n".to_owned(),
    };
    lines += &rules.unwrap_or_default();
    crate::print(Printed::People(lines))
}

/// Returns the line about the detachment of one namespace.
fn namespace_line(detached: Detached) -> String {
    match detached {
        Detached::Now { switched, .. } => format!(
            "the network namespace is detached{}; unruffled stays in the kernel until `unruffled detach`",
            switched_back(switched)
        ),
        Detached::Nothing => "nothing is attached to the network namespace".to_owned(),
    }
}

/// Returns a part of a line about connections that were switched back, if there were any.
fn switched_back(switched: usize) -> String {
    match switched {
        0 => String::new(),
        switched => format!("; {} switched back", count(switched, "open connection")),
    }
}

/// Removes the rules of a `resequence` that was killed, and returns a line about them. The rules of one that
/// runs stay.
fn remove_rules() -> Result<Option<String>, unruffled_nfqueue::Error> {
    match unruffled_nfqueue::remove_leftovers() {
        Ok(true) => Ok(Some("the rules of a killed `resequence` are removed\n".to_owned())),
        Ok(false) => Ok(None),
        Err(unruffled_nfqueue::Error::Running(pid)) => {
            let process = pid.map(|pid| format!(" as process {pid}")).unwrap_or_default();
            Ok(Some(format!("`resequence` runs{process}; its end removes its rules\n")))
        }
        Err(error) => Err(error),
    }
}

/// Prints a line for people.
fn print_line(line: &str) -> ExitCode {
    crate::print(Printed::People(format!("{line}\n")))
}

pub(crate) fn run(arguments: &RunArguments) -> ExitCode {
    let Some((program, rest)) = arguments.command.split_first() else {
        return crate::refuse("run: expected a command");
    };
    let signalled = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
        // A signal without a handler would end this process and not the command.
        let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signalled), signal as usize);
    }
    let taken = || Signal::from_named_raw(signalled.swap(0, Ordering::Relaxed) as i32);
    match unruffled_kernel::run(Command::new(program).args(rest), arguments.growth.into(), taken) {
        Err(error) => {
            let refused = crate::refuse(format!("run: {error}"));
            // POSIX.1-2024, XCU 2.8.2.
            match error {
                Error::NotStarted { missing: true, .. } => ExitCode::from(127),
                Error::NotStarted { .. } => ExitCode::from(126),
                _ => refused,
            }
        }
        // The statuses of shells for signals.
        Ok(status) => {
            let code = status.code().unwrap_or(128 + status.signal().unwrap_or(0));
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
    }
}
