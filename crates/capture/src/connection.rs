//! A TCP connection: two directions, and what its handshake and clocks tell of both.

use std::net::SocketAddr;

use unruffled_units::{Duration, Instant};

use crate::half::{COPIED, Half};
use crate::packet::{Packet, Segment};

/// A TCP connection.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    /// The ends; the first is the one that opened it, or spoke first.
    pub(crate) ends: [SocketAddr; 2],
    /// The data that each end sends.
    pub(crate) halves: [Half; 2],
    pub(crate) first: Instant,
    pub(crate) last: Instant,
    pub(crate) packets: u64,
    scales: [Option<u8>; 2],
    /// Whether both SYNs were seen, without which windows cannot be read.
    syns: [bool; 2],
    pub(crate) sack_permitted: [bool; 2],
    timestamps: [bool; 2],
    pub(crate) mss: [Option<u16>; 2],
    handshake: Handshake,
    /// A timestamp of each end that the other has not echoed yet, and when it passed.
    clocks: [Option<(u32, Instant)>; 2],
    pub(crate) fins: [bool; 2],
    pub(crate) reset: bool,
    /// The handshake's round trip, if the capture has it.
    pub(crate) opening: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    None,
    Syn(Instant),
    /// The SYN's round trip from here, and when its answer passed.
    Answered(Duration, Instant),
    Done,
}

/// No SYN is sent again sooner (RFC 6298, section 2).
const SYN_TIMEOUT: Duration = Duration::from_secs(1);

impl Talk {
    /// A connection that begins with this packet, for all that is known; `dots` of each kind are kept
    /// for its drawings.
    pub(crate) fn new(packet: &Packet, segment: &Segment, dots: usize) -> Self {
        let answer = segment.syn && segment.ack.is_some();
        let ends = if answer { [packet.to, packet.from] } else { [packet.from, packet.to] };
        Self {
            ends,
            halves: [Half::drawn(dots), Half::drawn(dots)],
            first: packet.at,
            last: packet.at,
            packets: 0,
            scales: [None; 2],
            syns: [false; 2],
            sack_permitted: [false; 2],
            timestamps: [false; 2],
            mss: [None; 2],
            handshake: Handshake::None,
            clocks: [None; 2],
            fins: [false; 2],
            reset: false,
            opening: None,
        }
    }

    /// Whether this packet opens another connection between the same ends.
    pub(crate) fn is_over(&self, packet: &Packet, segment: &Segment) -> bool {
        if !segment.syn || segment.ack.is_some() {
            return false;
        }
        let from = self.side(packet);
        let used = self.halves[from].stream() > 0 || self.halves[1 - from].stream() > 0;
        let over = self.reset || self.fins[0] || self.fins[1];
        let idle = packet.at.since(self.last);
        // Numbers of its own are another connection's, or somebody's who guesses where one goes on.
        let other = self.halves[from].opens_otherwise(segment) && (!used || idle > SYN_TIMEOUT);
        over || other || used && idle > Duration::from_secs(60)
    }

    fn side(&self, packet: &Packet) -> usize {
        usize::from(packet.from != self.ends[0])
    }

    /// How many segments are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.halves[0].remembered() + self.halves[1].remembered()
    }

    /// A packet of the connection passes.
    pub(crate) fn packet(&mut self, packet: &Packet, segment: &Segment, most: usize) {
        let from = self.side(packet);
        let to = 1 - from;
        self.packets += 1;
        self.last = self.last.max(packet.at);
        if segment.syn {
            self.open(from, packet, segment);
        } else {
            self.settle_handshake(from, packet.at, segment);
        }
        self.watch_clocks(from, packet.at, segment);
        self.fins[from] |= segment.fin;
        self.reset |= segment.rst;
        self.halves[from].data(packet, segment, most);
        // Without both SYNs nobody knows by how much windows are scaled.
        let scale = match self.syns {
            [true, true] => match (self.scales[from], self.scales[to]) {
                (Some(scale), Some(_)) => Some(scale),
                _ => Some(0),
            },
            _ => None,
        };
        self.halves[to].acknowledge(packet, segment, scale, most);
    }

    fn open(&mut self, from: usize, packet: &Packet, segment: &Segment) {
        self.syns[from] = true;
        self.scales[from] = segment.window_scale;
        self.sack_permitted[from] = segment.sack_permitted;
        self.timestamps[from] = segment.timestamps.is_some();
        self.mss[from] = segment.mss;
        // Each end says what it takes; the other sends no more.
        let timestamps = self.timestamps[0] && self.timestamps[1];
        for end in [0, 1] {
            if let Some(mss) = self.mss[end] {
                let own = self.mss[1 - end].unwrap_or(mss);
                self.halves[1 - end].learn_segment(mss.min(own), timestamps);
            }
        }
        let answer = segment.ack.is_some();
        self.handshake = match self.handshake {
            // The same packet at another interface: it comes through both.
            Handshake::Syn(sent) if !answer && packet.at.since(sent) < COPIED => return,
            Handshake::Answered(_, at) if answer && packet.at.since(at) < COPIED => return,
            Handshake::None if !answer && from == 0 => Handshake::Syn(packet.at),
            Handshake::Syn(sent) if answer && from == 1 => {
                Handshake::Answered(packet.at.since(sent), packet.at)
            }
            // Sent again: nobody knows which of them was answered.
            _ => Handshake::Done,
        };
    }

    fn settle_handshake(&mut self, from: usize, now: Instant, segment: &Segment) {
        let Handshake::Answered(there, answered) = self.handshake else { return };
        if from != 0 || segment.ack.is_none() || segment.rst {
            return;
        }
        let back = now.since(answered);
        self.halves[0].learn_beyond(there);
        self.halves[0].learn_behind(back);
        self.halves[1].learn_beyond(back);
        self.halves[1].learn_behind(there);
        self.opening = Some(there + back);
        self.handshake = Handshake::Done;
    }

    /// Round trips between here and the sender, by the timestamps that it echoes (RFC 7323,
    /// section 4).
    fn watch_clocks(&mut self, from: usize, now: Instant, segment: &Segment) {
        let Some((value, echo)) = segment.timestamps else { return };
        if let Some((sent, at)) = self.clocks[1 - from]
            && segment.ack.is_some()
            && echo.wrapping_sub(sent) as i32 >= 0
        {
            if echo == sent {
                self.halves[from].learn_behind(now.since(at));
            }
            self.clocks[1 - from] = None;
        }
        if self.clocks[from].is_none() && !segment.rst {
            self.clocks[from] = Some((value, now));
        }
    }
}
