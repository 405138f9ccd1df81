//! A connection: its sender, its receiver, and the state machine of RFC 9293 around them.

mod acceptance;
mod acknowledgement;
mod application;
mod arrival;
mod challenge;
mod close;
mod ecn;
mod handshake;
mod idle;
mod info;
mod memory;
mod options;
mod passive;
mod path_mtu;
mod reset;
mod state;
mod time_wait;
mod timers;
mod timestamps;
mod touch;
mod transmit;
mod unreachable;

use unruffled_units::{Duration, Instant};

use crate::observer::{Event, Ignored, Observer};
use crate::parts::Variable;
use crate::parts::control::Window;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sender::Sender;
use crate::{Config, KeepAlive, SeqNr, Variant};
use acknowledgement::PeerWindow;
use challenge::ChallengeLimit;
use ecn::{Echo, EcnState};
use handshake::Handshake;
use idle::Idle;
use path_mtu::TIMESTAMPS;
use timers::{ConnectionTimer, ConnectionTimers};
use timestamps::Clock;

pub use passive::syn_ack;
pub use reset::reset_for;
pub use state::{Error, State};
pub use time_wait::{TimeWait, Verdict};

/// One end of a TCP connection.
///
/// The methods come in two kinds. *Getters* return state. The other methods report events to the
/// connection, or poll it for its next actions, in this order:
///
/// 1. Report an event: a segment arrives ([`Connection::handle_segment`]), a timer is due
///    ([`Connection::handle_timeout`]), a packet was too big
///    ([`Connection::handle_packet_too_big`]), or the application calls [`Connection::write`],
///    [`Connection::finish`], [`Connection::read`] or [`Connection::abort`].
/// 2. Call [`Connection::poll_transmit`] until it returns `None`, and send each segment that it
///    returns.
/// 3. Call [`Connection::poll_timeout`] for the time at which to call
///    [`Connection::handle_timeout`]. Each event may change that time.
///
/// `now` never decreases. After a reset or a timeout [`Connection::error`] returns the reason. A
/// connection in [`State::Closed`] needs no further calls. Answer segments that still arrive for it
/// with [`reset_for`].
///
/// The connection counts octets, and the driver stores them:
///
/// * Octets that the application writes, from [`Connection::unacknowledged_from`] on. A segment to
///   send carries `len` octets from [`Connection::send_offset`] on.
/// * Octets that arrive. Call [`Connection::receive_offset`] before the segment is handled: it
///   returns the stream offset of the payload. While the segment is handled, [`Event::Fresh`]
///   reports the runs of octets to store. Pass [`Connection::readable`] octets on to the
///   application. Store nothing else of a segment, whatever its source: a second copy must not
///   overwrite data that was acknowledged and not yet read. A buffer for
///   [`Connection::receive_room`] octets from the first unread one is always large enough.
///
/// The crate's [front page](crate) has a complete example.
///
/// Not supported: urgent data, and data on a SYN, which is not acknowledged, so that the peer sends
/// it again.
// The cost of an ACK to a connection that has long been idle is the time it waits for memory. The
// fields that every segment needs are therefore adjacent, from the end of `sender` to the beginning
// of `receiver`.
#[derive(Debug)]
#[repr(C)]
pub struct Connection {
    config: Config,
    handshake: Handshake,
    challenges: ChallengeLimit,
    /// Largest segment that the peer and the path allow, counted as in [`Config::mss`].
    max_segment: u32,
    error: Option<Error>,
    /// Marks that have arrived, if any.
    echo: Option<Box<Echo>>,
    sender: Sender,
    state: State,
    /// Whether SACK was negotiated.
    sack: bool,
    /// Whether segments have packet numbers.
    numbered: bool,
    ecn: EcnState,
    numbers: InitialNumbers,
    clock: Clock,
    peer_window: PeerWindow,
    idle: Idle,
    timers: ConnectionTimers,
    /// A reset to send before everything else.
    reset: Option<Box<Segment>>,
    receiver: Receiver,
}

/// Initial sequence numbers.
#[derive(Clone, Copy, Debug)]
struct InitialNumbers {
    ours: SeqNr,
    /// Initial number of the peer, once received.
    theirs: SeqNr,
}

impl Connection {
    /// Returns the active end of a connection. The first poll sends its SYN.
    pub fn connect(config: Config, variant: &Variant) -> Self {
        let mut connection = Self::new(config, variant, State::SynSent);
        connection.handshake.demand();
        connection
    }

    /// Returns the passive end of a connection, which waits for a SYN.
    pub fn listen(config: Config, variant: &Variant) -> Self {
        Self::new(config, variant, State::Listen)
    }

    fn new(config: Config, variant: &Variant, state: State) -> Self {
        let sack = variant.takes_sack();
        let mut config = variant.settings(config);
        config.timeouts.keep_alive = config.timeouts.keep_alive.map(KeepAlive::bounded);
        Self {
            state,
            error: None,
            sender: Sender::new(&config, variant.recipe()),
            receiver: Receiver::of(&config),
            numbers: InitialNumbers { ours: SeqNr(config.isn), theirs: SeqNr(0) },
            sack,
            numbered: config.receiver_rules().numbers_packets(),
            ecn: EcnState::default(),
            echo: None,
            clock: Clock::new(&config),
            peer_window: PeerWindow::default(),
            max_segment: config.mss,
            handshake: Handshake::new(state == State::Listen, sack),
            timers: ConnectionTimers::new(),
            idle: Idle::default(),
            challenges: ChallengeLimit::new(config.challenge_acks),
            reset: None,
            config,
        }
    }

