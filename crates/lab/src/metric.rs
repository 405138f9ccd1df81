//! The metrics of a run. [`METRICS`] is their table: the fields of JSON and CSV, the columns of
//! table and report, and the kernel counters of a race.
//!
//! To add a metric, add a constant, put it into [`METRICS`] for JSON and CSV, and into the lists of
//! [`summary`](crate::summary) for the table.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::row::RunRow;

/// A number of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A measured value; none if the sender has no such value.
    Measured(Option<f64>),
}

impl Value {
    /// Returns the value as a floating-point number, for means.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(count as f64),
            Self::Measured(number) => number,
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Measured(Some(number)) => serializer.serialize_f64(*number),
            Self::Measured(None) => serializer.serialize_none(),
        }
    }
}

/// The unit of a metric. It determines the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bits per second, shown as Mb/s with the confidence interval.
    BitsPerSecond,
    /// Segments of the stream, as a mean.
    Segments,
    /// A share from 0 to 1, shown in percent.
    Share,
    /// Occurrences in a run.
    Times,
}

/// A metric: [`of`](Self::of) reads it from a [`RunRow`].
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name in JSON and CSV; it never changes.
    pub name: &'static str,
    /// The heading on a terminal of 80 columns.
    pub short: &'static str,
    /// The heading on a page.
    pub heading: &'static str,
    /// The unit.
    pub unit: Unit,
    extract: Extract,
}

/// The accessor of a metric in a row.
#[derive(Clone, Copy, Debug)]
enum Extract {
    Count {
        get: fn(&RunRow) -> u64,
        put: fn(&mut RunRow, u64),
        kernel: &'static [Counter],
    },
    Number(fn(&RunRow) -> f64),
    /// A number that some senders do not have.
    Optional(fn(&RunRow) -> Option<f64>),
    /// A count that some senders do not have.
    OptionalCount(fn(&RunRow) -> Option<u64>),
}

/// A kernel counter: its group and its name, as in `nstat` and linux/snmp.h.
pub type Counter = (&'static str, &'static str);

impl Metric {
    /// Returns the value in a run.
    pub fn of(&self, row: &RunRow) -> Value {
        match self.extract {
            Extract::Count { get, .. } => Value::Count(get(row)),
            Extract::Number(get) => Value::Measured(Some(get(row))),
            Extract::Optional(get) => Value::Measured(get(row)),
            Extract::OptionalCount(get) => get(row).map_or(Value::Measured(None), Value::Count),
        }
    }

    /// Returns whether there are senders without this metric.
    pub(crate) fn is_optional(&self) -> bool {
        matches!(self.extract, Extract::Optional(_) | Extract::OptionalCount(_))
    }

    /// Returns whether the metric is a count.
    pub fn is_count(&self) -> bool {
        matches!(self.extract, Extract::Count { .. })
    }

    /// Sets the metric in a row to the sum of its kernel counters, if it has any.
    pub fn count_by_kernel(&self, row: &mut RunRow, counter: impl Fn(Counter) -> u64) {
        if let Extract::Count { put, kernel: counters @ [_, ..], .. } = self.extract {
            put(row, counters.iter().copied().map(counter).sum());
        }
    }
}

/// Returns a metric that is a count in the flow's record.
const fn count(
    name: &'static str,
    short: &'static str,
    heading: &'static str,
    get: fn(&RunRow) -> u64,
    put: fn(&mut RunRow, u64),
    kernel: &'static [Counter],
) -> Metric {
    Metric { name, short, heading, unit: Unit::Times, extract: Extract::Count { get, put, kernel } }
}

/// Returns a metric that every sender has.
const fn number(
    name: &'static str,
    short: &'static str,
    heading: &'static str,
    unit: Unit,
    get: fn(&RunRow) -> f64,
) -> Metric {
    Metric { name, short, heading, unit, extract: Extract::Number(get) }
}

/// Returns a metric that some senders do not have.
const fn optional(
    name: &'static str,
    short: &'static str,
    heading: &'static str,
    unit: Unit,
    get: fn(&RunRow) -> Option<f64>,
) -> Metric {
    Metric { name, short, heading, unit, extract: Extract::Optional(get) }
}

/// Returns a counter of the kernel's group `Tcp`.
const fn tcp(name: &'static str) -> Counter {
    ("Tcp", name)
}

/// Returns a counter of the kernel's group `TcpExt`.
const fn ext(name: &'static str) -> Counter {
    ("TcpExt", name)
}

