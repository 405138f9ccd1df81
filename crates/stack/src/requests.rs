//! Half-open connections: what is kept of a SYN until the peer acknowledges the SYN-ACK. The table
//! is bounded, and an entry has neither buffers nor a connection.

use std::collections::{HashMap, VecDeque};

use unruffled_tcp::{Ecn, Flags, Segment, SeqNr, Timestamps};
use unruffled_units::{Duration, Instant};

use crate::address::FourTuple;
use crate::budget::{self, Budget};
use crate::ids::ListenerId;

/// Retransmissions of a SYN-ACK.
const RETRIES: u8 = 5;

/// Time before the first retransmission; it doubles with each further one (RFC 6298).
const INITIAL_TIMEOUT: Duration = Duration::from_secs(1);

/// Record of a SYN.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    listener: ListenerId,
    isn: u32,
    peer_isn: SeqNr,
    timestamp: Option<u32>,
    window: u16,
    mss: Option<u16>,
    scale: Option<u8>,
    sack: bool,
    /// Whether all copies of the SYN request ECN.
    ecn: bool,
    retries: u8,
    /// Whether the peer has repeated its SYN, and so the SYN-ACK was repeated.
    repeated: bool,
    first: Instant,
    due: Instant,
}

impl Request {
    pub(crate) fn listener(&self) -> ListenerId {
        self.listener
    }

    /// Returns the initial sequence number of the SYN-ACK.
    pub(crate) fn isn(&self) -> u32 {
        self.isn
    }

    pub(crate) fn retries(&self) -> u32 {
        u32::from(self.retries)
    }

    /// Returns the SYN, with the fields that are kept.
    pub(crate) fn syn(&self) -> Segment {
        Segment {
            seq: self.peer_isn,
            flags: Flags { syn: true, ..Flags::default() },
            ecn: if self.ecn { Ecn::ECE | Ecn::CWR } else { Ecn::NONE },
            window: self.window,
            mss: self.mss,
            window_scale: self.scale,
            sack_permitted: self.sack,
            timestamps: self.timestamp.map(|value| Timestamps { value, echo: 0 }),
            ..Segment::default()
        }
    }

    /// Returns when the SYN-ACK was sent; `None` if it was sent more than once.
    pub(crate) fn answered(&self) -> Option<Instant> {
        Some(self.first).filter(|_| self.retries == 0 && !self.repeated)
    }

    /// Returns whether `segment` repeats the SYN, and updates what is kept of it.
    ///
    /// The answer echoes the timestamp of the repeated SYN unless that is older than the one before
    /// (RFC 7323, section 4.3). It omits the options that the repeated SYN lacks, since the peer
    /// has given them up (RFC 7323, sections 2.2 and 3.2).
    pub(crate) fn is_repeated_by(&mut self, segment: &Segment) -> bool {
        let flags = segment.flags;
        let same = flags.syn && !flags.ack && !flags.rst && segment.seq == self.peer_isn;
        if same {
            self.repeated = true;
            self.timestamp = match (self.timestamp, segment.timestamps) {
                (Some(before), Some(Timestamps { value, .. })) => {
                    let newer = value.wrapping_sub(before) as i32 > 0;
                    Some(if newer { value } else { before })
                }
                _ => None,
            };
            self.scale = self.scale.filter(|_| segment.window_scale.is_some());
            self.sack &= segment.sack_permitted;
            self.ecn &= requests_ecn(segment);
        }
        same
    }
}

/// Returns whether a SYN requests ECN (RFC 3168, section 6.1.1).
fn requests_ecn(syn: &Segment) -> bool {
    syn.ecn.has_ece() && syn.ecn.has_cwr()
}

/// A request whose timer has expired.
#[derive(Debug)]
pub(crate) enum Due {
    /// The SYN-ACK must be sent again.
    Retransmit(FourTuple),
    /// The SYN-ACK has been sent as often as allowed; the request has been removed.
    GivenUp,
}

/// The table of half-open connections.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    by_ends: HashMap<FourTuple, Request>,
    /// Due times, one queue for each number of retries: all entries of a queue wait equally long.
    queues: [VecDeque<(Instant, FourTuple)>; RETRIES as usize + 1],
}

impl Requests {
    pub(crate) fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// Returns whether the limits and the memory allow one more request.
    pub(crate) fn has_room(&self, budget: &Budget) -> bool {
        self.len() < budget.limits().requests && budget.has_room_for(budget::REQUEST)
    }

    pub(crate) fn contains(&self, ends: FourTuple) -> bool {
        self.by_ends.contains_key(&ends)
    }

    pub(crate) fn get_mut(&mut self, ends: FourTuple) -> Option<&mut Request> {
        self.by_ends.get_mut(&ends)
    }

