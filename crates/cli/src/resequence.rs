//! `unruffled resequence`: puts arriving packets in order.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use unruffled_nfqueue::{Guardian, Hook, PortRange, Settings};
use unruffled_resequence::{Config, Tunnels};

use crate::{Printed, number};

mod text;

pub(crate) use text::{state, state_json};

/// Interval between two lines on a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Interval at which signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Minimum budget, in octets: one packet of the largest size.
const MIN_BUDGET: u64 = 256 << 10;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) config: crate::config::ConfigArgument,
    /// Put the packets to this host in order; the default
    #[arg(long, conflicts_with = "forward")]
    input: bool,
    /// Put the packets in order that pass through this gateway
    #[arg(long)]
    forward: bool,
    /// Only packets that arrive on these interfaces; all but the loopback interface if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    interface: Vec<String>,
    /// Only packets from or to these ports, such as 443,5201-5210; all if not given
    #[arg(long, value_delimiter = ',', value_name = "PORTS", value_parser = ports)]
    #[arg(allow_hyphen_values = true)]
    port: Vec<PortRange>,
    /// The longest time that a packet is held
    #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = max_hold)]
    #[arg(allow_hyphen_values = true)]
    max_hold: unruffled_units::Duration,
    /// The kernel's memory for packets that are held, such as "64 MiB"; 128 MiB if not given
    #[arg(long, value_name = "BYTES", value_parser = budget, allow_hyphen_values = true)]
    budget: Option<u64>,
    /// Put the packets of these tunnels in order, too, by their outer numbers
    #[arg(long, value_delimiter = ',', value_name = "TUNNELS")]
    tunnel: Vec<Tunnel>,
    /// The number of queues, each with a thread of its own; packets between the same two hosts share one
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = number::within::<u16>(1..=64))]
    queues: u16,
    /// The totals as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tunnel {
    /// WireGuard
    Wireguard,
    /// IPsec ESP, also within UDP
    Esp,
    /// OpenVPN, data channel version 2 with AEAD
    Openvpn,
}

/// Parses a port or a range of ports.
fn ports(text: &str) -> Result<PortRange, String> {
    let port = |text: &str| text.trim().parse().ok().filter(|port: &u16| *port > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (port(first), port(last)) {
        (Some(first), Some(last)) if first <= last => Ok(PortRange { first, last }),
        _ => Err(format!("expected a port from 1 to 65535 or a range of ports, found {text:?}")),
    }
}

fn max_hold(text: &str) -> Result<unruffled_units::Duration, String> {
    let range =
        unruffled_units::Duration::from_millis(1)..=unruffled_units::Duration::from_secs(10);
    let span = unruffled_units::parse_duration(text).map_err(|error| error.to_string())?;
    let expected = || format!("expected 1 ms to 10 s, found {text:?}");
    range.contains(&span).then_some(span).ok_or_else(expected)
}

fn budget(text: &str) -> Result<u64, String> {
    let octets = unruffled_units::parse_bytes(text).map_err(|error| error.to_string())?;
    let expected = || format!("expected at least 256 KiB, one large packet; found {text:?}");
    (octets >= MIN_BUDGET).then_some(octets).ok_or_else(expected)
}

impl Arguments {
    fn settings(&self) -> Settings {
        let has = |tunnel| self.tunnel.contains(&tunnel);
        Settings {
            hook: if self.forward { Hook::Forward } else { Hook::Input },
            interfaces: self.interface.clone(),
            ports: self.port.clone(),
            tunnels: Tunnels {
                wireguard: has(Tunnel::Wireguard),
                esp: has(Tunnel::Esp),
                openvpn: has(Tunnel::Openvpn),
            },
            max_hold: self.max_hold,
            budget: self.budget.unwrap_or(Config::default().budget),
            queues: self.queues,
        }
    }
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let settings = arguments.settings();
    let signalled = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registration fails only for signals that cannot be caught, which these are not.
        let _ = signal_hook::flag::register(signal, Arc::clone(&signalled));
    }
    let again = match crate::invocation::again() {
        Ok(again) => again,
        Err(error) => return crate::refuse(format!("resequence: this program's file: {error}")),
    };
    let worker = move || {
        let mut command = again();
        command.arg("resequence-worker");
        command
    };
    let started = Instant::now();
    let guardian = match Guardian::start(&settings, worker) {
        Ok(guardian) => guardian,
        Err(error) => return crate::refuse(format!("resequence: {error}")),
    };
    let installed = guardian.installed().clone();
    crate::print_notice(&text::beginning(&settings, &installed));
    watch(&guardian, &signalled);
    match guardian.stop() {
        Err(error) => crate::refuse(format!("resequence: {error}")),
        Ok(report) => {
            let seconds = started.elapsed().as_secs_f64();
            crate::print(if arguments.json {
                Printed::Json(format!("{}\n", text::json(&settings, &installed, &report, seconds)))
            } else {
                Printed::People(text::totals(&report, seconds))
            })
        }
    }
}

/// Waits for a signal, or for the guardian to give up. Shows the current rates on a terminal.
fn watch(guardian: &Guardian, signalled: &AtomicBool) {
    let shows = std::io::stderr().is_terminal();
    let mut earlier = guardian.report();
    let mut next = Instant::now() + LINE_INTERVAL;
    while !signalled.load(Ordering::Relaxed) && !guardian.has_ended() {
        thread::sleep(POLL_INTERVAL);
        if shows && Instant::now() >= next {
            next += LINE_INTERVAL;
            let report = guardian.report();
            print_line(&text::line(&report, &earlier));
            earlier = report;
        }
    }
}

/// Prints a line on standard error. A failure is ignored.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Runs the worker. The guardian's end is the only one that a signal causes.
pub(crate) fn worker() -> ExitCode {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let ignored = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal, ignored);
    }
    match unruffled_nfqueue::worker() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::refuse(format!("resequence-worker: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use unruffled_nfqueue::Report;

    use super::*;

    #[test]
    fn a_port_may_be_a_range() {
        assert_eq!(ports("443"), Ok(PortRange { first: 443, last: 443 }));
        assert_eq!(ports("5201-5210"), Ok(PortRange { first: 5201, last: 5210 }));
        for text in ["", "0", "65536", "9-8", "-5", "5-", "http", "1-2-3", "+"] {
            let error = ports(text).expect_err(text);
            assert!(error.starts_with("expected a port from 1 to 65535"), "{error}");
        }
    }

    #[test]
    fn bounds_are_within_what_makes_sense() {
        for text in ["0", "0 s", "11 s", "soon", "-1s"] {
            assert!(max_hold(text).is_err(), "{text}");
        }
        assert!(max_hold("300 ms").is_ok());
        for text in ["0", "100 kB", "-1", "much"] {
            assert!(budget(text).is_err(), "{text}");
        }
        assert_eq!(budget("64 MiB"), Ok(64 << 20));
    }

    #[test]
    fn the_defaults_are_those_of_the_core() {
        let default = Settings::default();
        assert_eq!(max_hold("1 s"), Ok(default.max_hold));
        assert_eq!(default.budget, 128 << 20, "as --budget says");
    }

    #[test]
    fn the_report_of_nothing_has_no_rates() {
        let nothing = Report::default();
        let line = text::line(&nothing, &nothing);
        assert!(line.starts_with("      0 packets/s") && line.contains("–"), "{line}");
    }
}
