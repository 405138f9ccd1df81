//! Timestamps: the clock, what is echoed, and protection against old duplicates (RFC 7323).

use unruffled_units::{Duration, Instant};

use crate::Config;
use crate::observer::Ignored;
use crate::segment::{Segment, Timestamps};

/// The timestamp clock's tick (RFC 7323, section 5.4: 1 ms to 1 s).
const TICK: Duration = Duration::from_millis(1);
/// After this long without a segment TS.Recent says nothing any more (RFC 7323, section 5.5).
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// One end's use of timestamps.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// They are offered or, once the peer has answered, agreed on.
    on: bool,
    /// This end offers them, or would.
    offered: bool,
    offset: u32,
    /// By how many ticks a segment may be older than TS.Recent; none for any number.
    tolerance: Option<u32>,
    /// TS.Recent (RFC 7323, section 4.3), and when it was set.
    recent: u32,
    recent_at: Instant,
}

fn older(value: u32, than: u32) -> bool {
    (value.wrapping_sub(than) as i32) < 0
}

impl Clock {
    pub(super) fn new(config: &Config) -> Self {
        let ticks = |tolerance: Duration| (tolerance.as_nanos() / TICK.as_nanos()) as u32;
        Self {
            on: config.timestamps.offer,
            offered: config.timestamps.offer,
            offset: config.timestamps.offset,
            tolerance: config.timestamps.paws.map(ticks),
            recent: 0,
            recent_at: Instant::ZERO,
        }
    }

    pub(super) fn on(&self) -> bool {
        self.on
    }

    /// When TS.Recent was set.
    pub(super) fn heard_at(&self) -> Instant {
        self.recent_at
    }

    /// The peer's SYN has the option, or has not.
    pub(super) fn agree(&mut self, theirs: Option<Timestamps>, now: Instant) {
        match theirs {
            Some(timestamps) => (self.recent, self.recent_at) = (timestamps.value, now),
            None => self.on = false,
        }
    }

    fn ticks(&self, now: Instant) -> u32 {
        ((now.as_nanos() / TICK.as_nanos()) as u32).wrapping_add(self.offset)
    }

    /// The option of a segment that leaves now.
    pub(super) fn option(&self, now: Instant) -> Option<Timestamps> {
        self.on.then(|| Timestamps { value: self.ticks(now), echo: self.recent })
    }

    /// Why the segment must be dropped, if it must (section 5.3, R1; section 3.2). Resets pass.
    pub(super) fn refuses(&self, segment: &Segment, now: Instant) -> Option<Ignored> {
        if !self.on || segment.flags.rst {
            return None;
        }
        match segment.timestamps {
            None => Some(Ignored::NoTimestamp),
            Some(timestamps) => {
                let tolerance = self.tolerance?;
                let old = older(timestamps.value, self.recent.wrapping_sub(tolerance));
                let outdated = now.since(self.recent_at) > OUTDATED;
                (old && !outdated).then_some(Ignored::OldTimestamp)
            }
        }
    }

    /// Remembers what to echo (section 4.3, step 2): not from a segment beyond the last
    /// acknowledgement, and not from one older than the last one remembered.
    pub(super) fn remember(
        &mut self,
        segment: &Segment,
        offset: u64,
        last_acknowledged: u64,
        now: Instant,
    ) {
        if let Some(timestamps) = segment.timestamps
            && offset <= last_acknowledged
            && (!older(timestamps.value, self.recent) || now.since(self.recent_at) > OUTDATED)
        {
            (self.recent, self.recent_at) = (timestamps.value, now);
        }
    }

    /// The end of the tick that the segment echoes: nothing sent later can have triggered it. None
    /// for an echo of what this end has not sent yet.
    pub(super) fn echoed(&self, segment: &Segment, now: Instant) -> Option<Instant> {
        let timestamps = segment.timestamps.filter(|_| self.on)?;
        let ago = self.ticks(now).wrapping_sub(timestamps.echo);
        let tick = now.as_nanos() / TICK.as_nanos();
        let then = tick.checked_sub(u64::from(ago)).filter(|_| ago <= u32::MAX / 2)?;
        Some(Instant::from_nanos((then + 1) * TICK.as_nanos() - 1))
    }

    /// What the segment echoes, and how many whole ticks ago that left. None for an echo from the
    /// future.
    pub(super) fn echo(&self, segment: &Segment, now: Instant) -> Option<(u32, Duration)> {
        let echo = segment.timestamps.filter(|_| self.on)?.echo;
        let ago = self.ticks(now).wrapping_sub(echo);
        (ago <= u32::MAX / 2)
            .then(|| (echo, Duration::from_nanos(u64::from(ago) * TICK.as_nanos())))
    }

