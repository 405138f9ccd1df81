//! A loss detector from outside the crate: `cargo run -p unruffled-tcp --example own_detector`. The
//! example tries it on a path that makes every twentieth segment late and loses none.

use std::borrow::Cow;
use std::collections::BTreeMap;

use unruffled_tcp::detect::{LossDetector, Reordering, Rule, View};
use unruffled_tcp::{Config, Connection, Event, Segment, Variant, VariantError};
use unruffled_units::{Duration, Instant};

/// Deems a hole lost when more segments above it have arrived than in any reordering before.
#[derive(Debug)]
struct LongestReordering {
    dupthresh: u32,
}

impl LossDetector for LongestReordering {
    fn about(&self) -> Cow<'static, str> {
        "dupthresh above the longest reordering seen".into()
    }

    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    fn on_reordering(&mut self, sample: Reordering, _view: &View) {
        self.dupthresh = self.dupthresh.max(sample.length + 1);
    }
}

/// Returns the number of fast retransmits in a transfer of 2000 segments by `variant`.
pub(crate) fn fast_retransmits(variant: &Variant) -> u32 {
    let config = || {
        Config::simulated().with(|c| {
            c.mss = 1000;
            c.window.max = Some(50);
        })
    };
    let mut sender = Connection::connect(config(), variant);
    let mut receiver = Connection::listen(config(), variant);
    sender.write(2_000_000);
    // Segments in flight, by arrival and order of sending.
    let mut path: BTreeMap<(Instant, u64), (bool, Segment)> = BTreeMap::new();
    let mut now = Instant::ZERO;
    let mut sent = 0;
    let mut found = 0;
    while sender.acknowledged() < 2_000_000 {
        for forward in [true, false] {
            let end = if forward { &mut sender } else { &mut receiver };
            while let Some(segment) = end.poll_transmit(now, &mut ()) {
                sent += 1;
                let late = if forward && sent % 20 == 0 { 12 } else { 0 };
                // A segment takes 50 to 59 ms, and arrives 1 ms after the one before it.
                let arrival = now + Duration::from_millis(50 + sent % 10 + late);
                path.insert((arrival, sent), (forward, segment));
            }
        }
        let arrival = path.keys().next().map(|&(at, _)| at);
        let timers = [sender.poll_timeout(), receiver.poll_timeout()];
        now = arrival
            .into_iter()
            .chain(timers.into_iter().flatten())
            .min()
            .expect("a segment or a timer");
        let mut count = |_: Instant, event: &Event| {
            found += u32::from(*event == Event::FastRetransmit);
        };
        match path.first_entry().filter(|first| first.key().0 <= now) {
            Some(first) => match first.remove() {
                (true, segment) => receiver.handle_segment(&segment, now, &mut ()),
                (false, segment) => sender.handle_segment(&segment, now, &mut count),
            },
            None => {
                sender.handle_timeout(now, &mut count);
                receiver.handle_timeout(now, &mut ());
            }
        }
    }
    found
}

/// Returns the fast retransmits of `sack` without and with the detector above. All of them are
/// spurious, because nothing is lost.
pub(crate) fn compared() -> Result<(u32, u32), VariantError> {
    let standard = Variant::sack();
    let own = standard
        .clone()
        .with_detector("longest-reordering", || Box::new(LongestReordering { dupthresh: 3 }))?;
    Ok((fast_retransmits(&standard), fast_retransmits(&own)))
}

fn main() -> Result<(), VariantError> {
    let (standard, own) = compared()?;
    println!(
        "spurious fast retransmits: {standard} with three duplicates, {own} with the longest reordering"
    );
    Ok(())
}
