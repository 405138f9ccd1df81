//! What each sender costs: bytes of state per connection, and nanoseconds per acknowledgement.
//!
//! A first run per sender and window records the acknowledgements of a real receiver behind a path
//! that makes one segment in ten late by up to a quarter of the window and loses one in a thousand;
//! then a fresh sender reads the same acknowledgements, and only that is timed. Prints a table in
//! Markdown: `cargo bench -p unruffled-tcp --bench senders`.

use std::collections::BTreeMap;
use std::time::Instant as Clock;

use peak_alloc::PeakAlloc;
use unruffled_tcp::{Config, Connection, ROWS, Segment, Variant};
use unruffled_units::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Time from a segment to its acknowledgement when nothing is late.
const RTT: Duration = Duration::from_millis(100);

/// Something that reaches the sender: a segment, or its own timer.
type Arrival = (Instant, Option<Segment>);

fn config(window: u32) -> Config {
    Config::default().with(|c| {
        c.mss = 1000;
        c.window.initial = window;
        c.window.max = Some(window);
        c.receive_buffer = u64::from(window) * 2000;
    })
}

fn connect(window: u32, variant: &Variant) -> Connection {
    let mut connection = Connection::connect(config(window), variant);
    connection.write(u64::MAX / 2);
    connection
}

/// Everything that reaches a sender of `variant` until it has read `count` acknowledgements.
fn record(variant: &Variant, window: u32, count: usize) -> Vec<Arrival> {
    let mut sender = connect(window, variant);
    let mut receiver = Connection::listen(config(window), variant);
    let spacing = RTT.as_nanos() / u64::from(window);
    // What is on its way, by arrival and order of sending; 0 is for the receiver, 1 for the sender.
    let mut wire: BTreeMap<(Instant, u64), (u8, Segment)> = BTreeMap::new();
    let (mut sent, mut random, mut free) = (0_u64, 1_u64, Instant::ZERO);
    let mut arrivals = Vec::with_capacity(count);
    let mut now = Instant::ZERO;
    while arrivals.len() < count {
        while let Some(segment) = sender.poll_transmit(now, &mut ()) {
            sent += 1;
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let dice = random >> 40;
            free = free.max(now) + Duration::from_nanos(spacing);
            if dice % 1000 == 7 && segment.len > 0 {
                continue;
            }
            let late =
                if dice % 10 == 0 { spacing * (dice % u64::from(window / 4 + 1)) } else { 0 };
            wire.insert((free + Duration::from_nanos(late), sent), (0, segment));
        }
        while let Some(segment) = receiver.poll_transmit(now, &mut ()) {
            sent += 1;
            wire.insert((now + RTT, sent), (1, segment));
        }
        let next = wire.first_key_value().map(|(&(at, _), _)| at);
        let timer = sender.poll_timeout();
        let Some(at) = [next, timer].into_iter().flatten().min() else { break };
        now = now.max(at);
        if next == Some(at) {
            let Some((_, (to, segment))) = wire.pop_first() else { break };
            if to == 0 {
                receiver.handle_segment(&segment, now, &mut ());
                receiver.read(receiver.readable());
            } else {
                sender.handle_segment(&segment, now, &mut ());
                arrivals.push((now, Some(segment)));
            }
        } else {
            sender.handle_timeout(now, &mut ());
            arrivals.push((now, None));
        }
    }
    arrivals
}

/// Reads the arrivals with a fresh sender: nanoseconds for each, and the bytes it then holds.
fn replay(variant: &Variant, window: u32, arrivals: &[Arrival]) -> (f64, usize) {
    let before = ALLOCATOR.current_usage();
    let mut sender = connect(window, variant);
    let mut segments = 0_u64;
    let clock = Clock::now();
    while sender.poll_transmit(Instant::ZERO, &mut ()).is_some() {}
    for (now, segment) in arrivals {
        match segment {
            Some(segment) => sender.handle_segment(segment, *now, &mut ()),
            None => sender.handle_timeout(*now, &mut ()),
        }
        while sender.poll_transmit(*now, &mut ()).is_some() {
            segments += 1;
        }
    }
    let nanos = clock.elapsed().as_secs_f64() * 1e9;
    // Acknowledgements that let nothing go would be cheap, and say nothing.
    assert!(segments * 2 > arrivals.len() as u64, "{} hardly sent", variant.name());
    let bytes = ALLOCATOR.current_usage() - before + size_of::<Connection>();
    (nanos / arrivals.len() as f64, bytes)
}

fn main() {
    // Cargo's own test run starts benches too, with --test: one short round shows that it works.
    let short = std::env::args().any(|a| a == "--test");
    let windows: &[u32] = if short { &[50] } else { &[50, 1000, 100_000] };
    print!("| sender |");
    for window in windows {
        print!(" bytes at {window} | ns at {window} |");
    }
    println!("\n|---|{}", "---:|---:|".repeat(windows.len()));
    for row in ROWS {
        let Some(variant) = Variant::named(row.name) else { continue };
        print!("| `{}` |", row.name);
        for &window in windows {
            let count = if short { 1_000 } else { 300_000.max(window as usize * 6) };
            let arrivals = record(&variant, window, count);
            // The best of three: what the machine does besides only adds.
            let best = (0..3)
                .map(|_| replay(&variant, window, &arrivals))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((nanos, bytes)) = best {
                print!(" {bytes} | {nanos:.0} |");
            }
        }
        println!();
    }
}