    /// Whether a SYN with this option may begin a new connection in place of this one, which is in
    /// TIME-WAIT; `beyond` says whether its number is above all that were heard (RFC 6191, section 2).
    pub(super) fn gives_way_to(&self, theirs: Option<Timestamps>, beyond: bool) -> bool {
        match theirs {
            Some(theirs) if self.on => {
                older(self.recent, theirs.value) || (self.recent == theirs.value && beyond)
            }
            // The old connection had none: no old duplicate of it can have them.
            Some(_) if self.offered => true,
            _ => beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped(value: u32) -> Segment {
        Segment { timestamps: Some(Timestamps { value, echo: 0 }), ..Segment::default() }
    }

    fn config() -> Config {
        Config::default().with(|c| {
            c.timestamps.offer = true;
            c.timestamps.paws = Some(Duration::ZERO);
        })
    }

    fn clock(recent: u32) -> Clock {
        let mut clock = Clock::new(&config());
        clock.agree(stamped(recent).timestamps, Instant::ZERO);
        clock
    }

    #[test]
    fn an_older_timestamp_is_refused_even_across_the_wrap() {
        let now = Instant::from_millis(1);
        let c = clock(5);
        assert_eq!(c.refuses(&stamped(4), now), Some(Ignored::OldTimestamp));
        assert_eq!(c.refuses(&stamped(u32::MAX), now), Some(Ignored::OldTimestamp));
        assert_eq!(c.refuses(&stamped(5), now), None);
        assert_eq!(c.refuses(&stamped(6), now), None);
        assert_eq!(clock(u32::MAX).refuses(&stamped(0), now), None);
        assert_eq!(c.refuses(&Segment::default(), now), Some(Ignored::NoTimestamp));
    }

    #[test]
    fn a_segment_may_be_older_by_what_is_tolerated() {
        let mut c =
            Clock::new(&config().with(|c| c.timestamps.paws = Some(Duration::from_millis(3))));
        c.agree(stamped(5).timestamps, Instant::ZERO);
        assert_eq!(c.refuses(&stamped(2), Instant::ZERO), None);
        assert_eq!(c.refuses(&stamped(1), Instant::ZERO), Some(Ignored::OldTimestamp));
    }

    #[test]
    fn after_24_days_nothing_is_old() {
        let c = clock(5);
        let days = |n: u64| Instant::ZERO + Duration::from_secs(n * 24 * 3600);
        assert_eq!(c.refuses(&stamped(4), days(24)), Some(Ignored::OldTimestamp));
        assert_eq!(c.refuses(&stamped(4), days(25)), None);
    }

    #[test]
    fn the_echo_is_of_the_segment_that_was_last_acknowledged() {
        let mut c = clock(5);
        c.remember(&stamped(7), 1001, 1000, Instant::ZERO);
        assert_eq!(c.recent, 5, "beyond the last acknowledgement");
        c.remember(&stamped(7), 1000, 1000, Instant::ZERO);
        assert_eq!(c.recent, 7);
        c.remember(&stamped(6), 1000, 1000, Instant::ZERO);
        assert_eq!(c.recent, 7, "older");
    }

    #[test]
    fn an_echo_from_the_future_is_none() {
        let c = Clock::new(&config().with(|c| c.timestamps.offset = 1000));
        let echo = |echo| Segment {
            timestamps: Some(Timestamps { value: 0, echo }),
            ..Segment::default()
        };
        let now = Instant::from_millis(50);
        assert_eq!(c.echoed(&echo(1050), now).map(|t| t.since(now) < TICK), Some(true));
        assert_eq!(c.echoed(&echo(1051), now), None);
        assert_eq!(c.echoed(&echo(999), now), None, "before the origin of time");
    }

    #[test]
    fn an_echo_is_as_old_as_the_ticks_since() {
        let c = Clock::new(&config().with(|c| c.timestamps.offset = 1000));
        let echo = |echo| Segment {
            timestamps: Some(Timestamps { value: 0, echo }),
            ..Segment::default()
        };
        let now = Instant::from_millis(50);
        assert_eq!(c.echo(&echo(1043), now), Some((1043, Duration::from_millis(7))));
        assert_eq!(c.echo(&echo(1050), now), Some((1050, Duration::ZERO)));
        assert_eq!(c.echo(&echo(1051), now), None, "from the future");
    }
}
