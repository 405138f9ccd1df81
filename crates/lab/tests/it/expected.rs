//! What an analysis should find, and whether it did.

use unruffled_capture::Direction;
use unruffled_units::Instant;

/// What an analysis should find.
pub(crate) struct Expected {
    pub(crate) late: f64,
    pub(crate) late_times: Vec<f64>,
    /// How far from the receiver late times are told, in milliseconds.
    pub(crate) blur_ms: f64,
    /// Retransmissions of what the receiver held already, and of how many of them no acknowledgement
    /// has told the sender.
    pub(crate) spurious: u64,
    pub(crate) untold: u64,
    /// Others that had not arrived when the capture ended.
    pub(crate) travelling: u64,
    /// Segments that arrived, and that the receiver did not take.
    pub(crate) refused: u64,
    /// Those of them after which the next copy came before an acknowledgement could: they may be
    /// taken, and the copy spurious.
    pub(crate) unclear: u64,
    /// Segments that the receiver did not get or take.
    pub(crate) lost: f64,
    /// Retransmissions of the last second: what was lost before them may not be counted.
    pub(crate) latest: u64,
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
    let Expected { late, spurious, untold, refused, lost, .. } = expected;
    println!(
        "{name}: {:.2} % late, {spurious} spurious ({untold} untold), {lost} lost ({refused} refused)",
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

/// What differs by more than it may.
fn faults(expected: &Expected, found: &Direction, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, share: f64, least: f64| {
        if (found - truth).abs() > (share * truth).max(least) {
            faults.push(format!("{place}: {what}: {truth:.4}, found {found:.4}"));
        }
    };
    let late = found.reordering();
    // Elsewhere than at the receiver, what it does not acknowledge cannot be told from what is lost.
    let (untold, hidden, blur_ms) = match place {
        "receiver" => (expected.unclear as f64, 0.0, 0.05),
        _ => {
            let blurred = expected.late_times.partition_point(|&ms| ms < expected.blur_ms);
            let hidden = (expected.untold + expected.refused + blurred as u64) as f64;
            let unsure = expected.untold + expected.travelling + expected.unclear;
            (unsure as f64, hidden, expected.blur_ms)
        }
    };
    check("late", expected.late, late.ratio, 0.05, 0.001_f64.max(hidden / late.packets as f64));
    let spurious = found.retransmissions.spurious as f64;
    check("spurious", expected.spurious as f64, spurious, 0.0, untold);
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
            let (place, found) = ((last * p) as f64 / 100.0, times.percentiles_ms[p]);
            // What is hidden may lie on either side of the quantile.
            let nearest = found.clamp(truth(place - hidden), truth(place + hidden));
            check(&format!("p{p} (ms)"), nearest, found, 0.05, blur_ms);
        }
    }
    if expected.late_times.is_empty() && late.reordered > 0 {
        faults.push(format!("{place}: {} late where all is in order", late.reordered));
    }
    faults
}
