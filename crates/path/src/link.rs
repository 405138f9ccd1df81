//! One directed link, from its queue to the far end.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use crate::discipline::{Discipline, Red};
use crate::impairment::{Crossing, Fate, Stage};
use crate::resend::{Packet, Resend};
use crate::transmitter::{Sent, Transmitter};
use crate::{Applies, ConfigError, Direction, DropCause, Impairment, Outcome, Ticket, Verdict};

/// What a link is made of. The default lets everything through at once.
///
/// Start from the default and name what differs:
///
/// ```
/// use unruffled_path::LinkConfig;
/// use unruffled_units::{Duration, Rate};
///
/// let config = LinkConfig {
///     rate: Rate::from_bps(10e6),
///     delay: Duration::from_millis(50),
///     queue: Some(100),
///     ..LinkConfig::default()
/// };
/// # assert!(config.impairments.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkConfig {
    /// How fast packets are sent; `None`: infinitely fast.
    pub rate: Option<Rate>,
    /// How long a packet travels after its last bit has been sent.
    pub delay: Duration,
    /// How many packets may be there, the one in service included; `None`: any number.
    pub queue: Option<u32>,
    /// Drops packets at random before the queue is full; its `queue` counts those that wait only, as
    /// [`Red`] says.
    pub red: Option<Red>,
    /// What happens to packets after the bottleneck; the order matters only to the random streams.
    pub impairments: Vec<Impairment>,
}

impl LinkConfig {
    /// Whether packets of `bytes` octets that travel `way` within their flow are certain to cross the
    /// link in no time, at some time before `end`. Who sends round a loop of such links for ever never
    /// comes to another instant.
    pub fn takes_no_time(&self, bytes: u32, way: Direction, end: Instant) -> bool {
        let service = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
        let hinders = |impairment: &Impairment| impairment.hinders(way, end);
        service + self.delay == Duration::ZERO && !self.impairments.iter().any(hinders)
    }
}

/// A directed link at work.
///
/// Offer it packets in the order of time, and it says at once what becomes of each; unless it damages
/// one and sends it again, which it does at [`resume`](Self::resume).
///
/// ```
/// use unruffled_path::{Direction, DropCause, Link, LinkConfig, Verdict};
/// use unruffled_units::{Duration, Instant, Rate};
///
/// // 1 ms for 1000 octets, 10 ms on the way, room for one packet besides that in service.
/// let config = LinkConfig {
///     rate: Rate::from_bps(8e6),
///     delay: Duration::from_millis(10),
///     queue: Some(2),
///     ..LinkConfig::default()
/// };
/// let mut link = Link::new(&config, Direction::Forward, 1)?;
/// let mut offer = || link.offer(1000, Direction::Forward, Instant::ZERO).verdict;
/// assert_eq!(offer(), Verdict::Deliver(Instant::from_millis(11)));
/// assert_eq!(offer(), Verdict::Deliver(Instant::from_millis(12)));
/// assert_eq!(offer(), Verdict::Drop(DropCause::Queue));
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    discipline: Discipline,
    transmitter: Transmitter,
    delay: Duration,
    stages: Vec<Stage>,
    resend: Option<Box<Resend>>,
    /// Most links are plain: the limit of the drop-tail queue, if nothing else is there.
    plain: Option<usize>,
    /// When the last packet arrives that took no detour.
    latest: Instant,
}

impl Link {
    /// An idle link that carries packets of `direction` only: [`carrying`](Self::carrying) with no
    /// others.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it.
    pub fn new(config: &LinkConfig, direction: Direction, seed: u64) -> Result<Self, ConfigError> {
        let carries = match direction {
            Direction::Forward => Applies::Data,
            Direction::Reverse => Applies::Acks,
        };
        Self::carrying(config, direction, carries, seed)
    }

