//! Random paths drawn from stated ranges, each a scenario file. The same seed and number always
//! give the same text, so that published results can be checked.

use std::fmt::Write as _;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::count;

/// The highest number of a path. Each path takes longer to draw than the one before.
const MAX_NUMBER: u32 = 10_000;
/// The size of a packet on the wire, in octets.
const PACKET: f64 = 1500.0;

/// The ranges. All values are drawn uniformly on a logarithmic scale.
const RATE_BPS: (f64, f64) = (1e6, 10e9);
const RTT_S: (f64, f64) = (100e-6, 0.6);
const QUEUE_BDP: (f64, f64) = (0.1, 4.0);
/// As a share of the round trip.
const LATENESS: (f64, f64) = (0.1, 10.0);
const LATE: (f64, f64) = (0.001, 0.5);
/// On every second path.
const LOSS: (f64, f64) = (1e-5, 0.02);
/// On every third path.
const ACK_LOSS: (f64, f64) = (0.001, 0.2);
/// On another third of the paths, acknowledgements wait for up to this share of the round trip, and
/// arrive in bursts. The wait is drawn anew after as much time.
const ACK_WAIT: (f64, f64) = (0.1, 1.0);
/// On every second path; the others have one flow.
const FLOWS: (f64, f64) = (2.0, 20.99);
/// The simulated time: a hundred round trips within these limits.
const DURATION_S: (f64, f64) = (5.0, 30.0);

/// Returns the random path `SEED-NUMBER`, if the name has that form.
pub(crate) fn named(name: &str) -> Option<String> {
    let (seed, number) = name.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse().ok().filter(|n| (1..=MAX_NUMBER).contains(n) && digits(number))?;
    Some(random_path(seed.parse().ok().filter(|_| digits(seed))?, number))
}

/// Returns path number `number` of those drawn from `seed`, as a scenario file.
pub fn random_path(seed: u64, number: u32) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..number).for_each(|_| random.jump());
    let mut draw = |(low, high): (f64, f64)| -> f64 {
        libm::exp(libm::log(low) + random.random::<f64>() * (libm::log(high) - libm::log(low)))
    };
    let (rate, rtt, queue) = (draw(RATE_BPS), draw(RTT_S), draw(QUEUE_BDP));
    let (lateness, late) = (draw(LATENESS), draw(LATE));
    let (loss, ack_loss, ack_wait) = (draw(LOSS), draw(ACK_LOSS), draw(ACK_WAIT));
    let flows = draw(FLOWS) as u32;
    let mut one_of = |n: u32| random.random_range(0..n);
    let (kind, lossy, acks, several, delayed) =
        (one_of(5), one_of(2) == 1, one_of(3), one_of(2) == 1, one_of(2) == 1);

    let bdp = rate * rtt / 8.0 / PACKET;
    let queue = ((queue * bdp) as u64).max(10);
    let window = ((2.0 * (1.0 + lateness) * bdp) as u64 + queue).clamp(2000, 700_000);
    let duration = (100.0 * rtt).clamp(DURATION_S.0, DURATION_S.1);
    let (table, words) = late_packets(kind, late, lateness * rtt);
    let flows = if several { flows } else { 1 };
    let lost = if lossy { loss } else { 0.0 };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "name = \"{seed}-{number}\"\n\
         title = \"{:.3} Mb/s, {:.2} ms, queue {queue}, {:.2} % late {words} {lateness:.2} RTT, {:.3} % lost, {}\"\n\
         source = \"drawn at random\"\n\
         duration = \"{:.3} s\"\nseeds = 1\nvariants = [\"unruffled\", \"rack\"]\n\n\
         [tcp]\nwindow = {window}\ninitial_window = 10\nmin_rto = \"200 ms\"\nbyte_counting = 2\n\
         delayed_ack = {}\n\n[path]\nhops = [\"bottleneck\"]\n\n\
         [link.bottleneck]\nrate = \"{} bit/s\"\ndelay = {}\nqueue = {queue}\n",
        rate / 1e6,
        rtt * 1e3,
        late * 100.0,
        lost * 100.0,
        count(flows, "flow"),
        duration,
        if delayed { "\"40 ms\"" } else { "false" },
        rate as u64,
        us(rtt / 2.0),
    );
    text += &table;
    if lossy {
        let _ = writeln!(text, "[link.bottleneck.loss]\nfraction = {loss:.7}\n");
    }
    // A second link impairs the acknowledgements.
    if acks > 0 {
        text = text.replace("[\"bottleneck\"]", "[\"bottleneck\", \"back\"]");
        text += &match acks {
            1 => format!("[link.back.loss]\nfraction = {ack_loss:.6}\npackets = \"acks\"\n"),
            _ => waiting_acknowledgements(ack_wait * rtt),
        };
        text += "\n[link.back]\ndelay = \"0 s\"\n";
    }
    if several {
        let _ = writeln!(text, "\n[[traffic]]\nname = \"flows\"\ncount = {flows}\nuntil = \"1 s\"");
    }
    text
}

