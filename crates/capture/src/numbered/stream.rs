//! Numbers of a flow's packets: which of them arrive late, twice, or never.

use unruffled_units::Duration;

use super::evidence::Sample;
use super::protocol::NumberedProtocol;
use crate::behind::Behind;
use crate::reordering::{Arrivals, Reordering, SendIndex};

/// Numbers below the highest for which it is known whether they have arrived: more than the largest usual
/// replay window. An older packet counts as late and not as a copy.
const REMEMBERED: u64 = 16_384;

/// Index of the first packet. Packets with lower numbers may follow.
const FIRST_INDEX: u64 = 1 << 32;

/// Greatest distance of a number from the highest one. Beyond it, the sender has begun anew, or the packet
/// is another's.
const MAX_DISTANCE: u64 = 1 << 16;

/// Greatest distance of 16-bit numbers ahead and behind (RFC 3550, appendix A.1, where a packet may be
/// 100 behind).
const MAX_SHORT_DISTANCE: (u64, u64) = (3000, 8192);

/// Packets of a flow by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    bits: u32,
    current: Epoch,
    previous: Option<Epoch>,
    /// The number that follows one which was far from the others.
    restart: Option<u64>,
    pub(super) packets: u64,
    pub(super) payload: u64,
    pub(super) duplicates: u64,
    /// Packets whose number is far from the others.
    pub(super) strange: u64,
    /// Lost packets of former keys.
    lost: u64,
    arrivals: Arrivals,
    behind: Behind,
}

/// Packets under one key, whose numbers begin anew with the next key.
#[derive(Clone, Debug)]
struct Epoch {
    context: u32,
    /// The highest number that arrived.
    highest: u64,
    /// Its index in the order of sending, over all keys.
    highest_index: u64,
    lowest_index: u64,
    /// Indices that arrived, without copies.
    distinct: u64,
    recent: Recent,
}

/// The indices below the highest that have arrived.
#[derive(Clone, Debug)]
struct Recent(Box<[u64; (REMEMBERED / 64) as usize]>);

impl Recent {
    fn new() -> Self {
        Self(Box::new([0; (REMEMBERED / 64) as usize]))
    }

    fn contains(&self, index: u64) -> bool {
        self.0[word(index)] & bit(index) != 0
    }

    fn insert(&mut self, index: u64) {
        self.0[word(index)] |= bit(index);
    }

    /// Forgets the indices that `index` displaces as the highest, where `before` was the highest.
    fn advance(&mut self, before: u64, index: u64) {
        let from = before.max(index.saturating_sub(REMEMBERED)) + 1;
        (from..=index).for_each(|passed| self.0[word(passed)] &= !bit(passed));
    }
}

fn word(index: u64) -> usize {
    (index / 64 % (REMEMBERED / 64)) as usize
}

fn bit(index: u64) -> u64 {
    1 << (index % 64)
}

impl Epoch {
    fn new(context: u32, number: u64, index: u64) -> Self {
        let recent = Recent::new();
        Self {
            context,
            highest: number,
            highest_index: index,
            lowest_index: index,
            distinct: 0,
            recent,
        }
    }

    /// Returns the index of a number of `bits` bits, if it is near the highest.
    fn index(&self, number: u64, bits: u32) -> Option<u64> {
        let (ahead_most, behind_most) =
            if bits == 16 { MAX_SHORT_DISTANCE } else { (MAX_DISTANCE, MAX_DISTANCE) };
        let mask = u64::MAX >> (64 - bits);
        let ahead = number.wrapping_sub(self.highest) & mask;
        let behind = self.highest.wrapping_sub(number) & mask;
        if ahead <= ahead_most {
            Some(self.highest_index + ahead)
        } else {
            (behind <= behind_most).then(|| self.highest_index - behind)
        }
    }

    /// Records the arrival of a number. Returns its distance behind the highest, or `None` if it is a
    /// copy.
    fn arrive(&mut self, number: u64, index: u64) -> Option<u64> {
        if index > self.highest_index {
            self.recent.advance(self.highest_index, index);
            self.highest = number;
            self.highest_index = index;
        }
        let behind = self.highest_index - index;
        if behind < REMEMBERED {
            if self.recent.contains(index) {
                return None;
            }
            self.recent.insert(index);
        }
        self.lowest_index = self.lowest_index.min(index);
        self.distinct += 1;
        Some(behind)
    }

