//! One connection: the two halves, the handshake before them and the close behind them.
//!
//! Call [`Connection::handle_segment`] when a segment arrived and [`Connection::handle_timeout`]
//! when [`Connection::poll_timeout`] is due; after each, and after [`Connection::write`] and
//! [`Connection::finish`], call [`Connection::poll_transmit`] until it gives nothing.

use unruffled_units::{Duration, Instant};

use crate::control::Window;
use crate::detect::RackState;
use crate::observer::{Event, Observer};
use crate::receiver::Receiver;
use crate::segment::{Flags, SackBlocks, Segment, Timestamps};
use crate::sender::{Ack, Phase, Sender, Transmission};
use crate::{Config, SeqNr, Variant};

/// The states of RFC 9293, section 3.3.2, as far as a connection here can be in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has answered a SYN.
    SynReceived,
    /// Data flows.
    Established,
    /// This end has finished; the other may still send.
    FinWait,
    /// The other end has finished; this one may still send.
    CloseWait,
    /// Both have finished, and the last acknowledgement is outstanding.
    LastAck,
    /// Both have finished and know it.
    Closed,
}

/// One end of a TCP connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    state: State,
    sender: Sender,
    receiver: Receiver,
    /// Initial sequence numbers: ours, and the peer's once known.
    isn: SeqNr,
    peer_isn: SeqNr,
    sack_permitted: bool,
    /// What the peer's window field, and ours, are shifted by.
    peer_scale: u8,
    our_scale: u8,
    timestamps: bool,
    /// TS.Recent (RFC 7323, section 4.3).
    ts_recent: u32,
    /// Window field of the last acknowledgement: one that changes it is no duplicate.
    last_window: u16,
    /// Retransmission of SYN and SYN-ACK: when it is due, and when the first one left.
    handshake: Option<(Instant, Instant)>,
    handshake_due: bool,
    handshake_resent: bool,
    wants_rtx_bit: bool,
}

impl Connection {
    /// The end that connects; its SYN goes out with the first poll.
    pub fn connect(config: Config, variant: &Variant) -> Self {
        let mut connection = Self::new(config, variant, State::SynSent);
        connection.handshake_due = true;
        connection
    }

    /// The end that waits to be connected to.
    pub fn listen(config: Config, variant: &Variant) -> Self {
        Self::new(config, variant, State::Listen)
    }

    fn new(config: Config, variant: &Variant, state: State) -> Self {
        let our_scale = scale_for(config.receive_buffer);
        // What the window field can say: whole units of the scale, none lost.
        let unit = 1_u64 << our_scale;
        let buffer = config.receive_buffer.div_ceil(unit) * unit;
        Self {
            state,
            sender: Sender::new(&config, variant),
            receiver: Receiver::new(buffer, config.delayed_ack),
            isn: SeqNr(config.isn),
            peer_isn: SeqNr(0),
            sack_permitted: variant.row().acks == crate::variant::Acks::Sack,
            peer_scale: 0,
            our_scale,
            timestamps: config.timestamps || variant.eifel(),
            ts_recent: 0,
            last_window: 0,
            handshake: None,
            handshake_due: false,
            handshake_resent: false,
            wants_rtx_bit: variant.row().flavour == crate::variant::Flavour::Rtx,
            config,
        }
    }

    // Getters.

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Congestion window and slow-start threshold.
    pub fn window(&self) -> Window {
        self.sender.window()
    }

    /// Segments believed to be in the network.
    pub fn pipe(&self) -> u32 {
        self.sender.pipe()
    }

    /// Whether a loss or a timeout is being recovered from.
    pub fn recovering(&self) -> bool {
        self.sender.phase() != Phase::Open
    }

