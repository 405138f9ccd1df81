//! The detector.

#[cfg(test)]
mod tests;

use core::ops::RangeInclusive;

use unruffled_lateness::two_stage::{self, Waits};
use unruffled_lateness::{Front, Lateness, share_of};
use unruffled_units::{Duration, Instant};

use crate::outstanding::Outstanding;
use crate::reductions::Reductions;
use crate::suspicions::{Load, State, Suspicions};
use crate::{Counts, Packet, Path, Reduction, Settings, Verdict};

/// Smallest time threshold: the timer granularity of RFC 9002, section 6.1.2.
const GRANULARITY: Duration = Duration::from_millis(1);

/// Two-stage loss detection for one path and one space of packet numbers.
///
/// `S` is the state of the transport's congestion control, which [`poll`](Self::poll) saves before a reduction and
/// returns if the reduction proves spurious.
///
/// The order of calls is:
///
/// * [`on_sent`](Self::on_sent) for each packet that elicits an acknowledgement;
/// * [`on_ack`](Self::on_ack) for each acknowledgement, and then [`poll`](Self::poll) until it returns `None`;
/// * [`poll`](Self::poll) until it returns `None` at the time that [`timeout`](Self::timeout) returns, and also after
///   anything else;
/// * [`room`](Self::room) when the window is compared with what is in flight.
///
/// ```
/// use unruffled_detector::{Detector, Duration, Instant, Path, Settings, Verdict};
///
/// let ms = Instant::from_millis;
/// let path = Path {
///     min_rtt: Duration::from_millis(50),
///     smoothed_rtt: Duration::from_millis(50),
///     timeout: Duration::from_millis(150),
///     window: 30_000,
///     packet: 1200,
///     slow_start: false,
/// };
/// // The state to restore is the window.
/// let mut detector: Detector<u64> = Detector::new(Settings::default());
/// for number in 0..10 {
///     detector.on_sent(number, 1200, ms(number));
/// }
/// // All but packet 3 arrive. Nothing has been late before, so RFC 9002 decides: it is lost.
/// detector.on_ack([4..=9, 0..=2], ms(60));
/// let mut verdicts = Vec::new();
/// while let Some(verdict) = detector.poll(&path, ms(60), || path.window) {
///     verdicts.push(verdict);
/// }
/// assert!(matches!(verdicts[..], [Verdict::Resend(_), Verdict::Reduce(_), Verdict::Lost(_)]));
/// // It was only late, by 28 ms. The window comes back, and from now on the detector waits.
/// detector.on_ack([0..=9], ms(82));
/// assert_eq!(detector.poll(&path, ms(82), || path.window), Some(Verdict::Restore(30_000)));
/// assert_eq!(detector.poll(&path, ms(82), || path.window), None);
/// assert!(detector.has_seen_late());
/// ```
#[derive(Clone, Debug)]
pub struct Detector<S> {
    settings: Settings,
    lateness: Lateness,
    front: Front,
    /// Largest number acknowledged, which is that of the front.
    largest: Option<u64>,
    /// Largest number sent.
    newest: Option<u64>,
    /// Time of the first acknowledgement, before which no persistent congestion can begin.
    first_acknowledged: Option<Instant>,
    outstanding: Outstanding,
    suspicions: Suspicions,
    reductions: Reductions<S>,
    waits: Waits,
    /// Load from which the reduction begins, if an overflow has confirmed all that is pending.
    overflow: Option<Load>,
    /// When to poll again.
    timeout: Option<Instant>,
    counts: Counts,
}

impl<S> Detector<S> {
    /// Creates a detector. It allocates nothing yet.
    ///
    /// Its memory grows with the largest number of packets that were outstanding at a time (24 octets each, in each
    /// of two tables) and suspected within the last seconds (64 octets each, at most
    /// [`Settings::suspicions`]). The distribution of latenesses takes about 450 octets, once something was
    /// late. Nothing is allocated again after that.
    pub fn new(settings: Settings) -> Self {
        Self::with_capacity(settings, 0, 0)
    }

