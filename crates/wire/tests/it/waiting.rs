//! The stack is never locked for long: applications lock it between the packets of one turn of the
//! loop, and while packets are read and written. `--bench waiting` measures how long they wait.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_tcp::Variant;
use unruffled_wire::codec::Checksums;
use unruffled_wire::device::Link;
use unruffled_wire::driver::Driver;
use unruffled_wire::stack::{Offload, Stack, StackConfig};

/// Packets read in one turn of the loop.
const PACKETS_PER_TURN: usize = 256;

fn bell() -> Arc<OwnedFd> {
    Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap())
}

fn ring(bell: &OwnedFd) {
    rustix::io::write(bell, &1_u64.to_ne_bytes()).unwrap();
}

fn driver(link: impl Link) -> Driver {
    let variant = Variant::named("sack").unwrap();
    let address = "10.0.0.2".parse().unwrap();
    let config = StackConfig::new(vec![address], variant).unwrap();
    Driver::spawn(link, Stack::new(config)).unwrap()
}

/// A link that has exactly as many packets in each turn of the loop as one turn reads.
struct Batches {
    bell: Arc<OwnedFd>,
    left: usize,
    stop: Arc<AtomicBool>,
}

impl AsFd for Batches {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Link for Batches {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        if self.left == 0 {
            if self.stop.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.left = PACKETS_PER_TURN;
        }
        self.left -= 1;
        // These octets are no packet; the stack counts them as malformed.
        buffer[..40].fill(0);
        Ok((0..40, Checksums::Verify))
    }

    fn send(&mut self, _: &[u8], _: Option<Offload>) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn applications_lock_the_stack_between_the_packets_of_one_turn() {
    let bell = bell();
    let stop = Arc::new(AtomicBool::new(false));
    let link = Batches { bell: bell.clone(), left: 0, stop: stop.clone() };
    ring(&bell);
    let driver = driver(link);
    let handle = driver.handle();
    // If the stack is unlocked between packets, a call succeeds there in at least one of these
    // turns, however the scheduler shares the processors.
    let between = loop {
        let received = handle.with(|stack| stack.counters().received) as usize;
        if !received.is_multiple_of(PACKETS_PER_TURN) {
            break true;
        } else if received > 100_000 * PACKETS_PER_TURN {
            break false;
        }
    };
    stop.store(true, Ordering::SeqCst);
    driver.close(time::Duration::ZERO).unwrap();
    assert!(between, "the stack was locked for all packets of each turn");
}

/// A link that, on each read and write, waits until another thread has locked the stack.
struct Locking {
    bell: Arc<OwnedFd>,
    requests: SyncSender<()>,
    answers: Receiver<()>,
    /// The number of answers.
    answered: Arc<AtomicUsize>,
    /// Whether an answer was missing.
    stuck: Arc<AtomicBool>,
}

impl AsFd for Locking {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Locking {
    fn wait_for_lock(&self) {
        if self.stuck.load(Ordering::SeqCst) || self.requests.send(()).is_err() {
            return;
        }
        // The answer takes so long only if the waiting thread itself has locked the stack.
        match self.answers.recv_timeout(time::Duration::from_secs(20)) {
            Ok(()) => _ = self.answered.fetch_add(1, Ordering::SeqCst),
            Err(_) => self.stuck.store(true, Ordering::SeqCst),
        }
    }
}

impl Link for Locking {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, _: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        self.wait_for_lock();
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn send(&mut self, _: &[u8], _: Option<Offload>) -> io::Result<()> {
        self.wait_for_lock();
        Ok(())
    }
}

#[test]
fn the_stack_is_unlocked_while_packets_are_read_and_written() {
    let (requests, requested) = mpsc::sync_channel(1);
    let (answer, answers) = mpsc::sync_channel(1);
    let answered = Arc::new(AtomicUsize::new(0));
    let stuck = Arc::new(AtomicBool::new(false));
    let link = Locking {
        bell: bell(),
        requests,
        answers,
        answered: answered.clone(),
        stuck: stuck.clone(),
    };
    let driver = driver(link);
    let handle = driver.handle();
    let other = {
        let handle = handle.clone();
        thread::spawn(move || {
            while requested.recv().is_ok() {
                handle.with(|stack| stack.usage().connections);
                if answer.send(()).is_err() {
                    return;
                }
            }
        })
    };
    let to: SocketAddr = ([10, 0, 0, 1], 80).into();
    let now = handle.now();
    // The driver writes the SYN.
    handle.with(|stack| stack.connect(to, None, now)).unwrap();
    while handle.with(|stack| stack.counters().sent) == 0 {
        thread::yield_now();
    }
    driver.close(time::Duration::ZERO).unwrap();
    drop(other);
    assert!(!stuck.load(Ordering::SeqCst), "the stack was locked");
    assert!(answered.load(Ordering::SeqCst) >= 2);
}