/// The measured time: the run without its warm-up.
pub(crate) const DURATION: Metric =
    number("duration_s", "s", "Measured time, s", Unit::Seconds, |row| row.flow.duration_s);

/// Segments that reached the receiving application in order, once each.
pub(crate) const DELIVERED: Metric = count(
    "delivered_segments",
    "delivered",
    "Segments delivered",
    |row| row.flow.delivered_segments,
    |row, count| row.flow.delivered_segments = count,
    &[],
);

/// Payload delivered in order over the measured time.
pub(crate) const GOODPUT: Metric =
    number("goodput_bps", "Mb/s", "Goodput, Mb/s", Unit::BitsPerSecond, |row| row.flow.goodput_bps);

/// Data segments sent, including retransmissions. A kernel's counter excludes retransmissions,
/// which it counts separately (RFC 4022, tcpOutSegs), and includes segments without data.
pub(crate) const SENT: Metric = count(
    "sent_segments",
    "sent",
    "Segments sent",
    |row| row.flow.sending.sent_segments,
    |row, count| row.flow.sending.sent_segments = count,
    &[tcp("OutSegs"), tcp("RetransSegs")],
);

/// Retransmissions of any cause.
pub(crate) const RETRANSMITS: Metric = count(
    "retransmits",
    "rtx",
    "Retransmissions",
    |row| row.flow.sending.retransmits,
    |row, count| row.flow.sending.retransmits = count,
    &[tcp("RetransSegs")],
);

/// Entries into recovery by loss detection; timeouts are not counted.
pub(crate) const FAST_RETRANSMITS: Metric = count(
    "fast_retransmits",
    "fast rtx",
    "Fast retransmits",
    |row| row.flow.sending.fast_retransmits,
    |row, count| row.flow.sending.fast_retransmits = count,
    &[ext("TCPSackRecovery"), ext("TCPRenoRecovery")],
);

/// Entries into recovery of which every retransmission proved spurious; for a kernel, those that it
/// undid.
pub(crate) const SPURIOUS_FAST_RETRANSMITS: Metric = count(
    "false_fast_retransmits",
    "spurious",
    "of\u{a0}these spurious",
    |row| row.flow.sending.false_fast_retransmits,
    |row, count| row.flow.sending.false_fast_retransmits = count,
    &[ext("TCPFullUndo"), ext("TCPPartialUndo"), ext("TCPDSACKUndo")],
);

/// Retransmission timeouts.
pub(crate) const TIMEOUTS: Metric = count(
    "timeouts",
    "timeouts",
    "Timeouts",
    |row| row.flow.sending.timeouts,
    |row, count| row.flow.sending.timeouts = count,
    &[ext("TCPTimeouts")],
);

/// Timeouts of which every retransmission proved spurious.
pub(crate) const SPURIOUS_TIMEOUTS: Metric = count(
    "false_timeouts",
    "spur. RTO",
    "of\u{a0}these spurious",
    |row| row.flow.sending.false_timeouts,
    |row, count| row.flow.sending.false_timeouts = count,
    &[ext("TCPLossUndo")],
);

/// The mean over time of the duplicate threshold; none for senders that use time only.
pub(crate) const DUPTHRESH: Metric =
    optional("dupthresh_mean", "dupthresh", "Mean dupthresh", Unit::Segments, |row| {
        row.flow.means.dupthresh_mean
    });

/// The share of sent packets that the path dropped.
pub(crate) const LOSS_RATE: Metric =
    number("loss_rate", "lost %", "Lost,\u{a0}%", Unit::Share, |row| row.loss_rate);

/// The share of arrived packets that arrived after a later one.
pub(crate) const OUT_OF_ORDER_RATE: Metric =
    number("out_of_order_rate", "late %", "Out of order,\u{a0}%", Unit::Share, |row| {
        row.out_of_order_rate
    });

/// Holes that were closed by late packets, as seen by the sender.
pub(crate) const REORDERING_EVENTS: Metric = count(
    "reordering_events",
    "reord",
    "Reorderings seen",
    |row| row.flow.sending.reordering_events,
    |row, count| row.flow.sending.reordering_events = count,
    &[ext("TCPSACKReorder"), ext("TCPTSReorder"), ext("TCPRenoReorder")],
);

/// The mean over time of the congestion window; none if it is not visible.
pub(crate) const CWND: Metric =
    optional("cwnd_mean", "cwnd", "Mean congestion window", Unit::Segments, |row| {
        row.flow.means.cwnd_mean
    });

