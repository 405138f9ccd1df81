//! Cost of each sender: nanoseconds per acknowledgement, and octets of memory per connection and
//! per outstanding segment.
//!
//! A first run per sender and window records the acknowledgements of a real receiver. Then a fresh
//! sender processes the same acknowledgements, and only that is timed. The path keeps order and
//! loses nothing, or makes one segment in ten late by up to a quarter of the window and loses one
//! in a thousand. Prints tables in Markdown: `cargo bench -p unruffled-tcp --bench senders`, for
//! all senders with `-- --all`.
//!
//! `-- --one SENDER WINDOW in-order|reordered` replays one case and prints how many
//! acknowledgements were processed; `instructions.sh` beside it counts the instructions.
//! read: `instructions.sh` beside it counts the instructions.

use std::collections::BTreeMap;
use std::time::Instant as Clock;

use peak_alloc::PeakAlloc;
use unruffled_tcp::{Config, Connection, ROWS, Segment, Variant};
use unruffled_units::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Time from a segment to its acknowledgement when nothing is late.
const RTT: Duration = Duration::from_millis(100);

/// Input of the sender: a segment, or its own timer.
type Arrival = (Instant, Option<Segment>);

fn config(window: u32) -> Config {
    Config::simulated().with(|c| {
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

/// Records the input of a sender of `variant` until it has processed `count` acknowledgements.
fn record(variant: &Variant, window: u32, reordered: bool, count: usize) -> Vec<Arrival> {
    let mut sender = connect(window, variant);
    let mut receiver = Connection::listen(config(window), variant);
    let spacing = RTT.as_nanos() / u64::from(window);
    // Segments in flight, by arrival and order of sending; 0 is for the receiver, 1 for the sender.
    let mut wire: BTreeMap<(Instant, u64), (u8, Segment)> = BTreeMap::new();
    let mut sent = 0_u64;
    let mut random = 1_u64;
    let mut free = Instant::ZERO;
    let mut arrivals = Vec::with_capacity(count);
    let mut now = Instant::ZERO;
    while arrivals.len() < count {
        while let Some(segment) = sender.poll_transmit(now, &mut ()) {
            sent += 1;
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let dice = random >> 40;
            free = free.max(now) + Duration::from_nanos(spacing);
            if reordered && dice % 1000 == 7 && segment.len > 0 {
                continue;
            }
            let late = if reordered && dice.is_multiple_of(10) {
                spacing * (dice % u64::from(window / 4 + 1))
            } else {
                0
            };
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

/// Replays the input with a fresh sender. Returns nanoseconds per arrival, and the octets held
/// afterwards.
#[inline(never)]
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
    // Acknowledgements that release nothing would be cheap, and would measure nothing.
    assert!(segments * 2 > arrivals.len() as u64, "{} hardly sent", variant.name());
    let octets = ALLOCATOR.current_usage() - before + size_of::<Connection>();
    (nanos / arrivals.len() as f64, octets)
}

/// Returns the octets of a connection before anything is sent.
fn idle(variant: &Variant) -> usize {
    let before = ALLOCATOR.current_usage();
    let sender = connect(10, variant);
    let octets = ALLOCATOR.current_usage() - before + size_of::<Connection>();
    drop(sender);
    octets
}

/// Returns how many acknowledgements to record for a window: some round trips.
fn count(window: u32) -> usize {
    300_000.max(window as usize * 6)
}

/// Senders measured by default.
const SENDERS: [&str; 7] =
    ["sack", "rack", "rr-ta", "avg-dev", "tcp-pr-sack", "dcr-ack", "unruffled"];

fn table(names: &[&str], windows: &[u32], reordered: bool, count: impl Fn(u32) -> usize) {
    print!("| sender | octets idle |");
    for window in windows {
        print!(" ns at {window} | octets a segment |");
    }
    println!("\n|---|---:|{}", "---:|---:|".repeat(windows.len()));
    for name in names {
        let Some(variant) = Variant::named(name) else { continue };
        let idle = idle(&variant);
        print!("| `{name}` | {idle} |");
        for &window in windows {
            let arrivals = record(&variant, window, reordered, count(window));
            // The best of three: other load on the machine only adds time.
            let best = (0..3)
                .map(|_| replay(&variant, window, &arrivals))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((nanos, octets)) = best {
                let each = octets.saturating_sub(idle) as f64 / f64::from(window);
                print!(" {nanos:.0} | {each:.0} |");
            }
        }
        println!();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--one", sender, window, order] = words[..] {
        let variant = Variant::named(sender).expect("a sender's name");
        let window = window.parse().expect("a number of segments");
        let arrivals = record(&variant, window, order == "reordered", count(window));
        replay(&variant, window, &arrivals);
        println!("{}", arrivals.len());
        return;
    }
    let all: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    // Cargo's test run starts benches too, with --test: one short round shows that they work.
    if words.contains(&"--test") {
        return table(&all, &[50], true, |_| 1_000);
    }
    let names = if words.contains(&"--all") { &all[..] } else { &SENDERS };
    for (reordered, title) in
        [(false, "in order"), (true, "one in ten late, one in a thousand lost")]
    {
        println!("\nper acknowledgement, {title}\n");
        table(names, &[10, 100, 1000, 10_000, 100_000], reordered, count);
    }
}