/// Formats a time as scenario files have it.
fn us(seconds: f64) -> String {
    format!("\"{} us\"", ((seconds * 1e6).round() as u64).max(1))
}

/// The table that delays the share `late` of the packets by about `extra` seconds, by one of five
/// laws, and a word for the law.
fn late_packets(law: u32, late: f64, extra: f64) -> (String, &'static str) {
    let time = us(extra);
    let (keys, word) = match law {
        0 => {
            let deviation = us(extra / 3.0);
            (format!("distribution = \"normal\"\nmean = {time}\ndeviation = {deviation}"), "N")
        }
        1 => (format!("distribution = \"exponential\"\nmean = {time}"), "Exp"),
        2 => (format!("distribution = \"pareto\"\nscale = {time}\nshape = 1.5"), "Pareto"),
        3 => (format!("distribution = \"constant\"\nvalue = {time}"), "constant"),
        _ => {
            let every = (1.0 / late).round().max(2.0);
            let keys = format!("every = {every}\nextra = {time}\npackets = \"data\"");
            return (format!("[link.bottleneck.alternate]\n{keys}\n\n"), "alternate");
        }
    };
    let keys = format!("fraction = {late:.6}\n{keys}\npackets = \"data\"");
    (format!("[link.bottleneck.delayed]\n{keys}\n\n"), word)
}

/// The table that delays acknowledgements by up to `wait` seconds.
fn waiting_acknowledgements(wait: f64) -> String {
    let wait = us(wait);
    format!(
        "[link.back.redrawn]\nevery = {wait}\ndistribution = \"uniform\"\nlow = \"0 s\"\n\
         high = {wait}\npackets = \"acks\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn every_random_path_is_a_valid_scenario_and_always_the_same() {
        let mut flows = Vec::new();
        for number in 1..=200 {
            let text = random_path(1, number);
            let scenario = Scenario::parse("random", &text, &[]).expect(&text);
            assert_eq!(text, random_path(1, number));
            flows.push(scenario.sources());
            assert!((5.0..=30.0).contains(&scenario.duration.as_secs_f64()));
        }
        let several = flows.iter().filter(|&&n| n > 1).count();
        assert!((60..140).contains(&several), "{several} of 200 have several flows");
        assert!(flows.iter().all(|n| (1..=20).contains(n)));
        assert_ne!(random_path(1, 1), random_path(2, 1));
        assert_ne!(random_path(1, 1), random_path(1, 2));
    }

    #[test]
    fn a_random_path_is_named_by_seed_and_number() {
        assert_eq!(named("1-1"), Some(random_path(1, 1)));
        let others =
            ["1", "1-0", "1-", "-1", "+1-1", "1-+1", "a-1", "1-10001", "1-1-1", "1-1.toml"];
        assert_eq!(others.map(named), others.map(|_| None));
    }

    /// Results on held-out paths depend on each digit of these files.
    #[test]
    fn random_paths_are_as_published() {
        assert_eq!(random_path(1, 0), LOSSY);
        assert_eq!(random_path(1, 1), IN_BURSTS);
    }

    const LOSSY: &str = r#"name = "1-0"
title = "1763.797 Mb/s, 66.48 ms, queue 1413, 0.32 % late N 3.11 RTT, 0.089 % lost, 1 flow"
source = "drawn at random"
duration = "6.648 s"
seeds = 1
variants = ["unruffled", "rack"]

[tcp]
window = 81685
initial_window = 10
min_rto = "200 ms"
byte_counting = 2
delayed_ack = false

[path]
hops = ["bottleneck", "back"]

[link.bottleneck]
rate = "1763797145 bit/s"
delay = "33239 us"
queue = 1413

[link.bottleneck.delayed]
fraction = 0.003151
distribution = "normal"
mean = "206590 us"
deviation = "68863 us"
packets = "data"

[link.bottleneck.loss]
fraction = 0.0008896

[link.back.loss]
fraction = 0.186564
packets = "acks"

[link.back]
delay = "0 s"
"#;

    const IN_BURSTS: &str = r#"name = "1-1"
title = "2640.748 Mb/s, 10.82 ms, queue 4256, 24.48 % late alternate 6.04 RTT, 0.439 % lost, 6 flows"
source = "drawn at random"
duration = "5.000 s"
seeds = 1
variants = ["unruffled", "rack"]

[tcp]
window = 37758
initial_window = 10
min_rto = "200 ms"
byte_counting = 2
delayed_ack = "40 ms"

[path]
hops = ["bottleneck", "back"]

[link.bottleneck]
rate = "2640747812 bit/s"
delay = "5410 us"
queue = 4256

[link.bottleneck.alternate]
every = 4
extra = "65301 us"
packets = "data"

[link.bottleneck.loss]
fraction = 0.0043929

[link.back.redrawn]
every = "1128 us"
distribution = "uniform"
low = "0 s"
high = "1128 us"
packets = "acks"

[link.back]
delay = "0 s"

[[traffic]]
name = "flows"
count = 6
until = "1 s"
"#;
}
