//! The columns of the results and their cells.

use super::means::{Summary, scale, summaries};
use crate::metric::{self, Metric, Unit};
use crate::rate::Scale;
use crate::record::{Comparison, Medium};
use crate::statistics::Estimate;
use crate::text::number;

/// A column of the results: its head where space is short, and where it is not.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// For a terminal of 80 columns.
    pub short: &'static str,
    /// For one in which the names leave less room.
    pub(crate) tight: &'static str,
    /// For a page.
    pub long: &'static str,
    content: Content,
}

/// What a column shows of a summary.
#[derive(Clone, Copy, Debug)]
enum Content {
    Name,
    /// The goodput, on the scale that all of the comparison's are on.
    Goodput(Scale),
    /// The share of the undisturbed path's goodput.
    Share,
    Mean(Metric),
}

const fn mean(metric: Metric) -> Column {
    let Metric { short, heading: long, .. } = metric;
    Column { short, tight: short, long, content: Content::Mean(metric) }
}

const VARIANT: Column =
    Column { short: "variant", tight: "variant", long: "Variant", content: Content::Name };
/// In Mb/s until [`columns`] knows the goodputs.
const GOODPUT: Column = mean(metric::GOODPUT);
const SHARE: Column =
    Column { short: "share %", tight: "share %", long: "Share,\u{a0}%", content: Content::Share };
const FAST: Column = Column { tight: "fast", ..mean(metric::FAST_RETRANSMITS) };
const SPURIOUS: Column = Column { tight: "spur.", ..mean(metric::SPURIOUS_FAST_RETRANSMITS) };
const TIMEOUTS: Column = Column { tight: "RTO", ..mean(metric::TIMEOUTS) };

/// The columns of a simulation.
const SIMULATION: &[Column] =
    &[VARIANT, GOODPUT, SHARE, FAST, SPURIOUS, TIMEOUTS, mean(metric::DUPTHRESH)];

/// The columns of real packets: what a kernel counts, too.
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

/// The columns of the results; [`cells`] fills them.
pub fn columns(comparison: &Comparison) -> Vec<Column> {
    let columns = match comparison.medium {
        Medium::Simulation => SIMULATION,
        Medium::Wire => WIRE,
    };
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

/// What a terminal is not shown where the names leave no room for it, the least needed first.
pub(crate) const DISPENSABLE: [&str; 3] =
    [metric::DUPTHRESH.short, metric::DSACKS.short, metric::REORDERING_EVENTS.short];

impl Column {
    /// The column's cells, one for each summary; all have as many decimals.
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
                let broken = |v: f64| v.is_finite() && v.fract() != 0.0;
                let decimals = usize::from(summaries.iter().any(|s| broken(mean(s))));
                each(&|s| number(mean(s), decimals))
            }
            Unit::Segments | Unit::Seconds => each(&|s| number(mean(s), 1)),
        }
    }
}

/// The results as text: for each summary a line with a cell for each column.
pub fn cells(columns: &[Column], summaries: &[Summary<'_>]) -> Vec<Vec<String>> {
    let columns: Vec<_> = columns.iter().map(|column| column.cells(summaries)).collect();
    (0..summaries.len()).map(|i| columns.iter().map(|cells| cells[i].clone()).collect()).collect()
}

/// The goodput with its confidence interval, if there are runs enough for one.
pub(crate) fn goodput(summary: &Summary<'_>, scale: Scale) -> String {
    let Estimate { mean, half_width } = summary.goodput_bps;
    match scale.number(mean) {
        mean if summary.runs < 2 => mean,
        mean => format!("{mean} ± {}", scale.number(half_width)),
    }
}
