//! A directed link, from its queue to the far end.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use crate::discipline::{Admission, Discipline, MarkAbove, Red};
use crate::impairment::{Crossing, Fate, Stage};
use crate::resend::{Pending, Resender};
use crate::transmitter::{Transmission, Transmitter};
use crate::varying::{Course, Varying};
use crate::{
    Applies, ConfigError, Direction, DropCause, ExitConfig, Fragments, Impairment, Outcome, Packet,
    Ticket, Verdict,
};

/// Configuration of a link. The default delivers everything immediately.
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
    /// Rate; `None` for an unlimited one. If the rate varies, its mean, which RED is computed from.
    pub rate: Option<Rate>,
    /// Propagation delay, after the last bit of a packet has been sent. Tables of changes have their own.
    pub delay: Duration,
    /// Course of a rate, and perhaps of a delay, that is not constant.
    pub varying: Option<Varying>,
    /// Maximum number of packets in the queue, the one in service included; `None` for no limit.
    pub queue: Option<u32>,
    /// Settings of a RED queue, which drops packets at random before it is full. With it, `queue` does not
    /// include the packet in service.
    pub red: Option<Red>,
    /// Threshold of a drop-tail queue above which it marks ECN-capable packets; `None` for no marks.
    pub mark_above: Option<MarkAbove>,
    /// Impairments after the bottleneck. Their order only determines which random numbers each draws.
    pub impairments: Vec<Impairment>,
    /// Fragmentation of packets that are larger than the link's MTU; `None` for an unlimited MTU.
    pub fragments: Option<Fragments>,
    /// Settings of the far end, for an [`Exit`](crate::Exit). The [`Link`] itself only numbers packets for it.
    pub exit: ExitConfig,
}

impl LinkConfig {
    /// Returns whether the far end may drop packets.
    pub fn may_drop_at_exit(&self) -> bool {
        self.exit.may_drop() || self.fragments.is_some_and(|fragments| fragments.max_distance > 0)
    }

    /// Returns whether packets of `bytes` octets in `direction` certainly cross the link without any delay,
    /// at some time before `end`. Time does not advance in a simulation that sends packets around a loop
    /// of such links.
    pub fn takes_no_time(&self, bytes: u32, direction: Direction, end: Instant) -> bool {
        let service = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
        let hinders = |impairment: &Impairment| impairment.hinders(direction, end);
        let is_instant = self.varying.is_none() && service + self.delay == Duration::ZERO;
        is_instant && !self.impairments.iter().any(hinders)
    }
}

/// A directed link.
///
/// [`offer`](Self::offer) expects packets in order of time and returns the outcome of each. If the link
/// damages a packet and resends it, [`resume`](Self::resume) returns the outcome later.
///
/// ```
/// use unruffled_path::{Direction, DropCause, Link, LinkConfig, Verdict};
/// use unruffled_units::{Duration, Instant, Rate};
///
/// // Sends 1000 octets in 1 ms, delays them by 10 ms, and lets one packet wait for the one in service.
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
    varying: Option<Box<Varying>>,
    stages: Vec<Stage>,
    resender: Option<Box<Resender>>,
    /// Limit of the drop-tail queue of a plain link, which has no impairments. Most links are plain.
    plain_limit: Option<usize>,
    /// Limit of the drop-tail queue of a link whose only impairments delay random packets.
    delaying_limit: Option<usize>,
    /// Whether nothing but the queue decides what happens to a packet.
    only_queues: bool,
    /// Arrival of the last packet that took no detour.
    latest: Instant,
    /// Number of packets offered, if the link is not plain, except those that were delayed quickly or that only
    /// queued.
    offered: u64,
    fragments: Option<Fragments>,
    /// Arrivals of the fragments of the last packet, none if it crosses whole.
    fragment_arrivals: Vec<Instant>,
}