    /// An idle link that the packets named by `carries` cross, all of whose randomness comes from
    /// `seed`: `direction` picks one of the seed's two sets of streams. So the two links that join the
    /// same nodes may share a seed; any others need different ones to be independent of each other.
    ///
    /// Every impairment draws from a stream of its own, numbered by its place in the list, so that
    /// another fraction of one, be it 0, does not change what the others do to the packets that leave
    /// the queue.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it. Impairments that touch no packet of this
    /// link are checked, too.
    pub fn carrying(
        config: &LinkConfig,
        direction: Direction,
        carries: Applies,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let mut stages = Vec::with_capacity(config.impairments.len());
        let mut streams = Streams::new(seed);
        let (mut resend, mut resends) = (None, false);
        for (index, impairment) in config.impairments.iter().enumerate() {
            let rng = streams.next_for(direction);
            let place = format_args!("impairments[{index}]");
            let stage =
                Stage::new(impairment, carries, rng).map_err(|error| error.within(place))?;
            let Some((after, attempts)) = impairment.resends() else {
                stages.extend(stage);
                continue;
            };
            if resends {
                return Err(ConfigError::new("resend", "the only one", "a second").within(place));
            }
            resends = true;
            resend = stage.map(|damage| Box::new(Resend::new(damage, after, attempts)));
        }
        let plain = stages.is_empty() && resend.is_none() && config.red.is_none();
        let limit = config.queue.map_or(usize::MAX, |limit| limit as usize);
        Ok(Self {
            plain: plain.then_some(limit),
            // After those of the impairments, which thus draw the same with any queue.
            discipline: Discipline::new(config, || streams.next_for(direction))?,
            transmitter: Transmitter::new(config.rate),
            delay: config.delay,
            stages,
            resend,
            latest: Instant::ZERO,
        })
    }

    /// The same link without a [`backlog`](Self::backlog): it keeps no account of what no queue
    /// bounds. Use it where queues are not measured.
    #[must_use]
    pub fn unwatched(self) -> Self {
        let (counted, even) = (self.discipline.counts(), self.resend.is_none());
        Self { transmitter: self.transmitter.unwatched(counted, even), ..self }
    }

    /// Whether it is a drop-tail queue without impairments behind it, as most are.
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// Offers a packet to a [plain](Self::is_plain) link, as [`offer`](Self::offer) does, and gives only
    /// when it arrives: none if the queue drops it.
    pub fn carry(&mut self, bytes: u32, now: Instant) -> Option<Instant> {
        self.carry_quickly(bytes, now).or_else(|| {
            let limit = self.plain.unwrap_or(usize::MAX);
            self.transmitter.admit(bytes, limit, now).map(|departed| departed + self.delay)
        })
    }

    /// The same in the case that is usual: a packet of the size of the one before, and room for it. None
    /// in any other, in which nothing is changed.
    #[inline(always)]
    pub fn carry_quickly(&mut self, bytes: u32, now: Instant) -> Option<Instant> {
        self.transmitter.admit_quickly(bytes, now, self.delay)
    }

    /// Offers a packet of `bytes` octets that travels `way` within its flow at `now`, which must not
    /// go backwards.
    #[inline]
    pub fn offer(&mut self, bytes: u32, way: Direction, now: Instant) -> Outcome {
        match self.plain {
            Some(limit) => self.offer_plainly(bytes, now, limit),
            None => self.offer_fully(bytes, way, now),
        }
    }

    /// The same for a drop-tail queue of `limit` packets without impairments behind it.
    #[inline]
    fn offer_plainly(&mut self, bytes: u32, now: Instant, limit: usize) -> Outcome {
        if self.transmitter.is_full(limit, now) {
            return Outcome::refused(now);
        }
        let Sent { waited, departed } = self.transmitter.send(bytes, now);
        let verdict = Verdict::Deliver(departed + self.delay);
        Outcome { verdict, duplicate: false, detoured: false, waited, departed }
    }

    #[inline(never)]
    fn offer_fully(&mut self, bytes: u32, way: Direction, now: Instant) -> Outcome {
        if self.resend.is_some() {
            self.send_again(now);
        }
        if !self.discipline.admits(bytes, now, &mut self.transmitter) {
            return Outcome::refused(now);
        }
        let sent = self.transmitter.send(bytes, now);
        self.discipline.admitted(bytes, now, sent);
        self.transmitted(Packet { bytes, way, came: now, damaged: 0 }, sent)
    }

