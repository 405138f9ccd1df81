//! Tunnels, whose packets have numbers of their own and are sent once.

use unruffled_resequence::{Config, Flow, Protocol, Role};
use unruffled_units::Duration;

use crate::trace::{Trace, ms, tcp};

fn trace(protocol: Protocol) -> Trace {
    let mut trace = Trace::new(Config::default());
    trace.of(Flow { protocol, context: 7, ..tcp(1) });
    trace
}

fn number(number: u64) -> Role {
    Role::Data { number, span: 1, timestamp: None }
}

#[test]
fn packets_of_a_tunnel_are_put_in_order_once_lateness_was_seen() {
    for protocol in [Protocol::WireGuard, Protocol::Esp, Protocol::OpenVpn] {
        let mut trace = trace(protocol);
        trace.packet(0, number(10), 10);
        // Nothing is known, and there is no handshake: nothing is held.
        assert_eq!(trace.packet(1, number(12), 12), [(1, 12)]);
        assert_eq!(trace.packet(31, number(11), 11), [(31, 11)]);
        assert_eq!(trace.packet(40, number(14), 14), [], "{protocol:?}");
        assert_eq!(trace.packet(41, number(15), 15), []);
        assert_eq!(trace.packet(65, number(13), 13), [(65, 13), (65, 14), (65, 15)]);
    }
}

#[test]
fn what_never_comes_counts_as_lost_after_four_seconds() {
    let mut trace = trace(Protocol::WireGuard);
    trace.packet(0, number(10), 10);
    for n in 0..2000_u64 {
        // Every tenth is lost, and one is late by 2 ms.
        let (ms, n) = (10 * n, 20 + n);
        if n == 21 {
            trace.packet(ms + 12, number(n), n);
        } else if n % 10 != 0 {
            trace.packet(ms + 10, number(n), n);
        }
    }
    assert_eq!(trace.resequencer.paths()[0].hold, Duration::ZERO);
}

#[test]
fn a_counter_of_64_bits_may_begin_anywhere() {
    let mut trace = trace(Protocol::WireGuard);
    for start in [0, u64::MAX - 3, 1 << 40, 1 << 63] {
        // The second packet moves the flow to where the first was.
        trace.packet(0, number(start), 0);
        trace.packet(0, number(start.wrapping_add(1)), 1);
        assert_eq!(trace.packet(0, number(start.wrapping_add(2)), 2), [(0, 2)]);
    }
}

#[test]
fn a_number_of_32_bits_wraps() {
    let mut trace = trace(Protocol::Esp);
    for n in 0..10_u32 {
        let esp = u32::MAX - 4;
        let n = u64::from(n);
        let at = 10 * n;
        assert_eq!(trace.packet(at, number((u64::from(esp) + n) & 0xffff_ffff), n), [(at, n)]);
    }
    assert_eq!(trace.resequencer.counters().late, 0);
    assert!(trace.resequencer.paths()[0].longest == ms(0));
}
