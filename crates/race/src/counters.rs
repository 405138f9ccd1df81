//! Copies a kernel's counters into a result row.

use unruffled_lab::metric::METRICS;
use unruffled_lab::record::RunRow;
use unruffled_net::Statistics;

/// Copies a sending kernel's statistics into a row. Nothing else may have been sent in that network.
/// [`METRICS`] assigns counters to numbers.
pub(crate) fn fill(row: &mut RunRow, kernel: &Statistics) {
    for metric in &METRICS {
        metric.count_by_kernel(row, |(group, name)| kernel.get(group, name));
    }
    // No counter has the window.
    row.flow.means.cwnd_mean = None;
}