/// Tail loss probes sent.
pub(crate) const LOSS_PROBES: Metric = count(
    "loss_probes",
    "probes",
    "Tail loss probes",
    |row| row.flow.sending.loss_probes,
    |row, count| row.flow.sending.loss_probes = count,
    &[ext("TCPLossProbes")],
);

/// The FA ratio at the end of the run (RR-TCP only).
pub(crate) const FA_RATIO: Metric =
    optional("fa_ratio", "FA %", "FA ratio,\u{a0}%", Unit::Share, |row| row.flow.means.fa_ratio);

/// Segments that the receiver reported as duplicates by DSACK.
pub(crate) const DSACKS: Metric = count(
    "dsacks",
    "DSACK",
    "DSACKs",
    |row| row.flow.sending.dsacks,
    |row, count| row.flow.sending.dsacks = count,
    &[ext("TCPDSACKRecv"), ext("TCPDSACKOfoRecv")],
);

/// Data segments that the path marked with CE.
pub(crate) const MARKED: Metric = Metric {
    name: "marked_segments",
    short: "CE",
    heading: "Marked CE",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| Some(row.flow.ecn?.marked_segments)),
};

/// Reductions of the window because of marks.
pub(crate) const ECN_REDUCTIONS: Metric = Metric {
    name: "ecn_reductions",
    short: "ECN",
    heading: "ECN reductions",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| row.flow.ecn?.ecn_reductions),
};

/// The metrics that follow [`METRICS`] in JSON and CSV where the senders request ECN.
pub const ECN_METRICS: [Metric; 2] = [MARKED, ECN_REDUCTIONS];

/// Data segments that an anti-replay window at the far end of a link dropped.
pub(crate) const REPLAY_DROPS: Metric = Metric {
    name: "replay_drops",
    short: "replay",
    heading: "Replay drops",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| Some(row.flow.exits?.replay_drops)),
};

/// Data segments that a limit on ranges at the far end of a link dropped.
pub(crate) const RANGE_DROPS: Metric = Metric {
    name: "range_drops",
    short: "ranges",
    heading: "Range drops",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| Some(row.flow.exits?.range_drops)),
};

/// Data segments whose IPv4 fragments were too far apart at the far end of a link.
pub(crate) const FRAGMENT_DROPS: Metric = Metric {
    name: "fragment_drops",
    short: "fragments",
    heading: "Fragment drops",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| Some(row.flow.exits?.fragment_drops)),
};

/// The metrics that follow these in JSON and CSV where the far end of a link may drop packets.
pub const EXIT_METRICS: [Metric; 3] = [REPLAY_DROPS, RANGE_DROPS, FRAGMENT_DROPS];

/// Packets that a foreign stack declared lost, or segments that it sent again, although they arrived.
pub(crate) const SPURIOUS_RETRANSMITS: Metric = Metric {
    name: "spurious_retransmits",
    short: "spurious",
    heading: "of\u{a0}these spurious",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| Some(row.flow.stack?.spurious_retransmits)),
};

/// Packets that arrived and that a foreign stack dropped as duplicates or as too old, although it had not
/// had them.
pub(crate) const DISCARDED: Metric = Metric {
    name: "discarded",
    short: "discarded",
    heading: "Discarded on arrival",
    unit: Unit::Times,
    extract: Extract::OptionalCount(|row| row.flow.stack?.discarded),
};

/// The metrics that follow these in JSON and CSV where a foreign stack sends.
pub const STACK_METRICS: [Metric; 2] = [SPURIOUS_RETRANSMITS, DISCARDED];

/// The metrics of a [`RunRow`], in the order of its fields in JSON and CSV.
pub const METRICS: [Metric; 17] = [
    DURATION,
    DELIVERED,
    GOODPUT,
    SENT,
    RETRANSMITS,
    FAST_RETRANSMITS,
    SPURIOUS_FAST_RETRANSMITS,
    TIMEOUTS,
    SPURIOUS_TIMEOUTS,
    DUPTHRESH,
    LOSS_RATE,
    OUT_OF_ORDER_RATE,
    REORDERING_EVENTS,
    CWND,
    LOSS_PROBES,
    FA_RATIO,
    DSACKS,
];

