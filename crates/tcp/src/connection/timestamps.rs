//! Timestamps: the clock, echoes, and protection against old duplicates (RFC 7323).

use unruffled_units::{Duration, Instant};

use crate::Config;
use crate::observer::Ignored;
use crate::segment::{Segment, Timestamps};

/// Tick of the timestamp clock (RFC 7323, section 5.4: 1 ms to 1 s).
const TICK: Duration = Duration::from_millis(1);
/// Time without a segment after which TS.Recent is invalid (RFC 7323, section 5.5).
const RECENT_LIFETIME: Duration = Duration::from_secs(24 * 24 * 3600);

/// One end's use of timestamps.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Whether timestamps are offered or, after the peer's answer, negotiated.
    on: bool,
    /// Whether this end offers timestamps.
    offered: bool,
    offset: u32,
    /// Number of ticks by which a segment may be older than TS.Recent, or `None` for no limit.
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

    /// Returns when TS.Recent was set.
    pub(super) fn recent_at(&self) -> Instant {
        self.recent_at
    }

    /// Processes the option of the peer's SYN, or its absence.
    pub(super) fn negotiate(&mut self, theirs: Option<Timestamps>, now: Instant) {
        match theirs {
            Some(timestamps) => {
                self.recent = timestamps.value;
                self.recent_at = now;
            }
            None => self.on = false,
        }
    }

    fn ticks(&self, now: Instant) -> u32 {
        ((now.as_nanos() / TICK.as_nanos()) as u32).wrapping_add(self.offset)
    }

    /// Returns the option of a segment sent now.
    pub(super) fn option(&self, now: Instant) -> Option<Timestamps> {
        self.on.then(|| Timestamps { value: self.ticks(now), echo: self.recent })
    }

    /// Returns the reason to drop the segment, if any (section 5.3, R1; section 3.2). Resets pass.
    pub(super) fn check(&self, segment: &Segment, now: Instant) -> Option<Ignored> {
        if !self.on || segment.flags.rst {
            return None;
        }
        match segment.timestamps {
            None => Some(Ignored::NoTimestamp),
            Some(timestamps) => {
                let tolerance = self.tolerance?;
                let old = older(timestamps.value, self.recent.wrapping_sub(tolerance));
                let outdated = now.since(self.recent_at) > RECENT_LIFETIME;
                (old && !outdated).then_some(Ignored::OldTimestamp)
            }
        }
    }

    /// Updates the value to echo (section 4.3, step 2). A segment beyond the last acknowledgement
    /// does not change it, nor does one with an older timestamp.
    pub(super) fn update_recent(
        &mut self,
        segment: &Segment,
        offset: u64,
        last_acknowledged: u64,
        now: Instant,
    ) {
        if let Some(timestamps) = segment.timestamps
            && offset <= last_acknowledged
            && (!older(timestamps.value, self.recent)
                || now.since(self.recent_at) > RECENT_LIFETIME)
        {
            self.recent = timestamps.value;
            self.recent_at = now;
        }
    }

    /// Returns the end of the tick that the segment echoes. Nothing sent after it can have
    /// triggered the segment. `None` for an echo of a value that this end has not sent yet.
    pub(super) fn echoed(&self, segment: &Segment, now: Instant) -> Option<Instant> {
        let timestamps = segment.timestamps.filter(|_| self.on)?;
        let ago = self.ticks(now).wrapping_sub(timestamps.echo);
        let tick = now.as_nanos() / TICK.as_nanos();
        let then = tick.checked_sub(u64::from(ago)).filter(|_| ago <= u32::MAX / 2)?;
        Some(Instant::from_nanos((then + 1) * TICK.as_nanos() - 1))
    }

    /// Returns the value that the segment echoes, and how many whole ticks ago it was sent. `None`
    /// for an echo from the future.
    pub(super) fn echo(&self, segment: &Segment, now: Instant) -> Option<(u32, Duration)> {
        let echo = segment.timestamps.filter(|_| self.on)?.echo;
        let ago = self.ticks(now).wrapping_sub(echo);
        (ago <= u32::MAX / 2)
            .then(|| (echo, Duration::from_nanos(u64::from(ago) * TICK.as_nanos())))
    }

    /// Returns whether a SYN with this option may replace this connection, which is in TIME-WAIT,
    /// with a new one. `beyond`: its sequence number is above all that arrived (RFC 6191, section
    /// 2).
    pub(super) fn gives_way_to(&self, theirs: Option<Timestamps>, beyond: bool) -> bool {
        match theirs {
            Some(theirs) if self.on => {
                older(self.recent, theirs.value) || (self.recent == theirs.value && beyond)
            }
            // The old connection had no timestamps, so no old duplicate of it can have them.
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
        Config::simulated().with(|c| {
            c.timestamps.offer = true;
            c.timestamps.paws = Some(Duration::ZERO);
        })
    }

    fn clock(recent: u32) -> Clock {
        let mut clock = Clock::new(&config());
        clock.negotiate(stamped(recent).timestamps, Instant::ZERO);
        clock
    }

    #[test]
    fn an_older_timestamp_is_rejected_even_across_the_wrap() {
        let now = Instant::from_millis(1);
        let c = clock(5);
        assert_eq!(c.check(&stamped(4), now), Some(Ignored::OldTimestamp));
        assert_eq!(c.check(&stamped(u32::MAX), now), Some(Ignored::OldTimestamp));
        assert_eq!(c.check(&stamped(5), now), None);
        assert_eq!(c.check(&stamped(6), now), None);
        assert_eq!(clock(u32::MAX).check(&stamped(0), now), None);
        assert_eq!(c.check(&Segment::default(), now), Some(Ignored::NoTimestamp));
    }

    #[test]
    fn a_segment_may_be_older_by_the_tolerance() {
        let mut c =
            Clock::new(&config().with(|c| c.timestamps.paws = Some(Duration::from_millis(3))));
        c.negotiate(stamped(5).timestamps, Instant::ZERO);
        assert_eq!(c.check(&stamped(2), Instant::ZERO), None);
        assert_eq!(c.check(&stamped(1), Instant::ZERO), Some(Ignored::OldTimestamp));
    }

    #[test]
    fn no_timestamp_is_old_after_24_days() {
        let c = clock(5);
        let days = |n: u64| Instant::ZERO + Duration::from_secs(n * 24 * 3600);
        assert_eq!(c.check(&stamped(4), days(24)), Some(Ignored::OldTimestamp));
        assert_eq!(c.check(&stamped(4), days(25)), None);
    }

    #[test]
    fn the_echo_comes_from_the_segment_that_was_last_acknowledged() {
        let mut c = clock(5);
        c.update_recent(&stamped(7), 1001, 1000, Instant::ZERO);
        assert_eq!(c.recent, 5, "beyond the last acknowledgement");
        c.update_recent(&stamped(7), 1000, 1000, Instant::ZERO);
        assert_eq!(c.recent, 7);
        c.update_recent(&stamped(6), 1000, 1000, Instant::ZERO);
        assert_eq!(c.recent, 7, "older");
    }

    #[test]
    fn an_echo_from_the_future_is_ignored() {
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
    fn the_age_of_an_echo_is_the_ticks_since_it_was_sent() {
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
