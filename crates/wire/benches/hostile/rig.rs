//! The stacks of a server and of a good client, and attackers that consist of segments, in memory
//! and in one thread. The clock is the CPU time of this thread, so that it includes what an attack
//! costs the processor, and excludes the other work of the machine.

use std::net::{SocketAddr, UdpSocket};
use std::task::{Poll, Waker};
use std::time::Duration;

use unruffled_tcp::Segment;
use unruffled_wire::codec::{Checksums, Packet, decode, encode};
use unruffled_wire::stack::{ConnectionId, Instant, ListenerId, Stack, StackConfig, Variant};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
/// Octets that the good client fetches.
pub(crate) const TRANSFER: usize = 10_000_000;
/// Time after which a transfer has failed.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the CPU time of this thread.
pub(crate) fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// An attack with segments.
pub(crate) trait Attack {
    /// Sends the segments that are due.
    fn strike(&mut self, server: &mut Server);

    /// Handles a segment that the server sent to the attacker at `_at`.
    fn on_segment(&mut self, _server: &mut Server, _at: SocketAddr, _segment: &Segment) {}
}

/// No attack.
pub(crate) struct NoAttack;

impl Attack for NoAttack {
    fn strike(&mut self, _: &mut Server) {}
}

/// Octets of the largest packet that a [`Wire`] carries.
const MAX_PACKET: usize = 128;

/// Carries packets through the kernel, so that reading one costs about as much as from a device.
pub(crate) struct Wire {
    from: UdpSocket,
    to: UdpSocket,
    packet: Vec<u8>,
    inbox: Vec<u8>,
    pub(crate) capacity: usize,
}

impl Wire {
    /// Returns a wire for up to `capacity` packets at a time.
    pub(crate) fn new(capacity: usize) -> std::io::Result<Self> {
        let (from, to) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        from.connect(to.local_addr()?)?;
        to.set_nonblocking(true)?;
        Ok(Self { from, to, packet: Vec::new(), inbox: vec![0; capacity * MAX_PACKET], capacity })
    }

    /// Sends a segment of an attacker.
    pub(crate) fn send(&mut self, from: SocketAddr, port: u16, segment: &Segment) {
        self.packet.clear();
        encode(from, Server::at(port), segment, (&[], &[]), &mut self.packet)
            .expect("the packet fits");
        self.from.send(&self.packet).expect("room for a batch");
    }

    fn read(&mut self) -> Vec<usize> {
        let buffers = self.inbox.chunks_exact_mut(MAX_PACKET);
        buffers.map_while(|buffer| self.to.recv(buffer).ok()).collect()
    }
}

/// The stack under attack.
pub(crate) struct Server {
    pub(crate) stack: Stack,
    start: Duration,
    /// Seconds that have been skipped.
    skipped: u64,
    packet: Vec<u8>,
}

impl Server {
    pub(crate) fn now(&self) -> Instant {
        // The clock does not start at zero, like a real one.
        Instant::from_nanos(
            1_000_000_000 * (1 + self.skipped) + (clock() - self.start).as_nanos() as u64,
        )
    }

    /// Returns the address of a port.
    pub(crate) fn at(port: u16) -> SocketAddr {
        (SERVER, port).into()
    }

    /// Receives the packets of `wire` as a driver does: all are read, then looked up, then handled.
    /// Returns the time for reading them, and the time for the rest.
    pub(crate) fn receive_all(&mut self, wire: &mut Wire) -> [Duration; 2] {
        let begin = clock();
        let read = wire.read();
        let between = clock();
        let now = self.now();
        let buffers = wire.inbox.chunks_exact(MAX_PACKET).zip(&read);
        let packets: Vec<_> =
            buffers.map(|(buffer, &len)| decode(&buffer[..len], Checksums::Verify)).collect();
        self.stack.look_ahead(&packets);
        for packet in packets {
            let _ = self.stack.receive_decoded(packet, now);
        }
        [between - begin, clock() - between]
    }

