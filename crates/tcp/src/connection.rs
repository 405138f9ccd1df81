//! One connection: the two halves, and the state machine of RFC 9293 around them.

mod acceptance;
mod acknowledgement;
mod application;
mod arrival;
mod challenge;
mod close;
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

use crate::observer::{Event, Ignored, Observer, Unreachable};
use crate::parts::Variable;
use crate::parts::control::Window;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sender::Sender;
use crate::{Config, KeepAlive, SeqNr, Variant};
use acknowledgement::PeerWindow;
use challenge::ChallengeLimit;
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
/// The methods come in three kinds. *Getters* say how it stands. The others tell it what happens,
/// or ask what it wants, in this order:
///
/// 1. Something happens: a segment arrives ([`Connection::handle_segment`]), a timer is due
///    ([`Connection::handle_timeout`]), a packet was too big
///    ([`Connection::handle_packet_too_big`]), or the application does something
///    ([`Connection::write`], [`Connection::finish`], [`Connection::read`],
///    [`Connection::abort`]).
/// 2. Then call [`Connection::poll_transmit`] until it gives nothing, and send what it gives.
/// 3. Then ask [`Connection::poll_timeout`] when to call [`Connection::handle_timeout`], unless
///    something else happens before: each of the above may change the answer.
///
/// `now` never goes back. After a reset or a timeout [`Connection::error`] says which; a connection
/// in [`State::Closed`] wants nothing more, and what still arrives for it is answered with
/// [`reset_for`].
///
/// Octets are counted, not held; the driver holds them:
///
/// * What the application writes, from [`Connection::unacknowledged_from`] on. A segment to be sent
///   carries `len` octets from [`Connection::send_offset`] on.
/// * What arrives. Of a segment, whose payload belongs at [`Connection::receive_offset`] (ask before
///   it is handled), exactly the runs are stored that [`Event::Fresh`] names meanwhile, and the
///   application is given what is [`Connection::readable`]. Nothing else of a segment may be stored,
///   whoever it seems to come from: what was acknowledged and not yet read must not be overwritten by
///   a second copy of it. Room for [`Connection::receive_room`] octets from the first unread one is
///   always enough.
///
/// The crate's [front page](crate) has an example of all this.
///
/// Not supported: urgent data, and data on a SYN, which is not acknowledged, so that it comes again.
// An ACK to a connection that has long been idle costs what it waits for memory: so what every segment
// needs stands in one piece, from the end of the stream to the beginning of the receiver.
#[derive(Debug)]
#[repr(C)]
pub struct Connection {
    config: Config,
    handshake: Handshake,
    challenges: ChallengeLimit,
    /// Largest segment by the peer's and the path's bounds, counted as [`Config::mss`] is.
    max_segment: u32,
    error: Option<Error>,
    sender: Sender,
    state: State,
    /// Both ends can take SACK blocks.
    sack: bool,
    unreachable: Option<Unreachable>,
    numbers: InitialNumbers,
    clock: Clock,
    peer_window: PeerWindow,
    idle: Idle,
    timers: ConnectionTimers,
    /// A reset that is to leave before all else.
    reset: Option<Box<Segment>>,
    receiver: Receiver,
}

/// Initial sequence numbers.
#[derive(Clone, Copy, Debug)]
struct InitialNumbers {
    ours: SeqNr,
    /// The peer's, once known.
    theirs: SeqNr,
}

impl Connection {
    /// The end that connects; its SYN goes out with the first poll.
    pub fn connect(config: Config, variant: &Variant) -> Self {
        let mut connection = Self::new(config, variant, State::SynSent);
        connection.handshake.demand();
        connection
    }

    /// The end that waits to be connected to.
    pub fn listen(config: Config, variant: &Variant) -> Self {
        Self::new(config, variant, State::Listen)
    }

    fn new(config: Config, variant: &Variant, state: State) -> Self {
        let sack = variant.takes_sack();
        let mut config = variant.settings(config);
        config.patience.keep_alive = config.patience.keep_alive.map(KeepAlive::bounded);
        Self {
            state,
            error: None,
            sender: Sender::new(&config, variant.recipe()),
            receiver: Receiver::of(&config),
            numbers: InitialNumbers { ours: SeqNr(config.isn), theirs: SeqNr(0) },
            sack,
            clock: Clock::new(&config),
            peer_window: PeerWindow::default(),
            max_segment: config.mss,
            handshake: Handshake::new(state == State::Listen, sack),
            timers: ConnectionTimers::new(),
            idle: Idle::default(),
            challenges: ChallengeLimit::new(config.challenge_acks),
            unreachable: None,
            reset: None,
            config,
        }
    }

