//! What takes long about a packet is done while others may have the stack.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_tcp::{Flags, Segment, SeqNr, Variant};

use super::*;
use crate::stack::{ConnectionId, Offload, StackConfig};

const OURS: [u8; 4] = [10, 0, 0, 2];
const THEIRS: [u8; 4] = [10, 0, 0, 1];

/// Gives one packet, and keeps what is sent.
struct One {
    bell: OwnedFd,
    arrives: Option<Vec<u8>>,
    sent: mpsc::Sender<Vec<u8>>,
}

impl AsFd for One {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Link for One {
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

/// A loop that is to read a SYN, what it sends, and a way to its stack.
fn turning() -> (Loop<One>, mpsc::Receiver<Vec<u8>>, Handle) {
    let variant = Variant::named("sack").expect("a row");
    let config = StackConfig::new(vec![OURS.into()], variant).expect("randomness");
    let handle = Handle::new(Stack::new(config)).expect("a bell");
    let syn = Segment {
        seq: SeqNr(7),
        flags: Flags { syn: true, ..Flags::default() },
        ..Segment::default()
    };
    let mut packet = Vec::new();
    let (from, to) = ((THEIRS, 1000).into(), (OURS, 80).into());
    codec::encode(from, to, &syn, (&[], &[]), &mut packet).expect("one family");
    let (sent, sends) = mpsc::channel();
    let bell = eventfd(0, EventfdFlags::NONBLOCK).expect("a bell");
    let link = One { bell, arrives: Some(packet), sent };
    (Loop::new(link, handle.clone()), sends, handle)
}

/// Lets `work` run in another thread while this one has the stack; fails if it needs the stack.
fn meanwhile<T: Send>(handle: &Handle, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let stack = handle.lock();
        scope.spawn(move || tell.send(work()));
        let done = told.recv_timeout(Duration::from_secs(20));
        drop(stack);
        done.expect("it waits for the stack")
    })
}

#[test]
fn what_was_read_is_decoded_while_another_has_the_stack() {
    let (mut turns, _sends, handle) = turning();
    let arrived = meanwhile(&handle, || {
        turns.read().expect("one packet");
        let packets = decoded(&turns.inbox, 1500, &turns.stamps);
        packets.iter().filter(|(packet, _)| matches!(packet, Ok(Packet::Tcp(_)))).count()
    });
    assert_eq!(arrived, 1);
}

#[test]
fn what_leaves_is_summed_up_while_another_has_the_stack() {
    let (mut turns, sends, handle) = turning();
    let (now, remote) = (handle.now(), (THEIRS, 80).into());
    {
        let mut stack = handle.lock();
        stack.connect(remote, None, now).expect("a free port");
        assert!(take(&mut stack, &mut turns.outbox, false, now, WRITE));
    }
    // Its sum is still to be made.
    let (syn, todo) = turns.outbox.first().expect("a SYN");
    assert!(todo.is_some() && !is_sound(syn));
    meanwhile(&handle, || turns.write());
    assert!(is_sound(&sends.try_recv().expect("it was sent")));
}

/// Tells when it is woken, among what is sent.
struct Telling(mpsc::Sender<Vec<u8>>);

impl Wake for Telling {
    fn wake(self: Arc<Self>) {
        self.0.send(Vec::new()).expect("somebody listens");
    }
}

#[test]
fn who_waits_is_woken_after_little_is_written_and_before_much_is() {
    for (packets, woken) in [(1, 1), (HOLD, HOLD), (HOLD + 1, 0)] {
        let (mut turns, sends, handle) = turning();
        let now = handle.now();
        {
            let mut stack = handle.lock();
            for port in 1..=packets {
                let remote = (THEIRS, port as u16).into();
                stack.connect(remote, None, now).expect("a free port");
            }
            take(&mut stack, &mut turns.outbox, false, now, WRITE);
        }
        turns.wakers.push(Waker::from(Arc::new(Telling(turns.link.sent.clone()))));
        turns.answer();
        let told: Vec<_> = sends.try_iter().collect();
        assert_eq!(told.len(), packets + 1);
        assert_eq!(told.iter().position(Vec::is_empty), Some(woken), "of {packets}");
    }
}

/// A link that takes `room` packets, and more only when it is given more room.
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
        let taken = self.room.fetch_update(SeqCst, SeqCst, |room| room.checked_sub(1));
        taken.map_err(|_| io::ErrorKind::WouldBlock)?;
        self.sent.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// A loop over a link that takes nothing, with `connections` that have a SYN to send.
fn narrow(connections: usize) -> (Loop<Narrow>, Vec<ConnectionId>) {
    let variant = Variant::named("sack").expect("a row");
    let config = StackConfig::new(vec![OURS.into()], variant).expect("randomness");
    let handle = Handle::new(Stack::new(config)).expect("a bell");
    let now = handle.now();
    let connect = |port| handle.lock().connect((THEIRS, port as u16).into(), None, now);
    let ids = (1..=connections).map(|port| connect(port).expect("a free port")).collect();
    let bell = eventfd(0, EventfdFlags::NONBLOCK).expect("a bell");
    let link = Narrow { bell, room: Arc::default(), sent: Arc::default() };
    (Loop::new(link, handle), ids)
}

#[test]
fn what_waits_behind_a_full_outbox_leaves_when_the_link_takes_it_again() {
    let (mut turns, _) = narrow(WRITE + 1);
    let handle = turns.handle();
    let (room, sent) = (turns.link.room.clone(), turns.link.sent.clone());
    thread::scope(|scope| {
        scope.spawn(|| turns.run());
        while !handle.0.sleeping.load(SeqCst) {
            thread::yield_now();
        }
        // The link's descriptor is ready to be written to, which an eventfd always is.
        room.store(10 * WRITE, SeqCst);
        let patience = time::Instant::now() + Duration::from_millis(500);
        while sent.load(SeqCst) <= WRITE && time::Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        let sent = sent.load(SeqCst);
        handle.stop(Duration::ZERO);
        assert_eq!(sent, WRITE + 1, "the SYNs, before any is sent again");
    });
}

#[test]
fn at_the_end_all_who_wait_are_told_though_the_link_takes_nothing() {
    let (mut turns, ids) = narrow(WRITE + 10);
    let (tell, told) = mpsc::channel();
    for &id in &ids {
        let waker = Waker::from(Arc::new(Telling(tell.clone())));
        assert!(turns.handle.lock().poll_connected(id, &waker).is_pending());
    }
    turns.through_the_stack(false);
    turns.answer();
    turns.end();
    assert_eq!(told.try_iter().count(), ids.len());
}
