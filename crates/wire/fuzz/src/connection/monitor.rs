//! Invariants of one end of a connection, checked after every event.

use unruffled_tcp::{Config, Connection, Event, Ignored, Segment, SeqNr, State, Variant};

use super::place;
use super::setup::LOCAL_ISN;
use crate::ranges::Ranges;

/// The state of an end, derived from its segments and events.
pub(super) struct Monitor {
    config: Config,
    state: State,
    passive: bool,
    /// The smallest congestion window.
    min_cwnd: f64,
    pub(super) peer: Peer,
    /// The window scale of the end.
    scale: u8,
    pub(super) application: Application,
    acknowledged: u64,
    received: u64,
    /// The end of the data that was sent.
    nxt: u64,
    /// The peer's octets that have arrived.
    arrived: Ranges,
    /// The stream offsets at which the peer's FINs end its stream.
    ends: Vec<u64>,
    /// The ranges that the end has sent since this list was last taken.
    pub(super) sent: Vec<(u64, u64)>,
    pub(super) stamps: Stamps,
    /// The events since the last segment.
    events: Vec<Event>,
}

/// Record of what the peer has sent.
#[derive(Default)]
pub(super) struct Peer {
    /// Its initial sequence number.
    pub(super) initial: SeqNr,
    /// The first sequence number beyond the window that the end has advertised.
    pub(super) edge: Option<SeqNr>,
    /// Its window scale.
    scale: Option<u8>,
    /// The highest stream offset that its window has allowed.
    offered: u64,
    /// The highest stream offset at which one of its accepted segments begins.
    highest: i64,
    /// The ranges that it has reported by SACK.
    pub(super) claimed: Vec<(u64, u64)>,
}

/// Record of what the end's application has done.
#[derive(Default)]
pub(super) struct Application {
    written: u64,
    pub(super) finished: bool,
    pub(super) read: u64,
    /// Octets reported as readable.
    delivered: u64,
}

/// The end's latest timestamp, and its latest echo.
#[derive(Default)]
pub(super) struct Stamps {
    pub(super) sent: u32,
    pub(super) echoed: u32,
}

/// Returns the rank of a state. A connection never returns to a lower rank.
fn rank(state: State) -> u8 {
    match state {
        State::Listen | State::SynSent => 0,
        State::SynReceived => 1,
        State::Established => 2,
        State::FinWait1 | State::CloseWait => 3,
        State::FinWait2 | State::Closing | State::LastAck => 4,
        State::TimeWait => 5,
        State::Closed => 6,
    }
}

impl Monitor {
    pub(super) fn new(config: Config, active: bool, variant: &Variant) -> Self {
        Self {
            config: variant.settings(config),
            state: if active { State::SynSent } else { State::Listen },
            passive: !active,
            // TCP-PR halves every window above one segment (Table 3, lines 8a and 9).
            min_cwnd: if variant.row().is_composed() { 1.0 } else { 0.5 },
            peer: Peer::default(),
            scale: 0,
            application: Application::default(),
            acknowledged: 0,
            received: 0,
            nxt: 0,
            arrived: Ranges::default(),
            ends: Vec::new(),
            sent: Vec::new(),
            stamps: Stamps::default(),
            events: Vec::new(),
        }
    }

    /// Records that the application wrote while the connection was in `state`.
    pub(super) fn wrote(&mut self, octets: u64, state: State) {
        if state != State::Closed && !self.application.finished {
            self.application.written += octets.min(u64::MAX / 2 - self.application.written);
        }
    }

    pub(super) fn on_event(&mut self, event: &Event) {
        if let Event::Acknowledged { cwnd, ssthresh, dupthresh, .. } = *event {
            assert!(cwnd.is_finite() && cwnd >= self.min_cwnd, "cwnd {cwnd}");
            assert!(ssthresh > 0.0, "ssthresh {ssthresh}");
            assert!(dupthresh != Some(0), "a segment counts as lost without a duplicate");
        }
        self.events.push(*event);
    }

    /// Records the SACK blocks of a segment before the end receives it.
    pub(super) fn before_receive(&mut self, segment: &Segment, connection: &Connection) {
        self.events.clear();
        let first = LOCAL_ISN.add(1);
        let una = connection.acknowledged();
        for block in segment.sack.as_slice() {
            let (left, right) = (place(block.left, first, una), place(block.right, first, una));
            if left >= 0 && left < right {
                self.peer.claimed.push((left as u64, right as u64));
            }
        }
    }

