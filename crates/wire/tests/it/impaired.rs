//! A TUN interface whose packets meet with trouble, in both directions, drawn from a seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::event::epoll;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use unruffled_wire::codec::Checksums;
use unruffled_wire::device::{Link, Tun};
use unruffled_wire::stack::Offload;

/// What befalls packets, each as a share of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trouble {
    pub(crate) lost: f64,
    pub(crate) doubled: f64,
    /// One bit of them comes out as the other.
    pub(crate) flipped: f64,
    pub(crate) late: f64,
    /// How much later a late one comes, at most.
    pub(crate) lateness: Duration,
}

/// How many packets of one direction met with what.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) lost: AtomicU64,
    pub(crate) doubled: AtomicU64,
    pub(crate) flipped: AtomicU64,
    pub(crate) late: AtomicU64,
}

/// The tallies of the kernel's packets and of ours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies {
    pub(crate) kernels: Arc<Tally>,
    pub(crate) ours: Arc<Tally>,
}

/// One direction: what happens to its packets, and those that wait for their time.
struct Direction {
    trouble: Trouble,
    tally: Arc<Tally>,
    random: Xoshiro256PlusPlus,
    waiting: BinaryHeap<Reverse<(Instant, Vec<u8>)>>,
}

impl Direction {
    fn new(trouble: Trouble, tally: &Arc<Tally>, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { trouble, tally: tally.clone(), random, waiting: BinaryHeap::new() }
    }

    fn befalls(&mut self, share: f64, counter: fn(&Tally) -> &AtomicU64) -> bool {
        let befalls = self.random.random::<f64>() < share;
        counter(&self.tally).fetch_add(befalls.into(), Ordering::Relaxed);
        befalls
    }

    /// Lets a packet's fate come upon it; says whether it goes on now.
    fn passes(&mut self, packet: &mut [u8]) -> bool {
        let Trouble { lost, doubled, flipped, late, lateness } = self.trouble;
        if self.befalls(lost, |tally| &tally.lost) {
            return false;
        }
        if self.befalls(flipped, |tally| &tally.flipped) {
            self.flip(packet);
        }
        if self.befalls(doubled, |tally| &tally.doubled) {
            self.waiting.push(Reverse((Instant::now(), packet.to_vec())));
        }
        if self.befalls(late, |tally| &tally.late) {
            let due = Instant::now() + lateness.mul_f64(self.random.random());
            self.waiting.push(Reverse((due, packet.to_vec())));
            return false;
        }
        true
    }

    /// Flips a bit that some checksum covers: IPv6 has none over traffic class, flow label and hop
    /// limit.
    fn flip(&mut self, packet: &mut [u8]) {
        let v6 = packet[0] >> 4 == 6;
        loop {
            let at = self.random.random_range(0..packet.len());
            if !(v6 && matches!(at, 0..=3 | 7)) {
                packet[at] ^= 1 << self.random.random_range(0..8);
                return;
            }
        }
    }

    fn next_due(&self) -> Option<Instant> {
        self.waiting.peek().map(|next| next.0.0)
    }

    /// The next packet that has waited long enough.
    fn pop_due(&mut self) -> Option<Vec<u8>> {
        let due = self.next_due().is_some_and(|due| due <= Instant::now());
        due.then(|| self.waiting.pop().map(|next| next.0.1)).flatten()
    }
}

/// The interface, the trouble each way, and a clock that wakes the driver for those that wait.
pub(crate) struct Impaired {
    tun: Tun,
    inward: Direction,
    outward: Direction,
    clock: OwnedFd,
    /// Readable where the interface or the clock is.
    either: OwnedFd,
}

impl Impaired {
    pub(crate) fn new(tun: Tun, trouble: Trouble, tallies: &Tallies, seed: u64) -> Self {
        let clock = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK).unwrap();
        let either = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        for fd in [tun.as_fd(), clock.as_fd()] {
            let data = epoll::EventData::new_u64(0);
            epoll::add(&either, fd, data, epoll::EventFlags::IN).unwrap();
        }
        Self {
            tun,
            inward: Direction::new(trouble, &tallies.kernels, seed),
            outward: Direction::new(trouble, &tallies.ours, seed + 1),
            clock,
            either,
        }
    }

    /// Has the clock ring when the next packet's time has come, and not before.
    fn set_clock(&self) {
        let due = [self.inward.next_due(), self.outward.next_due()].into_iter().flatten().min();
        // All zeros stop it.
        let wait = due.map_or(Duration::ZERO, |due| {
            due.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1))
        });
        let it_value =
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&self.clock, TimerfdTimerFlags::empty(), &once).unwrap();
    }
}

impl AsFd for Impaired {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.either.as_fd()
    }
}

impl Link for Impaired {
    fn largest(&self) -> usize {
        self.tun.largest()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        while let Some(packet) = self.outward.pop_due() {
            // The kernel refuses what is no IP packet any more: it is lost in this way too.
            let _ = self.tun.send(&packet, None);
        }
        loop {
            if let Some(packet) = self.inward.pop_due() {
                buffer[..packet.len()].copy_from_slice(&packet);
                return Ok((0..packet.len(), Checksums::Verify));
            }
            match self.tun.receive(buffer) {
                Ok((at, checksums)) => {
                    if self.inward.passes(&mut buffer[at.clone()]) {
                        return Ok((at, checksums));
                    }
                }
                Err(error) => {
                    self.set_clock();
                    return Err(error);
                }
            }
        }
    }

    fn send(&mut self, packet: &[u8], _: Option<Offload>) -> io::Result<()> {
        let mut packet = packet.to_vec();
        if self.outward.passes(&mut packet) { self.tun.send(&packet, None) } else { Ok(()) }
    }
}