    /// Receives a segment of an attacker.
    pub(crate) fn receive(
        &mut self,
        from: SocketAddr,
        port: u16,
        segment: &Segment,
        payload: &[u8],
    ) {
        self.packet.clear();
        let segment = Segment { len: payload.len() as u32, ..*segment };
        encode(from, Self::at(port), &segment, (payload, &[]), &mut self.packet)
            .expect("the packet fits");
        let now = self.now();
        let _ = self.stack.receive(&self.packet, Checksums::Verify, now);
    }
}

pub(crate) struct Rig {
    pub(crate) server: Server,
    client: Stack,
    listener: ListenerId,
    out: Vec<u8>,
    read: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

fn stack(address: [u8; 4]) -> Stack {
    let variant = Variant::named("sack").expect("a variant");
    let config = StackConfig::new(vec![address.into()], variant).expect("randomness");
    Stack::new(config)
}

impl Rig {
    pub(crate) fn new() -> Self {
        let mut server = stack(SERVER);
        let listener = server.listen(Server::at(80), 1024).expect("a free port");
        let start = clock();
        let server = Server { stack: server, start, skipped: 0, packet: Vec::new() };
        Self {
            server,
            client: stack(CLIENT),
            listener,
            out: Vec::new(),
            read: vec![0; 64 << 10],
            data: vec![7; 64 << 10],
        }
    }

    /// Skips so many seconds.
    pub(crate) fn skip(&mut self, seconds: u64) {
        self.server.skipped += seconds;
    }

    /// Carries the packets of both stacks to each other and to the attack.
    pub(crate) fn round(&mut self, attack: &mut dyn Attack) {
        let Self { server, client, out, .. } = self;
        let now = server.now();
        for stack in [&mut server.stack, &mut *client] {
            if stack.poll_timeout().is_some_and(|due| due <= now) {
                stack.handle_timeout(now);
            }
        }
        for _ in 0..64 {
            out.clear();
            if client.poll_transmit(now, out).is_none() {
                break;
            }
            let _ = server.stack.receive(out, Checksums::Verify, now);
        }
        for _ in 0..1024 {
            out.clear();
            if server.stack.poll_transmit(now, out).is_none() {
                break;
            }
            if out[16..20] == CLIENT {
                let _ = client.receive(out, Checksums::Verify, now);
            } else if let Ok(Packet::Tcp(arrival)) = decode(out, Checksums::Trust) {
                attack.on_segment(server, arrival.to, &arrival.segment);
            }
        }
    }

    /// Lets the good client connect and fetch 10 MB during the attack; returns the time that it
    /// took.
    pub(crate) fn transfer(&mut self, attack: &mut dyn Attack) -> Result<Duration, String> {
        let begin = clock();
        let now = self.server.now();
        let to = Server::at(80);
        let fetching = self.client.connect(to, None, now).map_err(|error| error.to_string())?;
        let result = self.fetch(fetching, attack, begin);
        self.client.release(fetching);
        for _ in 0..8 {
            self.round(attack);
        }
        result.map(|()| clock() - begin)
    }

    fn fetch(
        &mut self,
        fetching: ConnectionId,
        attack: &mut dyn Attack,
        begin: Duration,
    ) -> Result<(), String> {
        let waker = Waker::noop();
        let mut serving = None;
        let mut written = 0;
        let mut read = 0;
        while (clock() - begin) < TRANSFER_TIMEOUT {
            attack.strike(&mut self.server);
            self.round(attack);
            let stack = &mut self.server.stack;
            if serving.is_none()
                && let Poll::Ready(Ok(id)) = stack.poll_accept(self.listener, waker)
            {
                serving = Some(id);
            }
            if let Some(id) = serving.filter(|_| written < TRANSFER) {
                let data = &self.data[..self.data.len().min(TRANSFER - written)];
                while let Poll::Ready(n) = stack.poll_write(id, waker, data) {
                    written += n.map_err(|error| format!("writing: {error}"))?;
                    if written >= TRANSFER {
                        stack.release(id);
                        break;
                    }
                }
            }
            while let Poll::Ready(n) = self.client.poll_read(fetching, waker, &mut self.read) {
                match n.map_err(|error| format!("reading: {error}"))? {
                    0 => return (read >= TRANSFER).then_some(()).ok_or("cut short".to_owned()),
                    n => read += n,
                }
            }
        }
        Err(format!("{read} octets in a minute"))
    }
}
