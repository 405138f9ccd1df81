//! What a kernel's sender counted, as the numbers of a row.

use unruffled_lab::metric::METRICS;
use unruffled_lab::record::RunRow;
use unruffled_net::Statistics;

/// Puts a sending kernel's statistics, from a network where nothing else was sent, into a row.
/// [`METRICS`] says which counter is which number.
pub(crate) fn fill(row: &mut RunRow, kernel: &Statistics) {
    for metric in &METRICS {
        metric.count_by_kernel(row, |(group, name)| kernel.get(group, name));
    }
    // No counter tells of the window.
    row.flow.means.cwnd_mean = None;
}