    /// Octets sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.nxt() - self.sender.una()
    }

    /// Octets of the stream that the peer has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.sender.una()
    }

    /// Octets of the peer's stream that have arrived in order.
    pub fn received(&self) -> u64 {
        self.receiver.next()
    }

    /// Smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.srtt()
    }

    /// The retransmission timeout in force.
    pub fn rto(&self) -> Duration {
        self.sender.rto()
    }

    /// The duplicate threshold in force, for senders that have one.
    pub fn dupthresh(&self) -> Option<u32> {
        self.sender.dupthresh()
    }

    /// RR-TCP's FA ratio.
    pub fn fa_ratio(&self) -> Option<f64> {
        self.sender.fa_ratio()
    }

    /// RACK's variables.
    pub fn rack(&self) -> Option<RackState> {
        self.sender.rack()
    }

    // What happens to it.

    /// The application writes `octets` more.
    pub fn write(&mut self, octets: u64) {
        self.sender.write(octets);
    }

    /// The application writes no more.
    pub fn finish(&mut self) {
        self.sender.finish();
        self.state = match self.state {
            State::CloseWait => State::LastAck,
            State::Established => State::FinWait,
            other => other,
        };
    }

    /// A segment arrived.
    pub fn handle_segment(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        match self.state {
            // The last acknowledgement was lost (RFC 9293, section 3.6.1: TIME-WAIT).
            State::Closed if segment.flags.fin => self.receiver.demand_ack(),
            State::Closed => {}
            State::Listen | State::SynSent if segment.flags.syn => self.on_syn(segment, now),
            State::Listen | State::SynSent => {}
            _ if segment.flags.syn => self.on_repeated_syn(),
            _ => self.on_established(segment, now, observer),
        }
    }

    fn on_syn(&mut self, segment: &Segment, now: Instant) {
        if self.state == State::SynSent {
            if !segment.flags.ack || segment.ack != self.isn.add(1) {
                return;
            }
            self.establish(now);
            self.receiver.demand_ack();
        } else {
            self.state = State::SynReceived;
            self.handshake_due = true;
        }
        self.peer_isn = segment.seq;
        self.sack_permitted &= segment.sack_permitted;
        if !self.sack_permitted {
            self.sender.without_sack();
        }
        match segment.window_scale {
            Some(scale) => self.peer_scale = scale.min(14),
            None => self.our_scale = 0,
        }
        match segment.timestamps {
            Some(timestamps) => self.ts_recent = timestamps.value,
            None => self.timestamps = false,
        }
        if let Some(mss) = segment.mss {
            self.sender.limit_mss(u32::from(mss.max(1)));
        }
        // The window of a SYN is never scaled.
        self.sender.set_window_end(u64::from(segment.window));
    }

    /// The peer did not see our answer to its SYN.
    fn on_repeated_syn(&mut self) {
        if self.state == State::SynReceived {
            self.handshake_due = true;
            self.handshake_resent = true;
        } else {
            self.receiver.demand_ack();
        }
    }

    /// The handshake is done; the application may have finished in the meantime.
    fn establish(&mut self, now: Instant) {
        self.state = if self.sender.finished() { State::FinWait } else { State::Established };
        if let Some((_, first)) = self.handshake.take()
            && !self.handshake_resent
        {
            self.sender.sample_rtt(now.since(first), now);
        }
        self.handshake_due = false;
    }

    fn on_established(&mut self, segment: &Segment, now: Instant, observer: &mut impl Observer) {
        let Some(offset) = segment.seq.unwrap(self.peer_isn.add(1), self.receiver.next()) else {
            return;
        };
        if segment.flags.ack {
            self.on_ack(segment, now, observer);
        }
        if segment.len > 0 || segment.flags.fin {
            self.remember_timestamp(segment, offset);
            let was_at_end = self.receiver.at_end();
            let (len, fin, rtx) = (segment.len, segment.flags.fin, segment.rtx);
            self.receiver.on_segment(offset, len, fin, rtx, now, observer);
            if self.receiver.at_end() && !was_at_end {
                self.on_peer_finished();
            }
        }
        if self.state == State::LastAck && self.sender.done() {
            self.state = State::Closed;
        }
    }

    /// RFC 7323, section 4.3, step 2: neither a segment beyond the last acknowledgement nor one that
    /// is older than the one remembered.
    fn remember_timestamp(&mut self, segment: &Segment, offset: u64) {
        if let Some(timestamps) = segment.timestamps
            && offset <= self.receiver.last_acknowledged()
            && timestamps.value.wrapping_sub(self.ts_recent) as i32 >= 0
        {
            self.ts_recent = timestamps.value;
        }
    }

    fn on_peer_finished(&mut self) {
        self.state = match self.state {
            State::SynReceived | State::Established => State::CloseWait,
            State::FinWait => State::LastAck,
            other => other,
        };
    }

    fn on_ack(&mut self, segment: &Segment, now: Instant, observer: &mut impl Observer) {
        let origin = self.isn.add(1);
        let (una, nxt) = (self.sender.una(), self.sender.nxt());
        let Some(acked) = segment.ack.unwrap(origin, una).filter(|&acked| acked <= nxt) else {
            // It acknowledges what was never sent (RFC 9293, section 3.10.7.4).
            self.receiver.demand_ack();
            return;
        };
        if self.state == State::SynReceived {
            self.establish(now);
        }
        // RFC 2883: a first block below the cumulative point, or inside the second, is a DSACK.
        let mut offsets = [(0, 0); SackBlocks::CAPACITY];
        let mut count = 0;
        for block in segment.sack.as_slice() {
            let left = block.left.unwrap(origin, una);
            let right = block.right.unwrap(origin, una);
            if let (Some(left), Some(right)) = (left, right)
                && left < right
                && right <= nxt
            {
                offsets[count] = (left, right);
                count += 1;
            }
        }
        let mut blocks = &offsets[..count];
        let mut dsack = None;
        if let Some((&first, rest)) = blocks.split_first() {
            let within = |&(l, r): &(u64, u64)| l <= first.0 && first.1 <= r;
            if first.0 < acked || rest.first().is_some_and(within) {
                dsack = Some(first);
                blocks = rest;
            }
        }
        let unchanged = segment.window == self.last_window;
        self.last_window = segment.window;
        let repeated = acked == una && segment.len == 0 && unchanged;
        let echo = segment.timestamps.filter(|_| self.timestamps).map(|t| self.echoed(t.echo, now));
        let ack = Ack {
            una: acked.max(una),
            blocks,
            dsack,
            window_end: acked + (u64::from(segment.window) << self.peer_scale),
            repeated,
            duplicate: repeated && nxt > una,
            rtx: segment.rtx,
            echo,
        };
        self.sender.on_ack(&ack, now, observer);
    }

    /// A timer is due.
    pub fn handle_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        if let Some((due, _)) = self.handshake.filter(|&(due, _)| due <= now) {
            debug_assert!(due <= now);
            self.handshake_due = true;
            self.handshake_resent = true;
            self.sender.back_off();
        }
        self.sender.on_timers(now, observer);
        self.receiver.on_timers(now);
    }

    // What it wants done.

    /// When [`Connection::handle_timeout`] is to be called, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        let handshake = self.handshake.map(|(due, _)| due);
        [self.sender.next_timer(), self.receiver.ack_deadline(), handshake]
            .into_iter()
            .flatten()
            .min()
    }

    /// The next segment to send, if any.
    pub fn poll_transmit(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Segment> {
        if std::mem::take(&mut self.handshake_due) {
            return Some(self.syn(now));
        }
        match self.state {
            State::Listen | State::SynSent | State::SynReceived | State::Closed
                if !self.receiver.ack_due() =>
            {
                return None;
            }
            State::Listen | State::SynSent | State::SynReceived => return None,
            _ => {}
        }
        if self.state != State::Closed
            && let Some(transmission) = self.sender.poll(now)
        {
            let Transmission { offset, len, fin, cause } = transmission;
            observer.on_event(now, &Event::Sent { offset, len, cause });
            let mut segment = self.header(offset, now);
            segment.len = len;
            segment.flags.fin = fin;
            segment.rtx = self.wants_rtx_bit && cause.is_some();
            return Some(segment);
        }
        let rtx = self.receiver.answers_rtx();
        self.receiver.ack_due().then(|| {
            let mut segment = self.header(self.sender.nxt(), now);
            segment.rtx = rtx;
            segment
        })
    }

    fn syn(&mut self, now: Instant) -> Segment {
        let first = self.handshake.map_or(now, |(_, first)| first);
        self.handshake = Some((now + self.sender.rto(), first));
        let answering = self.state == State::SynReceived;
        Segment {
            seq: self.isn,
            ack: if answering { self.peer_isn.add(1) } else { SeqNr(0) },
            flags: Flags { syn: true, ack: answering, ..Flags::default() },
            window: self.receiver.window().min(u64::from(u16::MAX)) as u16,
            mss: Some(self.config.mss.min(u32::from(u16::MAX)) as u16),
            window_scale: Some(self.our_scale),
            sack_permitted: self.sack_permitted,
            timestamps: self.timestamps_option(now),
            ..Segment::default()
        }
    }

    /// A segment from `offset` that acknowledges all that has arrived.
    fn header(&mut self, offset: u64, now: Instant) -> Segment {
        let mut sack = SackBlocks::default();
        let timestamps = self.timestamps_option(now);
        if self.sack_permitted {
            let origin = self.peer_isn.add(1);
            let limit = if timestamps.is_some() { 3 } else { SackBlocks::CAPACITY };
            self.receiver.blocks(limit, |l, r| sack.push(origin.at(l), origin.at(r)));
        }
        let segment = Segment {
            seq: self.isn.add(1).at(offset),
            ack: self.peer_isn.add(1).at(self.receiver.next()),
            flags: Flags { ack: true, ..Flags::default() },
            window: (self.receiver.window() >> self.our_scale).min(u64::from(u16::MAX)) as u16,
            sack,
            timestamps,
            ..Segment::default()
        };
        self.receiver.acknowledged();
        segment
    }

    fn timestamps_option(&self, now: Instant) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps { value: ticks(now), echo: self.ts_recent })
    }

    /// The end of the tick that `echo` names.
    fn echoed(&self, echo: u32, now: Instant) -> Instant {
        let ago = ticks(now).wrapping_sub(echo);
        let tick = now.as_nanos() / TICK.as_nanos();
        let then = tick.saturating_sub(u64::from(ago));
        Instant::from_nanos((then + 1) * TICK.as_nanos() - 1)
    }
}

/// The timestamp clock's tick (RFC 7323, section 5.4: 1 ms to 1 s).
const TICK: Duration = Duration::from_millis(1);

fn ticks(now: Instant) -> u32 {
    (now.as_nanos() / TICK.as_nanos()) as u32
}

/// The least shift with which a 16-bit field can tell of `buffer` octets (RFC 7323, section 2.3).
fn scale_for(buffer: u64) -> u8 {
    (0..14).find(|&scale| buffer.div_ceil(1 << scale) <= u64::from(u16::MAX)).unwrap_or(14)
}
