//! Prints counts of each direction of a capture's connections, one line each, to compare with tshark.

use std::path::Path;

use unruffled_capture::{Analyzer, Limits, Source, is_enough, judge, read};

fn main() -> Result<(), unruffled_capture::Error> {
    for path in std::env::args().skip(1) {
        let mut analyzer = Analyzer::new(Limits::default());
        let start = std::time::Instant::now();
        let damage = read(Source::open(Path::new(&path))?, |frame| analyzer.frame(frame))?;
        let analysis = analyzer.finish();
        let frames = analysis.totals.frames;
        let seconds = start.elapsed().as_secs_f64();
        println!("{path}: {frames} frames, {:.0} per second", frames as f64 / seconds);
        println!("{:?}", analysis.totals.skipped);
        if let Some(damage) = damage {
            println!("{damage}");
        }
        for direction in analysis.connections.iter().flat_map(|c| &c.directions) {
            let resent = &direction.retransmissions;
            let at_receiver = direction.reordering_at_receiver.as_ref();
            println!(
                "{} -> {}: {:?}, {} segments, {} late here, {} late at the receiver, {} \
                 retransmitted, {} spurious, {} DSACKs, {} duplicates, {} duplicate ACKs, {} not \
                 captured, {} SYNs retransmitted, {} keepalives, {} probes, {} by time",
                direction.from,
                direction.to,
                direction.place,
                direction.traffic.segments,
                direction.reordering_here.reordered,
                at_receiver.map_or(0, |reordering| reordering.reordered),
                resent.total,
                resent.spurious,
                resent.dsacks,
                resent.duplicates,
                resent.duplicate_acks,
                direction.losses.not_captured,
                resent.syns,
                resent.keepalives,
                direction.windows.probes,
                resent.judged_by_time,
            );
            if is_enough(direction) {
                println!(
                    "  lost {:.3} %, RTT {:?} ms of {} samples, {} timeouts, closed {:.3} s, {:?}: {:?}",
                    direction.losses.ratio * 100.0,
                    direction.rtt.min_ms,
                    direction.rtt.times,
                    resent.timeouts,
                    direction.windows.closed_s,
                    direction.limits,
                    judge(direction),
                );
            }
        }
    }
    Ok(())
}
