//! A TCP connection: two directions, and what its handshake and timestamps show of both.

use std::net::SocketAddr;

use unruffled_units::{Duration, Instant};

use crate::analysis::Connection;
use crate::flow::{Fingerprint, FlowDirection};
use crate::packet::{Packet, Segment};

/// Shortest timeout after which a SYN is retransmitted (RFC 6298, section 2).
const SYN_TIMEOUT: Duration = Duration::from_secs(1);

/// Longest time to the answer of a SYN that counts as a round trip. After that, the answer may be a
/// retransmission of one that was lost before the capture point.
const MAX_HANDSHAKE_RTT: Duration = Duration::from_millis(900);

/// Time without packets after which a SYN opens another connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A TCP connection.
#[derive(Clone, Debug)]
pub(crate) struct TcpConnection {
    /// Both ends; the client is the first.
    ends: [End; 2],
    /// The data that each end sends.
    directions: [FlowDirection; 2],
    first: Instant,
    last: Instant,
    packets: u64,
    handshake: Handshake,
    reset: bool,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug)]
struct End {
    address: SocketAddr,
    /// Options of its SYN, if that was captured. Windows cannot be read without both SYNs.
    syn: Option<SynOptions>,
    /// A timestamp that the other end has not echoed yet, and when it passed.
    unechoed_timestamp: Option<(u32, Instant)>,
    /// The newest timestamp, and when it passed.
    newest_timestamp: Option<(u32, Instant)>,
    fin: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct SynOptions {
    window_scale: Option<u8>,
    mss: Option<u16>,
    timestamps: bool,
}

impl End {
    fn new(address: SocketAddr) -> Self {
        Self { address, syn: None, unechoed_timestamp: None, newest_timestamp: None, fin: false }
    }

    fn mss(&self) -> Option<u16> {
        self.syn.and_then(|syn| syn.mss)
    }

    fn uses_timestamps(&self) -> bool {
        self.syn.is_some_and(|syn| syn.timestamps)
    }
}

/// Packets of a handshake. They measure round trips only if they were sent once.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    syn: HandshakePacket,
    answer: HandshakePacket,
    /// Time from the SYN to its answer.
    to_server: Option<Duration>,
    /// The whole round trip.
    rtt: Option<Duration>,
    done: bool,
}

/// A SYN or its answer.
#[derive(Clone, Copy, Debug, Default)]
struct HandshakePacket {
    last: Option<Fingerprint>,
    transmissions: u32,
}

impl HandshakePacket {
    /// Records a transmission; a copy does not count.
    fn record(&mut self, packet: Fingerprint) {
        if self.last.is_none_or(|last| !packet.is_copied_syn(last)) {
            self.last = Some(packet);
            self.transmissions += 1;
        }
    }

    /// Returns the round trip if the answer passes at `at`. There is none if the packet was sent twice,
    /// or if it took so long that a retransmission may be missing from the capture.
    fn rtt(&self, at: Instant) -> Option<Duration> {
        let rtt = at.since(self.last.filter(|_| self.transmissions == 1)?.at);
        (rtt < MAX_HANDSHAKE_RTT).then_some(rtt)
    }
}

impl TcpConnection {
    /// Creates a connection whose first captured packet is `packet`. Its drawings keep up to `dots` dots
    /// of each kind.
    pub(crate) fn new(packet: &Packet, segment: &Segment, dots: usize) -> Self {
        let is_answer = segment.syn && segment.ack.is_some();
        let ends = if is_answer { [packet.to, packet.from] } else { [packet.from, packet.to] };
        Self {
            ends: ends.map(End::new),
            directions: [FlowDirection::new(dots), FlowDirection::new(dots)],
            first: packet.at,
            last: packet.at,
            packets: 0,
            handshake: Handshake::default(),
            reset: false,
        }
    }

