//! What `status` shows, as it is read from the machine.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use serde_json::json;
use unruffled_doctor::{namespace_names, programs};
use unruffled_kernel::{
    Attachments, Error, Growth, Sample, Status, find_network_namespaces, is_registered,
};

use super::attached::{self, Names};
use super::openmetrics;
use super::row::{Order, Row};
use super::table;
use crate::resequence;

/// Everything that `status` shows.
pub(super) struct Observed {
    pub(super) attached: Attachments,
    pub(super) is_registered: bool,
    /// The state of the connections, which are in `rows`.
    pub(super) status: Status,
    pub(super) rows: Vec<Row>,
    pub(super) names: Names,
    /// Whether the rates cover a time.
    pub(super) has_rates: bool,
    pub(super) resequencer: Option<unruffled_nfqueue::Status>,
}

impl Observed {
    /// Looks up what surrounds the connections; their programs only if `with_programs`.
    pub(super) fn new(
        mut status: Status,
        has_rates: bool,
        with_programs: bool,
    ) -> Result<Self, Error> {
        let attached = Attachments::read()?;
        let connections = std::mem::take(&mut status.connections);
        let own = fs::metadata("/proc/thread-self/ns/net").map_or(0, |found| found.ino());
        let used: BTreeSet<u64> = connections.iter().map(|c| c.namespace).collect();
        let others: BTreeSet<u64> = used.iter().copied().filter(|inode| *inode != own).collect();
        let found = find_network_namespaces(others).map(|(inode, _)| inode);
        let reachable: BTreeSet<u64> = found.chain([own]).collect();
        let listed = attached.namespaces.iter().map(|namespace| namespace.inode);
        let filtered = attached.filters.iter().map(|filter| filter.namespace);
        let named: BTreeSet<u64> = used.into_iter().chain(listed).chain(filtered).collect();
        let names = Names { own, places: namespace_names(&named, own) };
        let programs = match with_programs {
            true => programs(connections.iter().filter_map(|c| c.inode).collect()),
            false => Default::default(),
        };
        let row = |connection: unruffled_kernel::Connection| {
            let program = connection.inode.and_then(|inode| programs.get(&inode));
            let namespace = names.of(connection.namespace);
            let is_reachable = reachable.contains(&connection.namespace);
            Row::new(connection, program, namespace, is_reachable)
        };
        let rows = connections.into_iter().map(row).collect();
        Ok(Self {
            attached,
            is_registered: is_registered(),
            status,
            rows,
            names,
            has_rates,
            resequencer: unruffled_nfqueue::status(),
        })
    }

    /// Returns the state as a line of JSON.
    pub(super) fn json(&self, order: Order, top: Option<usize>) -> String {
        let mut rows = self.rows.clone();
        order.sort(&mut rows);
        rows.truncate(top.unwrap_or(usize::MAX));
        let document = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "registered": self.is_registered,
            "attached": self.attached,
            "interval_s": self.has_rates.then_some(self.status.interval.as_secs_f64()),
            "connections": rows,
            "totals": self.status.totals,
            "ended": self.status.ended,
            "others": self.status.others,
            "resequencer": self.resequencer.as_ref().map(resequence::state_json),
        });
        format!("{document}\n")
    }

    /// Returns the state as text of at most `width` columns.
    pub(super) fn text(&self, order: Order, top: Option<usize>, width: usize) -> String {
        let mut rows = self.rows.clone();
        order.sort(&mut rows);
        let mut text =
            attached::render(&self.attached, self.is_registered, &self.names, width) + "\n";
        text += &table::render(&rows, top, &self.status, self.is_registered, width);
        text += &self.resequencer.as_ref().map(resequence::state).unwrap_or_default();
        text
    }

    /// Returns the state as OpenMetrics text.
    pub(super) fn openmetrics(&self) -> String {
        let registered: Vec<Growth> =
            Growth::ALL.into_iter().filter(|growth| growth.is_registered()).collect();
        let Self { attached, status, .. } = self;
        openmetrics::render(
            &openmetrics::State { attached, status, registered: &registered },
            &self.rows,
        )
    }
}

/// Returns the state without the congestion control, where only a resequencer runs.
pub(super) fn json_of_resequencer(running: &unruffled_nfqueue::Status) -> String {
    let document = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "registered": false,
        "attached": null,
        "interval_s": null,
        "connections": [],
        "totals": [],
        "ended": 0,
        "others": 0,
        "resequencer": resequence::state_json(running),
    });
    format!("{document}\n")
}

/// Minimum time that the rates of two readings cover.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Metrics of a process that goes on. Rates cover the time since the reading before, at least a second; within
/// it, the text of that reading is returned again.
pub(in crate::kernel) struct Metrics {
    earlier: Sample,
    text: String,
    read: Instant,
}

impl Metrics {
    /// Takes the first sample.
    pub(in crate::kernel) fn new() -> Result<Self, Error> {
        let earlier = Sample::take()?;
        let text = Observed::new(earlier.since(&earlier), false, false)?.openmetrics();
        Ok(Self { earlier, text, read: Instant::now() })
    }

    /// Returns the metrics as OpenMetrics text.
    pub(in crate::kernel) fn text(&mut self) -> Result<String, Error> {
        if self.read.elapsed() >= MIN_INTERVAL {
            let sample = Sample::take()?;
            let status = sample.since(&self.earlier);
            self.text = Observed::new(status, true, false)?.openmetrics();
            self.earlier = sample;
            self.read = Instant::now();
        }
        Ok(self.text.clone())
    }
}
