//! The receiving half of a connection: puts the stream together and says what arrived, cumulatively
//! (RFC 9293), selectively (RFC 2018) and twice (RFC 2883).

mod moderation;
mod window;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::Config;
use crate::observer::{Event, Observer};
use moderation::Moderation;
pub(crate) use window::ReceiveWindow;

/// How many ranges are remembered as recently changed; an option holds at most four.
const RECENT: usize = 8;
/// The bounds of how many ranges are kept, and the smallest segments of a peer that means well (RFC
/// 9293, section 3.7.1): if it loses every second one of those, as many ranges as fill the buffer.
const RANGES: (usize, usize) = (64, 1 << 16);
const SMALL: u64 = 536;

/// How many ranges to keep at the most: a peer that sends every second octet must not fill memory
/// with them, nor make each insertion move megabytes.
fn most_ranges(buffer: u64, mss: u32) -> usize {
    let pair = 2 * SMALL.min(u64::from(mss.max(1)));
    (buffer / pair).clamp(RANGES.0 as u64, RANGES.1 as u64) as usize
}

/// The receiving half. Positions are stream offsets.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// RCV.NXT: everything below has arrived.
    next: u64,
    /// Ranges above `next` that have arrived: disjoint, not touching, in order.
    ranges: VecDeque<(u64, u64)>,
    most_ranges: usize,
    /// One octet of each range, most recently changed first.
    recent: [u64; RECENT],
    recent_len: usize,
    /// What the last segment brought a second time.
    duplicate: Option<(u64, u64)>,
    /// Where the stream ends, once a FIN has told.
    end: Option<u64>,
    window: ReceiveWindow,
    /// Where the window grows with what is read.
    moderation: Option<Moderation>,
    delay: Option<Duration>,
    /// What the last acknowledgement said (Last.ACK.sent of RFC 7323).
    last_acknowledged: u64,
    /// Segments that no acknowledgement has answered.
    unanswered: u32,
    /// An acknowledgement is to leave at once.
    ack_due: bool,
    /// Until when a delayed one may wait.
    ack_deadline: Option<Instant>,
    /// The segment to be answered was a retransmission (in simulation).
    rtx: bool,
}

