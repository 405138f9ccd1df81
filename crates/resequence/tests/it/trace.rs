//! A resequencer in virtual time: packets arrive, and what goes on is returned with its time.

use std::net::{IpAddr, Ipv4Addr};

use unruffled_resequence::{Config, Flow, Packet, Protocol, Resequencer, Role};
use unruffled_units::{Duration, Instant};

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// TCP flow `n`, whose packets come from a host of its own in network `n / 100`.
pub(crate) fn tcp(n: u32) -> Flow {
    let source = IpAddr::V4(Ipv4Addr::new(192, 0, (n / 100) as u8, (n % 100) as u8));
    let destination = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    Flow {
        protocol: Protocol::Tcp,
        interface: 1,
        source,
        destination,
        ports: (443, 50_000),
        context: 0,
    }
}

/// A resequencer and its releases: time in milliseconds and name.
pub(crate) struct Trace {
    pub(crate) resequencer: Resequencer<u64>,
    now: Instant,
    flow: Flow,
    /// Whether packets carry timestamps: the time of sending in milliseconds.
    pub(crate) stamped: bool,
}

impl Trace {
    /// A resequencer that holds packets for every sender.
    pub(crate) fn new(config: Config) -> Self {
        Self::as_configured(Config { always_hold: true, ..config })
    }

    /// A resequencer that holds packets as configured.
    pub(crate) fn as_configured(config: Config) -> Self {
        let resequencer = Resequencer::new(config);
        Self { resequencer, now: Instant::ZERO, flow: tcp(1), stamped: false }
    }

    /// Changes the flow of the packets that follow.
    pub(crate) fn of(&mut self, flow: Flow) -> &mut Self {
        self.flow = flow;
        self
    }

    /// Moves to `now`; returns what went on meanwhile.
    pub(crate) fn until(&mut self, ms: u64) -> Vec<(u64, u64)> {
        let now = at(ms);
        let mut out = self.drain();
        while let Some(due) = self.resequencer.poll_timeout()
            && due <= now
        {
            assert!(due >= self.now, "a wait ends in the past");
            self.now = due;
            self.resequencer.handle_timeout(due);
            out.extend(self.drain());
        }
        self.now = now;
        out
    }

    fn drain(&mut self) -> Vec<(u64, u64)> {
        let ms = self.now.as_nanos() / 1_000_000;
        std::iter::from_fn(|| self.resequencer.poll_release()).map(|n| (ms, n)).collect()
    }

    /// A packet arrives; returns what went on since the last call, and what goes on now.
    pub(crate) fn packet(&mut self, ms: u64, role: Role, name: u64) -> Vec<(u64, u64)> {
        let mut out = self.until(ms);
        let packet = Packet { flow: self.flow, role, octets: 3000 };
        self.resequencer.handle(&packet, name, self.now);
        out.extend(self.drain());
        out
    }

    /// A SYN, and the acknowledgement that ends the handshake `rtt` milliseconds later.
    pub(crate) fn handshake(&mut self, ms: u64, rtt: u64) {
        self.packet(ms, Role::Open { next: 1000 }, u64::MAX);
        self.packet(ms + rtt, Role::Acknowledgement, u64::MAX);
    }

    /// Data packet `n` of 1000 octets, which was sent at `sent`, arrives.
    pub(crate) fn sent(&mut self, ms: u64, n: u64, sent: u64) -> Vec<(u64, u64)> {
        let timestamp = self.stamped.then_some(sent as u32);
        let number = (1000 + 1000 * n) & u64::from(u32::MAX);
        self.packet(ms, Role::Data { number, span: 1000, timestamp }, n)
    }

    /// Data packet `n` arrives, which was sent for the first time at `10 * n` ms.
    pub(crate) fn data(&mut self, ms: u64, n: u64) -> Vec<(u64, u64)> {
        self.sent(ms, n, 10 * n)
    }
}