    // Getters.

    /// Returns the state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns why the connection ended, if it ended early.
    pub fn error(&self) -> Option<Error> {
        self.error
    }

    /// Returns the congestion window and the slow-start threshold.
    pub fn window(&self) -> Window {
        self.sender.window()
    }

    /// Returns the estimated number of segments in the network.
    pub fn pipe(&self) -> u32 {
        self.sender.stream.pipe()
    }

    /// Returns whether the sender is recovering from a loss or a timeout.
    pub fn recovering(&self) -> bool {
        self.sender.recovering()
    }

    /// Returns how many octets are sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.stream.nxt() - self.sender.stream.una()
    }

    /// Returns how many octets of the stream the peer has acknowledged. The FIN counts as one.
    pub fn acknowledged(&self) -> u64 {
        self.sender.stream.una()
    }

    /// Returns how many octets of the peer's stream have arrived in order. The FIN counts as one.
    pub fn received(&self) -> u64 {
        self.receiver.next()
    }

    /// Returns whether octets of the peer's stream are missing below others that have arrived. A
    /// segment that fills such a hole must be acknowledged before anything else is processed (RFC
    /// 5681, section 4.2).
    pub fn has_hole(&self) -> bool {
        self.receiver.has_hole()
    }

    /// Returns the smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.estimates().srtt
    }

    /// Returns the retransmission timeout in force.
    pub fn rto(&self) -> Duration {
        self.sender.estimates().rto
    }

    /// Returns the duplicate threshold in force, for senders that have one.
    pub fn dupthresh(&self) -> Option<u32> {
        self.sender.dupthresh()
    }

    /// Returns the variables of the sender's algorithms at `now`, besides the window and the
    /// round-trip times, such as RACK's reordering window.
    ///
    /// ```
    /// use unruffled_tcp::{Config, Connection, Variant};
    /// use unruffled_units::Instant;
    ///
    /// let variant = Variant::unruffled();
    /// let connection = Connection::connect(Config::default(), &variant);
    /// let shown = connection.variables(Instant::ZERO);
    /// assert!(shown.iter().any(|v| v.name == "reo_wnd_mult"));
    /// ```
    pub fn variables(&self, now: Instant) -> Vec<Variable> {
        let mut variables = Vec::new();
        self.sender.variables(now, &mut |variable| variables.push(variable));
        variables
    }

    /// Returns the variable called `name`, if the sender has it.
    pub fn variable(&self, name: &str, now: Instant) -> Option<f64> {
        let mut found = None;
        self.sender.variables(now, &mut |variable| {
            if variable.name == name {
                found = Some(variable.value);
            }
        });
        found
    }

    /// Returns the largest payload that a segment may have now. Options that all segments carry are
    /// accounted for, SACK blocks are not.
    pub fn max_payload(&self) -> u32 {
        self.room().payload(0)
    }

    /// Returns the largest payload of one segment of the peer, by the MSS that was announced to it
    /// (RFC 6691). A larger arriving segment consists of several that were merged on the way.
    pub fn max_arriving_payload(&self) -> u32 {
        let options =
            if self.config.segments.count_options && self.clock.on() { TIMESTAMPS } else { 0 };
        self.config.mss.saturating_sub(options).max(1)
    }

    // Timers.

    /// Returns when to call [`Connection::handle_timeout`], if no event precedes it.
    #[inline(always)]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        // Each is the maximum if no timer runs.
        let sender = self.sender.next_timer();
        let receiver = self.receiver.ack_deadline();
        let own = self.timers.next();
        Some(sender.min(receiver).min(own)).filter(|&due| due != Instant::MAX)
    }

    /// Processes the timers that are due at `now`.
    pub fn handle_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.state == State::Closed {
            return;
        }
        if self.timers.expired(ConnectionTimer::TimeWait, now) {
            self.close();
            return;
        }
        if self.timers.expired(ConnectionTimer::GiveUp, now) {
            self.give_up();
            return;
        }
        if self.timers.expired(ConnectionTimer::Handshake, now) {
            if self.handshake.retry(self.config.timeouts.syn_retries) {
                self.sender.back_off();
            } else {
                self.give_up();
            }
        }
        if self.timers.expired(ConnectionTimer::Persist, now) {
            self.idle.on_persist_timer();
        }
        if self.timers.expired(ConnectionTimer::KeepAlive, now) {
            self.on_keep_alive_timer(now);
        }
        if self.state == State::Closed {
            return;
        }
        self.sender.on_timers(now, observer);
        self.receiver.on_timers(now);
    }
}

/// Reports that a segment or message was dropped.
fn ignore(reason: Ignored, now: Instant, observer: &mut impl Observer) {
    observer.on_event(now, &Event::Ignored { reason });
}