impl Receiver {
    /// The receiver of a connection with these settings.
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            window: ReceiveWindow::of(config),
            moderation: config.initial_receive_buffer.map(|_| Moderation::new(config.mss)),
            ..Self::new(config.receive_buffer, config.mss, config.delayed_ack)
        }
    }

    /// A receiver with room for `buffer` octets, whose peer's segments have up to `mss`.
    pub(crate) fn new(buffer: u64, mss: u32, delay: Option<Duration>) -> Self {
        Self {
            next: 0,
            ranges: VecDeque::new(),
            most_ranges: most_ranges(buffer, mss),
            recent: [0; RECENT],
            recent_len: 0,
            duplicate: None,
            end: None,
            window: ReceiveWindow::new(buffer, mss),
            moderation: None,
            delay,
            last_acknowledged: 0,
            unanswered: 0,
            ack_due: false,
            ack_deadline: None,
            rtx: false,
        }
    }

    /// RCV.NXT, with the FIN counted once it has been reached.
    pub(crate) fn next(&self) -> u64 {
        self.next + u64::from(self.at_end())
    }

    /// Everything up to the FIN has arrived.
    pub(crate) fn at_end(&self) -> bool {
        self.end == Some(self.next)
    }

    /// What the last acknowledgement acknowledged, cumulatively.
    pub(crate) fn last_acknowledged(&self) -> u64 {
        self.last_acknowledged
    }

    /// What the peer may send, and how it is told.
    pub(crate) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// The driver has memory for so many octets that are not read.
    pub(crate) fn bound_window(&mut self, octets: u64) {
        self.window.bound(octets);
    }

    /// The window is so large from now on, and the peer may be `told`.
    pub(crate) fn fix_window(&mut self, octets: u64, told: bool) {
        self.moderation = None;
        self.window.fix(octets);
        if told && self.end.is_none() && self.window.should_update(self.next) {
            self.ack_due = true;
        }
    }

    /// The window field of the acknowledgement that leaves now.
    pub(crate) fn advertise(&mut self) -> u16 {
        self.window.advertise(self.next())
    }

    /// The peer does not scale windows.
    pub(crate) fn without_scale(&mut self) {
        self.window.without_scale();
    }

    /// Octets in order that the application has not taken.
    pub(crate) fn readable(&self) -> u64 {
        self.next - self.window.taken()
    }

    /// The application took `octets`; the peer is told when that opens the window enough.
    pub(crate) fn read(&mut self, octets: u64) {
        self.window.take(octets.min(self.readable()));
        let left = self.readable();
        if let Some(moderation) = &mut self.moderation {
            moderation.on_read(self.window.taken(), left);
        }
        if self.end.is_none() && self.window.should_update(self.next) {
            self.ack_due = true;
        }
    }

    /// Lets the window grow, if what was read says so.
    pub(crate) fn moderate(&mut self, now: Instant) {
        if let Some(octets) = self.moderation.as_mut().and_then(|it| it.verdict(now)) {
            self.window.grow(octets);
            if self.end.is_none() && self.window.should_update(self.next) {
                self.ack_due = true;
            }
        }
    }

    /// The handshake took so long.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_handshake(rtt);
        }
    }

    /// A segment of `len` octets echoes a timestamp that left `ago`.
    pub(crate) fn on_echo(&mut self, echo: u32, ago: Duration, len: u32) {
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_echo(echo, ago, len);
        }
    }

    /// A segment of `len` octets from `offset` arrived; `fin` ends the stream behind it. What lies
    /// beyond the window, or beyond an end already told, is cut off.
    pub(crate) fn on_segment(
        &mut self,
        offset: u64,
        len: u32,
        fin: bool,
        rtx: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let (mut end, mut len, mut fin) = (offset + u64::from(len), len, fin);
        let bound = self.end.map_or(self.window.edge(), |end| end.min(self.window.edge()));
        if end > bound {
            // Not kept, but answered (RFC 9293, section 3.10.7.4).
            self.ack_due = true;
            if offset >= bound {
                return;
            }
            (end, len, fin) = (bound, (bound - offset) as u32, false);
        }
        // No stream ends before what has arrived of it.
        let known_to = self.ranges.back().map_or(self.next, |last| last.1);
        if fin && self.end.is_none() && end >= known_to {
            self.end = Some(end);
        }
        let before = self.next;
        let had_hole = !self.ranges.is_empty();
        self.rtx = rtx;
        let unreported = self.duplicate.take();
        if self.make_room(offset, end, now, observer) {
            self.ack_due = true;
            return;
        }
        let fresh = len > 0
            && self.insert(offset, end, |left, right| {
                let len = (right - left) as u32;
                observer.on_event(now, &Event::Fresh { offset: left, len });
            });
        // Pieces of a segment that somebody has joined arrive before the first can be reported.
        self.duplicate = match (unreported, self.duplicate) {
            (Some(first), Some(second)) if first.1 == second.0 => Some((first.0, second.1)),
            (first, second) => second.or(first),
        };
        if len > 0 {
            observer.on_event(now, &Event::Arrived { offset, len, duplicate: !fresh });
        }
        if self.next > before {
            observer.on_event(now, &Event::Delivered { len: self.next - before });
            if let Some(moderation) = &mut self.moderation {
                moderation.rtt().on_arrival(self.next, self.window.edge(), now);
            }
        }
        let in_order = fresh && !had_hole && self.ranges.is_empty() && self.duplicate.is_none();
        self.unanswered += 1;
        match self.delay {
            Some(delay) if in_order && !fin && self.unanswered < 2 => {
                self.ack_deadline.get_or_insert(now + delay);
            }
            _ => self.ack_due = true,
        }
    }

    /// If `left..right` would be one range too many, the furthest one is dropped: says whether that
    /// is this very one. What was SACKed may be dropped (RFC 2018, section 8).
    fn make_room(
        &mut self,
        left: u64,
        right: u64,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        if self.ranges.len() < self.most_ranges || left <= self.next || left == right {
            return false;
        }
        let at = self.ranges.partition_point(|r| r.1 < left);
        match self.ranges.get(at) {
            None => return true,
            // It joins one that is there.
            Some(next) if next.0 <= right => return false,
            Some(_) => {}
        }
        if let Some((left, right)) = self.ranges.pop_back() {
            observer.on_event(now, &Event::Discarded { offset: left, len: right - left });
            self.keep_recent(|octet| octet < left);
        }
        false
    }

    /// Adds `left..right` to what has arrived; tells what of it is new, and says whether any is.
    fn insert(&mut self, left: u64, right: u64, mut fresh: impl FnMut(u64, u64)) -> bool {
        if right <= self.next {
            self.duplicate = Some((left, right));
            return false;
        }
        if left < self.next {
            self.duplicate = Some((left, self.next));
        }
        let left = left.max(self.next);
        if left == self.next && self.ranges.front().is_none_or(|r| right < r.0) {
            self.next = right;
            fresh(left, right);
            return true;
        }
        // The ranges that overlap or touch.
        let from = self.ranges.partition_point(|r| r.1 < left);
        let to = from + self.ranges.range(from..).take_while(|r| r.0 <= right).count();
        if from == to {
            self.ranges.insert(from, (left, right));
            self.remember(left, right, left);
            fresh(left, right);
            return true;
        }
        let mut at = left;
        for &(held, end) in self.ranges.range(from..to) {
            if at < held {
                fresh(at, held);
            }
            at = at.max(end);
        }
        if at < right {
            fresh(at, right);
        }
        let (first, last) = (self.ranges[from], self.ranges[to - 1]);
        let overlap = self
            .ranges
            .range(from..to)
            .map(|r| (r.0.max(left), r.1.min(right)))
            .find(|(l, r)| l < r);
        self.duplicate = self.duplicate.or(overlap);
        let merged = (first.0.min(left), last.1.max(right));
        let any = to - from > 1 || merged != first;
        if merged.0 <= self.next {
            self.ranges.drain(from..to);
            self.next = merged.1;
            self.forget_below();
        } else {
            self.ranges[from] = merged;
            if to - from > 1 {
                self.ranges.drain(from + 1..to);
            }
            self.remember(merged.0, merged.1, merged.0);
        }
        any
    }

    /// Puts the range that holds `octet` first among the recent ones, in place of those it took in.
    fn remember(&mut self, left: u64, right: u64, octet: u64) {
        let mut kept = 1;
        let mut next = [0; RECENT];
        next[0] = octet;
        for &old in &self.recent[..self.recent_len] {
            if (old < left || old >= right) && kept < RECENT {
                next[kept] = old;
                kept += 1;
            }
        }
        (self.recent, self.recent_len) = (next, kept);
    }

    fn forget_below(&mut self) {
        let next = self.next;
        self.keep_recent(|octet| octet >= next);
    }

    fn keep_recent(&mut self, keep: impl Fn(u64) -> bool) {
        let mut kept = 0;
        for i in 0..self.recent_len {
            if keep(self.recent[i]) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.recent_len = kept;
    }

    /// The SACK blocks of an acknowledgement, at most `limit`: a DSACK if there is one to report,
    /// then ranges, the most recently changed first.
    pub(crate) fn blocks(&self, limit: usize, mut push: impl FnMut(u64, u64)) {
        let mut left = limit;
        if let Some(duplicate) = self.duplicate.filter(|_| left > 0) {
            push(duplicate.0, duplicate.1);
            left -= 1;
        }
        for &octet in self.recent[..self.recent_len].iter().take(left) {
            let at = self.ranges.partition_point(|r| r.1 <= octet);
            if let Some(&(l, r)) = self.ranges.get(at).filter(|r| r.0 <= octet) {
                push(l, r);
            }
        }
    }

    /// How many blocks there are to tell of.
    pub(crate) fn block_count(&self) -> usize {
        self.recent_len + usize::from(self.duplicate.is_some())
    }

    /// Whether a retransmission is being answered (in simulation).
    pub(crate) fn answers_rtx(&self) -> bool {
        self.rtx
    }

    /// An acknowledgement must leave now.
    pub(crate) fn ack_due(&self) -> bool {
        self.ack_due
    }

    /// When a delayed acknowledgement must leave.
    pub(crate) fn ack_deadline(&self) -> Option<Instant> {
        self.ack_deadline
    }

    /// Timers may be due.
    pub(crate) fn on_timers(&mut self, now: Instant) {
        if self.ack_deadline.is_some_and(|at| at <= now) {
            self.ack_due = true;
            self.ack_deadline = None;
        }
    }

    /// An acknowledgement is wanted whatever arrived.
    pub(crate) fn demand_ack(&mut self) {
        self.ack_due = true;
    }

    /// An acknowledgement has left, alone or with data.
    pub(crate) fn acknowledged(&mut self) {
        self.last_acknowledged = self.next();
        self.ack_due = false;
        self.ack_deadline = None;
        self.unanswered = 0;
        self.duplicate = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver of 1000-octet segments, named by their numbers from 1 as in RR-TCP's figure 1.
    struct Peer(Receiver);

    impl Peer {
        fn new() -> Self {
            Self(Receiver::new(1 << 20, 1000, None))
        }

        /// Segment `n` arrives: gives the acknowledgement as `C<next> S<left>-<right> …`.
        fn gets(&mut self, n: u64) -> String {
            self.0.on_segment((n - 1) * 1000, 1000, false, false, Instant::ZERO, &mut ());
            assert!(self.0.ack_due());
            let mut ack = format!("C{}", self.0.next() / 1000);
            self.0.blocks(3, |l, r| {
                let (first, last) = (l / 1000 + 1, r / 1000);
                ack +=
                    &if first == last { format!(" S{first}") } else { format!(" S{first}-{last}") };
            });
            self.0.acknowledged();
            ack
        }
    }

    #[test]
    fn the_example_of_figure_1() {
        let mut peer = Peer::new();
        assert_eq!(peer.gets(2), "C0 S2");
        assert_eq!(peer.gets(3), "C0 S2-3");
        assert_eq!(peer.gets(4), "C0 S2-4");
        assert_eq!(peer.gets(5), "C0 S2-5");
        assert_eq!(peer.gets(1), "C5");
    }

    #[test]
    fn the_most_recently_changed_block_comes_first() {
        // RFC 2018, section 4: the block with the segment that triggered the acknowledgement.
        let mut peer = Peer::new();
        assert_eq!(peer.gets(2), "C0 S2");
        assert_eq!(peer.gets(4), "C0 S4 S2");
        assert_eq!(peer.gets(6), "C0 S6 S4 S2");
        assert_eq!(peer.gets(8), "C0 S8 S6 S4");
        assert_eq!(peer.gets(3), "C0 S2-4 S8 S6");
        assert_eq!(peer.gets(1), "C4 S8 S6");
    }

    #[test]
    fn a_duplicate_below_the_cumulative_point_is_reported_first() {
        // RFC 2883, section 4.1.
        let mut peer = Peer::new();
        peer.gets(1);
        peer.gets(2);
        assert_eq!(peer.gets(4), "C2 S4");
        assert_eq!(peer.gets(1), "C2 S1 S4");
        assert_eq!(peer.gets(6), "C2 S6 S4", "reported once");
    }

    #[test]
    fn a_duplicate_above_the_cumulative_point_is_reported_before_its_block() {
        // RFC 2883, section 4.2.
        let mut peer = Peer::new();
        peer.gets(2);
        peer.gets(3);
        peer.gets(6);
        assert_eq!(peer.gets(3), "C0 S3 S2-3 S6");
    }

    #[test]
    fn duplicates_in_pieces_are_reported_as_one() {
        let mut r = Receiver::new(1 << 20, 1000, None);
        let gets = |r: &mut Receiver, offset: u64| {
            r.on_segment(offset, 1000, false, false, Instant::ZERO, &mut ());
        };
        let told = |r: &mut Receiver| {
            let mut blocks = Vec::new();
            r.blocks(4, |left, right| blocks.push((left, right)));
            r.acknowledged();
            blocks
        };
        for n in 0..4 {
            gets(&mut r, n * 1000);
        }
        r.acknowledged();
        gets(&mut r, 1000);
        gets(&mut r, 2000);
        assert_eq!(told(&mut r), [(1000, 3000)]);
        assert_eq!(told(&mut r), [], "once");
        gets(&mut r, 3000);
        gets(&mut r, 4000);
        assert_eq!(told(&mut r), [(3000, 4000)], "the second half is new");
    }

    #[test]
    fn ranges_are_bounded_and_the_furthest_goes_first() {
        assert_eq!(most_ranges(6 << 20, 1460), 5868, "on the wire");
        assert_eq!(most_ranges(10_000, 1000), 64);
        assert_eq!(most_ranges(u64::MAX / 2, 1), 1 << 16);
        let mut r = Receiver::new(1 << 16, 1000, None);
        let most = r.most_ranges as u64;
        assert_eq!(most, 64);
        let mut told = Vec::new();
        let mut gets = |r: &mut Receiver, offset: u64, len: u32| {
            let mut observer = |_: Instant, event: &Event| match *event {
                Event::Fresh { offset, len } => told.push((offset, u64::from(len), true)),
                Event::Discarded { offset, len } => told.push((offset, len, false)),
                _ => {}
            };
            r.on_segment(offset, len, false, false, Instant::ZERO, &mut observer);
            assert!(r.ack_due());
            r.acknowledged();
            std::mem::take(&mut told)
        };
        for n in 1..=most {
            assert_eq!(gets(&mut r, 10 * n, 1), [(10 * n, 1, true)]);
        }
        assert_eq!(gets(&mut r, 10 * most + 5, 1), [], "further than all");
        assert_eq!(gets(&mut r, 10 * most + 1, 1), [(10 * most + 1, 1, true)], "it joins the last");
        let last = (10 * most, 2, false);
        assert_eq!(gets(&mut r, 5, 1), [last, (5, 1, true)]);
        let mut blocks = Vec::new();
        r.blocks(4, |left, right| blocks.push((left, right)));
        assert_eq!(blocks[0], (5, 6));
        assert!(blocks.iter().all(|block| block.1 <= 10 * most), "{blocks:?}");
        // A segment that covers them all is new but for what is held.
        let all = gets(&mut r, 0, 10 * most as u32 + 10);
        assert_eq!(all.iter().map(|run| run.1).sum::<u64>(), 10 * most + 10 - most);
        assert_eq!((r.next(), r.ranges.len(), r.block_count()), (10 * most + 10, 0, 0));
    }

    #[test]
    fn a_second_segment_in_order_ends_the_delay_and_a_hole_forbids_it() {
        let mut r = Receiver::new(1 << 20, 1000, Some(Duration::from_millis(100)));
        let mut gets = |n: u64| {
            r.on_segment(n * 1000, 1000, false, false, Instant::ZERO, &mut ());
            let due = r.ack_due();
            if due {
                r.acknowledged();
            }
            due
        };
        assert!(!gets(0));
        assert!(gets(1));
        assert!(gets(3), "out of order");
        assert!(gets(2), "fills the hole");
    }
}
