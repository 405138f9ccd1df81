//! Memory of idle connections and of each outstanding segment. The tests take turns, because allocations
//! of others at the same time would be counted.

mod memory;

use memory::{MSS, allocated, established};
use std::sync::{Mutex, PoisonError};

use unruffled_tcp::{Connection, Flags, ROWS, Segment, SeqNr, Variant};
use unruffled_units::{Duration, Instant};

static TURN: Mutex<()> = Mutex::new(());

/// Returns an established connection, and the octets that it holds before it has sent anything.
fn connect(variant: &Variant, segments: u32) -> (Connection, usize) {
    let before = allocated();
    let now = Instant::from_millis(10);
    let (mut connection, _, answer) = established(variant, segments, now);
    // The window of a SYN is not scaled.
    let update = Segment {
        seq: SeqNr(8),
        flags: Flags { ack: true, ..Flags::default() },
        window_scale: None,
        mss: None,
        sack_permitted: false,
        ..answer
    };
    connection.handle_segment(&update, now, &mut ());
    let octets = allocated() - before + size_of::<Connection>();
    (connection, octets)
}

#[test]
fn an_idle_connection_fits_into_two_kibibytes_and_a_segment_into_64_octets() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for row in ROWS {
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

/// BBR keeps a record of each segment's transmission.
#[test]
fn a_segment_of_a_sender_that_samples_the_path_takes_more_but_not_more_than_its_bound() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
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