    pub(crate) fn remove(&mut self, ends: FourTuple, budget: &mut Budget) {
        if self.by_ends.remove(&ends).is_some() {
            budget.refund(budget::REQUEST);
        }
    }

    /// Adds the request of `syn` for `listener`, which is answered with `isn`.
    pub(crate) fn add(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        isn: u32,
        now: Instant,
        budget: &mut Budget,
    ) {
        let request = Request {
            listener,
            isn,
            peer_isn: syn.seq,
            timestamp: syn.timestamps.map(|timestamps| timestamps.value),
            window: syn.window,
            mss: syn.mss,
            scale: syn.window_scale,
            sack: syn.sack_permitted,
            ecn: requests_ecn(syn),
            retries: 0,
            repeated: false,
            first: now,
            due: now + INITIAL_TIMEOUT,
        };
        self.plan(0, request.due, ends);
        if self.by_ends.insert(ends, request).is_none() {
            budget.charge(budget::REQUEST);
        }
    }

    fn plan(&mut self, retries: u8, due: Instant, ends: FourTuple) {
        let queue = &mut self.queues[usize::from(retries)];
        if queue.len() > 2 * self.by_ends.len() + 64 {
            // Most of these entries belong to requests that have ended.
            let is_current = |(due, ends): &(_, FourTuple)| {
                self.by_ends.get(ends).is_some_and(|request| request.due == *due)
            };
            queue.retain(is_current);
        }
        queue.push_back((due, ends));
    }

    /// Returns when to call [`Requests::poll_due`] next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.queues.iter().filter_map(|queue| queue.front()).map(|&(due, _)| due).min()
    }

    /// Returns the next request whose timer has expired.
    pub(crate) fn poll_due(&mut self, now: Instant, budget: &mut Budget) -> Option<Due> {
        for retries in 0..self.queues.len() {
            while let Some(&(due, ends)) = self.queues[retries].front().filter(|next| next.0 <= now)
            {
                self.queues[retries].pop_front();
                let Some(request) = self.by_ends.get_mut(&ends).filter(|r| r.due == due) else {
                    continue;
                };
                if request.retries == RETRIES {
                    self.remove(ends, budget);
                    return Some(Due::GivenUp);
                }
                request.retries += 1;
                let retries = request.retries;
                request.due = now + INITIAL_TIMEOUT * (1 << retries);
                let due = request.due;
                self.plan(retries, due, ends);
                return Some(Due::Retransmit(ends));
            }
        }
        None
    }

    /// Removes the requests of a listener that has closed.
    pub(crate) fn remove_all_of(&mut self, listener: ListenerId, budget: &mut Budget) {
        let before = self.len();
        self.by_ends.retain(|_, request| request.listener != listener);
        budget.refund((before - self.len()) * budget::REQUEST);
    }

    pub(crate) fn clear(&mut self, budget: &mut Budget) {
        budget.refund(self.len() * budget::REQUEST);
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Limits;
    use crate::slab::Key;

    fn ends(port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, 2], 80).into(), remote: ([10, 0, 0, 1], port).into() }
    }

    fn add(requests: &mut Requests, port: u16, budget: &mut Budget) {
        let listener = ListenerId::new(Key::default());
        requests.add(ends(port), listener, &Segment::default(), 7, Instant::ZERO, budget);
    }

    #[test]
    fn a_request_is_answered_six_times_in_all_and_lives_for_63_seconds() {
        let mut budget = Budget::new(Limits::default());
        let mut requests = Requests::default();
        add(&mut requests, 1, &mut budget);
        assert_eq!(budget.used(), budget::REQUEST);
        let mut at = Vec::new();
        while let Some(due) = requests.next_due() {
            at.push(due.since(Instant::ZERO).as_nanos() / 1_000_000_000);
            match requests.poll_due(due, &mut budget) {
                Some(Due::Retransmit(again)) => assert_eq!(again, ends(1)),
                Some(Due::GivenUp) | None => assert_eq!(requests.len(), 0),
            }
        }
        assert_eq!(at, [1, 3, 7, 15, 31, 63]);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn due_times_of_ended_requests_do_not_accumulate() {
        let mut budget = Budget::new(Limits::default());
        let mut requests = Requests::default();
        for port in 0..10_000 {
            add(&mut requests, port, &mut budget);
            requests.remove(ends(port), &mut budget);
        }
        assert!(requests.queues[0].len() < 100);
        assert!(requests.poll_due(Instant::from_millis(1000), &mut budget).is_none());
        assert_eq!((requests.next_due(), budget.used()), (None, 0));
    }

    #[test]
    fn a_request_takes_at_most_64_octets() {
        assert!(size_of::<Request>() <= 64, "{}", size_of::<Request>());
    }
}