impl Link {
    /// Creates an idle link that carries packets of `direction` only; see [`carrying`](Self::carrying).
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it.
    pub fn new(config: &LinkConfig, direction: Direction, seed: u64) -> Result<Self, ConfigError> {
        Self::carrying(config, direction, Applies::only(direction), seed)
    }

    /// Creates an idle link that carries the packets in `carries`.
    ///
    /// All random numbers come from `seed`; `direction` selects one of the seed's two sets of streams. The
    /// two links between the same nodes may therefore share a seed. Other links require different seeds to
    /// be independent.
    ///
    /// Each impairment draws from its own stream, determined by its place in the list. A different fraction
    /// of one impairment, including 0, therefore does not change the effect of the others on the packets
    /// that leave the queue.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it. Impairments that apply to no packet of this
    /// link are checked, too.
    pub fn carrying(
        config: &LinkConfig,
        direction: Direction,
        carries: Applies,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let mut stages = Vec::with_capacity(config.impairments.len());
        let mut streams = Streams::new(seed);
        let mut resender = None;
        let mut has_resend = false;
        config.exit.check().map_err(|error| error.within("exit"))?;
        if let Some(fragments) = config.fragments {
            fragments.check().map_err(|error| error.within("fragments"))?;
        }
        let mut waits = false;
        for (index, impairment) in config.impairments.iter().enumerate() {
            let rng = streams.next_for(direction);
            let place = format_args!("impairments[{index}]");
            let stage =
                Stage::new(impairment, carries, rng).map_err(|error| error.within(place))?;
            let counts_or_resends = impairment.waits().is_some() || impairment.resends().is_some();
            if config.fragments.is_some() && counts_or_resends {
                let expected = "a link that neither resends packets nor counts those that overtake";
                return Err(ConfigError::new("fragments", expected, "both").within(place));
            }
            if impairment.waits().is_some() {
                if waits {
                    let expected = "the only one that counts packets";
                    return Err(ConfigError::new("by", expected, "a second").within(place));
                }
                waits = true;
            }
            let Some((after, attempts)) = impairment.resends() else {
                stages.extend(stage);
                continue;
            };
            if has_resend {
                return Err(ConfigError::new("resend", "the only one", "a second").within(place));
            }
            has_resend = true;
            resender = stage.map(|damage| Box::new(Resender::new(damage, after, attempts)));
        }
        let is_steady = resender.is_none()
            && config.varying.is_none()
            && config.fragments.is_none()
            && config.exit.is_open();
        let is_simple = is_steady && config.red.is_none() && config.mark_above.is_none();
        let limit = config.queue.map_or(usize::MAX, |limit| limit as usize);
        // Its stream follows those of the impairments, which therefore do not depend on the queue.
        let rng = || streams.next_for(direction);
        let discipline = Discipline::new(config, rng)?;
        let course = config.varying.as_ref().map(Course::new);
        Ok(Self {
            plain_limit: (is_simple && stages.is_empty()).then_some(limit),
            delaying_limit: (is_simple && stages.iter().all(Stage::delays)).then_some(limit),
            only_queues: is_steady && stages.is_empty(),
            discipline,
            transmitter: Transmitter::new(config.rate).with_course(course),
            delay: config.delay,
            varying: config.varying.clone().map(Box::new),
            stages,
            resender,
            latest: Instant::ZERO,
            offered: 0,
            fragments: config.fragments,
            fragment_arrivals: Vec::new(),
        })
    }

    /// Stops recording the [`backlog`](Self::backlog), which makes the link faster. Must be called before the
    /// first packet.
    #[must_use]
    pub fn without_backlog(self) -> Self {
        let counted = self.discipline.counts_packets();
        let has_one_size = self.fragments.is_none();
        let allows_uniform = self.resender.is_none() && self.varying.is_none() && has_one_size;
        Self { transmitter: self.transmitter.without_backlog(counted, allows_uniform), ..self }
    }

    /// Returns whether the link has a drop-tail queue that marks nothing, no impairments, and packets leave
    /// it as they arrive, like most links.
    pub fn is_plain(&self) -> bool {
        self.plain_limit.is_some()
    }