    /// Creates a detector with room for this many outstanding and suspected packets.
    pub fn with_capacity(settings: Settings, outstanding: usize, suspicions: usize) -> Self {
        let mut table = Suspicions::new(settings.suspicions);
        table.reserve(suspicions);
        Self {
            settings,
            lateness: Lateness::new(settings.memory, settings.budget, settings.margin),
            front: Front::default(),
            largest: None,
            newest: None,
            first_acknowledged: None,
            outstanding: Outstanding::with_capacity(outstanding),
            suspicions: table,
            reductions: Reductions::new(),
            waits: Waits::default(),
            overflow: None,
            timeout: None,
            counts: Counts::default(),
        }
    }

    /// Handles the sending of packet `number`, which elicits an acknowledgement. A number that is not larger than all
    /// before it is ignored.
    pub fn on_sent(&mut self, number: u64, octets: u32, now: Instant) {
        if self.newest.is_none_or(|newest| number > newest) {
            self.newest = Some(number);
            self.outstanding.add(Packet { number, sent: now, octets });
        }
    }

    /// Handles an acknowledgement of these ranges of numbers, in any order. They may contain numbers that have been
    /// acknowledged before or were never sent. Call [`poll`](Self::poll) next.
    pub fn on_ack(&mut self, ranges: impl IntoIterator<Item = RangeInclusive<u64>>, now: Instant) {
        let Self { lateness, front, largest, suspicions, reductions, counts, .. } = self;
        let mut latest: Option<Packet> = None;
        let arrive = |packet: &Packet, lateness: &mut Lateness| {
            if front.hides(packet.sent) {
                return;
            }
            // Packets of one burst were sent at the same time, so the numbers show which was sent first.
            let late = largest.is_some_and(|largest| packet.number < largest);
            match front.lateness_behind(Instant::MAX, packet.sent, now).filter(|_| late) {
                Some(by) => lateness.late(by),
                None => lateness.in_order(),
            }
        };
        for range in ranges {
            self.outstanding.acknowledge(&range, |packet| {
                arrive(packet, lateness);
                if latest.is_none_or(|latest| latest.number < packet.number) {
                    latest = Some(*packet);
                }
            });
            suspicions.refute(&range, |packet, state| {
                arrive(packet, lateness);
                counts.refuted += 1;
                if let State::Confirmed(supported) = state {
                    lateness.found();
                    if let Some(supported) = supported {
                        reductions.take_support(supported);
                    }
                }
            });
        }
        if let Some(window) = reductions.take_undone() {
            counts.undone += 1;
            suspicions.on_undo(window, reductions.last_began());
        }
        let latest = latest.filter(|latest| largest.is_none_or(|largest| latest.number > largest));
        if front.on_ack(latest.map(|latest| latest.sent), now) {
            lateness.invalidate_share();
        }
        if let Some(latest) = latest {
            *largest = Some(latest.number);
            self.first_acknowledged.get_or_insert(now);
        }
        if let Some(largest) = *largest {
            self.outstanding.advance(largest);
        }
        lateness.refresh(now);
        lateness.keep_share(front.reference());
    }

    /// Handles an expiry of the retransmission timer (PTO). Samples of packets sent before an outage do not count,
    /// because their acknowledgements may have been lost.
    pub fn on_timeout(&mut self, path: &Path, now: Instant) {
        self.front.on_timeout(path.smoothed_rtt, now);
    }

    /// Records that the transport has reduced `window` for another reason, such as an ECN mark. That reduction
    /// stands, and answers what was sent before.
    pub fn on_reduction(&mut self, window: u64, now: Instant) {
        self.reductions.begin(window, None, now);
        self.suspicions.on_reduction(now);
    }

    /// Forgets a packet whose loss says nothing of congestion: a probe for a larger MTU, or a packet whose keys
    /// were discarded.
    pub fn forget(&mut self, number: u64) {
        let range = number..=number;
        self.outstanding.acknowledge(&range, |_| {});
        self.suspicions.refute(&range, |_, _| {});
        if let Some(largest) = self.largest {
            self.outstanding.advance(largest);
        }
    }

