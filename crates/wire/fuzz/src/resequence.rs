//! Packets of any octets are classified, and go on from the core that restores their order exactly once, within
//! the bounds on time and memory.

use std::collections::{BTreeMap, BTreeSet};

use unruffled_resequence::{Config, Counters, Protocol, Resequencer, Tunnels, classify};
use unruffled_units::{Duration, Instant};

use crate::input::{Bits, Input};

/// What happened while an input was played.
#[derive(Debug, Default)]
pub struct Seen {
    /// Protocols of the packets; `None` for packets that the decoder passes.
    pub protocols: BTreeSet<Option<Protocol>>,
    /// The counts at the end.
    pub counters: Counters,
}

/// Headers of packets from 192.0.2.1 and 2001:db8::1, whose octets the input replaces.
mod templates {
    /// TCP with timestamps over IPv4: the sequence number is at 24, the flags at 33, TSval at 44.
    pub(super) const TCP4: [u8; 52] = [
        0x45, 0, 5, 220, 0, 0, 0x40, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7, //
        1, 187, 0xc3, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x10, 2, 0, 0, 0, 0, 0, //
        1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1,
    ];

    /// TCP over IPv6: the sequence number is at 44, the flags at 53.
    pub(super) const TCP6: [u8; 60] = [
        0x60, 0, 0, 0, 5, 180, 6, 64, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        1, //
        0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, //
        1, 187, 0xc3, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 2, 0, 0, 0, 0, 0,
    ];

    /// WireGuard over IPv4: the counter is at 36, in little endian.
    pub(super) const WIREGUARD: [u8; 44] = [
        0x45, 0, 5, 220, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7, //
        0xca, 0x6c, 0xca, 0x6c, 5, 200, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    /// ESP over IPv4: the sequence number is at 24.
    pub(super) const ESP: [u8; 28] = [
        0x45, 0, 5, 220, 0, 0, 0, 0, 64, 50, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7, //
        0, 0, 1, 0, 0, 0, 0, 0,
    ];

    /// OpenVPN over IPv4: the packet id is at 32.
    pub(super) const OPENVPN: [u8; 36] = [
        0x45, 0, 5, 220, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7, //
        4, 170, 4, 170, 5, 200, 0, 0, 0x48, 0, 0, 1, 0, 0, 0, 1,
    ];
}

/// Makes a packet from the input. Returns the octets that are present and the length of the whole.
fn packet(kind: u8, input: &mut Input<'_>) -> (Vec<u8>, u32) {
    let near = u32::from(input.byte());
    let mut bytes;
    match kind {
        0..=2 => {
            bytes = templates::TCP4.to_vec();
            let number = near.wrapping_mul(1448).wrapping_sub(14_480);
            bytes[24..28].copy_from_slice(&number.to_be_bytes());
            bytes[47] = input.byte();
        }
        3 => {
            bytes = templates::TCP6.to_vec();
            bytes[44..48].copy_from_slice(&near.wrapping_mul(1440).to_be_bytes());
        }
        4 => {
            bytes = templates::WIREGUARD.to_vec();
            bytes[36..40].copy_from_slice(&near.to_le_bytes());
        }
        5 => {
            bytes = templates::ESP.to_vec();
            bytes[24..28].copy_from_slice(&near.to_be_bytes());
        }
        6 => {
            bytes = templates::OPENVPN.to_vec();
            bytes[32..36].copy_from_slice(&near.to_be_bytes());
        }
        _ => bytes = input.take(near as usize).to_vec(),
    }
    let mut length = 1500;
    let mut deviates = Bits::of(input.byte());
    // Most packets are as the template has them.
    for _ in 0..4 {
        if deviates.next() {
            let at = usize::from(input.byte());
            let value = input.byte();
            if let Some(octet) = bytes.get_mut(at) {
                *octet = value;
            }
        }
    }
    if deviates.next() {
        length = input.u32();
    }
    if deviates.next() {
        bytes.truncate(usize::from(input.byte()));
    }
    (bytes, length)
}

/// Packets within, and checks of what comes out.
struct Play {
    resequencer: Resequencer<u32>,
    config: Config,
    now: Instant,
    is_punctual: bool,
    /// Arrival and octets of the packets that are within.
    inside: BTreeMap<u32, (Instant, u32)>,
    seen: Seen,
}

impl Play {
    fn drain(&mut self) {
        while let Some(token) = self.resequencer.poll_release() {
            let (arrived, _) = self.inside.remove(&token).expect("released once");
            assert!(!self.is_punctual || self.now.since(arrived) <= self.config.max_hold);
        }
        let load = self.resequencer.load();
        let octets = self.inside.values().map(|&(_, octets)| u64::from(octets)).sum::<u64>();
        assert_eq!((load.packets, load.octets), (self.inside.len(), octets));
        assert!(load.flows <= self.config.max_flows && load.paths <= self.config.max_paths);
        assert_eq!(load.packets == 0, self.resequencer.poll_timeout().is_none());
    }