    /// Offers a packet to a [plain](Self::is_plain) link like [`offer`](Self::offer), and returns only its
    /// arrival, or `None` if the queue drops it.
    pub fn carry(&mut self, bytes: u32, now: Instant) -> Option<Instant> {
        self.carry_quickly(bytes, now).or_else(|| {
            let limit = self.plain_limit.unwrap_or(usize::MAX);
            self.transmitter.admit(bytes, limit, now).map(|departed| departed + self.delay)
        })
    }

    /// Offers a packet like [`carry`](Self::carry) in the most frequent case, in which the packet has the size
    /// of the one before and the queue has room. Otherwise returns `None` without any change.
    #[inline(always)]
    pub fn carry_quickly(&mut self, bytes: u32, now: Instant) -> Option<Instant> {
        self.transmitter.admit_quickly(bytes, now, self.delay)
    }

    /// Returns whether the link has a drop-tail queue that marks nothing, and its only impairments delay random
    /// packets.
    pub fn only_delays(&self) -> bool {
        self.delaying_limit.is_some()
    }

    /// Offers a packet to a link that [only delays](Self::only_delays), in the most frequent case, in which
    /// the packet has the size of the one before and the queue has room. Returns its arrival, and whether it is
    /// [detoured](Outcome::detoured). Otherwise returns `None` without any change.
    #[inline(always)]
    pub fn delay_quickly(
        &mut self,
        bytes: u32,
        direction: Direction,
        now: Instant,
    ) -> Option<(Instant, bool)> {
        let on_time = self.transmitter.admit_quickly(bytes, now, self.delay)?;
        let mut detour = Duration::ZERO;
        for stage in &mut self.stages {
            detour += stage.delay(direction, now);
        }
        let arrival = on_time + detour;
        let in_order = detour == Duration::ZERO && arrival >= self.latest;
        if in_order {
            self.latest = arrival;
        }
        Some((arrival, !in_order))
    }

    /// Returns whether nothing but the queue decides what happens to a packet: drop-tail, with marks or without,
    /// or RED.
    pub fn only_queues(&self) -> bool {
        self.only_queues
    }

    /// Offers a packet to a link that [only queues](Self::only_queues). Returns its arrival, and whether the
    /// queue marks it, or `None` if the queue drops it.
    #[inline(always)]
    pub fn queue(&mut self, packet: Packet, now: Instant) -> Option<(Instant, bool)> {
        let admission = self.discipline.admit(packet, now, &mut self.transmitter);
        let Admission::Admitted { marked } = admission else { return None };
        let transmission = self.transmitter.send(packet.bytes, now);
        self.discipline.record_admitted(packet.bytes, now, transmission);
        Some((transmission.departed + self.delay, marked))
    }

    /// Offers a packet of `bytes` octets in `direction` at `now`, which must not decrease. The packet is not
    /// ECN-capable; [`offer_packet`](Self::offer_packet) takes any.
    #[inline]
    pub fn offer(&mut self, bytes: u32, direction: Direction, now: Instant) -> Outcome {
        self.offer_packet(Packet { bytes, direction, ect: false, flow: 0 }, now)
    }

    /// Offers a packet at `now`, which must not decrease.
    #[inline]
    pub fn offer_packet(&mut self, packet: Packet, now: Instant) -> Outcome {
        match self.plain_limit {
            Some(limit) => self.offer_plain(packet.bytes, now, limit),
            None => self.offer_impaired(packet, now),
        }
    }

    /// Offers a packet to a plain link with a queue of `limit` packets.
    #[inline]
    fn offer_plain(&mut self, bytes: u32, now: Instant, limit: usize) -> Outcome {
        if self.transmitter.is_full(limit, now) {
            return Outcome::refused(now);
        }
        let Transmission { waited, departed } = self.transmitter.send(bytes, now);
        let verdict = Verdict::Deliver(departed + self.delay);
        let (duplicate, detoured, marked, late_by) = (false, false, false, 0);
        Outcome { verdict, duplicate, detoured, marked, late_by, waited, departed }
    }

