//! A server's stack, a good client's, and attackers who are nothing but segments: in memory, in one
//! thread, by the clock of what that thread has run, so that what an attack costs the processor counts
//! too, and what else the machine does counts not.

use std::net::{SocketAddr, UdpSocket};
use std::task::{Poll, Waker};
use std::time::Duration;

use unruffled_tcp::{Segment, Variant};
use unruffled_units::Instant;
use unruffled_wire::codec::{Checksums, Packet, decode, encode};
use unruffled_wire::stack::{ConnectionId, ListenerId, Stack, StackConfig};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
/// What the good client fetches: 10 MB.
pub(crate) const TRANSFER: usize = 10_000_000;
/// No transfer takes longer, or it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// For how long this thread has run.
pub(crate) fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Segments that come from strangers.
pub(crate) trait Attack {
    /// Does its worst once.
    fn strike(&mut self, server: &mut Server);

    /// The server sent `segment` to one of the attackers.
    fn hear(&mut self, _server: &mut Server, _at: SocketAddr, _segment: &Segment) {}
}

/// No attack.
pub(crate) struct Peace;

impl Attack for Peace {
    fn strike(&mut self, _: &mut Server) {}
}

/// The largest packet that a [`Wire`] carries.
const LARGEST: usize = 128;

/// Brings packets through the kernel, as a device does: what reading one of them costs is about the same.
pub(crate) struct Wire {
    from: UdpSocket,
    to: UdpSocket,
    packet: Vec<u8>,
    inbox: Vec<u8>,
    pub(crate) most: usize,
}

impl Wire {
    /// For up to `most` packets at a time.
    pub(crate) fn new(most: usize) -> std::io::Result<Self> {
        let (from, to) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        from.connect(to.local_addr()?)?;
        to.set_nonblocking(true)?;
        Ok(Self { from, to, packet: Vec::new(), inbox: vec![0; most * LARGEST], most })
    }

    /// A segment of an attacker leaves.
    pub(crate) fn carries(&mut self, from: SocketAddr, port: u16, segment: &Segment) {
        self.packet.clear();
        encode(from, Server::at(port), segment, (&[], &[]), &mut self.packet).expect("it fits");
        self.from.send(&self.packet).expect("room for a batch");
    }

    fn read(&mut self) -> Vec<usize> {
        let buffers = self.inbox.chunks_exact_mut(LARGEST);
        buffers.map_while(|buffer| self.to.recv(buffer).ok()).collect()
    }
}

/// The stack under attack.
pub(crate) struct Server {
    pub(crate) stack: Stack,
    start: Duration,
    /// Seconds by which the clock is ahead of the wall's.
    ahead: u64,
    packet: Vec<u8>,
}

impl Server {
    pub(crate) fn now(&self) -> Instant {
        // Not from zero: a clock that begins with the connection is no clock.
        Instant::from_nanos(
            1_000_000_000 * (1 + self.ahead) + (clock() - self.start).as_nanos() as u64,
        )
    }

    /// Where attackers send.
    pub(crate) fn at(port: u16) -> SocketAddr {
        (SERVER, port).into()
    }

    /// The packets that `wire` brings arrive as by a driver: all are read, then looked up, then handled.
    /// Says what reading them took, and what the rest did.
    pub(crate) fn takes_all(&mut self, wire: &mut Wire) -> [Duration; 2] {
        let begin = clock();
        let read = wire.read();
        let between = clock();
        let now = self.now();
        let buffers = wire.inbox.chunks_exact(LARGEST).zip(&read);
        let packets: Vec<_> =
            buffers.map(|(buffer, &len)| decode(&buffer[..len], Checksums::Verify)).collect();
        self.stack.look_ahead(&packets);
        for packet in packets {
            let _ = self.stack.receive_decoded(packet, now);
        }
        [between - begin, clock() - between]
    }

    /// A segment of an attacker arrives.
    pub(crate) fn takes(&mut self, from: SocketAddr, port: u16, segment: &Segment, payload: &[u8]) {
        self.packet.clear();
        let segment = Segment { len: payload.len() as u32, ..*segment };
        encode(from, Self::at(port), &segment, (payload, &[]), &mut self.packet).expect("it fits");
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
        let server = Server { stack: server, start, ahead: 0, packet: Vec::new() };
        let (read, data) = (vec![0; 64 << 10], vec![7; 64 << 10]);
        Self { server, client: stack(CLIENT), listener, out: Vec::new(), read, data }
    }

    /// Time goes on without anything to see.
    pub(crate) fn skip(&mut self, seconds: u64) {
        self.server.ahead += seconds;
    }

    /// All that wants to leave leaves, and arrives.
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
                attack.hear(server, arrival.to, &arrival.segment);
            }
        }
    }

    /// The good client connects and fetches 10 MB, while the attack goes on: says how long it took.
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
        let (mut serving, mut written, mut read) = (None, 0, 0);
        while (clock() - begin) < PATIENCE {
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
