//! The packets of a flow on the path.

use std::collections::{BTreeMap, VecDeque};

use unruffled_measure::{Crossing, LinkId, PacketId, PacketStep};
use unruffled_path::{DropCause, Verdict};
use unruffled_units::Instant;

/// The most packets that are kept.
const MAX_PACKETS: usize = 100_000;

/// Number of no packet.
const NONE: u64 = u64::MAX;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fate {
    /// It was delivered.
    Delivered = 0,
    /// A queue dropped it.
    Queue = 1,
    /// It was lost behind a queue.
    Lost = 2,
    /// An anti-replay window dropped it.
    Replay = 3,
    /// A limit on ranges dropped it.
    Ranges = 4,
    /// It was not reassembled.
    Fragments = 5,
    /// It was on the path when the recording ended.
    Underway = 6,
}

/// Flags of a packet.
pub struct PacketFlag;

impl PacketFlag {
    /// A retransmission.
    pub const RETRANSMISSION: u8 = 1;
    /// A retransmission of data that an earlier copy delivers.
    pub const SPURIOUS: u8 = 2;
    /// The path delivered it twice.
    pub const DUPLICATED: u8 = 4;
    /// It reached the far end after a packet that left later.
    pub const LATE: u8 = 8;
    /// A resequencer held it.
    pub const HELD: u8 = 16;
    /// The path kept it back for later packets.
    pub const HELD_BY_PATH: u8 = 32;
    /// A queue marked it with CE.
    pub const MARKED: u8 = 64;
    /// It was damaged, and a link sent it again.
    pub const RESENT: u8 = 128;
}

/// Kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketKind {
    Data = 0,
    Acknowledgement = 1,
    Other = 2,
}

/// Packets as columns of equal length, in the order of sending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketColumns {
    /// 0 data, 1 acknowledgements, 2 others.
    pub kind: Vec<u8>,
    /// 1 towards the receiver.
    pub to_receiver: Vec<u8>,
    /// First octets of the stream.
    pub from: Vec<f64>,
    /// Octets after the last; of an acknowledgement, the first that it does not acknowledge.
    pub to: Vec<f64>,
    /// Times at which they left the sending end, in seconds.
    pub left_at: Vec<f64>,
    /// Times at which their transmission began; NaN if a queue dropped them.
    pub queue_until: Vec<f64>,
    /// Times at which their last bit left the link.
    pub departed_at: Vec<f64>,
    /// Times at which they reached the far end of their last link; NaN if they were dropped before.
    pub arrives_at: Vec<f64>,
    /// Times at which they reached the other end; NaN if they were dropped.
    pub delivered_at: Vec<f64>,
    /// Times at which they were delivered or dropped.
    pub end_at: Vec<f64>,
    /// Fates, as numbers of [`Fate`].
    pub fate: Vec<u8>,
    /// Flags of [`PacketFlag`].
    pub flags: Vec<u8>,
    /// Number of transmissions of the same octets before.
    pub copy: Vec<u8>,
    /// Of data: times at which an acknowledgement of all of it reached the sender; NaN if none did.
    pub acked_at: Vec<f64>,
    /// Of acknowledgements: indices of the data packets that caused them, −1 without one.
    pub answers: Vec<i32>,
    /// Indices of the links on which they spent the most time in the queue and in transmission.
    pub link: Vec<u16>,
    /// Indices of the first SACK block of each, and the number of all.
    pub sack_first: Vec<u32>,
    /// SACK blocks: first octet, octet after the last and so on.
    pub sacks: Vec<f64>,
}

/// A packet.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) kind: PacketKind,
    pub(super) to_receiver: bool,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) left: Instant,
    pub(super) copy: u8,
    /// Number of the data packet that caused an acknowledgement.
    pub(super) answers: Option<u64>,
    pub(super) sacks: Vec<(u64, u64)>,
    queue_until: Option<Instant>,
    departed: Option<Instant>,
    arrives: Option<Instant>,
    resequenced: Option<Instant>,
    delivered: Option<Instant>,
    end: Option<Instant>,
    fate: Fate,
    flags: u8,
    acked: Option<Instant>,
    /// The link with the longest time in queue and transmission, and that time in nanoseconds.
    link: (u16, u64),
    /// Copies that the path has made and that are still on it, the packet included.
    underway: u8,
}

