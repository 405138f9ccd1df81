//! One direction of the emulated path in real time: reads packets from one device, passes them over
//! a [`Chain`], and writes each to the other device when it is due.
//!
//! The thread sleeps until shortly before the next packet is due, and then spins, because a sleeping
//! thread wakes up some 50 µs late. While it spins, it reads arriving packets, so arrival times are as
//! precise as departure times. The thread has the lowest real-time priority, since it needs little time
//! but needs it at once. While other programs keep all processors busy, this reduced the 99th percentile
//! of lateness from 1 to 5 ms to 30 µs. Niceness did not, since it only counts among the processes of one
//! session.
//!
//! The arrival time of a packet is not known if the thread was not running. Such a packet enters the path
//! late. A busy machine shows in the lateness of the packets that were due meanwhile.

use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Clock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::set_current_timer_slack;
use unruffled_path::Direction;
use unruffled_resequence::Counters as Resequenced;
use unruffled_units::{Duration, Instant};

use crate::device::Device;
use crate::packet::is_carried;
use crate::priority::real_time;
use crate::spin::Budget;
use crate::{Chain, Counts, Lateness, Passed, Place, Tap};

/// Maximum sleep, after which the thread checks whether it has to stop.
const MAX_SLEEP: Duration = Duration::from_millis(50);

/// Maximum number of packets that are read before due packets are written.
const MAX_BATCH_PACKETS: usize = 64;

/// Maximum size of an IP packet, in octets.
const MAX_PACKET: usize = 65_536;

/// Counts of one direction.
#[derive(Clone, Debug)]
pub struct LaneReport {
    /// Counts of the packets on the path.
    pub counts: Counts,
    /// Counts of the resequencers, in the order in which packets cross them.
    pub resequenced: Vec<Resequenced>,
    /// Packets that the path does not carry: multicast, broadcast, link-local.
    pub ignored: u64,
    /// Packets that the far end's device rejected because it was down.
    pub refused: u64,
    /// Lateness of the delivered packets.
    pub lateness: Lateness,
}

/// The ends of a lane, and the state that both lanes share.
pub(crate) struct Wiring {
    pub(crate) from: Arc<Device>,
    pub(crate) to: Arc<Device>,
    /// Start of the emulation.
    pub(crate) start: Clock,
    pub(crate) stop: Arc<AtomicBool>,
    /// Receiver of copies, and the direction of the packets.
    pub(crate) tap: Option<(Tap, Direction)>,
}

pub(crate) struct Lane {
    wiring: Wiring,
    chain: Chain<Box<[u8]>>,
    budget: Budget,
    ignored: u64,
    refused: u64,
    lateness: Lateness,
}

impl Lane {
    pub(crate) fn new(wiring: Wiring, chain: Chain<Box<[u8]>>) -> Self {
        Self {
            wiring,
            chain,
            budget: Budget::new(),
            ignored: 0,
            refused: 0,
            lateness: Lateness::new(),
        }
    }

    /// Carries packets until `stop` is set.
    pub(crate) fn run(mut self) -> LaneReport {
        // A failure only makes the thread less punctual.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        real_time();
        let mut buffer = vec![0; MAX_PACKET].into_boxed_slice();
        while !self.wiring.stop.load(Ordering::Relaxed) {
            self.deliver();
            if self.collect(&mut buffer) < MAX_BATCH_PACKETS {
                self.rest();
            }
        }
        LaneReport {
            counts: self.chain.counts(),
            resequenced: self.chain.resequenced(),
            ignored: self.ignored,
            refused: self.refused,
            lateness: self.lateness,
        }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.wiring.start.elapsed().as_nanos() as u64)
    }

    /// Writes the packets that are due.
    fn deliver(&mut self) {
        let now = self.now();
        while let Some((due, packet)) = self.chain.take(now) {
            self.write(&packet, due);
        }
        if let Some((tap, direction)) = &self.wiring.tap {
            for (at, packet) in self.chain.shown() {
                // Fails if the reader has been dropped.
                let _ =
                    tap.send(Passed { at, place: Place::Between, direction: *direction, packet });
            }
        }
    }

    /// Writes a packet that is due. If the device would block, waits until it does not.
    fn write(&mut self, packet: &[u8], due: Instant) {
        while !self.wiring.stop.load(Ordering::Relaxed) {
            let now = self.now();
            match self.wiring.to.send(packet) {
                Ok(_) => {
                    self.show(packet, false, now);
                    return self.lateness.record(now.since(due));
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => wait_for(&self.wiring.to, PollFlags::OUT, MAX_SLEEP),
                    ErrorKind::Interrupted | ErrorKind::OutOfMemory => {}
                    _ => return self.refused += 1,
                },
            }
        }
    }

    /// Reads up to a batch of packets, and returns their number.
    fn collect(&mut self, buffer: &mut [u8]) -> usize {
        for read in 0..MAX_BATCH_PACKETS {
            match self.wiring.from.recv(buffer) {
                Ok(length) => {
                    let packet = &buffer[..length];
                    if is_carried(packet) {
                        let now = self.now();
                        self.show(packet, true, now);
                        self.chain.offer(packet.into(), length as u32, now);
                    } else {
                        self.ignored += 1;
                    }
                }
                Err(error) => {
                    if error.kind() != ErrorKind::WouldBlock {
                        // The device has been removed, so poll does not wait for it.
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    return read;
                }
            }
        }
        MAX_BATCH_PACKETS
    }

    /// Copies a packet to the tap: at the end that it comes from if it `enters` the path, otherwise at the
    /// end that it goes to.
    fn show(&self, packet: &[u8], enters: bool, at: Instant) {
        if let Some((tap, direction)) = &self.wiring.tap {
            let left = (*direction == Direction::Forward) == enters;
            let place = if left { Place::Left } else { Place::Right };
            // Fails if the reader has been dropped.
            let _ = tap.send(Passed { at, place, direction: *direction, packet: packet.into() });
        }
    }

    /// Sleeps until a packet arrives, or until shortly before one is due.
    fn rest(&mut self) {
        let now = self.now();
        let sleep = self.chain.due().map_or(MAX_SLEEP, |due| self.budget.sleep(now, due));
        if sleep > Duration::ZERO {
            wait_for(&self.wiring.from, PollFlags::IN, sleep.min(MAX_SLEEP));
        }
    }
}

/// Waits until the device is ready, at most for `span`. A signal may end the wait early.
fn wait_for(device: &Device, what: PollFlags, span: Duration) {
    let nanos = span.as_nanos();
    let timeout = Timespec {
        tv_sec: (nanos / 1_000_000_000) as i64,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    };
    let device: &tun_rs::SyncDevice = device;
    let _ = poll(&mut [PollFd::new(device, what)], Some(&timeout));
}
