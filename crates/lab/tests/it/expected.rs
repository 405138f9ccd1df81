//! The expected results of an analysis, and their comparison with the actual ones.

use unruffled_capture::Direction;
use unruffled_units::Instant;

/// The expected results of an analysis.
pub(crate) struct Expected {
    /// The share of originals that arrived late.
    pub(crate) late: f64,
    /// The lateness of late originals in milliseconds, in ascending order.
    pub(crate) late_times: Vec<f64>,
    /// The error of late times that are measured away from the receiver, in milliseconds.
    pub(crate) blur_ms: f64,
    /// Retransmissions of segments that the receiver already had.
    pub(crate) spurious: u64,
    /// Those of them that no acknowledgement has reported to the sender.
    pub(crate) unreported: u64,
    /// Other retransmissions that were in flight when the capture ended.
    pub(crate) in_flight: u64,
    /// Segments that arrived and that the receiver discarded.
    pub(crate) discarded: u64,
    /// Those of them whose next copy arrived before an acknowledgement could: they may count as
    /// accepted, and the copy as spurious.
    pub(crate) unclear: u64,
    /// Segments that did not arrive or were discarded.
    pub(crate) lost: f64,
    /// Retransmissions of the last second. The losses before them may not be counted.
    pub(crate) latest: u64,
}

/// Returns the lateness of the originals that were overtaken (RFC 4737, section 4.3), in milliseconds
/// and ascending order. `originals` are arrivals with their sequence numbers.
pub(crate) fn late_times(originals: &mut [(Instant, u32)]) -> Vec<f64> {
    originals.sort_unstable();
    let mut highest: Vec<(u32, Instant)> = Vec::new();
    let mut late_times = Vec::new();
    for &(at, seq) in &*originals {
        match highest.last() {
            Some(&(top, _)) if seq < top => {
                let overtaken = highest.partition_point(|&(top, _)| top < seq);
                late_times.push(at.since(highest[overtaken].1).as_millis_f64());
            }
            _ => highest.push((seq, at)),
        }
    }
    late_times.sort_unstable_by(f64::total_cmp);
    late_times
}

/// Prints the ground truth of a transfer and the analysis of each capture of it. Returns the errors of
/// the analyses.
pub(crate) fn faults_of_captures<const N: usize>(
    name: &str,
    expected: &Expected,
    captures: [(&str, Option<Direction>); N],
) -> Vec<String> {
    let Expected { late, spurious, unreported, discarded, lost, .. } = expected;
    println!(
        "{name}: {:.2} % late, {spurious} spurious ({unreported} unreported), {lost} lost ({discarded} discarded)",
        late * 100.0
    );
    let mut wrong = Vec::new();
    for (place, found) in captures {
        let Some(found) = found else { continue };
        println!(
            "  {place}: {:.2} % late, {} spurious, {} lost",
            found.reordering().ratio * 100.0,
            found.retransmissions.spurious,
            found.losses.lost
        );
        let faults = faults(expected, &found, place);
        wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    wrong
}

/// Returns the results that differ by more than the tolerance.
fn faults(expected: &Expected, found: &Direction, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, share: f64, least: f64| {
        if (found - truth).abs() > (share * truth).max(least) {
            faults.push(format!("{place}: {what}: {truth:.4}, found {found:.4}"));
        }
    };
    let late = found.reordering();
    // Away from the receiver, unacknowledged segments cannot be distinguished from lost ones.
    let (unreported, hidden, blur_ms) = match place {
        "receiver" => (expected.unclear as f64, 0.0, 0.05),
        _ => {
            let blurred = expected.late_times.partition_point(|&ms| ms < expected.blur_ms);
            let hidden = (expected.unreported + expected.discarded + blurred as u64) as f64;
            let unsure = expected.unreported + expected.in_flight + expected.unclear;
            (unsure as f64, hidden, expected.blur_ms)
        }
    };
    check("late", expected.late, late.ratio, 0.05, 0.001_f64.max(hidden / late.packets as f64));
    let spurious = found.retransmissions.spurious as f64;
    check("spurious", expected.spurious as f64, spurious, 0.0, unreported);
    check(
        "lost",
        expected.lost,
        found.losses.lost as f64,
        0.1,
        hidden.max(3.0) + expected.latest as f64,
    );
    if let (Some(times), 100..) = (&late.late_time, expected.late_times.len()) {
        let last = expected.late_times.len() - 1;
        let truth = |place: f64| expected.late_times[place.clamp(0.0, last as f64) as usize];
        for p in [10, 25, 50, 75, 90] {
            let place = (last * p) as f64 / 100.0;
            let found = times.percentiles_ms[p];
            // Hidden values may be on either side of the quantile.
            let nearest = found.clamp(truth(place - hidden), truth(place + hidden));
            check(&format!("p{p} (ms)"), nearest, found, 0.05, blur_ms);
        }
    }
    if expected.late_times.is_empty() && late.reordered > 0 {
        faults.push(format!("{place}: {} late in a capture in order", late.reordered));
    }
    faults
}
