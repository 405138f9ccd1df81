//! The application reads the first copy of each octet, whatever else arrives: copies with other
//! payload, old segments, and forged ones. None of those makes the connection ignore the peer.

use std::collections::BTreeMap;

use crate::wire::{OURS, THEIRS, config, ms, variant};
use proptest::prelude::*;
use unruffled_tcp::{Connection, Event, Flags, Ignored, Segment, SeqNr, State, Timestamps};
use unruffled_units::Instant;

/// Origin of an octet: the peer's first copy, or any other segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    First,
    Other,
}

/// An end with its driver, and the progress of the peer.
struct Reader {
    connection: Connection,
    now: Instant,
    stored: BTreeMap<u64, Copy>,
    read: u64,
    /// End of what the peer has sent. There may be holes below.
    sent: u64,
    stamp: u32,
}

impl Reader {
    fn new() -> Self {
        let config = config().with(|c| {
            c.timestamps.offer = true;
            c.timestamps.paws = Some(ms(0));
        });
        let mut reader = Self {
            connection: Connection::listen(config, &variant()),
            now: Instant::from_millis(1_000_000),
            stored: BTreeMap::new(),
            read: 0,
            sent: 0,
            stamp: 1000,
        };
        let syn = Flags { syn: true, ..Flags::default() };
        reader.deliver(Segment { seq: THEIRS, flags: syn, ..reader.acceptable() }, Copy::First);
        reader.deliver(reader.acceptable(), Copy::First);
        assert_eq!(reader.connection.state(), State::Established);
        reader
    }

    /// Returns an acceptable segment without data.
    fn acceptable(&self) -> Segment {
        Segment {
            seq: self.number(self.connection.received()),
            ack: OURS.add(1),
            flags: Flags { ack: true, ..Flags::default() },
            window: 10_000,
            timestamps: Some(Timestamps { value: self.stamp, echo: 1_000_000 }),
            ..Segment::default()
        }
    }

    fn number(&self, offset: u64) -> SeqNr {
        THEIRS.add(1).at(offset)
    }

    /// Delivers a segment whose octets are all of this kind, and stores the new ones.
    fn deliver(&mut self, segment: Segment, copy: Copy) {
        let stored = &mut self.stored;
        let read = self.read;
        let mut driver = |_: Instant, event: &Event| match *event {
            Event::Fresh { offset, len } => {
                assert!(offset >= read && len > 0);
                for at in offset..offset + u64::from(len) {
                    assert_eq!(stored.insert(at, copy), None, "a second copy at {at}");
                }
            }
            Event::Ignored { reason } => {
                // The whole segment may be old.
                let old = reason == Ignored::OutsideWindow;
                assert!(copy == Copy::Other || old, "the peer is ignored: {reason:?}");
            }
            _ => {}
        };
        self.connection.handle_segment(&segment, self.now, &mut driver);
        while self.connection.poll_transmit(self.now, &mut ()).is_some() {}
    }

    /// Reads up to `limit` octets, each of which must be a first copy.
    fn read(&mut self, limit: u64) {
        let octets = self.connection.readable().min(limit);
        for at in self.read..self.read + octets {
            assert_eq!(self.stored.remove(&at), Some(Copy::First), "the octet at {at}");
        }
        self.read += octets;
        self.connection.read(octets);
        while self.connection.poll_transmit(self.now, &mut ()).is_some() {}
    }

    /// Delivers the peer's next segment, after `skip` octets that are lost.
    fn send(&mut self, skip: u32, len: u32) {
        let at = self.sent + u64::from(skip);
        let segment = Segment { seq: self.number(at), len, ..self.acceptable() };
        let room = self.connection.receive_offset(segment.seq.add(len)).is_some();
        if room {
            self.deliver(segment, Copy::First);
            self.sent = at + u64::from(len);
        }
    }

    /// Delivers the octets of all holes, sent by the peer.
    fn fill_holes(&mut self) {
        let next = self.connection.received();
        if next < self.sent {
            let len = (self.sent - next) as u32;
            self.deliver(Segment { seq: self.number(next), len, ..self.acceptable() }, Copy::First);
        }
    }