    fn timeout(&mut self, now: Instant) {
        self.now = now;
        self.resequencer.handle_timeout(now);
        assert!(self.resequencer.poll_timeout().is_none_or(|due| due > now));
        self.drain();
    }

    fn until(&mut self, now: Instant) {
        while self.is_punctual
            && let Some(due) = self.resequencer.poll_timeout()
            && due <= now
        {
            self.timeout(due);
        }
        self.now = now;
    }

    fn packet(&mut self, token: u32, bytes: &[u8], length: u32, tunnels: Tunnels) {
        let packet = classify(bytes, length, 0, tunnels);
        self.seen.protocols.insert(packet.map(|packet| packet.flow.protocol));
        let Some(packet) = packet else { return };
        self.inside.insert(token, (self.now, packet.octets));
        self.resequencer.handle(&packet, token, self.now);
        self.drain();
        let load = self.resequencer.load();
        assert!(load.packets <= self.config.max_packets && load.octets <= self.config.budget);
    }
}

/// Plays `bytes`, whose first two octets select the bounds.
pub fn run(bytes: &[u8]) -> Seen {
    let mut input = Input::new(bytes);
    let mut choice = Bits::of(input.byte());
    let mut limit = |small: usize, large: usize| if choice.next() { small } else { large };
    let config = Config {
        budget: limit(20_000, 1 << 27) as u64,
        max_packets: limit(6, 32_768),
        max_flows: limit(2, 1000),
        max_paths: limit(1, 100),
        max_hold: Duration::from_millis(limit(50, 1000) as u64),
        ..Config::default()
    };
    let is_punctual = !choice.next();
    let mut tunnels = Bits::of(input.byte());
    let tunnels =
        Tunnels { wireguard: !tunnels.next(), esp: !tunnels.next(), openvpn: !tunnels.next() };
    let mut play = Play {
        resequencer: Resequencer::new(config),
        config,
        now: Instant::ZERO,
        is_punctual,
        inside: BTreeMap::new(),
        seen: Seen::default(),
    };
    let mut token = 0;
    while !input.is_empty() {
        let op = input.byte();
        match op & 15 {
            // A packet, after one of five times.
            kind @ 0..=7 => {
                let step = [0, 100, 5000, 50_000, 1_000_000][usize::from(op >> 5).min(4)];
                play.until(play.now + Duration::from_micros(step));
                let (bytes, length) = packet(kind, &mut input);
                token += 1;
                play.packet(token, &bytes, length, tunnels);
            }
            8 => play.timeout(play.now),
            9 => {
                play.resequencer.release_all(play.now);
                play.drain();
                assert_eq!(play.inside.len(), 0);
            }
            _ => play.until(play.now + Duration::from_millis(u64::from(input.byte()))),
        }
    }
    play.resequencer.release_all(play.now);
    play.drain();
    assert_eq!(play.inside.len(), 0);
    play.seen.counters = play.resequencer.counters();
    play.seen
}