    /// Returns whether a packet opens another connection between the same ends.
    pub(crate) fn is_ended_by(&self, packet: &Packet, segment: &Segment) -> bool {
        if !segment.syn || segment.ack.is_some() {
            return false;
        }
        let has_data = self.directions.iter().any(|direction| direction.stream_len() > 0);
        let direction = &self.directions[self.sender_of(packet)];
        if !has_data && direction.has_sent_syn(segment) {
            // The sender retransmits its SYN, although a reset may have passed since: Windows does so
            // where a server refuses, and any sender does after an answer to an earlier connection.
            return false;
        }
        let is_closed = self.reset || self.ends.iter().any(|end| end.fin);
        let idle = packet.at.since(self.last);
        // A SYN with another sequence number opens a connection, unless it is a blind attack on one that
        // is in use.
        let conflicts = direction.conflicts_with(segment);
        let is_new = conflicts && (!has_data || idle > SYN_TIMEOUT);
        is_closed || is_new || has_data && idle > IDLE_TIMEOUT
    }

    fn sender_of(&self, packet: &Packet) -> usize {
        usize::from(packet.from != self.ends[0].address)
    }

    /// Returns the number of segments in memory.
    pub(crate) fn segments_held(&self) -> usize {
        self.directions.iter().map(FlowDirection::segments_held).sum()
    }

    /// Returns the copies of packets that the network or the capture made.
    pub(crate) fn copies(&self) -> u64 {
        self.directions.iter().map(FlowDirection::copies).sum()
    }

    /// Records a packet. Each direction holds at most `limit` segments.
    pub(crate) fn packet(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        limit: usize,
        clock_step: Duration,
    ) {
        let from = self.sender_of(packet);
        let to = 1 - from;
        self.directions.iter_mut().for_each(|direction| direction.set_clock_step(clock_step));
        self.packets += 1;
        self.last = self.last.max(packet.at);
        if segment.syn {
            self.open(from, packet, segment);
        } else {
            self.finish_handshake(from, packet.at, segment);
        }
        self.record_timestamps(from, packet.at, segment);
        self.ends[from].fin |= segment.fin;
        self.reset |= segment.rst;
        self.directions[from].data(packet, segment, limit);
        let scale = self.window_scale(from);
        self.directions[to].acknowledge(packet, segment, scale, limit);
        let [one, other] = &mut self.directions;
        one.share_round_trips(other);
    }

    /// Returns the scale of the windows that end `from` offers, which is known only with both SYNs.
    fn window_scale(&self, from: usize) -> Option<u8> {
        let own = self.ends[from].syn?;
        let other = self.ends[1 - from].syn?;
        // Windows are scaled only if both SYNs have the option (RFC 7323, section 2.2).
        Some(own.window_scale.filter(|_| other.window_scale.is_some()).unwrap_or(0))
    }

    /// Records a SYN.
    fn open(&mut self, from: usize, packet: &Packet, segment: &Segment) {
        if segment.ack.is_none() {
            self.reset = false;
        }
        self.ends[from].syn = Some(SynOptions {
            window_scale: segment.window_scale,
            mss: segment.mss,
            timestamps: segment.timestamps.is_some(),
        });
        let timestamps = self.ends.iter().all(End::uses_timestamps);
        // Each MSS limits the segments of the other end, which do not exceed that end's own MSS either.
        for end in [0, 1] {
            if let Some(mss) = self.ends[end].mss() {
                let own = self.ends[1 - end].mss().unwrap_or(mss);
                self.directions[1 - end].record_mss(mss.min(own), timestamps);
            }
        }
        let handshake = &mut self.handshake;
        let fingerprint = Fingerprint::new(packet, segment);
        match (segment.ack.is_some(), from) {
            (false, 0) => handshake.syn.record(fingerprint),
            (true, 1) => {
                if handshake.answer.transmissions == 0 {
                    handshake.to_server = handshake.syn.rtt(packet.at);
                }
                handshake.answer.record(fingerprint);
            }
            // Both ends open the connection, which measures no round trip.
            _ => handshake.done = true,
        }
    }