    /// Checks the events of a segment that the end has received.
    pub(super) fn after_receive(&mut self, segment: &Segment, connection: &Connection) {
        let flags = segment.flags;
        let (before, state) = (self.state, connection.state());
        if rank(before) == 0 && matches!(rank(state), 1..=3) {
            assert!(flags.syn, "{before:?} to {state:?} without a SYN");
            self.peer.initial = segment.seq;
            self.peer.scale = segment.window_scale;
            // The window of a SYN is never scaled.
            self.peer.offered = u64::from(segment.window);
            self.peer.edge = None;
            self.peer.highest = 0;
        }
        let ignored = self.events.iter().find_map(|event| match event {
            Event::Ignored { reason } => Some(*reason),
            _ => None,
        });
        let accepted = matches!(ignored, None | Some(Ignored::BeyondEnd));
        let at = place(segment.seq, self.peer.initial.add(1), self.received);
        // The window of a pure acknowledgement counts even if the segment is rejected because its
        // sequence number is off by one.
        let pure_ack = segment.len == 0 && !flags.syn && !flags.fin;
        let counts = accepted || pure_ack && ignored == Some(Ignored::OutsideWindow);
        if counts && flags.ack && !flags.rst && state != State::Closed {
            let ack = place(segment.ack, LOCAL_ISN.add(1), self.acknowledged).max(0) as u64;
            let scale = if flags.syn { 0 } else { self.peer.scale.unwrap_or(0).min(14) };
            self.peer.offered = self.peer.offered.max(ack + (u64::from(segment.window) << scale));
            if accepted {
                self.peer.highest = self.peer.highest.max(at);
            }
        }
        if let Ok(at) = u64::try_from(at)
            && accepted
            && flags.fin
        {
            self.ends.push(at + u64::from(segment.len));
        }
        let within = |offset: u64, len: u32| {
            let (from, to) = (offset as i64, offset as i64 + i64::from(len));
            assert!(at <= from && to <= at + i64::from(segment.len), "{from}..{to}, of {at}");
        };
        let mut any = false;
        for event in &self.events {
            match *event {
                Event::Fresh { offset, len } => {
                    let end = offset + u64::from(len);
                    within(offset, len);
                    assert!(
                        accepted && flags.ack && !flags.rst && !flags.syn,
                        "an unacceptable segment has new data"
                    );
                    assert!(
                        len > 0 && !self.arrived.meet(offset, end),
                        "{offset}..{end} is new a second time"
                    );
                    self.arrived.add(offset, end);
                    any = true;
                }
                Event::Discarded { offset, len } => self.arrived.remove(offset, offset + len),
                Event::Arrived { offset, len, duplicate } => {
                    within(offset, len);
                    assert_eq!(duplicate, !any, "whether any of {offset} + {len} is new");
                    let known = self.arrived.contain(offset, offset + u64::from(len));
                    assert!(known, "some of {offset} + {len} is missing");
                }
                Event::Delivered { len } => self.application.delivered += len,
                _ => {}
            }
        }
    }

    pub(super) fn before_transmit(&mut self) {
        self.events.clear();
    }

    /// Checks a segment that the end sends.
    pub(super) fn on_sent(&mut self, segment: &Segment, connection: &Connection) {
        let flags = segment.flags;
        if flags.rst {
            return;
        }
        if let Some(timestamps) = segment.timestamps {
            self.stamps.sent = timestamps.value;
            self.stamps.echoed = timestamps.echo;
        }
        if flags.syn {
            assert_eq!((segment.seq, segment.len), (LOCAL_ISN, 0));
            self.scale = segment.window_scale.unwrap_or(0);
            return;
        }
        assert!(flags.ack);
        assert_eq!(
            segment.ack,
            self.peer.initial.add(1).at(connection.received()),
            "the acknowledgement"
        );
        self.check_window(segment);
        for block in segment.sack.as_slice() {
            let first = self.peer.initial.add(1);
            let left = place(block.left, first, connection.received());
            let right = place(block.right, first, connection.received());
            assert!(0 <= left && left < right, "SACK {left}-{right}");
            assert!(self.has(left as u64, right as u64), "SACK {left}-{right}");
        }
        self.check_data(segment, connection);
    }

    /// Returns whether the peer's sequence numbers from `left` up to `right` have arrived. The last
    /// one may be that of its FIN.
    fn has(&self, left: u64, right: u64) -> bool {
        let data = |right| left == right || self.arrived.contain(left, right);
        data(right) || self.ends.contains(&(right - 1)) && data(right - 1)
    }

    /// Checks that the window's edge moves back by no more than the rounding to its unit.
    fn check_window(&mut self, segment: &Segment) {
        let scale = self.peer.scale.map_or(0, |_| self.scale);
        let edge = segment.ack.add(u32::from(segment.window) << scale);
        if let Some(before) = self.peer.edge {
            let moved = edge.distance(before);
            assert!(moved > -(1_i32 << scale).max(2), "the window's edge moves by {moved}");
        }
        self.peer.edge = Some(edge);
    }