impl Packet {
    pub(super) fn new(
        kind: PacketKind,
        to_receiver: bool,
        (from, to): (u64, u64),
        left: Instant,
    ) -> Self {
        Self {
            kind,
            to_receiver,
            from,
            to,
            left,
            copy: 0,
            answers: None,
            sacks: Vec::new(),
            queue_until: None,
            departed: None,
            arrives: None,
            resequenced: None,
            delivered: None,
            end: None,
            fate: Fate::Underway,
            flags: 0,
            acked: None,
            link: (0, 0),
            underway: 1,
        }
    }

    fn drop_at(&mut self, at: Instant, cause: DropCause) {
        self.underway = self.underway.saturating_sub(1);
        if self.delivered.is_some() || self.underway > 0 {
            return;
        }
        self.arrives = match cause {
            DropCause::Queue | DropCause::Loss => None,
            _ => self.arrives,
        };
        self.end = Some(at);
        self.fate = match cause {
            DropCause::Queue => Fate::Queue,
            DropCause::Loss => Fate::Lost,
            DropCause::Replay => Fate::Replay,
            DropCause::Ranges => Fate::Ranges,
            DropCause::Fragments => Fate::Fragments,
        };
    }
}

/// The log of the packets that are on the path for a part of a window.
#[derive(Clone, Debug)]
pub(super) struct PacketLog {
    window: (Instant, Instant),
    packets: VecDeque<Packet>,
    /// Number of the first packet in the log.
    base: u64,
    /// Numbers of the packets on the path, by the network's.
    numbers: Vec<u64>,
    /// The packet that has left its end, before its first crossing.
    leaving: Option<u64>,
    /// Data packets without an acknowledgement, and all copies of data, by their first octet.
    unacknowledged: BTreeMap<u64, Vec<u64>>,
    copies: BTreeMap<u64, Vec<u64>>,
    /// The packet that is being delivered.
    delivering: Option<u64>,
    pub(super) truncated: bool,
}

impl PacketLog {
    pub(super) fn new(window: (Instant, Instant)) -> Self {
        Self {
            window,
            packets: VecDeque::new(),
            base: 0,
            numbers: Vec::new(),
            leaving: None,
            unacknowledged: BTreeMap::new(),
            copies: BTreeMap::new(),
            delivering: None,
            truncated: false,
        }
    }

    fn get(&mut self, number: u64) -> Option<&mut Packet> {
        let at = number.checked_sub(self.base)?;
        self.packets.get_mut(usize::try_from(at).ok()?)
    }

    fn number_of(&self, packet: PacketId) -> Option<u64> {
        self.numbers.get(packet.0 as usize).copied().filter(|&number| number != NONE)
    }

    fn set_number(&mut self, packet: PacketId, number: u64) {
        let slot = packet.0 as usize;
        if self.numbers.len() <= slot {
            if number == NONE {
                return;
            }
            self.numbers.resize(slot + 1, NONE);
        }
        self.numbers[slot] = number;
    }

    /// Adds a packet that leaves its end, and returns its number. `is_known` is whether its octets have
    /// arrived.
    pub(super) fn leaves(&mut self, packet: Packet, is_known: bool) -> Option<u64> {
        self.leaving = None;
        if packet.left >= self.window.1 {
            return None;
        }
        self.forget_earlier();
        if self.packets.len() == MAX_PACKETS {
            self.truncated = true;
            return None;
        }
        let number = self.base + self.packets.len() as u64;
        let Packet { kind, from, copy, .. } = packet;
        self.packets.push_back(packet);
        if kind == PacketKind::Data {
            let earlier = self.copies.get(&from).cloned().unwrap_or_default();
            let delivered = earlier
                .into_iter()
                .any(|earlier| self.get(earlier).is_some_and(|packet| packet.delivered.is_some()));
            if let Some(packet) = self.get(number)
                && copy > 0
            {
                packet.flags |= PacketFlag::RETRANSMISSION;
                if delivered || is_known {
                    packet.flags |= PacketFlag::SPURIOUS;
                }
            }
            self.copies.entry(from).or_default().push(number);
            self.unacknowledged.entry(from).or_default().push(number);
        }
        self.leaving = Some(number);
        Some(number)
    }