    /// Returns how many numbers did not arrive, without the last `recent` ones below the highest, which
    /// may still be on their way.
    fn lost(&self, recent: u64) -> u64 {
        let span = self.highest_index - self.lowest_index + 1;
        let missing = span.saturating_sub(self.distinct);
        let considered = recent.min(span - 1).min(REMEMBERED - 1);
        let indices = (1..=considered).map(|behind| self.highest_index - behind);
        let open = indices.filter(|&index| !self.recent.contains(index)).count() as u64;
        missing.saturating_sub(open)
    }
}

impl Stream {
    /// Creates the stream of the packets in `samples`, of which there is at least one.
    pub(super) fn new(
        protocol: NumberedProtocol,
        samples: &[Sample],
        clock_step: Duration,
    ) -> Option<Self> {
        let first = samples.first()?;
        let mut stream = Self {
            bits: protocol.number_bits(),
            current: Epoch::new(first.context, first.number, FIRST_INDEX),
            previous: None,
            restart: None,
            packets: 0,
            payload: 0,
            duplicates: 0,
            strange: 0,
            lost: 0,
            arrivals: Arrivals::default(),
            behind: Behind::default(),
        };
        samples.iter().for_each(|sample| stream.record(sample, clock_step));
        Some(stream)
    }

    /// Records a packet.
    pub(super) fn record(&mut self, packet: &Sample, clock_step: Duration) {
        let &Sample { number, context, len, at, tag: _ } = packet;
        self.packets += 1;
        self.payload += u64::from(len);
        let is_current = context == self.current.context;
        let is_previous = self.previous.as_ref().is_some_and(|epoch| epoch.context == context);
        if !is_current && !is_previous {
            self.begin_epoch(context, number);
        }
        let bits = self.bits;
        let epoch = match &self.previous {
            Some(previous) if is_previous && !is_current => previous,
            _ => &self.current,
        };
        let index = match epoch.index(number, bits) {
            Some(index) => index,
            // A packet that continues from a far number shows that the sender has begun anew there.
            None if is_current && self.restart == Some(number) => {
                self.begin_epoch(context, number);
                self.current.highest_index
            }
            None => {
                self.strange += 1;
                self.restart = Some(number.wrapping_add(1) & (u64::MAX >> (64 - bits)));
                return;
            }
        };
        let epoch = match &mut self.previous {
            Some(previous) if is_previous && !is_current => previous,
            _ => &mut self.current,
        };
        let Some(behind) = epoch.arrive(number, index) else {
            self.duplicates += 1;
            return;
        };
        if behind > 0 {
            self.behind.record(behind);
        }
        self.arrivals.arrive(SendIndex::new(index, index), at, clock_step);
    }

    /// Begins a key, or the numbers of a sender that begins anew.
    fn begin_epoch(&mut self, context: u32, number: u64) {
        // Late packets may have numbers below the first that arrives.
        let index = self.current.highest_index + MAX_DISTANCE;
        let epoch = Epoch::new(context, number, index);
        self.restart = None;
        let former = std::mem::replace(&mut self.current, epoch);
        if let Some(ended) = self.previous.replace(former) {
            self.lost += ended.lost(0);
        }
    }

    /// Returns how many packets were lost before they came here.
    pub(super) fn lost(&self) -> u64 {
        let recent = self.behind.max();
        let previous = self.previous.as_ref().map_or(0, |epoch| epoch.lost(0));
        self.lost + previous + self.current.lost(recent)
    }

    /// Returns the reordering of the packets.
    pub(super) fn reordering(&self) -> Reordering {
        let reordering = self.arrivals.summary(None);
        // A replay window belongs to a key.
        Reordering { replay: self.behind.summary(reordering.packets), ..reordering }
    }

    /// Returns the context of the newest key.
    pub(super) fn context(&self) -> u32 {
        self.current.context
    }
}
