//! The state as OpenMetrics text. Counters are over all connections since a congestion control was registered;
//! gauges are over the open connections, by network namespace. No metric has a label for a connection, so their
//! number does not grow with it.
//!
//! The types are those that the older text format of Prometheus has, too, since the textfile collector of
//! node_exporter reads that one. There are no timestamps, which it rejects.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use unruffled_kernel::{Attachments, Growth, Status, Totals};

use super::row::{Row, growth};

/// Type of a metric.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gauge,
    Counter,
}

/// A metric without its values.
#[derive(Clone, Copy)]
struct Metric {
    name: &'static str,
    kind: Kind,
    /// Unit, with which the name ends.
    unit: Option<&'static str>,
    help: &'static str,
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, unit: None, help }
}

const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, unit: None, help }
}

/// Returns the value of a counter.
type Count = fn(&Totals) -> u64;

const COUNTERS: [(Metric, Count); 7] = [
    (
        counter("unruffled_started_connections", "Connections that came under unruffled."),
        |totals| totals.connections,
    ),
    (
        counter("unruffled_loss_events", "Loss events: the window was reduced once for each."),
        |totals| totals.events,
    ),
    (
        counter(
            "unruffled_spurious_loss_events",
            "Loss events whose packets were late and not lost.",
        ),
        |totals| totals.spurious,
    ),
    (
        counter("unruffled_restored_windows", "Windows restored after a spurious reduction."),
        |totals| totals.restored,
    ),
    (counter("unruffled_timeouts", "Expirations of retransmission timers."), |totals| {
        totals.timeouts
    }),
    (counter("unruffled_retransmitted_segments", "Segments sent again."), |totals| {
        totals.retransmissions
    }),
    (
        Metric {
            unit: Some("bytes"),
            ..counter("unruffled_acknowledged_bytes", "Octets that receivers have acknowledged.")
        },
        |totals| totals.acked,
    ),
];

/// Sums over the open connections of a network namespace with the same growth.
#[derive(Clone, Copy, Default)]
struct Sums {
    connections: u64,
    late: u64,
    subflows: u64,
    held: u64,
    lateness_s: f64,
    bytes_per_second: f64,
}

/// Returns the value of a gauge.
type Level = fn(&Sums) -> f64;

const GAUGES: [(Metric, Level); 6] = [
    (gauge("unruffled_connections", "Open connections under unruffled."), |sums| {
        sums.connections as f64
    }),
    (
        gauge("unruffled_late_connections", "Open connections whose packets were late recently."),
        |sums| sums.late as f64,
    ),
    (gauge("unruffled_mptcp_subflows", "Open connections that are subflows of MPTCP."), |sums| {
        sums.subflows as f64
    }),
    (
        gauge("unruffled_held_segments", "Segments held back now in place of being sent again."),
        |sums| sums.held as f64,
    ),
    (
        Metric {
            unit: Some("seconds"),
            ..gauge(
                "unruffled_lateness_seconds",
                "Largest lateness of packets in the last 8 to 16 seconds of a connection.",
            )
        },
        |sums| sums.lateness_s,
    ),
    (
        gauge(
            "unruffled_acknowledged_bytes_per_second",
            "Octets acknowledged per second of the measured interval.",
        ),
        |sums| sums.bytes_per_second,
    ),
];

const BUILD: Metric = gauge("unruffled_build_info", "Version of the command that exports this.");
const REGISTERED: Metric =
    gauge("unruffled_registered", "Whether the congestion control is in the kernel.");
const DAEMON: Metric = gauge(
    "unruffled_daemon_running",
    "Whether the daemon that attaches every network namespace runs; only while that is requested.",
);
const NAMESPACES: Metric =
    gauge("unruffled_attached_namespaces", "Network namespaces that have it as their default.");
const CGROUPS: Metric =
    gauge("unruffled_attached_cgroups", "Cgroups whose new connections have it.");
const INTERFACES: Metric =
    gauge("unruffled_filtered_interfaces", "Interfaces that remove timestamps from handshakes.");
const UNREACHABLE: Metric = gauge(
    "unruffled_unreachable_connections",
    "Open connections in network namespaces to which no process or file leads.",
);
const OTHERS: Metric = gauge(
    "unruffled_other_version_connections",
    "Open connections under another version of unruffled, which nothing else counts.",
);

/// What is exported, beside the rows.
pub(super) struct State<'a> {
    pub(super) attached: &'a Attachments,
    pub(super) status: &'a Status,
    pub(super) registered: &'a [Growth],
}

