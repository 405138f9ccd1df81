//! `unruffled attach --all`: attaches network namespaces until a signal arrives or all is detached.

use std::collections::BTreeSet;
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use unruffled_kernel::{Coverage, Daemon, Error, Round};
use unruffled_units::count;

use super::exporter::Exporter;
use super::service::Service;
use super::status::Metrics;
use super::{print_line, registration};
use crate::interrupt::Interrupt;

/// Time after which a round begins without an event.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Number of failures that are not printed again.
const MAX_PRINTED: usize = 1000;

/// Attaches namespaces, and exports metrics at a port.
pub(super) fn serve(coverage: Coverage, port: Option<u16>) -> ExitCode {
    // Before anything is attached.
    let exporter = match port.map(|port| (port, Exporter::bind(port))) {
        None => None,
        Some((_, Ok(exporter))) => Some(exporter),
        Some((port, Err(error))) => {
            let expected = "expected a free port of 127.0.0.1";
            return crate::refuse(format!("attach: --metrics-port {port}: {error}: {expected}"));
        }
    };
    let watched = Interrupt::watch();
    let (interrupt, wake) = match watched {
        Ok(watched) => watched,
        Err(error) => return crate::refuse(format!("attach: signals: {error}")),
    };
    let service = Service::from_environment();
    let served = Daemon::start(coverage).and_then(|mut daemon| {
        let first = daemon.serve()?;
        exporter.map_or(Ok(()), export)?;
        print_line(&first_line(coverage, &daemon, &first));
        service.notify(&format!("READY=1\n{}", status(&first)));
        let mut failures = BTreeSet::new();
        report(&first, &mut failures);
        let mut total = first.total;
        let longest = service.interval().map_or(MAX_WAIT, |interval| interval.min(MAX_WAIT));
        while !interrupt.has_arrived() {
            daemon.wait(wake.as_fd(), longest)?;
            let round = daemon.serve()?;
            if round.is_detached {
                return Ok("detached by another command");
            }
            if round.total != total {
                service.notify(&status(&round));
                total = round.total;
            }
            service.notify("WATCHDOG=1");
            report(&round, &mut failures);
        }
        Ok::<_, Error>("ended; what is attached stays until `unruffled detach`")
    });
    service.notify("STOPPING=1");
    match served {
        Ok(end) => print_line(end),
        Err(error) => crate::refuse(format!("attach: {error}")),
    }
}

/// Begins to export metrics.
fn export(exporter: Exporter) -> Result<(), Error> {
    let metrics = Mutex::new(Metrics::new()?);
    let read = move || {
        // After a panic of another client's thread, the next reading begins anew.
        let mut metrics = metrics.lock().unwrap_or_else(PoisonError::into_inner);
        metrics.text().map_err(|error| error.to_string())
    };
    if let Err(error) = exporter.serve(read) {
        crate::print_notice(&format!("unruffled: attach: --metrics-port: {error}"));
    }
    Ok(())
}

/// Returns the line that is printed when all present namespaces are attached.
fn first_line(coverage: Coverage, daemon: &Daemon, round: &Round) -> String {
    let mut text = format!(
        "{} {}, the default of {}, without timestamps, and of each later one until this command ends",
        coverage.growth.control(),
        registration(daemon.registration()),
        count(round.total, "network namespace"),
    );
    if !daemon.has_events() {
        text += ", found by a look each 250 ms";
    }
    if coverage.existing {
        text += &format!("; {} switched", count(round.switched, "open connection"));
    }
    if round.unreachable > 0 {
        text += &format!("; {} cannot be entered from here", count(round.unreachable, "other"));
    }
    text
}

/// Returns the status for the service manager.
fn status(round: &Round) -> String {
    format!("STATUS=attached: {}", count(round.total, "network namespace"))
}

/// Prints the failures of a round that were not printed before.
fn report(round: &Round, printed: &mut BTreeSet<String>) {
    if printed.len() > MAX_PRINTED {
        printed.clear();
    }
    for failure in &round.failures {
        if printed.insert(failure.clone()) {
            crate::print_notice(&format!("unruffled: attach: {failure}"));
        }
    }
}
