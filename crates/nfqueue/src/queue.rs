//! The thread of one queue: reads packets, lets the core decide, sends verdicts.

use std::num::NonZeroU64;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::set_current_timer_slack;
use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id};
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};
use unruffled_resequence::{Load, Resequencer, Tunnels, classify};
use unruffled_units::{Duration, Instant};

use crate::Report;
use crate::clock::now;
use crate::message::{self, Message, Queued};
use crate::socket::{Socket, is_transient};
use crate::system::{Datagrams, MAX_DATAGRAMS};
use crate::verdicts::Verdicts;

/// Interval between two signs of life, and maximum time without a check whether the thread has to stop.
pub(crate) const PULSE_INTERVAL: Duration = Duration::from_millis(25);

/// Interval between two reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(250);

/// Length of packet for which [`PACKET_MEMORY`] was measured, in octets.
const PACKET_LENGTH: u32 = 1500;

/// Memory of the kernel for a held packet of [`PACKET_LENGTH`], in octets: 3.0 kB measured on Linux 6.18.
const PACKET_MEMORY: u32 = 3072;

/// Returns the memory of the kernel for a held packet: 3072 octets for each 1500 octets begun. A packet that
/// GRO has joined keeps the buffers of the packets that it consists of.
pub(crate) fn memory(length: u32) -> u32 {
    length.div_ceil(PACKET_LENGTH).max(1).saturating_mul(PACKET_MEMORY)
}

/// What a queue's thread shares with the thread that started it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) stop: AtomicBool,
    pub(crate) report: Mutex<Report>,
}

/// A queue and the order of its packets.
pub(crate) struct Queue {
    socket: Socket,
    number: u16,
    core: Resequencer<u32>,
    tunnels: Tunnels,
    verdicts: Verdicts,
    packets: u64,
    octets: u64,
    unread: u64,
    last_id: Option<u32>,
    reported: Instant,
    /// Counts of the core before this queue had it.
    earlier: Report,
}

impl Queue {
    pub(crate) fn new(
        socket: Socket,
        number: u16,
        core: Resequencer<u32>,
        tunnels: Tunnels,
    ) -> Self {
        let earlier = Report::new(core.counters(), Load::default(), &[]);
        Self {
            socket,
            number,
            core,
            tunnels,
            verdicts: Verdicts::new(number),
            packets: 0,
            octets: 0,
            unread: 0,
            last_id: None,
            reported: Instant::ZERO,
            earlier,
        }
    }

    /// Decides until `shared` has the order to stop, and then lets everything pass. `pulse` is called at
    /// least every [`PULSE_INTERVAL`] while the thread runs. Returns the core with what it has learnt.
    pub(crate) fn run(mut self, shared: &Shared, mut pulse: impl FnMut()) -> Resequencer<u32> {
        // A failure only makes the thread less punctual.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        real_time();
        let mut datagrams = Datagrams::new();
        let mut pulsed = now();
        pulse();
        while !shared.stop.load(Ordering::Relaxed) {
            let received = self.read(&mut datagrams);
            let now = now();
            self.end_waits(now);
            if now.since(pulsed) >= PULSE_INTERVAL {
                pulsed = now;
                pulse();
            }
            self.publish(shared, now);
            if received < MAX_DATAGRAMS {
                self.rest(pulsed + PULSE_INTERVAL);
            }
        }
        self.finish();
        self.reported = Instant::ZERO;
        self.publish(shared, now());
        self.core
    }

    /// Reads a batch of packets, sends the verdicts of those that go on, and returns the size of the batch.
    fn read(&mut self, datagrams: &mut Datagrams) -> usize {
        let received = match datagrams.receive(&self.socket) {
            Ok(received) => received,
            Err(error) if is_transient(&error) => return 0,
            Err(_) => {
                // The socket cannot be read, so poll may not wait for it.
                std::thread::sleep(std::time::Duration::from_millis(1));
                return 0;
            }
        };
        let now = now();
        for message in datagrams.iter().flat_map(message::decode) {
            // A verdict for a packet that another process has released is answered by an error.
            if let Message::Packet(packet) = message {
                self.handle(packet, now);
            }
        }
        let _ = self.verdicts.send(&self.socket);
        received
    }

    fn handle(&mut self, packet: Queued<'_>, now: Instant) {
        self.packets += 1;
        self.octets += u64::from(packet.length);
        if let Some(last) = self.last_id {
            // A packet that found no room in the socket has used up a number.
            let skipped = packet.id.wrapping_sub(last).wrapping_sub(1);
            self.unread += u64::from(if skipped < 1 << 31 { skipped } else { 0 });
        }
        self.last_id = Some(packet.id);
        match classify(packet.head, packet.length, packet.interface, self.tunnels) {
            Some(mut facts) => {
                facts.octets = memory(packet.length);
                self.core.handle(&facts, packet.id, now);
                self.release();
            }
            None => {
                let _ = self.verdicts.push(packet.id, &self.socket);
            }
        }
    }

    /// Adds the verdicts of the packets that the core releases.
    fn release(&mut self) {
        while let Some(id) = self.core.poll_release() {
            let _ = self.verdicts.push(id, &self.socket);
        }
    }

    /// Ends the waits that are over at `now`.
    fn end_waits(&mut self, now: Instant) {
        if self.core.poll_timeout().is_some_and(|due| due <= now) {
            self.core.handle_timeout(now);
            self.release();
            let _ = self.verdicts.send(&self.socket);
        }
    }

    /// Sleeps until a packet arrives, a wait ends, or a sign of life is due.
    fn rest(&self, until: Instant) {
        let until = self.core.poll_timeout().map_or(until, |due| due.min(until));
        let span = until.since(now());
        if span > Duration::ZERO {
            let _ = self.socket.wait(std::time::Duration::from_nanos(span.as_nanos()));
        }
    }

    /// Lets all packets pass: those held in order, and then new ones at once.
    fn finish(&mut self) {
        self.core.release_all(now());
        self.release();
        let _ = self.verdicts.send(&self.socket);
        // Those unread are released in the order of their arrival.
        let _ = self.socket.release_all(self.number, self.last_id.unwrap_or(0));
        self.socket.discard_messages();
    }

    fn publish(&mut self, shared: &Shared, now: Instant) {
        if now.since(self.reported) < REPORT_INTERVAL {
            return;
        }
        self.reported = now;
        let mut report = Report::new(self.core.counters(), self.core.load(), &self.core.paths());
        report.subtract_counts(&self.earlier);
        // The core does not receive packets that have no place in an order.
        report.packets = self.packets;
        report.octets = self.octets;
        report.at_s = now.as_secs_f64();
        report.unread = self.unread;
        if let Ok(mut published) = shared.report.lock() {
            *published = report;
        }
    }
}

/// Gives the calling thread the lowest real-time priority, if the system allows it. The thread then runs
/// before all ordinary threads, as the kernel's own packet handling does.
pub(crate) fn real_time() {
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    // A failure only makes the thread less punctual.
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, fifo);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_packet_counts_with_the_memory_of_the_packets_that_it_consists_of() {
        assert_eq!(memory(0), 3072);
        assert_eq!(memory(1500), 3072);
        assert_eq!(memory(1501), 6144);
        assert_eq!(memory(65_212), 44 * 3072);
        assert_eq!(memory(u32::MAX), u32::MAX);
    }
}
