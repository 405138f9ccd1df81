//! Slow work on packets is done while other threads may lock the stack.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_stack::{ConnectionId, Offload, StackConfig};
use unruffled_tcp::{Flags, Segment, SeqNr, Variant};

use super::*;

const OURS: [u8; 4] = [10, 0, 0, 2];
const THEIRS: [u8; 4] = [10, 0, 0, 1];

/// A link that receives one packet, and keeps the packets sent.
struct OnePacket {
    bell: OwnedFd,
    arrives: Option<Vec<u8>>,
    sent: mpsc::Sender<Vec<u8>>,
}

impl AsFd for OnePacket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Link for OnePacket {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        let packet = self.arrives.take().ok_or(io::ErrorKind::WouldBlock)?;
        buffer[..packet.len()].copy_from_slice(&packet);
        Ok((0..packet.len(), Checksums::Verify))
    }

    fn send(&mut self, packet: &[u8], _: Option<Offload>) -> io::Result<()> {
        self.sent.send(packet.to_vec()).map_err(io::Error::other)
    }
}

fn is_sound(packet: &[u8]) -> bool {
    codec::decode(packet, Checksums::Verify).is_ok()
}

fn stack() -> Stack {
    let variant = Variant::named("sack").expect("a row");
    Stack::new(StackConfig::new(vec![OURS.into()], variant).expect("randomness"))
}

fn bell() -> OwnedFd {
    eventfd(0, EventfdFlags::NONBLOCK).expect("a descriptor")
}

/// Returns a loop that will read a SYN, the packets that it sends, and a handle of its stack.
fn turning() -> (Loop<OnePacket>, mpsc::Receiver<Vec<u8>>, Handle) {
    let handle = Handle::new(stack()).expect("a descriptor");
    let syn = Segment {
        seq: SeqNr(7),
        flags: Flags { syn: true, ..Flags::default() },
        ..Segment::default()
    };
    let mut packet = Vec::new();
    let (from, to) = ((THEIRS, 1000).into(), (OURS, 80).into());
    codec::encode(from, to, &syn, (&[], &[]), &mut packet).expect("one family");
    let (sent, sends) = mpsc::channel();
    let link = OnePacket { bell: bell(), arrives: Some(packet), sent };
    (Loop::new(link, handle.clone()), sends, handle)
}

/// Runs `work` in another thread while this one holds the stack; fails if it needs the stack.
fn meanwhile<T: Send>(handle: &Handle, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let (done, result) = mpsc::channel();
        let stack = handle.lock();
        scope.spawn(move || done.send(work()));
        let result = result.recv_timeout(Duration::from_secs(20));
        drop(stack);
        result.expect("the work must not wait for the stack")
    })
}

#[test]
fn packets_are_decoded_while_another_thread_holds_the_stack() {
    let (mut turns, _sends, handle) = turning();
    let arrived = meanwhile(&handle, || {
        turns.read().expect("one packet");
        let packets = decoded(&turns.inbox, 1500, &turns.stamps);
        packets.iter().filter(|(packet, _)| matches!(packet, Ok(Packet::Tcp(_)))).count()
    });
    assert_eq!(arrived, 1);
}

#[test]
fn checksums_are_completed_while_another_thread_holds_the_stack() {
    let (mut turns, sends, handle) = turning();
    let (now, remote) = (handle.now(), (THEIRS, 80).into());
    {
        let mut stack = handle.lock();
        stack.connect(remote, None, now).expect("a free port");
        assert!(take(&mut stack, &mut turns.outbox, false, now, MAX_WRITE_PACKETS));
    }
    let (syn, pending) = turns.outbox.first().expect("a SYN");
    assert!(pending.is_some() && !is_sound(syn), "its checksum is incomplete");
    meanwhile(&handle, || turns.write());
    assert!(is_sound(&sends.try_recv().expect("it was sent")));
}

