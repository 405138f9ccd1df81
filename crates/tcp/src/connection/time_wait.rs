//! A connection in TIME-WAIT, reduced to a few octets. It answers old segments and separates a new
//! connection between the same ends from the old one (RFC 9293, sections 3.6.1 and 3.10.7.4).

use unruffled_units::{Duration, Instant};

use super::timestamps::Clock;
use super::{Connection, State};
use crate::SeqNr;
use crate::observer::Ignored;
use crate::segment::{Flags, Segment};

/// Distance of a new initial sequence number from the old connection's last number: more than an
/// unscaled window, as in Linux.
const ISN_DISTANCE: u32 = 65_535 + 2;

/// Time without a segment after which the timestamps of a new connection are later than all of the
/// old one (RFC 6191, section 2; ticks are at most one second).
const MIN_REUSE_DELAY: Duration = Duration::from_secs(1);

/// Minimum time between answers to segments without data or FIN.
const MIN_ANSWER_INTERVAL: Duration = Duration::from_millis(500);

/// A connection in TIME-WAIT. Replaces a [`Connection`] in that state, which is much larger.
#[derive(Clone, Debug)]
pub struct TimeWait {
    /// SND.NXT and RCV.NXT.
    next: SeqNr,
    expected: SeqNr,
    /// The window in octets, and its field as last advertised.
    room: u32,
    window: u16,
    clock: Clock,
    lasts: Duration,
    until: Instant,
    /// Time of the last answer to a segment without data or FIN.
    answered: Option<Instant>,
}

/// What the driver does after a segment in TIME-WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Drop the segment.
    Drop,
    /// Answer with this acknowledgement.
    Answer(Segment),
    /// End TIME-WAIT.
    End,
}

impl Connection {
    /// Returns the reduced form of this connection if it is in TIME-WAIT.
    pub fn time_wait(&self) -> Option<TimeWait> {
        if self.state != State::TimeWait || self.timers.are_stopped() {
            return None;
        }
        let until = self.timers.next();
        let window = self.receiver.window();
        let room = window.edge().saturating_sub(self.receiver.next()).min(u64::from(u32::MAX));
        Some(TimeWait {
            next: self.numbers.ours.add(1).at(self.sender.stream.nxt()),
            expected: self.numbers.theirs.add(1).at(self.receiver.next()),
            room: room as u32,
            window: (room >> window.scale()).min(u64::from(u16::MAX)) as u16,
            clock: self.clock.clone(),
            lasts: self.config.msl * 2,
            until,
            answered: None,
        })
    }
}

impl TimeWait {
    /// Returns the time at which TIME-WAIT ends.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Returns an initial sequence number for a new connection between the same ends, beyond all
    /// numbers that this one used (RFC 9293, section 3.6.1).
    pub fn next_isn(&self) -> u32 {
        self.next.add(ISN_DISTANCE).0
    }

    /// Returns whether this end may start a new connection, whose timestamps distinguish it from
    /// the old one (RFC 6191; Linux's `tcp_tw_reuse`).
    pub fn reusable(&self, now: Instant) -> bool {
        self.clock.on() && now.since(self.clock.recent_at()) > MIN_REUSE_DELAY
    }

    /// Returns whether a SYN may replace this connection with a new one, because the SYN is later
    /// by its timestamp or its number (RFC 9293, section 3.6.1; RFC 6191).
    pub fn gives_way_to(&self, segment: &Segment) -> bool {
        let flags = segment.flags;
        if !flags.syn || flags.ack || flags.rst {
            return false;
        }
        let beyond = segment.seq.distance(self.expected) > 0;
        self.clock.gives_way_to(segment.timestamps, beyond)
    }

    /// Processes a segment: the checks of RFC 9293, section 3.10.7.4, that apply in TIME-WAIT.
    pub fn handle_segment(&mut self, segment: &Segment, now: Instant) -> Verdict {
        let flags = segment.flags;
        let ahead = segment.seq.distance(self.expected);
        if flags.rst {
            // RFC 5961, section 3.2: only the exact number resets.
            return if ahead == 0 { Verdict::End } else { Verdict::Drop };
        }
        let rejected = self.clock.check(segment, now);
        if rejected.is_some_and(|reason| reason != Ignored::OldTimestamp) && !flags.syn {
            return Verdict::Drop;
        }
        let acceptable = (0..i64::from(self.room.max(1))).contains(&i64::from(ahead));
        if segment.len > 0 || flags.fin {
            // The peer's own FIN, or one in the window. An attacker cannot guess either number.
            let again = i64::from(ahead) + i64::from(segment.len) + 1 == 0;
            if flags.fin && (again || acceptable) {
                self.until = now + self.lasts;
            }
            return Verdict::Answer(self.acknowledgement(now));
        }
        let answer_due = flags.syn || rejected.is_some() || !acceptable;
        if !answer_due || self.answered.is_some_and(|last| now.since(last) < MIN_ANSWER_INTERVAL) {
            return Verdict::Drop;
        }
        self.answered = Some(now);
        Verdict::Answer(self.acknowledgement(now))
    }

    fn acknowledgement(&self, now: Instant) -> Segment {
        Segment {
            seq: self.next,
            ack: self.expected,
            flags: Flags { ack: true, ..Flags::default() },
            window: self.window,
            timestamps: self.clock.option(now),
            ..Segment::default()
        }
    }
}