    /// Offers a packet to a link with RED, marks, impairments or an exit.
    #[inline(never)]
    fn offer_impaired(&mut self, packet: Packet, now: Instant) -> Outcome {
        self.offered += 1;
        if self.resender.is_some() {
            self.resend_before(now);
        }
        if let Some(limit) = self.delaying_limit {
            return self.offer_delaying(packet, now, limit);
        }
        match self.fragments {
            Some(fragments) => self.offer_fragments(fragments, packet, now),
            None => self.admit(packet, now),
        }
    }

    /// Offers a packet to a link that only delays, with a queue of `limit` packets, and prepares
    /// [`delay_quickly`](Self::delay_quickly) for the next one.
    fn offer_delaying(&mut self, packet: Packet, now: Instant, limit: usize) -> Outcome {
        self.transmitter.forget_sizes(now);
        let outcome = self.admit(packet, now);
        self.transmitter.expect_size(packet.bytes, limit);
        outcome
    }

    /// Offers a packet to the queue.
    #[inline(always)]
    fn admit(&mut self, packet: Packet, now: Instant) -> Outcome {
        let Packet { bytes, direction, flow, .. } = packet;
        let admission = self.discipline.admit(packet, now, &mut self.transmitter);
        let Admission::Admitted { marked } = admission else { return Outcome::refused(now) };
        let transmission = self.transmitter.send(bytes, now);
        self.discipline.record_admitted(bytes, now, transmission);
        let pending = Pending { bytes, direction, flow, ready: now, damaged: 0 };
        self.finish(pending, transmission, marked)
    }

    /// Offers the fragments of a packet to the queue. The packet arrives with the last of them.
    #[inline(never)]
    fn offer_fragments(&mut self, fragments: Fragments, packet: Packet, now: Instant) -> Outcome {
        self.fragment_arrivals.clear();
        let mut sizes = fragments.sizes(packet.bytes);
        let mut whole =
            self.admit(Packet { bytes: sizes.next().unwrap_or_default(), ..packet }, now);
        if packet.bytes <= fragments.mtu {
            return whole;
        }
        self.fragment_arrivals.extend(whole.verdict.arrival());
        for bytes in sizes {
            let fragment = self.admit(Packet { bytes, ..packet }, now);
            self.fragment_arrivals.extend(fragment.verdict.arrival());
            whole = whole.joined(fragment);
        }
        // Copies of fragments change nothing.
        Outcome { duplicate: false, ..whole }
    }

    /// Returns the outcome of the packet that the link holds under `ticket`; the link may hold it again.
    ///
    /// Must be called once for every [`Verdict::Held`], at the time in it, after all packets that arrive
    /// before that time have been offered. Returns `None` for any other ticket.
    pub fn resume(&mut self, ticket: Ticket) -> Option<Outcome> {
        loop {
            let resender = self.resender.as_mut()?;
            if let Some(outcome) = resender.take_resolved(ticket) {
                return Some(outcome);
            }
            let (next, packet) = resender.next_ready_by(Instant::MAX)?;
            self.resend(next, packet);
        }
    }

    /// Resends the packets whose transmission can begin before that of a packet that arrives at `now`.
    #[inline(never)]
    fn resend_before(&mut self, now: Instant) {
        while let Some(resender) = &mut self.resender
            && let Some((ticket, packet)) =
                resender.next_ready_by(now.max(self.transmitter.busy_until()))
        {
            self.resend(ticket, packet);
        }
    }

    /// Resends a packet.
    #[inline(never)]
    fn resend(&mut self, ticket: Ticket, packet: Pending) {
        let transmission = self.transmitter.resend(packet.bytes, packet.ready);
        let outcome = self.finish(packet, transmission, false);
        if let Some(resender) = &mut self.resender {
            resender.resolve(ticket, outcome);
        }
    }

