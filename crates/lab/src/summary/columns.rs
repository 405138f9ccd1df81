//! The columns of the table of results, and their cells.

use super::means::{Summary, scale, summaries};
use crate::metric::{self, Metric, Unit};
use crate::rate::Scale;
use crate::record::{Comparison, Medium};
use crate::statistics::Estimate;
use crate::text::number;

/// A column of the table of results, with heads of several lengths.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The head on a terminal of 80 columns.
    pub short: &'static str,
    /// The head on a terminal where long names leave less room.
    pub(crate) tight: &'static str,
    /// The head on a page.
    pub long: &'static str,
    content: Content,
}

/// The content of a column.
#[derive(Clone, Copy, Debug)]
enum Content {
    Name,
    /// The goodput on the common scale of the comparison.
    Goodput(Scale),
    /// The share of the goodput of the undisturbed path.
    Share,
    Mean(Metric),
}

/// Returns a column of the means of a metric.
const fn mean(metric: Metric) -> Column {
    let Metric { short, heading: long, .. } = metric;
    Column { short, tight: short, long, content: Content::Mean(metric) }
}

const VARIANT: Column =
    Column { short: "variant", tight: "variant", long: "Variant", content: Content::Name };
/// The goodput; [`columns`] replaces the unit in its heads by a suitable one.
const GOODPUT: Column = mean(metric::GOODPUT);
const SHARE: Column =
    Column { short: "share %", tight: "share %", long: "Share,\u{a0}%", content: Content::Share };
const FAST: Column = Column { tight: "fast", ..mean(metric::FAST_RETRANSMITS) };
const SPURIOUS: Column = Column { tight: "spur.", ..mean(metric::SPURIOUS_FAST_RETRANSMITS) };
const TIMEOUTS: Column = Column { tight: "RTO", ..mean(metric::TIMEOUTS) };

/// The columns of a simulation.
const SIMULATION: &[Column] =
    &[VARIANT, GOODPUT, SHARE, FAST, SPURIOUS, TIMEOUTS, mean(metric::DUPTHRESH)];

/// The columns of a race, including counters of kernels.
const WIRE: &[Column] = &[
    VARIANT,
    GOODPUT,
    SHARE,
    mean(metric::RETRANSMITS),
    mean(metric::DSACKS),
    mean(metric::REORDERING_EVENTS),
    Column { short: FAST.tight, ..FAST },
    Column { short: SPURIOUS.tight, ..SPURIOUS },
    Column { short: TIMEOUTS.tight, ..TIMEOUTS },
];

/// The columns of a race in which foreign stacks take part.
const STACKS: &[Column] = &[
    VARIANT,
    GOODPUT,
    SHARE,
    mean(metric::RETRANSMITS),
    mean(metric::SPURIOUS_RETRANSMITS),
    mean(metric::DISCARDED),
    mean(metric::LOSS_RATE),
];

/// Returns the columns of the results, for [`cells`].
pub fn columns(comparison: &Comparison) -> Vec<Column> {
    let rows = || comparison.variants.iter().flat_map(|runs| &runs.rows);
    let columns = match comparison.medium {
        Medium::Simulation => SIMULATION,
        Medium::Wire if rows().any(|row| row.flow.stack.is_some()) => STACKS,
        Medium::Wire => WIRE,
    };
    let mut columns = columns.to_vec();
    let mut path = Vec::new();
    if rows().any(|row| row.flow.ecn.is_some()) {
        path.extend(metric::ECN_METRICS.map(mean));
    }
    let has_drops =
        |metric: &Metric| rows().any(|row| metric.of(row).number().is_some_and(|n| n > 0.0));
    path.extend(metric::EXIT_METRICS.into_iter().filter(has_drops).map(mean));
    let behind_share = columns.iter().position(|c| c.short == SHARE.short).map_or(0, |i| i + 1);
    columns.splice(behind_share..behind_share, path);
    let scale = scale(comparison, &summaries(comparison));
    let scaled = |column: &Column| match column.content {
        Content::Mean(Metric { unit: Unit::BitsPerSecond, .. }) => Column {
            short: scale.name(),
            tight: scale.name(),
            long: scale.heading(),
            content: Content::Goodput(scale),
        },
        _ => *column,
    };
    columns.iter().map(scaled).collect()
}

/// The short heads of the columns that are omitted first if there is no room, in this order.
pub(crate) const DISPENSABLE_COLUMNS: [&str; 3] =
    [metric::DUPTHRESH.short, metric::DSACKS.short, metric::REORDERING_EVENTS.short];

impl Column {
    /// Returns the cells of the column, one for each summary, with the same number of decimals.
    fn cells(&self, summaries: &[Summary<'_>]) -> Vec<String> {
        let each = |cell: &dyn Fn(&Summary<'_>) -> String| summaries.iter().map(cell).collect();
        let metric = match self.content {
            Content::Name => return each(&|s| s.variant.to_owned()),
            Content::Share => return each(&|s| number(s.share.mean * 100.0, 1)),
            Content::Goodput(scale) => return each(&|s| goodput(s, scale)),
            Content::Mean(metric) => metric,
        };
        let mean = |s: &Summary<'_>| s.estimate(&metric).map_or(f64::NAN, |e| e.mean);
        match metric.unit {
            Unit::BitsPerSecond => each(&|s| number(mean(s) / 1e6, 2)),
            Unit::Share => each(&|s| number(mean(s) * 100.0, 1)),
            Unit::Times => {
                let has_fraction = |v: f64| v.is_finite() && v.fract() != 0.0;
                let decimals = usize::from(summaries.iter().any(|s| has_fraction(mean(s))));
                each(&|s| number(mean(s), decimals))
            }
            Unit::Segments | Unit::Seconds => each(&|s| number(mean(s), 1)),
        }
    }
}

/// Returns a line of cells for each summary.
pub fn cells(columns: &[Column], summaries: &[Summary<'_>]) -> Vec<Vec<String>> {
    let columns: Vec<_> = columns.iter().map(|column| column.cells(summaries)).collect();
    (0..summaries.len()).map(|i| columns.iter().map(|cells| cells[i].clone()).collect()).collect()
}

/// Formats the goodput, with its confidence interval if there are several runs.
pub(crate) fn goodput(summary: &Summary<'_>, scale: Scale) -> String {
    let Estimate { mean, half_width } = summary.goodput_bps;
    match scale.number(mean) {
        mean if summary.runs < 2 => mean,
        mean => format!("{mean} ± {}", scale.number(half_width)),
    }
}
