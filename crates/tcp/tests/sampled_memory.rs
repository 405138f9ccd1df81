//! Memory of each outstanding segment of senders that sample the path. This binary has one test only,
//! because allocations of others at the same time would be counted.

mod memory;

use memory::{MSS, allocated, connect};
use unruffled_tcp::{Connection, Variant};
use unruffled_units::{Duration, Instant};

/// BBR keeps a record of each segment's transmission.
#[test]
fn a_segment_of_a_sender_that_samples_the_path_takes_more_but_not_more_than_its_bound() {
    for name in ["rack+bbr", "unruffled+bbr", "unruffled+bbr3"] {
        let variant = Variant::named(name).expect("a sender");
        let bound_without = {
            let plain = name.split('+').next().and_then(Variant::named).expect("a row");
            connect(&plain, 10).0.segment_octets()
        };
        for window in [9, 100, 1025, 8193] {
            let (mut connection, idle) = connect(&variant, window);
            connection.write(u64::from(window * MSS));
            let mut now = Instant::from_millis(20);
            let mut sent = 0;
            // Pacing takes some time.
            while sent < window {
                match connection.poll_transmit(now, &mut ()) {
                    Some(_) => sent += 1,
                    None => now += Duration::from_millis(1),
                }
            }
            let held = allocated();
            let bound = connection.segment_octets();
            drop(connection);
            let held = held - allocated() + size_of::<Connection>() - idle;
            let each = held as f64 / f64::from(window);
            println!("{name}: {each:.1} for each of {window} segments, bound {bound}");
            assert!(each > 64.0, "{name}: {each:.1}");
            assert!(each <= bound as f64 * 9.0 / 8.0, "{name}: {each:.1}, bound {bound}");
            // The record, and as much again for a suspicion.
            assert!(bound >= bound_without + 2 * 48, "{name}: {bound}, {bound_without} without");
        }
    }
}