    /// Measures the handshake's round trip at the client's first acknowledgement.
    fn finish_handshake(&mut self, from: usize, now: Instant, segment: &Segment) {
        let Handshake { answer, to_server, done, .. } = self.handshake;
        if done || answer.transmissions == 0 || from != 0 || segment.ack.is_none() || segment.rst {
            return;
        }
        self.handshake.done = true;
        let to_client = answer.rtt(now);
        if let Some(rtt) = to_server {
            self.directions[0].record_rtt_to_receiver(rtt);
            self.directions[1].record_rtt_to_sender(rtt);
        }
        if let Some(rtt) = to_client {
            self.directions[0].record_rtt_to_sender(rtt);
            self.directions[1].record_rtt_to_receiver(rtt);
        }
        let both = to_server.zip(to_client);
        self.handshake.rtt = both.map(|(to_server, to_client)| to_server + to_client);
    }

    /// Measures the round trip between the capture point and end `from` by the timestamp that it echoes
    /// (RFC 7323, section 4).
    fn record_timestamps(&mut self, from: usize, now: Instant, segment: &Segment) {
        let Some((value, echo)) = segment.timestamps else { return };
        let other = &mut self.ends[1 - from];
        if let Some(unechoed) = other.unechoed_timestamp
            && segment.ack.is_some()
            && echo.wrapping_sub(unechoed.0) as i32 >= 0
        {
            let newest = other.newest_timestamp.filter(|newest| newest.0 == echo);
            let echoed = newest.or(Some(unechoed).filter(|unechoed| unechoed.0 == echo));
            let rtt = echoed.map(|(_, at)| now.since(at));
            // The answer to a SYN may be a retransmission.
            if let Some(rtt) = rtt.filter(|&rtt| !segment.syn || rtt < MAX_HANDSHAKE_RTT) {
                self.directions[from].record_rtt_to_sender(rtt);
            }
            other.unechoed_timestamp = None;
        }
        // The echo of a value that has passed before may be due to an earlier packet.
        let own = &mut self.ends[from];
        let is_newer =
            own.newest_timestamp.is_none_or(|(newest, _)| value.wrapping_sub(newest) as i32 > 0);
        if is_newer && !segment.rst {
            own.newest_timestamp = Some((value, now));
            own.unechoed_timestamp.get_or_insert((value, now));
        }
    }

    /// Returns both directions: the data of the client, and that of the server.
    pub(crate) fn directions(&self) -> &[FlowDirection; 2] {
        &self.directions
    }

    /// Removes the drawings.
    pub(crate) fn remove_drawings(&mut self) {
        self.directions.iter_mut().for_each(FlowDirection::remove_drawing);
    }

    /// Returns the summary of the connection in a capture that begins at `start`, with a clock of that
    /// step if it is coarse.
    pub(crate) fn summary(&self, start: Instant, clock_step: Duration) -> Connection {
        let ended = match (self.reset, self.ends.map(|end| end.fin)) {
            (true, _) => "reset",
            (false, [true, true]) => "closed",
            _ => "open",
        };
        let [client, server] = self.ends.map(|end| end.address);
        let [from_client, from_server] = &self.directions;
        let rtt = self.handshake.rtt.filter(|&rtt| rtt >= clock_step);
        Connection {
            client,
            server,
            start_s: self.first.since(start).as_secs_f64(),
            duration_s: self.last.since(self.first).as_secs_f64(),
            packets: self.packets,
            opened: self.ends.iter().any(|end| end.mss().is_some()),
            ended,
            handshake_rtt_ms: rtt.map(Duration::as_millis_f64),
            directions: [
                from_client.summary(client, server, from_server, self.first, clock_step),
                from_server.summary(server, client, from_client, self.first, clock_step),
            ],
        }
    }
}
