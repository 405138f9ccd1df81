//! What an analysis should find, and whether it did.

use unruffled_capture::Direction;
use unruffled_units::Instant;

/// What an analysis should find.
pub(crate) struct Expected {
    pub(crate) late: f64,
    pub(crate) late_times: Vec<f64>,
    /// Retransmissions whose original arrived too, and how many of them lately.
    pub(crate) spurious: u64,
    pub(crate) unsettled: u64,
    pub(crate) lost: f64,
}

/// How late originals were that others had overtaken (RFC 4737, section 4.3), in milliseconds, the
/// least first; `originals` are arrivals with their sequence numbers.
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

/// Prints what happened to a transfer and what each place's capture says of it; what those get wrong.
pub(crate) fn told<const N: usize>(
    name: &str,
    expected: &Expected,
    captures: [(&str, Option<Direction>); N],
) -> Vec<String> {
    let Expected { late, spurious, lost, .. } = expected;
    println!("{name}: {:.2} % late, {spurious} spurious, {lost} lost", late * 100.0);
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

/// What differs by more than it may.
fn faults(expected: &Expected, found: &Direction, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, share: f64, least: f64| {
        if (found - truth).abs() > (share * truth).max(least) {
            faults.push(format!("{place}: {what}: {truth:.4}, found {found:.4}"));
        }
    };
    let late = found.reordering();
    check("late", expected.late, late.ratio, 0.05, 0.001);
    let spurious = found.retransmissions.spurious as f64;
    check("spurious", expected.spurious as f64, spurious, 0.0, expected.unsettled as f64);
    check("lost", expected.lost, found.losses.lost as f64, 0.1, 3.0);
    if let (Some(times), 100..) = (&late.late_time, expected.late_times.len()) {
        let truth = |p: usize| expected.late_times[(expected.late_times.len() - 1) * p / 100];
        for p in [10, 25, 50, 75, 90] {
            check(&format!("p{p} (ms)"), truth(p), times.percentiles_ms[p], 0.05, 0.05);
        }
    }
    if expected.late_times.is_empty() && late.reordered > 0 {
        faults.push(format!("{place}: {} late where all is in order", late.reordered));
    }
    faults
}