/// Returns the metrics of these rows: [`METRICS`], and those that any of the rows has. They are the columns
/// of CSV and of tables in Python.
pub fn metrics<'a>(rows: impl IntoIterator<Item = &'a RunRow>) -> Vec<Metric> {
    let (mut has_ecn, mut has_exits, mut has_stack) = (false, false, false);
    for row in rows {
        has_ecn |= row.flow.ecn.is_some();
        has_exits |= row.flow.exits.is_some();
        has_stack |= row.flow.stack.is_some();
    }
    let ecn = if has_ecn { &ECN_METRICS[..] } else { &[] };
    let exits = if has_exits { &EXIT_METRICS[..] } else { &[] };
    let stack = if has_stack { &STACK_METRICS[..] } else { &[] };
    METRICS.iter().chain(ecn).chain(exits).chain(stack).copied().collect()
}

impl Serialize for RunRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metrics = metrics([self]);
        let mut row = serializer.serialize_struct("RunRow", 3 + metrics.len())?;
        row.serialize_field("scenario", &self.scenario)?;
        row.serialize_field("variant", &self.variant)?;
        row.serialize_field("seed", &self.seed)?;
        for metric in metrics {
            row.serialize_field(metric.name, &metric.of(self))?;
        }
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use unruffled_measure::{EcnCounts, ExitCounts};

    use super::*;
    use crate::record::fake;

    #[test]
    fn metric_names_are_unique() {
        for (i, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|m| m.name != metric.name), "{}", metric.name);
        }
    }

    #[test]
    fn a_serialized_row_has_its_run_and_every_metric_by_name() {
        let row = &fake::comparison().variants[0].rows[0];
        let json = serde_json::to_value(row).unwrap();
        let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        let fields: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(fields.len(), 3 + names.len());
        for metric in METRICS {
            assert_eq!(json[metric.name], serde_json::to_value(metric.of(row)).unwrap());
        }
    }

    #[test]
    fn a_row_of_a_sender_that_requests_ecn_has_its_counts_and_columns() {
        let mut comparison = fake::comparison();
        let heads = |comparison: &_| -> Vec<&'static str> {
            crate::summary::columns(comparison).iter().map(|column| column.short).collect()
        };
        let before = heads(&comparison);
        let row = &mut comparison.variants[0].rows[0];
        let counts = EcnCounts { marked_segments: 5, ecn_reductions: Some(2) };
        row.flow.ecn = Some(counts);
        let json = serde_json::to_value(&*row).unwrap();
        assert_eq!((&json["marked_segments"], &json["ecn_reductions"]), (&5.into(), &2.into()));
        assert_eq!(json.as_object().unwrap().len(), 3 + METRICS.len() + 2);
        row.flow.ecn = Some(EcnCounts { ecn_reductions: None, ..counts });
        assert!(serde_json::to_value(&*row).unwrap()["ecn_reductions"].is_null(), "a kernel's");
        let mut expected = before;
        expected.splice(3..3, ["CE", "ECN"]);
        assert_eq!(heads(&comparison), expected);
    }

    #[test]
    fn a_row_of_a_path_with_a_replay_window_has_its_counts_and_columns_for_those_above_zero() {
        let mut comparison = fake::comparison();
        let heads = |comparison: &_| -> Vec<&'static str> {
            crate::summary::columns(comparison).iter().map(|column| column.short).collect()
        };
        let before = heads(&comparison);
        let row = &mut comparison.variants[0].rows[0];
        row.flow.exits = Some(ExitCounts { replay_drops: 7, ..ExitCounts::default() });
        let json = serde_json::to_value(&*row).unwrap();
        assert_eq!((&json["replay_drops"], &json["range_drops"]), (&7.into(), &0.into()));
        assert_eq!(json.as_object().unwrap().len(), 3 + METRICS.len() + EXIT_METRICS.len());
        let mut expected = before.clone();
        expected.insert(3, "replay");
        assert_eq!(heads(&comparison), expected);
        comparison.variants[0].rows[0].flow.exits = Some(ExitCounts::default());
        assert_eq!(heads(&comparison), before);
    }

    #[test]
    fn a_metric_is_the_sum_of_its_kernel_counters() {
        let mut row = fake::comparison().variants[0].rows[0].clone();
        let delivered = row.flow.delivered_segments;
        for metric in METRICS {
            metric.count_by_kernel(&mut row, |(group, name)| match (group, name) {
                ("Tcp", "RetransSegs") => 7,
                ("TcpExt", "TCPDSACKRecv") => 2,
                ("TcpExt", "TCPDSACKOfoRecv") => 3,
                _ => 0,
            });
        }
        assert_eq!(
            (row.flow.sending.retransmits, row.flow.sending.dsacks, row.flow.sending.timeouts),
            (7, 5, 0)
        );
        assert_eq!(row.flow.delivered_segments, delivered, "it has no kernel counter");
    }
}
