//! Both ends.

use stacks_driver::{About, Bench, End, Ends, IP_UDP, Packet, Pattern, Request};

use crate::shim::{Connections, Context};

/// Two connections, and what was read.
pub struct Ngtcp2 {
    connections: Connections,
    pattern: Pattern,
}

impl Ends for Ngtcp2 {
    fn open(request: &Request, about: &About) -> Result<Ngtcp2, String> {
        // Numbers of `ngtcp2_cc_algo`.
        let control = match request.control(about) {
            "reno" => 0,
            "bbr" => 2,
            "bbr2" => 3,
            _ => 1,
        };
        let most = request.mtu - IP_UDP;
        // As the library's own default, where the path carries it.
        let default = most.min(1452);
        let payload = request.bounded("max_tx_udp_payload_size", 1200..=most)?.unwrap_or(default);
        let ack_thresh = request.bounded("ack_thresh", 1..=1000)?.unwrap_or(0);
        let octets = request.octets.unwrap_or(u64::MAX);
        Ok(Ngtcp2 {
            connections: Connections::open(control, request.seed, octets, payload, ack_thresh)?,
            pattern: Pattern::default(),
        })
    }

    fn deliver(&mut self, now: u64, packet: Packet) -> Result<(), String> {
        let mut context = Context { pattern: &mut self.pattern, bench: None };
        self.connections.deliver(&mut context, now, packet.from, &packet.data, packet.again)
    }

    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
        let mut context = Context { pattern: &mut self.pattern, bench: Some(bench) };
        self.connections.turn(&mut context, now)
    }

    fn due(&mut self) -> Option<u64> {
        self.connections.due()
    }

    fn received(&self) -> u64 {
        self.pattern.received()
    }

    fn end(&mut self) -> End {
        let counts = self.connections.counts();
        End {
            lost: counts.lost,
            spurious: None,
            discarded: Some(counts.discarded),
            ..End::default()
        }
    }
}
