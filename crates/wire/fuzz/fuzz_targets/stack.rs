//! Any packets, one after another, into a stack that listens: it answers or does not, and stays
//! bounded. The input is cut into packets by a length octet before each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unruffled_tcp::Variant;
use unruffled_units::Instant;
use unruffled_wire::codec::Checksums;
use unruffled_wire::stack::{Stack, StackConfig};

fuzz_target!(|bytes: &[u8]| {
    let ours = vec!["10.0.0.2".parse().expect("an address")];
    let variant = Variant::parse("sack").expect("a variant");
    let mut config = StackConfig::new(ours, variant).expect("randomness");
    config.key = [7; 16];
    let mut stack = Stack::new(config);
    stack.listen(([10, 0, 0, 2], 80).into(), 4).expect("a port");
    let (mut rest, mut now, mut out) = (bytes, Instant::from_millis(1), Vec::new());
    while let Some((&len, behind)) = rest.split_first() {
        let (packet, next) = behind.split_at(usize::from(len).min(behind.len()));
        rest = next;
        now = Instant::from_nanos(now.as_nanos() + 1_000_000 * u64::from(len));
        stack.receive(packet, Checksums::Trust, now);
        stack.handle_timeout(now);
        out.clear();
        while stack.poll_transmit(now, &mut out).is_some() {}
    }
    assert!(stack.connections() <= 4);
});