    /// Delivers a segment that does not carry the peer's first copies.
    fn forge(&mut self, forgery: &Forgery) {
        let received = self.connection.received();
        let mut segment = self.acceptable();
        match *forgery {
            // Octets that this end has acknowledged, in a segment that is otherwise acceptable.
            Forgery::Copy { back, len, stamp } => {
                let at = received.saturating_sub(u64::from(back));
                segment.seq = self.number(at);
                segment.len = len.min((received - at) as u32);
                if segment.len > 0 {
                    // If this end stored a timestamp later than the peer's, it would drop the peer's
                    // segments.
                    segment.timestamps = Some(Timestamps { value: stamp, echo: stamp });
                }
            }
            Forgery::Unacceptable { ahead, len, why, stamp } => {
                segment.seq = self.number(received).add(ahead as u32);
                segment.len = len;
                segment.timestamps = Some(Timestamps { value: stamp, echo: stamp });
                match why {
                    0 => segment.flags.ack = false,
                    1 => segment.ack = OURS.add(2),
                    2 => segment.ack = OURS.add(u32::MAX / 2),
                    3 => segment.timestamps = None,
                    4 => segment.timestamps = Some(Timestamps { value: 999, echo: 0 }),
                    5 => segment.flags.syn = true,
                    6 => segment.seq = segment.seq.add(20_000),
                    // Further back than the largest window that the peer has advertised.
                    7 => segment.ack = OURS.add(u32::MAX - 10_000),
                    _ => {
                        segment.seq = segment.seq.add(1 + ahead.unsigned_abs());
                        segment.flags = Flags { rst: true, ack: true, ..segment.flags };
                    }
                }
            }
        }
        self.deliver(segment, Copy::Other);
    }
}

#[derive(Clone, Debug)]
enum Forgery {
    Copy { back: u32, len: u32, stamp: u32 },
    Unacceptable { ahead: i32, len: u32, why: u8, stamp: u32 },
}

#[derive(Clone, Debug)]
enum Step {
    Send(u32, u32),
    FillHoles,
    Forge(Forgery),
    Read(u64),
    Tick,
}

fn step() -> impl Strategy<Value = Step> {
    // Any timestamp, but mostly a little later than the peer's own.
    let stamp = || prop_oneof![1 => any::<u32>(), 3 => 1000..1200_u32, 1 => Just(1_001_000)];
    let copy = (1..3000_u32, 1..2000_u32, stamp()).prop_map(|(back, len, stamp)| Forgery::Copy {
        back,
        len,
        stamp,
    });
    let unacceptable = (-3000..9000_i32, 0..2000_u32, 0..9_u8, stamp())
        .prop_map(|(ahead, len, why, stamp)| Forgery::Unacceptable { ahead, len, why, stamp });
    prop_oneof![
        6 => (prop_oneof![Just(0), 1..1500_u32], 1..1000_u32).prop_map(|(skip, len)| Step::Send(skip, len)),
        3 => Just(Step::FillHoles),
        4 => copy.prop_map(Step::Forge),
        6 => unacceptable.prop_map(Step::Forge),
        2 => (1..5000_u64).prop_map(Step::Read),
        1 => Just(Step::Tick),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_application_reads_the_first_copy_and_the_peer_is_never_ignored(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut reader = Reader::new();
        for step in &steps {
            match step {
                Step::Send(skip, len) => reader.send(*skip, *len),
                Step::FillHoles => reader.fill_holes(),
                Step::Forge(forgery) => reader.forge(forgery),
                Step::Read(octets) => reader.read(*octets),
                Step::Tick => reader.stamp += 1,
            }
            prop_assert_eq!(reader.connection.state(), State::Established);
        }
        reader.fill_holes();
        reader.read(u64::MAX);
        prop_assert_eq!(reader.read, reader.sent);
    }

    /// Copies of octets held out of order, and of those around them: only the gaps are new.
    #[test]
    fn only_gaps_are_new(pieces in prop::collection::vec((0..5000_u32, 1..1400_u32), 1..40)) {
        let mut reader = Reader::new();
        for (at, len) in pieces {
            let number = reader.number(u64::from(at));
            reader.deliver(Segment { seq: number, len, ..reader.acceptable() }, Copy::First);
            reader.sent = reader.sent.max(u64::from(at + len));
        }
        let readable = reader.connection.readable();
        reader.read(u64::MAX);
        prop_assert_eq!(reader.read, readable);
    }
}
