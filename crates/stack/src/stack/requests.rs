//! Half-open connections: what is kept of a SYN until its answer is acknowledged. The table is
//! bounded, and an entry has neither buffers nor a connection.

use std::collections::{HashMap, VecDeque};

use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps};
use unruffled_units::{Duration, Instant};

use super::FourTuple;
use super::slab::Key;

/// How often a SYN-ACK is sent again.
const RETRIES: u8 = 5;

/// The first one waits this long, each of the others twice as long as the one before (RFC 6298).
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// What is kept of a SYN.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) listener: Key,
    pub(super) isn: u32,
    peer_isn: SeqNr,
    stamp: Option<u32>,
    window: u16,
    mss: Option<u16>,
    scale: Option<u8>,
    sack: bool,
    pub(super) retries: u8,
    /// The peer's SYN came again, and so did the answer.
    repeated: bool,
    first: Instant,
    due: Instant,
}

impl Request {
    /// The SYN, as far as it is known.
    pub(super) fn syn(&self) -> Segment {
        Segment {
            seq: self.peer_isn,
            flags: Flags { syn: true, ..Flags::default() },
            window: self.window,
            mss: self.mss,
            window_scale: self.scale,
            sack_permitted: self.sack,
            timestamps: self.stamp.map(|value| Timestamps { value, echo: 0 }),
            ..Segment::default()
        }
    }

    /// When the only answer left; none where there were several.
    pub(super) fn answered(&self) -> Option<Instant> {
        Some(self.first).filter(|_| self.retries == 0 && !self.repeated)
    }

    /// Whether `segment` is the SYN once more, which is answered once more: with the echo of its own
    /// timestamp, unless that is older than one before (RFC 7323, section 4.3), and without the options
    /// that it lacks, which the peer has given up (sections 2.2 and 3.2).
    pub(super) fn is_repeated_by(&mut self, segment: &Segment) -> bool {
        let flags = segment.flags;
        let same = flags.syn && !flags.ack && !flags.rst && segment.seq == self.peer_isn;
        self.repeated |= same;
        if same {
            self.stamp =
                self.stamp.zip(segment.timestamps).map(|(stamp, Timestamps { value, .. })| {
                    if value.wrapping_sub(stamp) as i32 > 0 { value } else { stamp }
                });
            self.scale = self.scale.filter(|_| segment.window_scale.is_some());
            self.sack &= segment.sack_permitted;
        }
        same
    }
}

/// A request whose timer was due.
#[derive(Debug)]
pub(super) enum Due {
    /// The SYN-ACK is to leave again.
    Again(FourTuple),
    /// It has left often enough.
    Over,
}

/// The table of half-open connections.
#[derive(Debug, Default)]
pub(super) struct Requests {
    by_ends: HashMap<FourTuple, Request>,
    /// Due times, one queue for each number of retries: in a queue all wait equally long.
    queues: [VecDeque<(Instant, FourTuple)>; RETRIES as usize + 1],
}

impl Requests {
    pub(super) fn len(&self) -> usize {
        self.by_ends.len()
    }

    pub(super) fn contains(&self, ends: FourTuple) -> bool {
        self.by_ends.contains_key(&ends)
    }

    pub(super) fn get_mut(&mut self, ends: FourTuple) -> Option<&mut Request> {
        self.by_ends.get_mut(&ends)
    }

    pub(super) fn remove(&mut self, ends: FourTuple) -> Option<Request> {
        self.by_ends.remove(&ends)
    }

    /// A SYN for `listener` has been answered with `isn`.
    pub(super) fn add(
        &mut self,
        ends: FourTuple,
        listener: Key,
        syn: &Segment,
        isn: u32,
        now: Instant,
    ) {
        let request = Request {
            listener,
            isn,
            peer_isn: syn.seq,
            stamp: syn.timestamps.map(|timestamps| timestamps.value),
            window: syn.window,
            mss: syn.mss,
            scale: syn.window_scale,
            sack: syn.sack_permitted,
            retries: 0,
            repeated: false,
            first: now,
            due: now + FIRST_WAIT,
        };
        self.plan(0, request.due, ends);
        self.by_ends.insert(ends, request);
    }

    fn plan(&mut self, retries: u8, due: Instant, ends: FourTuple) {
        let queue = &mut self.queues[usize::from(retries)];
        if queue.len() > 2 * self.by_ends.len() + 64 {
            // Most of those that it names have come to their end.
            let counts = |(due, ends): &(_, FourTuple)| {
                self.by_ends.get(ends).is_some_and(|request| request.due == *due)
            };
            queue.retain(counts);
        }
        queue.push_back((due, ends));
    }

    /// When the next timer is due, if not before.
    pub(super) fn next(&self) -> Option<Instant> {
        self.queues.iter().filter_map(|queue| queue.front()).map(|&(due, _)| due).min()
    }

    /// The next request whose timer is due.
    pub(super) fn poll_due(&mut self, now: Instant) -> Option<Due> {
        for retries in 0..self.queues.len() {
            while let Some(&(due, ends)) = self.queues[retries].front().filter(|next| next.0 <= now)
            {
                self.queues[retries].pop_front();
                let Some(request) = self.by_ends.get_mut(&ends).filter(|r| r.due == due) else {
                    continue;
                };
                if request.retries == RETRIES {
                    self.by_ends.remove(&ends);
                    return Some(Due::Over);
                }
                request.retries += 1;
                let retries = request.retries;
                request.due = now + FIRST_WAIT * (1 << retries);
                let due = request.due;
                self.plan(retries, due, ends);
                return Some(Due::Again(ends));
            }
        }
        None
    }

    /// Nobody listens there any more.
    pub(super) fn forget(&mut self, listener: Key) {
        self.by_ends.retain(|_, request| request.listener != listener);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, 2], 80).into(), remote: ([10, 0, 0, 1], port).into() }
    }

    const LISTENER: Key = Key { index: 0, generation: 0 };

    #[test]
    fn a_request_is_answered_six_times_in_all_and_lives_for_63_seconds() {
        let mut requests = Requests::default();
        requests.add(ends(1), LISTENER, &Segment::default(), 7, Instant::ZERO);
        let mut at = Vec::new();
        while let Some(due) = requests.next() {
            at.push(due.since(Instant::ZERO).as_nanos() / 1_000_000_000);
            match requests.poll_due(due) {
                Some(Due::Again(again)) => assert_eq!(again, ends(1)),
                Some(Due::Over) | None => assert_eq!(requests.len(), 0),
            }
        }
        assert_eq!(at, [1, 3, 7, 15, 31, 63]);
    }

    #[test]
    fn due_times_of_requests_that_have_gone_do_not_pile_up() {
        let mut requests = Requests::default();
        for port in 0..10_000 {
            requests.add(ends(port), LISTENER, &Segment::default(), 7, Instant::ZERO);
            requests.remove(ends(port));
        }
        assert!(requests.queues[0].len() < 100);
        assert!(requests.poll_due(Instant::from_millis(1000)).is_none());
        assert_eq!(requests.next(), None);
    }

    #[test]
    fn an_entry_is_small() {
        assert!(size_of::<Request>() <= 64, "{}", size_of::<Request>());
    }
}