    /// Returns what the transport has to do next, or `None` if there is nothing until [`timeout`](Self::timeout).
    /// `save` returns the state of its congestion control, and is called before a reduction only.
    pub fn poll(
        &mut self,
        path: &Path,
        now: Instant,
        save: impl FnOnce() -> S,
    ) -> Option<Verdict<S>> {
        if let Some(saved) = self.reductions.take_restore() {
            return Some(Verdict::Restore(saved));
        }
        let late = self.lateness.seen();
        if late {
            self.waits = Waits::new(&self.lateness, &self.two_stage_path(path));
        }
        let mut verdict = None;
        let due = self.resend_is_due(path, late, now);
        // Without room in the table, the oldest suspicion is confirmed before its time.
        let room = !due || self.suspicions.make_room();
        if due && room {
            verdict = self.resend(path, now);
        }
        let verdict = verdict.or_else(|| self.confirm(path, late, !room, now, save));
        if verdict.is_none() {
            let horizon = two_stage::horizon(path.timeout, self.pending_wait());
            self.suspicions.expire(horizon, now);
            self.timeout = self.next(path, late);
        }
        verdict
    }

    fn two_stage_path(&self, path: &Path) -> two_stage::Path {
        two_stage::Path {
            smallest_window: path.min_rtt.mul_f64(two_stage::SMALLEST_WINDOW),
            timeout: path.timeout,
            reference: self.front.reference(),
            window: path.packets(),
            overflow_share: self.settings.many,
        }
    }

    /// Returns how long after its transmission a packet is suspected.
    fn resend_wait(&self, path: &Path, late: bool) -> Duration {
        let reference = self.front.reference();
        if late {
            return reference + self.waits.resend;
        }
        let round_trip = path.smoothed_rtt.max(reference);
        round_trip.mul_f64(self.settings.time_threshold).max(GRANULARITY)
    }

    /// Returns how long after its transmission a suspicion is confirmed. It keeps the last wait when the record of
    /// lateness has been discarded.
    fn pending_wait(&self) -> Duration {
        self.front.reference() + self.waits.confirm
    }

    /// Returns whether the first missing packet is to be suspected.
    fn resend_is_due(&self, path: &Path, late: bool, now: Instant) -> bool {
        let (Some(first), Some(largest)) = (self.outstanding.first_missing(), self.largest) else {
            return false;
        };
        let ahead = largest.saturating_sub(first.number);
        let by_number = !late && ahead >= u64::from(self.settings.packet_threshold);
        by_number || first.sent + self.resend_wait(path, late) <= now
    }

    /// Suspects the first missing packet.
    fn resend(&mut self, path: &Path, now: Instant) -> Option<Verdict<S>> {
        let packet = self.outstanding.take_first_missing()?;
        let load = Load { window: path.window, slow_start: path.slow_start };
        self.suspicions.add(packet, load, now);
        self.counts.suspected += 1;
        Some(Verdict::Resend(packet))
    }

    /// Confirms the first pending suspicion, if it is due, if too many are pending, or if it is `forced`.
    fn confirm(
        &mut self,
        path: &Path,
        late: bool,
        forced: bool,
        now: Instant,
        save: impl FnOnce() -> S,
    ) -> Option<Verdict<S>> {
        let Some((first, load)) = self.suspicions.first_pending() else {
            self.overflow = None;
            return None;
        };
        // Until something has been late, a suspicion is confirmed at once.
        let due_sent = if late {
            (now.since(Instant::ZERO) >= self.pending_wait()).then(|| now - self.pending_wait())
        } else {
            Some(now)
        };
        let due = due_sent.is_some_and(|due_sent| first.sent <= due_sent);
        let mut load = Some(load).filter(|_| due || forced);
        if load.is_none() && self.overflow.is_none() {
            let share =
                share_of(self.lateness.mean_beyond(self.waits.resend), self.front.reference());
            let window = path.packets();
            self.overflow =
                self.suspicions.overflow(window * self.settings.many, || share * window);
        }
        load = load.or(self.overflow);
        let load = load?;
        if self.suspicions.is_fresh(first.sent) {
            let until = if self.overflow.is_some() { now } else { due_sent.unwrap_or(first.sent) };
            return Some(Verdict::Reduce(self.reduce(
                path,
                load,
                until.max(first.sent),
                save(),
                now,
            )));
        }
        let packet = self.suspicions.confirm_first(&mut self.reductions)?;
        self.lateness.lost();
        self.counts.confirmed += 1;
        Some(Verdict::Lost(packet))
    }

