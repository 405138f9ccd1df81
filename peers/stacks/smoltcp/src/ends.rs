//! Both ends.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Packet, TcpPacket, TcpSeqNumber};
use stacks_driver::{About, Bench, End, Ends, Packet, Pattern, Request, Side, fill};

use crate::device::Device;
use crate::holes;

const CLIENT: IpAddress = IpAddress::v4(10, 0, 0, 1);
const SERVER: IpAddress = IpAddress::v4(10, 0, 0, 2);
const PORT: u16 = 443;

/// Octets of the buffers with a congestion control: a window for 100 Mb/s over 300 ms.
const BUFFER: usize = 4 << 20;

/// Octets of the buffers without a control, where they are the only limit of what is in flight:
/// as in the stack's own examples.
const BUFFER_WITHOUT_CONTROL: usize = 65_535;

struct Host {
    device: Device,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
}

impl Host {
    fn new(
        address: IpAddress,
        seed: u64,
        mtu: usize,
        socket: Socket<'static>,
    ) -> Result<Host, String> {
        let mut device = Device::new(mtu);
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        let mut full = Ok(());
        interface.update_ip_addrs(|addresses| {
            full = addresses.push(IpCidr::new(address, 24));
        });
        full.map_err(|_| "smoltcp takes no address".to_owned())?;
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        Ok(Host { device, interface, sockets, handle })
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn poll(&mut self, now: Instant) {
        self.interface.poll(now, &mut self.device, &mut self.sockets);
    }
}

/// Two interfaces and a connection.
pub struct Smoltcp {
    client: Host,
    server: Host,
    octets: u64,
    written: u64,
    pattern: Pattern,
    now: Instant,
    /// End of the newest segment.
    newest: Option<TcpSeqNumber>,
    retransmitted: u64,
}

impl Ends for Smoltcp {
    fn open(request: &Request, about: &About) -> Result<Smoltcp, String> {
        let control = match request.control(about) {
            "cubic" => CongestionControl::Cubic,
            "reno" => CongestionControl::Reno,
            _ => CongestionControl::None,
        };
        let default = match control {
            CongestionControl::None => BUFFER_WITHOUT_CONTROL,
            _ => BUFFER,
        };
        let buffer = request.bounded("buffer", 1460..=1 << 30)?.unwrap_or(default);
        let ack_delay = request.bounded("ack_delay_ms", 0..=10_000)?;
        let socket = || {
            let storage = || SocketBuffer::new(vec![0; buffer]);
            let mut socket = Socket::new(storage(), storage());
            socket.set_congestion_control(control);
            if let Some(delay) = ack_delay {
                let delay = (delay > 0).then(|| Duration::from_millis(delay));
                socket.set_ack_delay(delay);
            }
            socket
        };
        holes::count()?;
        let mut client = Host::new(CLIENT, 2 * request.seed, request.mtu, socket())?;
        let mut server = Host::new(SERVER, 2 * request.seed + 1, request.mtu, socket())?;
        server.socket().listen(PORT).map_err(|error| format!("listen: {error:?}"))?;
        client
            .sockets
            .get_mut::<Socket<'_>>(client.handle)
            .connect(client.interface.context(), (SERVER, PORT), 49_152)
            .map_err(|error| format!("connect: {error:?}"))?;
        Ok(Smoltcp {
            client,
            server,
            octets: request.octets.unwrap_or(u64::MAX),
            written: 0,
            pattern: Pattern::default(),
            now: Instant::ZERO,
            newest: None,
            retransmitted: 0,
        })
    }

    fn deliver(&mut self, now: u64, packet: Packet) -> Result<(), String> {
        self.now = instant(now);
        let host = match packet.from {
            Side::Client => &mut self.server,
            Side::Server => &mut self.client,
        };
        host.device.arrived.push_back(packet.data);
        Ok(())
    }

    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
        self.now = instant(now);
        self.server.poll(self.now);
        while self.read()? {
            // A window that opens goes to the client in an acknowledgement.
            self.server.poll(self.now);
        }
        // What arrives at the client makes room for what it writes.
        self.client.poll(self.now);
        while self.write()? {
            self.client.poll(self.now);
        }
        for packet in std::mem::take(&mut self.client.device.leaving) {
            self.count(&packet)?;
            bench.send(Side::Client, packet, 0);
        }
        for packet in std::mem::take(&mut self.server.device.leaving) {
            bench.send(Side::Server, packet, 0);
        }
        Ok(())
    }

    fn due(&mut self) -> Option<u64> {
        let now = self.now;
        [&mut self.client, &mut self.server]
            .into_iter()
            .filter_map(|host| host.interface.poll_at(now, &host.sockets))
            .min()
            .map(|due| due.total_micros().max(0) as u64 * 1000)
    }

    fn received(&self) -> u64 {
        self.pattern.received()
    }

    fn end(&mut self) -> End {
        End { lost: self.retransmitted, discarded: Some(holes::dropped()), ..End::default() }
    }
}

impl Smoltcp {
    /// Writes what the client's socket takes; true if that is anything.
    fn write(&mut self) -> Result<bool, String> {
        let (written, octets) = (self.written, self.octets);
        let socket = self.client.socket();
        if !socket.can_send() || written == octets {
            return Ok(false);
        }
        let taken = socket
            .send(|room| {
                let length = room.len().min((octets - written).try_into().unwrap_or(usize::MAX));
                fill(written, &mut room[..length]);
                (length, length)
            })
            .map_err(|error| format!("send: {error:?}"))?;
        self.written += taken as u64;
        Ok(taken > 0)
    }

    /// Reads what the server's socket has; true if that is anything.
    fn read(&mut self) -> Result<bool, String> {
        let pattern = &mut self.pattern;
        let socket = self.server.sockets.get_mut::<Socket<'_>>(self.server.handle);
        if !socket.can_recv() {
            return Ok(false);
        }
        let before = pattern.received();
        socket
            .recv(|data| (data.len(), pattern.check(data)))
            .map_err(|error| format!("recv: {error:?}"))??;
        Ok(pattern.received() > before)
    }

    /// Counts a segment of the client if its data were sent before.
    fn count(&mut self, packet: &[u8]) -> Result<(), String> {
        let wrong = |error| format!("a packet of the client: {error:?}");
        let packet = Ipv4Packet::new_checked(packet).map_err(wrong)?;
        let segment = TcpPacket::new_checked(packet.payload()).map_err(wrong)?;
        let length = segment.payload().len();
        if length == 0 {
            return Ok(());
        }
        let end = segment.seq_number() + length;
        match self.newest {
            Some(newest) if end <= newest => self.retransmitted += 1,
            _ => self.newest = Some(end),
        }
        Ok(())
    }
}

fn instant(now: u64) -> Instant {
    Instant::from_micros((now / 1000) as i64)
}
