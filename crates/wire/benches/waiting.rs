//! Times that an application waits for the lock of the stack: while a flood of packets arrives as
//! fast as the stack receives it, and while one stream is at full speed. The links are in memory.
//!
//! `cargo bench -p unruffled-wire --bench waiting`

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};
use unruffled_tcp::{Flags, Segment, SeqNr};
use unruffled_wire::codec::{Checksums, encode};
use unruffled_wire::device::Link;
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Offload, Stack, StackConfig, Variant};
use unruffled_wire::stream::{TcpListener, TcpStream};

/// Number of times that an application locks the stack.
const SAMPLES: usize = 5000;
/// Time between two samples.
const PAUSE: Duration = Duration::from_micros(300);

fn bell() -> Arc<OwnedFd> {
    Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("a descriptor"))
}

fn ring(bell: &OwnedFd) {
    // The write fails only when the counter is full, and then the bell rings already.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

/// A link with SYNs without end.
struct Flood {
    bell: Arc<OwnedFd>,
    packets: Vec<Vec<u8>>,
    next: usize,
}

impl AsFd for Flood {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Link for Flood {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        let packet = &self.packets[self.next % self.packets.len()];
        self.next += 1;
        buffer[..packet.len()].copy_from_slice(packet);
        Ok((0..packet.len(), Checksums::Verify))
    }

    fn send(&mut self, _: &[u8], _: Option<Offload>) -> io::Result<()> {
        Ok(())
    }
}

/// One end of a cable between two stacks.
struct Cable {
    bell: Arc<OwnedFd>,
    other: Arc<OwnedFd>,
    from: Receiver<Vec<u8>>,
    to: SyncSender<Vec<u8>>,
    crossed: Arc<AtomicU64>,
}

impl AsFd for Cable {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Link for Cable {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        let packet = self.from.try_recv().map_err(|_| io::ErrorKind::WouldBlock)?;
        buffer[..packet.len()].copy_from_slice(&packet);
        self.crossed.fetch_add(packet.len() as u64, Ordering::Relaxed);
        Ok((0..packet.len(), Checksums::Verify))
    }

    fn send(&mut self, packet: &[u8], _: Option<Offload>) -> io::Result<()> {
        match self.to.try_send(packet.to_vec()) {
            // A full cable loses the packet.
            Ok(()) | Err(TrySendError::Full(_)) => ring(&self.other),
            Err(TrySendError::Disconnected(_)) => return Err(io::ErrorKind::NotConnected.into()),
        }
        Ok(())
    }
}

fn stack(address: [u8; 4]) -> Stack {
    let variant = Variant::named("sack").expect("a variant");
    Stack::new(StackConfig::new(vec![address.into()], variant).expect("randomness"))
}

/// Prints how long an asynchronous application waits each time it locks the stack.
fn measure(what: &str, handle: &Handle) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut waits: Vec<Duration> = runtime.block_on(async {
        let mut waits = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            tokio::time::sleep(PAUSE).await;
            let begin = Instant::now();
            handle.with(|stack| stack.usage().connections);
            waits.push(begin.elapsed());
        }
        waits
    });
    waits.sort_unstable();
    let at = |share: f64| waits[(waits.len() as f64 * share) as usize].as_secs_f64() * 1e6;
    println!(
        "| {what} | {:.1} | {:.1} | {:.1} |",
        at(0.5),
        at(0.99),
        waits[waits.len() - 1].as_secs_f64() * 1e6
    );
}

/// Measures an unused stack beside a busy thread, as the reference.
fn control() {
    let link = Cable {
        bell: bell(),
        other: bell(),
        from: sync_channel(1).1,
        to: sync_channel(1).0,
        crossed: Arc::default(),
    };
    let driver = Driver::spawn(link, stack([10, 0, 0, 2])).expect("a thread");
    let stop = Arc::new(AtomicBool::new(false));
    let busy = {
        let stop = stop.clone();
        thread::spawn(move || while !stop.load(Ordering::Relaxed) {})
    };
    measure("unused stack, beside a busy thread", &driver.handle());
    stop.store(true, Ordering::Relaxed);
    busy.join().expect("no panic");
}

fn flood() {
    let to: SocketAddr = ([10, 0, 0, 2], 80).into();
    let packets = (1..5000_u16).map(|port| {
        let from = ([10, 1, (port >> 8) as u8, port as u8], port).into();
        let flags = Flags { syn: true, ..Flags::default() };
        let syn = Segment { seq: SeqNr(u32::from(port)), flags, ..Segment::default() };
        let mut packet = Vec::new();
        encode(from, to, &syn, (&[], &[]), &mut packet).expect("the packet fits");
        packet
    });
    let link = Flood { bell: bell(), packets: packets.collect(), next: 0 };
    ring(&link.bell);
    let driver = Driver::spawn(link, stack([10, 0, 0, 2])).expect("a thread");
    let _listener = TcpListener::bind(&driver.handle(), to, 128).expect("a free port");
    let begin = Instant::now();
    measure("SYNs as fast as they are received", &driver.handle());
    let elapsed = begin.elapsed().as_secs_f64();
    let received = driver.close(Duration::ZERO).expect("no failure").received;
    eprintln!("{:.0} packets a second", received as f64 / elapsed);
}

fn stream() {
    let bells = [bell(), bell()];
    let crossed = Arc::new(AtomicU64::new(0));
    let ((to_b, from_a), (to_a, from_b)) = (sync_channel(4096), sync_channel(4096));
    let cable = |n: usize, from, to| Cable {
        bell: bells[n].clone(),
        other: bells[1 - n].clone(),
        from,
        to,
        crossed: crossed.clone(),
    };
    let a = Driver::spawn(cable(0, from_b, to_b), stack([10, 0, 0, 1])).expect("a thread");
    let b = Driver::spawn(cable(1, from_a, to_a), stack([10, 0, 0, 2])).expect("a thread");
    let at = ([10, 0, 0, 2], 80).into();
    let listener = TcpListener::bind(&b.handle(), at, 1).expect("a free port");
    let stop = Arc::new(AtomicBool::new(false));
    let mut sending = TcpStream::connect(&a.handle(), at).expect("a connection");
    let mut receiving = listener.accept().expect("a connection");
    let writer = {
        let stop = stop.clone();
        thread::spawn(move || {
            let data = vec![7; 4 << 20];
            while !stop.load(Ordering::Relaxed) && sending.write_all(&data).is_ok() {}
        })
    };
    let reader = thread::spawn(move || {
        let mut out = vec![0; 4 << 20];
        while receiving.read(&mut out).is_ok_and(|n| n > 0) {}
    });
    thread::sleep(Duration::from_millis(200));
    let (begin, before) = (Instant::now(), crossed.load(Ordering::Relaxed));
    measure("beside the sender of a stream at full speed", &a.handle());
    measure("beside its receiver", &b.handle());
    let octets = crossed.load(Ordering::Relaxed) - before;
    eprintln!("{:.2} Gbit/s", octets as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e9);
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("no panic");
    reader.join().expect("no panic");
}

fn main() {
    println!("| wait for the lock of the stack, in µs | p50 | p99 | maximum |");
    println!("|---|---|---|---|");
    control();
    flood();
    stream();
}