    /// What becomes of the packet that the link holds under `ticket`; it may be held again. To be
    /// called once for every [`Verdict::Held`], at the instant that this names, which is after all
    /// packets have been offered that come to the link before it. `None` for any other ticket.
    pub fn resume(&mut self, ticket: Ticket) -> Option<Outcome> {
        loop {
            let resend = self.resend.as_mut()?;
            if let Some(outcome) = resend.resolved(ticket) {
                return Some(outcome);
            }
            let next = resend.next_by(Instant::MAX)?;
            self.repeat(next);
        }
    }

    /// Sends again what may be sent before a packet that comes at `now` can begin.
    #[inline(never)]
    fn send_again(&mut self, now: Instant) {
        while let Some(resend) = &mut self.resend
            && let Some(next) = resend.next_by(now.max(self.transmitter.busy_until()))
        {
            self.repeat(next);
        }
    }

    #[inline(never)]
    fn repeat(&mut self, (ticket, packet): (Ticket, Packet)) {
        let sent = self.transmitter.resend(packet.bytes, packet.came);
        let outcome = self.transmitted(packet, sent);
        if let Some(resend) = &mut self.resend {
            resend.resolve(ticket, outcome);
        }
    }

    /// What becomes of a packet that is transmitted like this.
    #[inline(always)]
    fn transmitted(&mut self, packet: Packet, sent: Sent) -> Outcome {
        let (Packet { way, came, .. }, Sent { waited, departed }) = (packet, sent);
        let crossing = Crossing { way, came, begun: came + waited, departed };
        let outcome = Outcome {
            verdict: Verdict::Drop(DropCause::Loss),
            duplicate: false,
            detoured: false,
            waited,
            departed,
        };
        if let Some(resend) = &mut self.resend
            && let Some(verdict) = resend.damage(packet, &crossing)
        {
            return Outcome { verdict, ..outcome };
        }
        let mut fate = Fate::default();
        for stage in &mut self.stages {
            // A lost packet passes the later stages too, or loss would shift what they draw.
            stage.touch(&mut fate, &crossing);
        }
        if fate.lost {
            return outcome;
        }
        let arrival = departed + self.delay + fate.shift + fate.detour;
        let in_line =
            packet.damaged == 0 && fate.detour == Duration::ZERO && arrival >= self.latest;
        if in_line {
            self.latest = arrival;
        }
        let verdict = Verdict::Deliver(arrival);
        Outcome { verdict, duplicate: fate.duplicated, detoured: !in_line, ..outcome }
    }

    /// Whether the packets it carries leave it in the order in which they came, each once.
    pub fn keeps_order(&self) -> bool {
        self.resend.is_none() && self.stages.iter().all(Stage::keeps_order)
    }

    /// How many packets were there after the last one had been offered, that one included if it was
    /// admitted.
    pub fn backlog(&self) -> usize {
        self.transmitter.backlog()
    }

    /// How many packets wait or are in service at `now`, which must not go backwards; without those
    /// to be sent again.
    pub fn occupancy(&mut self, now: Instant) -> usize {
        self.transmitter.occupancy(now)
    }
}

/// Random streams, one per impairment and direction of the link: stretches of 2^128 draws of one
/// generator. What nobody asks for is not worked out, since most links have no use for any.
struct Streams {
    rng: Xoshiro256PlusPlus,
    /// How many stretches lie between here and the next pair.
    ahead: u32,
}

impl Streams {
    fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), ahead: 0 }
    }

    /// The stream of the next impairment in `direction`.
    fn next_for(&mut self, direction: Direction) -> Xoshiro256PlusPlus {
        let within = match direction {
            Direction::Forward => 0,
            Direction::Reverse => 1,
        };
        (0..self.ahead + within).for_each(|_| self.rng.jump());
        self.ahead = 2 - within;
        self.rng.clone()
    }
}
