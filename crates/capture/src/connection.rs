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
    /// The newest timestamp of each end, likewise.
    newest: [Option<(u32, Instant)>; 2],
    pub(crate) fins: [bool; 2],
    pub(crate) reset: bool,
    /// The handshake's round trip, if the capture has it.
    pub(crate) opening: Option<Duration>,
}

/// The packets of a handshake: each tells a round trip only if it was sent once.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    syn: Sent,
    answer: Sent,
    /// From the SYN to its answer.
    there: Option<Duration>,
    done: bool,
}

/// When a packet was sent, if it was sent once.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    last: Option<Instant>,
    times: u32,
}

impl Sent {
    /// It passes; the same packet at another interface is no second one.
    fn pass(&mut self, at: Instant) {
        if self.last.is_none_or(|last| at.since(last) >= COPIED) {
            self.last = Some(at);
            self.times += 1;
        }
    }

    /// The time since it was sent, if that is a round trip: nothing was sent again in it, not even
    /// where the capture does not show it.
    fn answered(&self, at: Instant) -> Option<Duration> {
        let since = at.since(self.last.filter(|_| self.times == 1)?);
        (since < AGAIN).then_some(since)
    }
}

/// No SYN is sent again sooner (RFC 6298, section 2).
const SYN_TIMEOUT: Duration = Duration::from_secs(1);

/// An answer to a SYN that takes so long may be the second: the first was lost before it came here.
const AGAIN: Duration = Duration::from_millis(900);

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
            handshake: Handshake::default(),
            clocks: [None; 2],
            newest: [None; 2],
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
    pub(crate) fn packet(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        most: usize,
        tick: Duration,
    ) {
        let from = self.side(packet);
        let to = 1 - from;
        self.halves.iter_mut().for_each(|half| half.tick = tick);
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
        let [one, other] = &mut self.halves;
        one.share_round_trips(other);
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
        let handshake = &mut self.handshake;
        match (segment.ack.is_some(), from) {
            (false, 0) => handshake.syn.pass(packet.at),
            (true, 1) => {
                if handshake.answer.times == 0 {
                    handshake.there = handshake.syn.answered(packet.at);
                }
                handshake.answer.pass(packet.at);
            }
            // Both open.
            _ => handshake.done = true,
        }
    }

    fn settle_handshake(&mut self, from: usize, now: Instant, segment: &Segment) {
        let Handshake { answer, there, done, .. } = self.handshake;
        if done || answer.times == 0 || from != 0 || segment.ack.is_none() || segment.rst {
            return;
        }
        self.handshake.done = true;
        let back = answer.answered(now);
        if let Some(there) = there {
            self.halves[0].learn_beyond(there);
            self.halves[1].learn_behind(there);
        }
        if let Some(back) = back {
            self.halves[0].learn_behind(back);
            self.halves[1].learn_beyond(back);
        }
        self.opening = there.zip(back).map(|(there, back)| there + back);
    }

    /// Round trips between here and the sender, by the timestamps that it echoes (RFC 7323,
    /// section 4).
    fn watch_clocks(&mut self, from: usize, now: Instant, segment: &Segment) {
        let Some((value, echo)) = segment.timestamps else { return };
        if let Some(first) = self.clocks[1 - from]
            && segment.ack.is_some()
            && echo.wrapping_sub(first.0) as i32 >= 0
        {
            let newest = self.newest[1 - from].filter(|newest| newest.0 == echo);
            let echoed = newest.or(Some(first).filter(|first| first.0 == echo));
            // The answer to a SYN may have been sent again.
            let rtt = echoed.map(|(_, at)| now.since(at));
            if let Some(rtt) = rtt.filter(|&rtt| !segment.syn || rtt < AGAIN) {
                self.halves[from].learn_behind(rtt);
            }
            self.clocks[1 - from] = None;
        }
        // One that has passed before may be echoed for an earlier packet.
        let newer =
            self.newest[from].is_none_or(|(newest, _)| value.wrapping_sub(newest) as i32 > 0);
        if newer && !segment.rst {
            self.newest[from] = Some((value, now));
            self.clocks[from].get_or_insert((value, now));
        }
    }
}