    /// Applies the impairments to a packet after its transmission; returns its outcome.
    #[inline(always)]
    fn finish(&mut self, packet: Pending, transmission: Transmission, marked: bool) -> Outcome {
        let Pending { bytes, direction, flow, ready, .. } = packet;
        let Transmission { waited, departed } = transmission;
        let crossing = Crossing { direction, flow, bytes, ready, begun: ready + waited, departed };
        let outcome = Outcome {
            verdict: Verdict::Drop(DropCause::Loss),
            duplicate: false,
            detoured: false,
            marked,
            late_by: 0,
            waited,
            departed,
        };
        if let Some(resender) = &mut self.resender
            && let Some(verdict) = resender.damage(packet, &crossing)
        {
            return Outcome { verdict, ..outcome };
        }
        let mut fate = Fate::default();
        for stage in &mut self.stages {
            // The later stages apply to a lost packet, too, so that losses do not change what they draw.
            stage.apply(&mut fate, &crossing);
        }
        if fate.lost {
            return outcome;
        }
        let varying = self.varying.as_ref().and_then(|varying| varying.delay_at(departed));
        let delay = varying.unwrap_or(self.delay);
        let arrival = departed + delay + fate.shift + fate.detour;
        let in_order =
            packet.damaged == 0 && fate.detour == Duration::ZERO && arrival >= self.latest;
        if in_order {
            self.latest = arrival;
        }
        let verdict = Verdict::Deliver(arrival);
        let detoured = !in_order || fate.reordered;
        let Fate { duplicated: duplicate, late_by, .. } = fate;
        Outcome { verdict, duplicate, detoured, late_by, ..outcome }
    }

    /// Returns whether packets leave the link in the order in which they arrived, each at most once.
    pub fn keeps_order(&self) -> bool {
        self.resender.is_none()
            && self.varying.as_ref().is_none_or(|varying| varying.keeps_order())
            && self.stages.iter().all(Stage::keeps_order)
    }

    /// Returns the number of packets offered so far, and thereby the number of the last one, for an
    /// [`Exit`](crate::Exit). A tunnel numbers packets at its entrance, so those that the queue drops have
    /// numbers as well. Neither a [plain](Self::is_plain) link nor
    /// [`delay_quickly`](Self::delay_quickly) or [`queue`](Self::queue) counts.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// Returns whether the link requires the [flows](Packet::flow) of packets.
    pub fn reads_flows(&self) -> bool {
        self.stages.iter().any(Stage::reads_flows)
    }

    /// Returns the arrivals of the fragments of the packet offered last, in the order of their departure. There
    /// are none if it crosses whole.
    pub fn fragment_arrivals(&self) -> &[Instant] {
        &self.fragment_arrivals
    }

    /// Returns the number of packets at the link after the last offer, including that packet if it was
    /// admitted.
    pub fn backlog(&self) -> usize {
        self.transmitter.backlog()
    }

    /// Returns the number of packets that wait or are in service at `now`, which must not decrease. Packets
    /// to be resent do not count.
    pub fn occupancy(&mut self, now: Instant) -> usize {
        self.transmitter.occupancy(now)
    }
}

/// Random streams, one per impairment and direction of the link. Each is a section of 2^128 draws of one
/// generator.
///
/// Jumps between sections are delayed until a stream is used, because most links use none.
struct Streams {
    rng: Xoshiro256PlusPlus,
    /// Number of sections between the generator and the next pair of streams.
    pending_jumps: u32,
}

impl Streams {
    fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), pending_jumps: 0 }
    }

    /// Returns the stream of the next impairment in `direction`.
    fn next_for(&mut self, direction: Direction) -> Xoshiro256PlusPlus {
        let place_in_pair = match direction {
            Direction::Forward => 0,
            Direction::Reverse => 1,
        };
        (0..self.pending_jumps + place_in_pair).for_each(|_| self.rng.jump());
        self.pending_jumps = 2 - place_in_pair;
        self.rng.clone()
    }
}
