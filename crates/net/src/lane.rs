//! One direction of the emulated path in real time, or both: reads packets from a device, passes them over
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
use crate::{Chain, Counts, Departure, Lateness, Passed, Place, Tap};

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
    /// Number of packets that took each way of each source.
    pub taken: Vec<Vec<u64>>,
    /// Counts of the resequencers, in the order in which packets cross them. Those on links that packets of
    /// both directions share are listed with the forward direction.
    pub resequenced: Vec<Resequenced>,
    /// Packets that the path does not carry: multicast, broadcast, link-local.
    pub ignored: u64,
    /// Packets that the far end's device rejected because it was down.
    pub refused: u64,
    /// Lateness of the delivered packets.
    pub lateness: Lateness,
}

/// The devices of one direction, and what is counted there.
pub(crate) struct Port {
    direction: Direction,
    from: Arc<Device>,
    to: Arc<Device>,
    ignored: u64,
    refused: u64,
    lateness: Lateness,
}

impl Port {
    pub(crate) fn new(direction: Direction, from: &Arc<Device>, to: &Arc<Device>) -> Self {
        let from = Arc::clone(from);
        let to = Arc::clone(to);
        Self { direction, from, to, ignored: 0, refused: 0, lateness: Lateness::new() }
    }
}

/// State that all lanes share.
pub(crate) struct Wiring {
    /// Start of the emulation.
    pub(crate) start: Clock,
    pub(crate) stop: Arc<AtomicBool>,
    /// Receiver of copies.
    pub(crate) tap: Option<Tap>,
}

pub(crate) struct Lane {
    wiring: Wiring,
    ports: Vec<Port>,
    chain: Chain<Box<[u8]>>,
    budget: Budget,
}

impl Lane {
    /// Creates a lane for the directions of `ports`, which `chain` carries.
    pub(crate) fn new(wiring: Wiring, ports: Vec<Port>, chain: Chain<Box<[u8]>>) -> Self {
        Self { wiring, ports, chain, budget: Budget::new() }
    }

    /// Carries packets until `stop` is set. Returns a report for each port.
    pub(crate) fn run(mut self) -> Vec<LaneReport> {
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
        let mut resequenced = self.chain.resequenced();
        let report = |port: Port| LaneReport {
            counts: self.chain.counts_in(port.direction),
            taken: self.chain.taken(port.direction),
            resequenced: std::mem::take(&mut resequenced),
            ignored: port.ignored,
            refused: port.refused,
            lateness: port.lateness,
        };
        self.ports.into_iter().map(report).collect()
    }

    /// Writes the packets that are due.
    fn deliver(&mut self) {
        let now = self.wiring.now();
        while let Some(Departure { at, direction, packet }) = self.chain.depart(now) {
            if let Some(port) = self.ports.iter_mut().find(|port| port.direction == direction) {
                port.write(&self.wiring, &packet, at);
            }
        }
        if let Some(tap) = &self.wiring.tap {
            for Departure { at, direction, packet } in self.chain.shown() {
                // Fails if the reader has been dropped.
                let _ = tap.send(Passed { at, place: Place::Between, direction, packet });
            }
        }
    }

    /// Reads up to a batch of packets from each device, and returns the number of the largest batch.
    fn collect(&mut self, buffer: &mut [u8]) -> usize {
        let Self { wiring, ports, chain, .. } = self;
        ports.iter_mut().map(|port| port.read(wiring, buffer, chain)).max().unwrap_or(0)
    }

    /// Sleeps until a packet arrives, or until shortly before one is due.
    fn rest(&mut self) {
        let now = self.wiring.now();
        let sleep = self.chain.due().map_or(MAX_SLEEP, |due| self.budget.sleep(now, due));
        if sleep > Duration::ZERO {
            let devices = self.ports.iter().map(|port| &*port.from);
            wait_for(devices, PollFlags::IN, sleep.min(MAX_SLEEP));
        }
    }
}

impl Wiring {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }
}

impl Port {
    /// Writes a packet that is due. If the device would block, waits until it does not.
    fn write(&mut self, wiring: &Wiring, packet: &[u8], due: Instant) {
        while !wiring.stop.load(Ordering::Relaxed) {
            let now = wiring.now();
            match self.to.send(packet) {
                Ok(_) => {
                    self.show(wiring, packet, false, now);
                    return self.lateness.record(now.since(due));
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => wait_for([&*self.to], PollFlags::OUT, MAX_SLEEP),
                    ErrorKind::Interrupted | ErrorKind::OutOfMemory => {}
                    _ => return self.refused += 1,
                },
            }
        }
    }

    /// Reads up to a batch of packets, and returns their number.
    fn read(&mut self, wiring: &Wiring, buffer: &mut [u8], chain: &mut Chain<Box<[u8]>>) -> usize {
        for read in 0..MAX_BATCH_PACKETS {
            match self.from.recv(buffer) {
                Ok(length) => {
                    let packet = &buffer[..length];
                    if is_carried(packet) {
                        let now = wiring.now();
                        self.show(wiring, packet, true, now);
                        chain.offer_in(self.direction, packet.into(), length as u32, now);
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
    fn show(&self, wiring: &Wiring, packet: &[u8], enters: bool, at: Instant) {
        if let Some(tap) = &wiring.tap {
            let left = (self.direction == Direction::Forward) == enters;
            let place = if left { Place::Left } else { Place::Right };
            let direction = self.direction;
            // Fails if the reader has been dropped.
            let _ = tap.send(Passed { at, place, direction, packet: packet.into() });
        }
    }
}

/// Waits until one of the devices is ready, at most for `span`. A signal may end the wait early.
fn wait_for<'a>(devices: impl IntoIterator<Item = &'a Device>, what: PollFlags, span: Duration) {
    let nanos = span.as_nanos();
    let timeout = Timespec {
        tv_sec: (nanos / 1_000_000_000) as i64,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    };
    let awaited = devices.into_iter().map(|device| {
        let device: &tun_rs::SyncDevice = device;
        PollFd::new(device, what)
    });
    let _ = poll(&mut awaited.collect::<Vec<_>>(), Some(&timeout));
}
