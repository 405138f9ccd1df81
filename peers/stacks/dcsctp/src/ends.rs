//! Both ends.

use std::time::Duration;

use dcsctp::api::{
    DcSctpSocket, Message, Options, PpId, SendOptions, SocketEvent, SocketTime, StreamId,
};
use stacks_driver::{About, Bench, End, Ends, IP_UDP, Packet, Pattern, Request, Side, fill};

/// What a user can set, by the names in `Options`. Times are in milliseconds.
pub const SETTINGS: [&str; 8] = [
    "mtu",
    "rto_min",
    "rto_max",
    "delayed_ack_max_timeout",
    "cwnd_mtus_initial",
    "cwnd_mtus_min",
    "immediate_sack_under_cwnd_mtus",
    "max_burst",
];

/// Octets of the receiver's window: ten times what 100 Mb/s over 300 ms need.
const WINDOW: usize = 32 << 20;

/// The size of a message that applications of WebRTC keep to.
const MESSAGE: usize = 16 << 10;

/// Octets that wait at the sender, of the two million that it takes.
const WAITING: usize = 1 << 20;

const STREAM: StreamId = StreamId(1);
const BINARY: PpId = PpId(53);

/// Two sockets.
pub struct Dcsctp {
    client: Box<dyn DcSctpSocket>,
    server: Box<dyn DcSctpSocket>,
    octets: u64,
    written: u64,
    pattern: Pattern,
}

impl Ends for Dcsctp {
    fn open(request: &Request, _: &About) -> Result<Dcsctp, String> {
        fastrand::seed(request.seed);
        let options = options(request)?;
        let mut client = dcsctp::new_socket("client", &options);
        let server = dcsctp::new_socket("server", &options);
        client.connect();
        let octets = request.octets.unwrap_or(u64::MAX);
        Ok(Dcsctp { client, server, octets, written: 0, pattern: Pattern::default() })
    }

    fn deliver(&mut self, now: u64, packet: Packet) -> Result<(), String> {
        let socket = match packet.from {
            Side::Client => &mut self.server,
            Side::Server => &mut self.client,
        };
        socket.advance_time(time(now));
        socket.handle_input(&packet.data);
        Ok(())
    }

    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
        self.client.advance_time(time(now));
        self.server.advance_time(time(now));
        while let Some(message) = self.server.get_next_message() {
            self.pattern.check(&message.payload)?;
        }
        self.write()?;
        transmit(self.client.as_mut(), Side::Client, bench)?;
        transmit(self.server.as_mut(), Side::Server, bench)
    }

    fn due(&mut self) -> Option<u64> {
        let due = self.client.poll_timeout().min(self.server.poll_timeout());
        let never = SocketTime::infinite_future();
        (due < never).then(|| (due - SocketTime::zero()).as_nanos() as u64)
    }

    fn received(&self) -> u64 {
        self.pattern.received()
    }

    fn end(&mut self) -> End {
        let metrics = self.client.get_metrics();
        let lost = metrics.map_or(0, |metrics| metrics.rtx_packets_count as u64);
        End { lost, ..End::default() }
    }
}

impl Dcsctp {
    /// Writes messages until enough waits.
    fn write(&mut self) -> Result<(), String> {
        while self.written < self.octets && self.client.buffered_amount(STREAM) < WAITING {
            let left = self.octets - self.written;
            let mut payload = vec![0; MESSAGE.min(left.try_into().unwrap_or(MESSAGE))];
            fill(self.written, &mut payload);
            self.written += payload.len() as u64;
            let message = Message::new(STREAM, BINARY, payload);
            let sent = self.client.send(message, &SendOptions::default());
            sent.map_err(|error| format!("send: {error}"))?;
        }
        Ok(())
    }
}

/// Hands the packets of `socket` to the bench.
fn transmit(socket: &mut dyn DcSctpSocket, from: Side, bench: &mut Bench) -> Result<(), String> {
    while let Some(event) = socket.poll_event() {
        match event {
            SocketEvent::SendPacket(packet) => bench.send(from, packet, IP_UDP),
            SocketEvent::OnAborted(kind, reason) => {
                return Err(format!("the connection ended: {kind:?}: {reason}"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn options(request: &Request) -> Result<Options, String> {
    let path = request.mtu.saturating_sub(IP_UDP);
    let defaults = Options::default();
    let whole =
        |name, default| Ok::<usize, String>(request.bounded(name, 1..=10_000)?.unwrap_or(default));
    let time = |name, default: Duration| {
        let time = request.bounded(name, 1..=600_000)?.map(Duration::from_millis);
        Ok::<Duration, String>(time.unwrap_or(default))
    };
    let max_burst = request.bounded("max_burst", 1..=10_000)?;
    Ok(Options {
        mtu: request.bounded("mtu", 256..=path)?.unwrap_or(defaults.mtu.min(path)),
        max_receiver_window_buffer_size: WINDOW,
        rto_min: time("rto_min", defaults.rto_min)?,
        rto_max: time("rto_max", defaults.rto_max)?,
        delayed_ack_max_timeout: time("delayed_ack_max_timeout", defaults.delayed_ack_max_timeout)?,
        cwnd_mtus_initial: whole("cwnd_mtus_initial", defaults.cwnd_mtus_initial)?,
        cwnd_mtus_min: whole("cwnd_mtus_min", defaults.cwnd_mtus_min)?,
        immediate_sack_under_cwnd_mtus: whole(
            "immediate_sack_under_cwnd_mtus",
            defaults.immediate_sack_under_cwnd_mtus,
        )?,
        max_burst: max_burst.unwrap_or(defaults.max_burst),
        ..defaults
    })
}

fn time(now: u64) -> SocketTime {
    SocketTime::zero() + Duration::from_nanos(now)
}