/// A waker that adds an empty packet to the packets sent.
struct EmptyPacket(mpsc::Sender<Vec<u8>>);

impl Wake for EmptyPacket {
    fn wake(self: Arc<Self>) {
        self.0.send(Vec::new()).expect("the test receives");
    }
}

#[test]
fn applications_are_woken_after_few_packets_are_written_and_before_many_are() {
    for (packets, woken) in
        [(1, 1), (PACKETS_PER_LOCK, PACKETS_PER_LOCK), (PACKETS_PER_LOCK + 1, 0)]
    {
        let (mut turns, sends, handle) = turning();
        let now = handle.now();
        {
            let mut stack = handle.lock();
            for port in 1..=packets {
                let remote = (THEIRS, port as u16).into();
                stack.connect(remote, None, now).expect("a free port");
            }
            take(&mut stack, &mut turns.outbox, false, now, MAX_WRITE_PACKETS);
        }
        turns.wakers.push(Waker::from(Arc::new(EmptyPacket(turns.link.sent.clone()))));
        turns.answer();
        let order: Vec<_> = sends.try_iter().collect();
        assert_eq!(order.len(), packets + 1);
        assert_eq!(order.iter().position(Vec::is_empty), Some(woken), "of {packets}");
    }
}

/// A link that accepts `room` packets, and more only when the test raises it.
struct Narrow {
    bell: OwnedFd,
    room: Arc<AtomicUsize>,
    sent: Arc<AtomicUsize>,
}

impl AsFd for Narrow {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Link for Narrow {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, _: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn send(&mut self, _: &[u8], _: Option<Offload>) -> io::Result<()> {
        let accepted = self.room.fetch_update(SeqCst, SeqCst, |room| room.checked_sub(1));
        accepted.map_err(|_| io::ErrorKind::WouldBlock)?;
        self.sent.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// Returns a loop over a link that accepts no packet, with `connections` that have a SYN to send.
fn narrow(connections: usize) -> (Loop<Narrow>, Vec<ConnectionId>) {
    let handle = Handle::new(stack()).expect("a descriptor");
    let now = handle.now();
    let connect = |port| handle.lock().connect((THEIRS, port as u16).into(), None, now);
    let ids = (1..=connections).map(|port| connect(port).expect("a free port")).collect();
    let link = Narrow { bell: bell(), room: Arc::default(), sent: Arc::default() };
    (Loop::new(link, handle), ids)
}

#[test]
fn packets_behind_a_full_outbox_leave_when_the_link_accepts_packets_again() {
    let (mut turns, _) = narrow(MAX_WRITE_PACKETS + 1);
    let handle = turns.handle();
    let (room, sent) = (turns.link.room.clone(), turns.link.sent.clone());
    thread::scope(|scope| {
        scope.spawn(|| turns.run());
        while !handle.is_asleep() {
            thread::yield_now();
        }
        // The link's descriptor is an eventfd, which is always writable.
        room.store(10 * MAX_WRITE_PACKETS, SeqCst);
        let deadline = time::Instant::now() + Duration::from_millis(500);
        while sent.load(SeqCst) <= MAX_WRITE_PACKETS && time::Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let sent = sent.load(SeqCst);
        handle.stop(Duration::ZERO);
        assert_eq!(sent, MAX_WRITE_PACKETS + 1, "all SYNs, before any is sent again");
    });
}

#[test]
fn at_the_end_all_waiting_applications_are_woken_though_the_link_accepts_no_packet() {
    let (mut turns, ids) = narrow(MAX_WRITE_PACKETS + 10);
    let (wakes, woken) = mpsc::channel();
    for &id in &ids {
        let waker = Waker::from(Arc::new(EmptyPacket(wakes.clone())));
        assert!(turns.handle.lock().poll_connected(id, &waker).is_pending());
    }
    turns.pass_through_stack(false);
    turns.answer();
    turns.end();
    assert_eq!(woken.try_iter().count(), ids.len());
}