    // Getters.

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it ended, if it ended before its time.
    pub fn error(&self) -> Option<Error> {
        self.error
    }

    /// Congestion window and slow-start threshold.
    pub fn window(&self) -> Window {
        self.sender.window()
    }

    /// Segments believed to be in the network.
    pub fn pipe(&self) -> u32 {
        self.sender.stream.pipe()
    }

    /// Whether a loss or a timeout is being recovered from.
    pub fn recovering(&self) -> bool {
        self.sender.recovering()
    }

    /// Octets sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.stream.nxt() - self.sender.stream.una()
    }

    /// Octets of the stream that the peer has acknowledged; the FIN counts as one.
    pub fn acknowledged(&self) -> u64 {
        self.sender.stream.una()
    }

    /// Octets of the peer's stream that have arrived in order; the FIN counts as one.
    pub fn received(&self) -> u64 {
        self.receiver.next()
    }

    /// Whether octets of the peer's stream are missing below others that have arrived: a segment that
    /// fills in some of them is to be acknowledged before anything else is read (RFC 5681, section 4.2).
    pub fn has_hole(&self) -> bool {
        self.receiver.has_hole()
    }

    /// Smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.estimates().srtt
    }

    /// The retransmission timeout in force.
    pub fn rto(&self) -> Duration {
        self.sender.estimates().rto
    }

    /// The duplicate threshold in force, for senders that have one.
    pub fn dupthresh(&self) -> Option<u32> {
        self.sender.dupthresh()
    }

    /// The variables of the sender's algorithms at `now`, by name: the FA ratio, the reordering
    /// window, and whatever else they have beside the window and the round-trip times.
    ///
    /// ```
    /// use unruffled_tcp::{Config, Connection, Variant};
    /// use unruffled_units::Instant;
    ///
    /// let variant = Variant::named("rr-ta").expect("a sender");
    /// let connection = Connection::connect(Config::default(), &variant);
    /// let shown = connection.variables(Instant::ZERO);
    /// assert!(shown.iter().any(|v| v.name == "fa_ratio" && v.value == 0.9));
    /// ```
    pub fn variables(&self, now: Instant) -> Vec<Variable> {
        let mut variables = Vec::new();
        self.sender.variables(now, &mut |variable| variables.push(variable));
        variables
    }

    /// The variable called `name`, if the sender has one.
    pub fn variable(&self, name: &str, now: Instant) -> Option<f64> {
        let mut found = None;
        self.sender.variables(now, &mut |variable| {
            if variable.name == name {
                found = Some(variable.value);
            }
        });
        found
    }

    /// The largest payload that a segment may have now: options that all segments carry are
    /// counted, SACK blocks are not.
    pub fn max_payload(&self) -> u32 {
        self.payload(0)
    }

    /// The largest payload that one segment of the peer's can have, by the MSS that it was told (RFC
    /// 6691): what arrives with more is several that were joined on the way.
    pub fn max_arriving_payload(&self) -> u32 {
        let options =
            if self.config.segments.count_options && self.clock.on() { TIMESTAMPS } else { 0 };
        self.config.mss.saturating_sub(options).max(1)
    }

    // ConnectionTimers.

    /// When [`Connection::handle_timeout`] is to be called, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        let never = Instant::MAX;
        let sender = self.sender.next_timer().unwrap_or(never);
        let receiver = self.receiver.ack_deadline().unwrap_or(never);
        let own = self.timers.next().unwrap_or(never);
        Some(sender.min(receiver).min(own)).filter(|&due| due != never)
    }

    /// A timer is due.
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
            self.on_handshake_timer();
        }
        if self.timers.expired(ConnectionTimer::Persist, now) {
            self.on_persist_timer();
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

/// Tells that something was dropped.
fn ignore(reason: Ignored, now: Instant, observer: &mut impl Observer) {
    observer.on_event(now, &Event::Ignored { reason });
}