/// Returns the text.
pub(super) fn render(state: &State<'_>, rows: &[Row]) -> String {
    let mut text = Text::default();
    let attached = state.attached;
    text.family(BUILD, [(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0)]);
    let each = |value: &dyn Fn(Growth) -> bool| {
        Growth::ALL
            .map(|one| (vec![("growth", growth(one).to_owned())], f64::from(u8::from(value(one)))))
    };
    text.family(REGISTERED, each(&|one| state.registered.contains(&one)));
    let daemon = attached.all.as_ref().map(|all| f64::from(u8::from(all.process.is_some())));
    text.family(DAEMON, daemon.map(|running| (Vec::new(), running)));
    let by_growth = |number: &dyn Fn(Growth) -> usize| {
        Growth::ALL.map(|one| (vec![("growth", growth(one).to_owned())], number(one) as f64))
    };
    text.family(
        NAMESPACES,
        by_growth(&|one| attached.namespaces.iter().filter(|n| n.growth == Some(one)).count()),
    );
    text.family(
        CGROUPS,
        by_growth(&|one| attached.cgroups.iter().filter(|c| c.growth == one).count()),
    );
    text.family(INTERFACES, [(Vec::new(), attached.filters.len() as f64)]);
    let sums = sums(rows);
    for (metric, level) in GAUGES {
        let samples = sums.iter().map(|((namespace, one), sums)| {
            let labels = [("namespace", namespace.clone()), ("growth", growth(*one).to_owned())];
            (labels.to_vec(), level(sums))
        });
        text.family(metric, samples);
    }
    let unreachable = rows.iter().filter(|row| !row.is_reachable).count();
    text.family(UNREACHABLE, [(Vec::new(), unreachable as f64)]);
    text.family(OTHERS, [(Vec::new(), state.status.others as f64)]);
    for (metric, count) in COUNTERS {
        let samples = state.status.totals.iter().map(|totals| {
            let registration = ("registration", totals.registration.to_string());
            (vec![registration, ("growth", growth(totals.growth).to_owned())], count(totals) as f64)
        });
        text.family(metric, samples);
    }
    text.0 + "# EOF\n"
}

/// Returns the sums by network namespace and growth. Namespaces without a name have their inodes, as `ip netns`
/// and `/proc` show them.
fn sums(rows: &[Row]) -> BTreeMap<(String, Growth), Sums> {
    let mut sums: BTreeMap<(String, Growth), Sums> = BTreeMap::new();
    for row in rows {
        let c = &row.connection;
        // The number of a process would begin a new series with each process.
        let name = row.namespace_name.clone().filter(|name| !name.starts_with("pid "));
        let namespace = name.unwrap_or_else(|| format!("net:[{}]", c.namespace));
        let sum = sums.entry((namespace, c.growth)).or_default();
        sum.connections += 1;
        sum.late += u64::from(!c.late.is_zero());
        sum.subflows += u64::from(c.is_mptcp);
        sum.held += u64::from(c.held);
        sum.lateness_s = sum.lateness_s.max(c.late.as_secs_f64());
        sum.bytes_per_second += c.rate_bps / 8.0;
    }
    sums
}

/// Text of the format.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Appends a metric with its samples: labels and values. It is left out without samples.
    fn family(
        &mut self,
        metric: Metric,
        samples: impl IntoIterator<Item = (Vec<(&'static str, String)>, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let Metric { name, kind, unit, help } = metric;
        let (kind_name, suffix) = match kind {
            Kind::Gauge => ("gauge", ""),
            Kind::Counter => ("counter", "_total"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# TYPE {name} {kind_name}");
        if let Some(unit) = unit {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {help}");
        for (labels, value) in samples {
            let labels =
                labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value)));
            let labels: Vec<_> = labels.collect();
            let labels = match labels.is_empty() {
                true => String::new(),
                false => format!("{{{}}}", labels.join(",")),
            };
            let _ = writeln!(self.0, "{name}{suffix}{labels} {value}");
        }
    }
}

/// Escapes the value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the names of all metrics, as they are in queries.
#[cfg(test)]
fn names() -> Vec<String> {
    let single = [BUILD, REGISTERED, DAEMON, NAMESPACES, CGROUPS, INTERFACES, UNREACHABLE, OTHERS];
    let gauges = GAUGES.map(|(metric, _)| metric);
    let gauges = single.into_iter().chain(gauges).map(|metric| metric.name.to_owned());
    gauges.chain(COUNTERS.map(|(metric, _)| format!("{}_total", metric.name))).collect()
}

#[cfg(test)]
mod tests;
