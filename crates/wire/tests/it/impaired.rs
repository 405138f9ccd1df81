//! A TUN interface that loses, doubles, damages and delays packets in both directions, at random
//! from a seed.

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

/// The impairments of a direction, each as a share of the packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Impairments {
    pub(crate) lost: f64,
    pub(crate) doubled: f64,
    /// Packets with one bit inverted.
    pub(crate) flipped: f64,
    pub(crate) late: f64,
    /// Most that a late packet is delayed.
    pub(crate) lateness: Duration,
}

/// The number of packets of one direction with each impairment.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) lost: AtomicU64,
    pub(crate) doubled: AtomicU64,
    pub(crate) flipped: AtomicU64,
    pub(crate) late: AtomicU64,
}

/// The tallies of the kernel's packets and of the stack's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies {
    pub(crate) kernels: Arc<Tally>,
    pub(crate) ours: Arc<Tally>,
}

/// One direction: its impairments, and the packets that are delayed.
struct Direction {
    impairments: Impairments,
    tally: Arc<Tally>,
    random: Xoshiro256PlusPlus,
    waiting: BinaryHeap<Reverse<(Instant, Vec<u8>)>>,
}

impl Direction {
    fn new(impairments: Impairments, tally: &Arc<Tally>, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { impairments, tally: tally.clone(), random, waiting: BinaryHeap::new() }
    }

    fn draw(&mut self, share: f64, counter: fn(&Tally) -> &AtomicU64) -> bool {
        let drawn = self.random.random::<f64>() < share;
        counter(&self.tally).fetch_add(drawn.into(), Ordering::Relaxed);
        drawn
    }

    /// Applies the impairments to a packet; returns whether it continues at once.
    fn passes(&mut self, packet: &mut [u8]) -> bool {
        let Impairments { lost, doubled, flipped, late, lateness } = self.impairments;
        if self.draw(lost, |tally| &tally.lost) {
            return false;
        }
        if self.draw(flipped, |tally| &tally.flipped) {
            self.flip(packet);
        }
        if self.draw(doubled, |tally| &tally.doubled) {
            self.waiting.push(Reverse((Instant::now(), packet.to_vec())));
        }
        if self.draw(late, |tally| &tally.late) {
            let due = Instant::now() + lateness.mul_f64(self.random.random());
            self.waiting.push(Reverse((due, packet.to_vec())));
            return false;
        }
        true
    }

    /// Inverts a bit that a checksum covers. In IPv6, traffic class, flow label and hop limit have
    /// none.
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

    /// Returns the next packet whose delay has ended.
    fn pop_due(&mut self) -> Option<Vec<u8>> {
        let due = self.next_due().is_some_and(|due| due <= Instant::now());
        due.then(|| self.waiting.pop().map(|next| next.0.1)).flatten()
    }
}

/// The interface, its two directions, and a timer that wakes the driver for delayed packets.
pub(crate) struct Impaired {
    tun: Tun,
    inward: Direction,
    outward: Direction,
    timer: OwnedFd,
    /// An epoll descriptor that is readable when the interface or the timer is.
    readable: OwnedFd,
}

impl Impaired {
    pub(crate) fn new(tun: Tun, impairments: Impairments, tallies: &Tallies, seed: u64) -> Self {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK).unwrap();
        let readable = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        for fd in [tun.as_fd(), timer.as_fd()] {
            let data = epoll::EventData::new_u64(0);
            epoll::add(&readable, fd, data, epoll::EventFlags::IN).unwrap();
        }
        Self {
            tun,
            inward: Direction::new(impairments, &tallies.kernels, seed),
            outward: Direction::new(impairments, &tallies.ours, seed + 1),
            timer,
            readable,
        }
    }

    /// Sets the timer to the end of the next packet's delay.
    fn set_timer(&self) {
        let due = [self.inward.next_due(), self.outward.next_due()].into_iter().flatten().min();
        // Zero stops the timer.
        let wait = due.map_or(Duration::ZERO, |due| {
            due.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1))
        });
        let it_value =
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once).unwrap();
    }
}

impl AsFd for Impaired {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }
}

impl Link for Impaired {
    fn largest(&self) -> usize {
        self.tun.largest()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        while let Some(packet) = self.outward.pop_due() {
            // The kernel refuses a packet whose IP header is damaged; the packet is lost.
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
                    self.set_timer();
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