    /// Begins a reduction that answers the pending suspicions of packets sent at `until` or before.
    fn reduce(
        &mut self,
        path: &Path,
        load: Load,
        until: Instant,
        saved: S,
        now: Instant,
    ) -> Reduction {
        let window = if load.slow_start { load.window.min(path.window) } else { path.window };
        let mut reduction =
            Reduction { newest_sent: Instant::ZERO, octets: 0, window, span: Duration::ZERO };
        // When a run without a gap began, and its last number. Nothing before the first acknowledgement counts.
        let first = self.first_acknowledged.unwrap_or(Instant::MAX);
        let mut run: Option<(Instant, u64)> = None;
        for packet in self.suspicions.pending_until(until) {
            reduction.newest_sent = packet.sent;
            reduction.octets += u64::from(packet.octets);
            let began = match run {
                Some((began, last)) if packet.number == last + 1 && began >= first => began,
                _ => packet.sent,
            };
            reduction.span = reduction.span.max(packet.sent.since(began));
            run = Some((began, packet.number));
        }
        self.reductions.begin(path.window, Some(saved), now);
        self.suspicions.on_reduction(now);
        self.counts.reductions += 1;
        reduction
    }

    /// Returns when something will be due.
    fn next(&mut self, path: &Path, late: bool) -> Option<Instant> {
        let resend = self.outstanding.first_missing().map(|first| first.sent);
        let resend = resend.map(|sent| sent + self.resend_wait(path, late));
        let confirm =
            self.suspicions.first_pending().map(|(first, _)| first.sent + self.pending_wait());
        match (resend, confirm) {
            (Some(resend), Some(confirm)) => Some(resend.min(confirm)),
            (resend, confirm) => resend.or(confirm),
        }
    }

    /// Returns when to call [`poll`](Self::poll) next if no acknowledgement comes. It does not replace the
    /// retransmission timer.
    pub fn timeout(&self) -> Option<Instant> {
        self.timeout
    }

    /// Returns how many octets beyond `window` may be in flight: packets that are late do not occupy the
    /// bottleneck's queue. It is at most another window, and zero while nothing is late.
    pub fn room(&self, window: u64) -> u64 {
        if !self.lateness.seen() {
            return 0;
        }
        let share = self.lateness.share(self.front.reference());
        two_stage::room_for_late(share, window as f64) as u64
    }

    /// Returns whether the window may grow. In slow start it may not while more packets are missing than lateness
    /// explains, because their confirmation is only a matter of time.
    pub fn may_grow(&self, path: &Path) -> bool {
        if !path.slow_start || !self.lateness.seen() {
            return true;
        }
        let missing = self.outstanding.missing_since(self.suspicions.covered());
        let holes = missing + self.suspicions.fresh();
        let share = self.lateness.share(self.front.reference());
        !two_stage::slow_start_overflows(holes, share, path.packets())
    }

    /// Returns whether something has been late within the memory of the distribution. Until then the rule is that of
    /// RFC 9002.
    pub fn has_seen_late(&self) -> bool {
        self.lateness.seen()
    }

    /// Returns the distribution of recent latenesses.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Returns the two waits of the last [`poll`](Self::poll), each after the round-trip time of the latest-sent packet
    /// that is acknowledged. They are zero until something has been late.
    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// Returns what has been counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}
