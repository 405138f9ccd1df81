//! Memory of idle connections and of each outstanding segment. This binary has one test only, because
//! allocations of others at the same time would be counted.

mod memory;

use memory::{allocated, connect};
use unruffled_tcp::{Connection, ROWS, Variant};
use unruffled_units::Instant;

#[test]
fn an_idle_connection_fits_into_two_kibibytes_and_a_segment_into_64_octets() {
    // Stacks that number their packets exist in the simulator alone, and smoltcp's window is fixed.
    for row in ROWS.iter().filter(|row| !row.numbers_packets() && row.name != "smoltcp") {
        let variant = Variant::named(row.name).expect("a row");
        // As many as the smallest ring has room for, one more than a ring that doubles would have,
        // and others.
        for window in [8, 9, 10, 17, 33, 65, 100, 129, 257, 1000, 1025, 8193, 16_384] {
            let (mut connection, idle) = connect(&variant, window);
            assert!(idle <= 2048, "{}: {idle} octets when idle", row.name);
            connection.write(1 << 30);
            let mut sent = 0;
            while connection.poll_transmit(Instant::from_millis(20), &mut ()).is_some() {
                sent += 1;
            }
            assert_eq!(sent, window, "{}", row.name);
            let all = allocated();
            drop(connection);
            let held = all - allocated() + size_of::<Connection>() - idle;
            let each = held as f64 / f64::from(sent);
            println!("{}: {idle} idle, {each:.1} for each of {window} segments", row.name);
            assert!(each <= 64.0, "{}: {each:.1} octets a segment of {window}", row.name);
        }
    }
}
