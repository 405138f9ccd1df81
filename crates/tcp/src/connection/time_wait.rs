//! What a connection in TIME-WAIT has still to do, in few octets: it answers old segments, and keeps
//! a new connection between the same ends apart from it (RFC 9293, sections 3.6.1 and 3.10.7.4).

use unruffled_units::{Duration, Instant};

use super::timestamps::Clock;
use super::{Connection, State};
use crate::SeqNr;
use crate::observer::Ignored;
use crate::segment::{Flags, Segment};

/// How far a new initial sequence number lies beyond the old connection's last (as in Linux: more
/// than an unscaled window).
const BEYOND: u32 = 65_535 + 2;

/// After this long without a segment the timestamps of a new connection are later than all of the
/// old one (RFC 6191, section 2; in ticks of up to a second).
const LATER: Duration = Duration::from_secs(1);

/// Answers to segments that carry nothing are at least this far apart.
const APART: Duration = Duration::from_millis(500);

/// A connection in TIME-WAIT. Use it in place of a [`Connection`] that has got there, which is much
/// larger.
#[derive(Clone, Debug)]
pub struct TimeWait {
    /// SND.NXT and RCV.NXT.
    next: SeqNr,
    expected: SeqNr,
    /// The window's octets and field, as last told.
    room: u32,
    window: u16,
    clock: Clock,
    lasts: Duration,
    until: Instant,
    /// When a segment without text or FIN was last answered.
    answered: Option<Instant>,
}

/// What becomes of a segment in TIME-WAIT: what the driver does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is dropped.
    Drop,
    /// It is answered with this acknowledgement.
    Answer(Segment),
    /// It ends TIME-WAIT.
    End,
}

impl Connection {
    /// What has to be kept of this connection, if it is in TIME-WAIT.
    pub fn time_wait(&self) -> Option<TimeWait> {
        let until = self.timers.next().filter(|_| self.state == State::TimeWait)?;
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
    /// When it ends.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// An initial sequence number for a new connection between the same ends, beyond all that this
    /// one sent (RFC 9293, section 3.6.1).
    pub fn next_isn(&self) -> u32 {
        self.next.add(BEYOND).0
    }

    /// Whether a new connection may begin from this end: its timestamps tell it from the old one
    /// (RFC 6191; Linux's `tcp_tw_reuse`).
    pub fn reusable(&self, now: Instant) -> bool {
        self.clock.on() && now.since(self.clock.heard_at()) > LATER
    }

    /// Whether a SYN may begin a new connection in place of this one: it is later by its timestamp
    /// or its number (RFC 9293, section 3.6.1; RFC 6191).
    pub fn gives_way_to(&self, segment: &Segment) -> bool {
        let flags = segment.flags;
        if !flags.syn || flags.ack || flags.rst {
            return false;
        }
        let beyond = segment.seq.distance(self.expected) > 0;
        self.clock.gives_way_to(segment.timestamps, beyond)
    }

    /// A segment arrives for it: the checks of RFC 9293, section 3.10.7.4, as far as they say
    /// anything in TIME-WAIT.
    pub fn handle_segment(&mut self, segment: &Segment, now: Instant) -> Verdict {
        let flags = segment.flags;
        let ahead = segment.seq.distance(self.expected);
        if flags.rst {
            // RFC 5961, section 3.2: only the exact number resets.
            return if ahead == 0 { Verdict::End } else { Verdict::Drop };
        }
        let refused = self.clock.refuses(segment, now);
        if refused.is_some_and(|reason| reason != Ignored::OldTimestamp) && !flags.syn {
            return Verdict::Drop;
        }
        let acceptable = (0..i64::from(self.room.max(1))).contains(&i64::from(ahead));
        if segment.len > 0 || flags.fin {
            // The peer's own, or one that may be; not what anybody can guess.
            let again = i64::from(ahead) + i64::from(segment.len) + 1 == 0;
            if flags.fin && (again || acceptable) {
                self.until = now + self.lasts;
            }
            return Verdict::Answer(self.acknowledgement(now));
        }
        let wants_answer = flags.syn || refused.is_some() || !acceptable;
        if !wants_answer || self.answered.is_some_and(|last| now.since(last) < APART) {
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