    fn check_data(&mut self, segment: &Segment, connection: &Connection) {
        let una = connection.acknowledged();
        let from = place(segment.seq, LOCAL_ISN.add(1), una);
        let keeps_alive = self.events.contains(&Event::KeepAlive);
        assert!(from >= una as i64 || keeps_alive && from == una as i64 - 1, "{from}, una {una}");
        let (from, fin) = (from as u64, segment.flags.fin);
        if segment.len == 0 && !fin {
            assert!(keeps_alive || from == una + connection.in_flight(), "{from} is not SND.NXT");
            return;
        }
        let end = from + u64::from(segment.len);
        assert!(
            from >= connection.unacknowledged_from() && end <= self.application.written,
            "{from}..{end}"
        );
        assert!(
            !fin || self.application.finished && end == self.application.written,
            "a FIN at {end}"
        );
        if self.config.segments.count_options {
            let blocks = segment.sack.as_slice().len() as u32;
            let options = if blocks == 0 { 0 } else { 4 + 8 * blocks };
            let max = connection.max_payload();
            assert!(segment.len + options <= max, "{} octets, of {max}", segment.len + options);
        } else {
            assert!(segment.len <= connection.max_payload());
        }
        // A probe may exceed the window by one octet. A FIN needs no room.
        let probe = self.events.contains(&Event::WindowProbe) && segment.len == 1;
        let new = end > self.nxt && segment.len > 0;
        assert!(!new || probe || end <= self.peer.offered, "{end} is beyond {}", self.peer.offered);
        if !probe {
            self.nxt = self.nxt.max(end);
        }
        self.sent.push((from, end + u64::from(fin)));
    }

    /// Returns the next sequence number of a peer whose numbers never decrease.
    pub(super) fn latest_number(&self, connection: &Connection) -> SeqNr {
        let first = self.peer.initial.add(1);
        let highest = first.at(self.peer.highest.max(connection.received() as i64) as u64);
        match connection.receive_offset(highest) {
            Some(_) => highest,
            None => first.at(connection.received()),
        }
    }

    /// Returns whether the end has data or a FIN that its peer has not acknowledged.
    pub(super) fn unfinished(&self, connection: &Connection) -> bool {
        let all = self.application.written + u64::from(self.application.finished);
        connection.state().is_synchronised() && connection.acknowledged() < all
    }

    /// Checks the invariants that hold at any time.
    pub(super) fn check(&mut self, connection: &Connection) {
        let (before, state) = (self.state, connection.state());
        let back = self.passive && before == State::SynReceived && state == State::Listen;
        assert!(rank(state) >= rank(before) || back, "{before:?} to {state:?}");
        self.state = state;
        if state == State::Closed {
            assert_eq!(connection.poll_timeout(), None);
            let (ours, theirs) = (self.application.finished, connection.peer_finished());
            assert!(
                connection.error().is_some() || ours && theirs,
                "the connection ended too early"
            );
            return;
        }
        let window = connection.window();
        assert!(window.cwnd.is_finite() && window.cwnd >= self.min_cwnd, "cwnd {}", window.cwnd);
        assert!(window.ssthresh > 0.0, "ssthresh {}", window.ssthresh);
        assert!(connection.max_payload() > 0);
        assert!(connection.rto().as_nanos() > 0);
        self.check_what_was_sent(connection);
        self.check_what_arrived(connection);
    }

    fn check_what_was_sent(&mut self, connection: &Connection) {
        let una = connection.acknowledged();
        assert!(una >= self.acknowledged, "SND.UNA moves back to {una}");
        self.acknowledged = una;
        let all = self.application.written + u64::from(self.application.finished);
        let (nxt, done) = (una + connection.in_flight(), una == all && self.application.finished);
        assert!(nxt <= all, "{nxt} is beyond the written data, {all}");
        assert!(connection.unacknowledged_from() == una.min(self.application.written));
        let agrees = match connection.state() {
            State::Established | State::CloseWait => !self.application.finished,
            State::FinWait1 | State::Closing | State::LastAck => self.application.finished && !done,
            State::FinWait2 | State::TimeWait => done,
            _ => una == 0 && nxt == 0,
        };
        assert!(agrees, "{:?} at {una} of {all}", connection.state());
    }

    fn check_what_arrived(&mut self, connection: &Connection) {
        let received = connection.received();
        assert!(received >= self.received, "RCV.NXT moves back to {received}");
        self.received = received;
        let finished = connection.peer_finished();
        let octets = received - u64::from(finished);
        assert_eq!(octets, self.application.delivered, "octets reported as readable");
        assert_eq!(octets, self.arrived.prefix(), "octets that have arrived");
        assert_eq!(
            octets,
            self.application.read + connection.readable(),
            "octets read and readable"
        );
        let buffer = self.config.receive_buffer;
        assert!(connection.readable() <= buffer + buffer / 8 + (1 << 15));
        let known = matches!(
            connection.state(),
            State::CloseWait | State::Closing | State::LastAck | State::TimeWait
        );
        assert_eq!(known, finished, "{:?}", connection.state());
    }

    /// Checks an end that has sent all its segments: if it waits for the peer, a timer runs.
    pub(super) fn settled(&self, connection: &Connection) {
        let opening = matches!(connection.state(), State::SynSent | State::SynReceived);
        let waits = opening || connection.state() == State::TimeWait || self.unfinished(connection);
        assert!(!waits || connection.poll_timeout().is_some(), "the end waits without a timer");
    }
}
