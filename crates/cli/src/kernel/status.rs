//! `unruffled status`: what is attached, and the state of the connections.

use std::process::ExitCode;
use std::thread;

use clap::Args;
use unruffled_kernel::{Error, Sample};
use unruffled_units::Duration;

use super::NamespaceArguments;
use crate::{Printed, resequence};

mod attached;
mod date;
mod observed;
mod openmetrics;
mod row;
mod table;
mod terminal;
mod view;

pub(super) use observed::Metrics;

use observed::Observed;
use row::{Column, Order};
use view::View;

#[derive(Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Show it again after each interval; on a terminal, keys sort and scroll, and q ends it
    #[arg(long)]
    watch: bool,
    /// The time that rates cover, from 100 ms to 60 min
    #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = interval)]
    interval: Duration,
    /// Sort by this column: figures with the largest first, words by the alphabet
    #[arg(long, value_enum, value_name = "COLUMN", default_value = "rate")]
    sort: Column,
    /// Show only the first connections
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// As JSON; with --watch, a line for each interval
    #[arg(long)]
    json: bool,
    /// As OpenMetrics text, for the textfile collector of node_exporter
    #[arg(long, conflicts_with_all = ["json", "watch", "sort", "top", "netns", "pid"])]
    openmetrics: bool,
}

/// Parses the time between two samples. Shorter ones would show bursts and not rates.
fn interval(text: &str) -> Result<Duration, String> {
    let range = Duration::from_millis(100)..=Duration::from_secs(3600);
    let interval = unruffled_units::parse_duration(text).map_err(|error| error.to_string())?;
    range
        .contains(&interval)
        .then_some(interval)
        .ok_or_else(|| format!("expected 100 ms to 60 min, found {text:?}"))
}

pub(crate) fn status(arguments: &StatusArguments) -> ExitCode {
    match show(arguments) {
        Err(error) => crate::refuse(format!("status: {error}")),
        Ok(status) => status,
    }
}

impl StatusArguments {
    fn interval(&self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.interval.as_nanos())
    }

    fn top(&self) -> Option<usize> {
        self.top.and_then(|top| usize::try_from(top).ok())
    }

    fn text(&self, observed: &Observed) -> Printed {
        let order = Order::by(self.sort);
        if self.json {
            Printed::Json(observed.json(order, self.top()))
        } else if self.openmetrics {
            Printed::Data(observed.openmetrics())
        } else {
            let (width, _) = crate::output::terminal();
            Printed::People(observed.text(order, self.top(), width))
        }
    }
}

fn show(arguments: &StatusArguments) -> Result<ExitCode, Error> {
    let namespace = arguments.namespace.target().map(|target| target.inode()).transpose()?;
    let take = || {
        let mut sample = Sample::take()?;
        if let Some(namespace) = namespace {
            sample.retain_namespace(namespace);
        }
        Ok::<_, Error>(sample)
    };
    let mut earlier = match take() {
        Ok(sample) => sample,
        // A resequencer needs nothing that the congestion control does.
        Err(error) => {
            let running = unruffled_nfqueue::status().filter(|_| !arguments.openmetrics);
            let Some(running) = running else { return Err(error) };
            return show_resequencer(arguments, running);
        }
    };
    let with_programs = !arguments.openmetrics;
    if arguments.watch && !arguments.json && terminal::is_interactive() {
        let view = View::new(Order::by(arguments.sort), arguments.top());
        let first = Observed::new(earlier.since(&earlier), false, with_programs)?;
        let observe = || {
            let now = take()?;
            let status = now.since(&earlier);
            earlier = now;
            Observed::new(status, true, with_programs)
        };
        return terminal::watch(view, first, arguments.interval(), observe);
    }
    loop {
        // Without connections, and without the possibility of new ones, there are no rates to wait for.
        let has_rates = arguments.watch || !earlier.is_empty() || unruffled_kernel::is_registered();
        if has_rates {
            thread::sleep(arguments.interval());
        }
        let now = take()?;
        let observed = Observed::new(now.since(&earlier), has_rates, with_programs)?;
        earlier = now;
        match crate::print_on(arguments.text(&observed)) {
            Ok(_) if arguments.watch => {}
            Ok(status) | Err(status) => return Ok(status),
        }
    }
}

/// Shows only the resequencer, where the congestion control is not available.
fn show_resequencer(
    arguments: &StatusArguments,
    mut running: unruffled_nfqueue::Status,
) -> Result<ExitCode, Error> {
    loop {
        let text = match arguments.json {
            true => Printed::Json(observed::json_of_resequencer(&running)),
            false => Printed::People(resequence::state(&running)),
        };
        match crate::print_on(text) {
            Ok(_) if arguments.watch => {}
            Ok(status) | Err(status) => return Ok(status),
        }
        thread::sleep(arguments.interval());
        match unruffled_nfqueue::status() {
            Some(status) => running = status,
            None => return Ok(ExitCode::SUCCESS),
        }
    }
}