    /// Removes packets that were off the path before the window.
    fn forget_earlier(&mut self) {
        let is_earlier = |packet: &Packet| packet.end.is_some_and(|end| end < self.window.0);
        while self.packets.front().is_some_and(is_earlier) {
            let Some(packet) = self.packets.pop_front() else { break };
            for of in [&mut self.copies, &mut self.unacknowledged] {
                if let Some(numbers) = of.get_mut(&packet.from) {
                    numbers.retain(|&number| number != self.base);
                    if numbers.is_empty() {
                        of.remove(&packet.from);
                    }
                }
            }
            self.base += 1;
        }
    }

    /// Records a crossing of a link.
    pub(super) fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        let number = match self.leaving.take() {
            Some(number) => {
                self.set_number(crossing.packet, number);
                Some(number)
            }
            None => self.number_of(crossing.packet),
        };
        let Some(number) = number else { return };
        let Some(packet) = self.get(number) else { return };
        let outcome = crossing.outcome;
        let began = crossing.at + outcome.waited;
        let busy = outcome.departed.since(crossing.at).as_nanos();
        if packet.queue_until.is_none() || busy > packet.link.1 {
            packet.link = (link.0 as u16, busy);
            packet.queue_until = Some(began);
            packet.departed = Some(outcome.departed);
        }
        if crossing.resent {
            packet.flags |= PacketFlag::RESENT;
        }
        if outcome.marked {
            packet.flags |= PacketFlag::MARKED;
        }
        match outcome.verdict {
            Verdict::Deliver(arrival) => packet.arrives = Some(arrival),
            Verdict::Held { .. } => {}
            Verdict::Drop(cause) => {
                packet.drop_at(outcome.departed, cause);
                if cause == DropCause::Queue {
                    packet.queue_until = None;
                }
                self.set_number(crossing.packet, NONE);
            }
        }
    }

    /// Records another step of a packet.
    pub(super) fn stepped(&mut self, id: PacketId, now: Instant, step: PacketStep) {
        self.delivering = None;
        if let PacketStep::CopyOf(original) = step {
            let number = self.number_of(original).unwrap_or(NONE);
            self.set_number(id, number);
            if let Some(packet) = self.get(number) {
                packet.flags |= PacketFlag::DUPLICATED;
                packet.underway += 1;
            }
            return;
        }
        let Some(number) = self.number_of(id) else { return };
        let Some(packet) = self.get(number) else { return };
        match step {
            PacketStep::Resequenced => {
                if packet.arrives.is_some_and(|arrives| now > arrives) {
                    packet.flags |= PacketFlag::HELD_BY_PATH;
                }
                packet.resequenced = Some(now);
                return;
            }
            PacketStep::Dropped(cause) => packet.drop_at(now, cause),
            PacketStep::Delivered => {
                self.deliver(number, now);
                self.delivering = Some(number);
            }
            PacketStep::CopyOf(_) => {}
        }
        self.set_number(id, NONE);
    }

    fn deliver(&mut self, number: u64, now: Instant) {
        let Some(packet) = self.get(number) else { return };
        packet.underway = packet.underway.saturating_sub(1);
        if packet.delivered.is_some() {
            return;
        }
        packet.fate = Fate::Delivered;
        packet.delivered = Some(now);
        packet.end = Some(now);
        match packet.resequenced {
            Some(at) if now > at => packet.flags |= PacketFlag::HELD,
            None if packet.arrives.is_some_and(|arrives| now > arrives) => {
                packet.flags |= PacketFlag::HELD_BY_PATH;
            }
            _ => {}
        }
        let Packet { kind, from, copy, .. } = *packet;
        if kind == PacketKind::Data {
            let copies = self.copies.get(&from).cloned().unwrap_or_default();
            for other in copies {
                if let Some(other) = self.get(other).filter(|other| other.copy > copy) {
                    other.flags |= PacketFlag::SPURIOUS;
                }
            }
        }
    }

    /// Returns the number of the packet that is being delivered, if it is in the log.
    pub(super) fn delivering(&self) -> Option<u64> {
        self.delivering
    }

    /// Records that the octets from `from` up to `to` are acknowledged.
    pub(super) fn acknowledged(&mut self, now: Instant, from: u64, to: u64) {
        let within: Vec<u64> = self.unacknowledged.range(from..to).map(|(&at, _)| at).collect();
        for at in within {
            let Some(numbers) = self.unacknowledged.remove(&at) else { continue };
            let mut left = Vec::new();
            for number in numbers {
                match self.get(number) {
                    Some(packet) if packet.to <= to => packet.acked = Some(now),
                    Some(_) => left.push(number),
                    None => {}
                }
            }
            if !left.is_empty() {
                self.unacknowledged.insert(at, left);
            }
        }
    }

    /// Forgets what later connections have other offsets for.
    pub(super) fn restart(&mut self) {
        self.unacknowledged.clear();
        self.copies.clear();
    }

    /// Returns the columns, and the index in them of each packet of the log.
    pub(super) fn columns(&self) -> (PacketColumns, BTreeMap<u64, usize>) {
        let (from, to) = self.window;
        let is_in = |packet: &Packet| packet.left < to && packet.end.is_none_or(|end| end >= from);
        let kept: Vec<(u64, &Packet)> =
            (self.base..).zip(&self.packets).filter(|(_, packet)| is_in(packet)).collect();
        let index: BTreeMap<u64, usize> =
            kept.iter().enumerate().map(|(at, (number, _))| (*number, at)).collect();
        let seconds = |at: Option<Instant>| at.map_or(f64::NAN, Instant::as_secs_f64);
        let mut columns = PacketColumns::default();
        for (_, packet) in &kept {
            columns.kind.push(packet.kind as u8);
            columns.to_receiver.push(u8::from(packet.to_receiver));
            columns.from.push(packet.from as f64);
            columns.to.push(packet.to as f64);
            columns.left_at.push(packet.left.as_secs_f64());
            columns.queue_until.push(seconds(packet.queue_until));
            columns.departed_at.push(seconds(packet.departed));
            columns.arrives_at.push(seconds(packet.arrives));
            columns.delivered_at.push(seconds(packet.delivered));
            columns.end_at.push(seconds(packet.end));
            columns.fate.push(packet.fate as u8);
            columns.flags.push(packet.flags);
            columns.copy.push(packet.copy);
            columns.acked_at.push(seconds(packet.acked));
            let answers = packet.answers.and_then(|number| index.get(&number));
            let answers = answers.and_then(|&at| i32::try_from(at).ok());
            columns.answers.push(answers.unwrap_or(-1));
            columns.link.push(packet.link.0);
            columns.sack_first.push((columns.sacks.len() / 2) as u32);
            for &(left, right) in &packet.sacks {
                columns.sacks.extend([left as f64, right as f64]);
            }
        }
        columns.sack_first.push((columns.sacks.len() / 2) as u32);
        mark_late(&kept, &mut columns.flags);
        (columns, index)
    }
}

/// Marks the packets that reached the far end after one of their direction that left later.
fn mark_late(kept: &[(u64, &Packet)], flags: &mut [u8]) {
    let mut earliest = [None::<Instant>; 2];
    for ((_, packet), flags) in kept.iter().zip(flags).rev() {
        let Some(arrives) = packet.arrives else { continue };
        let earliest = &mut earliest[usize::from(packet.to_receiver)];
        if earliest.is_some_and(|earliest| earliest < arrives) {
            *flags |= PacketFlag::LATE;
        }
        *earliest = Some(earliest.map_or(arrives, |earliest| earliest.min(arrives)));
    }
}
