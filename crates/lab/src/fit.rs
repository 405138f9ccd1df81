//! The path that a capture shows, as a scenario, and how well it fits.

use std::fmt::Write as _;

use unruffled_capture::{Analyzer, Direction, Lateness, Limits, Source, read};
use unruffled_measure::End;
use unruffled_tcp::Variant;

use crate::capture::Capture;
use crate::run;
use crate::scenario::Scenario;

/// Senders that the scenario compares.
const SENDERS: [&str; 7] =
    ["unruffled", "linux-reordering+cubic", "rack", "rr-ta", "dcr-ack", "tcp-pr-sack", "sack"];

/// The sender that is run to see how well a path fits: Linux's.
pub const OBSERVED: &str = "linux-reordering+cubic";

/// How often the share of late packets is corrected.
const ROUNDS: usize = 2;

/// Segments of a transfer that tell enough of a path.
const ENOUGH: u64 = 100;

/// A path that was fitted to a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The scenario.
    pub toml: String,
    /// Who was run over it.
    pub sender: String,
    /// What the capture shows, in bits per second.
    pub observed_bps: f64,
    /// What the sender delivers over the fitted path.
    pub simulated_bps: f64,
    /// The share of packets late, as observed and as the simulation gives it.
    pub late: (f64, f64),
    /// The Kolmogorov–Smirnov distance of the two distributions of late times.
    pub distance: Option<f64>,
}

/// Fits a path to what `direction` shows, and runs `sender` over it.
///
/// # Errors
/// A line that says what the capture lacks, or that there is no such sender.
pub fn fit(name: &str, direction: &Direction, sender: &str) -> Result<Fit, String> {
    let variant = Variant::parse(sender).map_err(|error| error.to_string())?;
    let path = measured(direction)?;
    // Losses may be the queue's own: they are put on the path only where that fits better.
    let losses: &[f64] =
        if direction.losses.lost == 0 { &[0.0] } else { &[0.0, direction.losses.ratio] };
    let mut best: Option<(f64, Fit)> = None;
    for &loss in losses {
        let mut path = path.clone();
        for round in 0..=ROUNDS {
            let (fit, simulated) = attempt(name, direction, &path, loss, &variant)?;
            let ratio = |ours: f64, theirs: f64| (ours.max(1e-9) / theirs.max(1e-9)).ln().abs();
            let misfit = ratio(fit.simulated_bps, fit.observed_bps);
            if best.as_ref().is_none_or(|(least, _)| misfit < *least) {
                best = Some((misfit, fit.clone()));
            }
            // Late packets that nobody overtakes are not seen: as many more are late as are not.
            let (observed, seen) = fit.late;
            if round == ROUNDS || simulated == 0 || ratio(observed, seen) < 0.03 || seen == 0.0 {
                break;
            }
            path.late = (path.late * observed / seen).min(1.0);
        }
    }
    best.map(|(_, fit)| fit).ok_or_else(|| "no path fits".to_owned())
}

/// Runs the sender over the path; tells how that fits, and how many segments were late.
fn attempt(
    name: &str,
    direction: &Direction,
    path: &Measured,
    loss: f64,
    variant: &Variant,
) -> Result<(Fit, u64), String> {
    let toml = scenario(name, direction, path, loss);
    let parsed = Scenario::parse("the fitted path", &toml, &[]).map_err(|e| e.to_string())?;
    let simulated = simulate(&parsed, variant)?;
    let distance = late_times(direction).zip(late_times(&simulated));
    let fit = Fit {
        toml,
        sender: variant.name().to_owned(),
        observed_bps: direction.goodput_bps,
        simulated_bps: simulated.goodput_bps,
        late: (direction.reordering().ratio, simulated.reordering().ratio),
        distance: distance.map(|(ours, theirs)| kolmogorov_smirnov(ours, theirs)),
    };
    Ok((fit, simulated.reordering().reordered))
}

fn late_times(direction: &Direction) -> Option<&Lateness> {
    direction.reordering().late_time.as_ref()
}

/// What is measured of a path.
#[derive(Clone)]
struct Measured {
    rate_bps: f64,
    /// One way, without queues.
    delay_ms: f64,
    /// Packets.
    queue: u64,
    /// Segments; the most that the receiver lets be in flight.
    window: u64,
    late: f64,
    lateness_ms: Vec<f64>,
}

fn measured(direction: &Direction) -> Result<Measured, String> {
    if direction.segments < ENOUGH {
        let found = direction.segments;
        return Err(format!("expected a transfer of at least {ENOUGH} segments, found {found}"));
    }
    let rtt_ms = direction.rtt.min_ms.or(direction.rtt.beyond_ms);
    let rtt_ms = rtt_ms.ok_or("no round trip in it: expected a handshake or timestamps")?;
    let bits = f64::from(direction.segment_bytes + header(direction)) * 8.0;
    // What follows in a queue is as far apart as the path takes for one packet.
    let spacing_ms = direction.spacing_ms.unwrap_or(0.0).max(bits / 1e11 * 1000.0);
    let least = bits / (direction.goodput_bps.max(1.0) * 1.05) * 1000.0;
    let spacing_ms = spacing_ms.min(least);
    let rate_bps = bits / spacing_ms * 1000.0;
    let samples = direction.rtt.samples.as_ref();
    let standing = samples.zip(direction.rtt.beyond_ms);
    let queued_ms = standing.map_or(0.0, |(samples, least)| (samples.max_ms - least).max(0.0));
    // Where nothing was lost the queue is larger than what was seen in it.
    let room = if direction.losses.lost == 0 { 2.0 } else { 1.0 };
    let queue = (queued_ms / spacing_ms * room).ceil().clamp(10.0, 1e6) as u64;
    let full = u64::from(direction.segment_bytes.max(1));
    let window = direction.windows.largest_window.map_or(100_000, |window| window / full);
    let late = direction.reordering();
    // A packet is overtaken first by the next that is in time: that much later it is in fact.
    let overtaken_ms = spacing_ms / (1.0 - late.ratio).max(0.1);
    let times = late.late_time.as_ref();
    let lateness_ms = times.map_or(Vec::new(), |times| {
        times.percentiles_ms.iter().step_by(2).map(|ms| ms + overtaken_ms).collect()
    });
    // The least round trip may be that of a handshake, whose packets are small.
    let of_data = samples.is_none_or(|s| s.percentiles_ms[0] < rtt_ms + spacing_ms / 2.0);
    let sending_ms = if of_data { spacing_ms } else { 0.0 };
    Ok(Measured {
        rate_bps,
        delay_ms: ((rtt_ms - sending_ms) / 2.0).max(0.001),
        queue,
        window: window.clamp(2, 1_000_000),
        late: late.ratio,
        lateness_ms,
    })
}

/// Octets of IP and TCP headers.
fn header(direction: &Direction) -> u32 {
    let ip = if direction.from.is_ipv6() { 40 } else { 20 };
    ip + 20 + if direction.timestamps { 12 } else { 0 }
}

fn scenario(name: &str, direction: &Direction, path: &Measured, loss: f64) -> String {
    let seconds = direction.transfer_s.clamp(10.0, 60.0).round();
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let source = format!("measured: {name}, {} to {}", direction.from, direction.to);
    let delayed_ack =
        if direction.acks * 4 < direction.segments * 3 { "\"40 ms\"" } else { "false" };
    let mut text = format!(
        "name = \"measured\"\n\
         title = \"A path as a capture shows it\"\n\
         source = {}\n\
         duration = \"{seconds} s\"\n\
         seeds = 5\n\
         variants = {SENDERS:?}\n\
         \n\
         [tcp]\n\
         mss = \"{} B\"\n\
         header = \"{} B\"\n\
         window = {}\n\
         initial_window = 10\n\
         min_rto = \"200 ms\"\n\
         delayed_ack = {delayed_ack}\n\
         byte_counting = 2\n\
         \n\
         [path]\n\
         hops = [\"measured\"]\n\
         \n\
         [link.measured]\n\
         rate = \"{:.6} Mbit/s\"\n\
         delay = \"{:.4} ms\"\n\
         queue = {}\n",
        quoted(&source),
        direction.segment_bytes,
        header(direction),
        path.window,
        path.rate_bps / 1e6,
        path.delay_ms,
        path.queue,
    );
    // Writing to a string cannot fail.
    if path.late > 0.0 && !path.lateness_ms.is_empty() {
        let times = path.lateness_ms.iter().map(|ms| format!("\"{ms:.4} ms\""));
        let times = times.collect::<Vec<_>>().join(", ");
        let _ = write!(
            text,
            "\n[link.measured.delayed]\n\
             fraction = \"{:.4} %\"\n\
             distribution = \"empirical\"\n\
             quantiles = [{times}]\n\
             packets = \"data\"\n",
            path.late * 100.0
        );
    }
    if loss > 0.0 {
        let percent = loss * 100.0;
        let _ = write!(
            text,
            "\n[link.measured.loss]\nfraction = \"{percent:.4} %\"\npackets = \"data\"\n"
        );
    }
    text
}

/// What the analysis says of a run over the fitted path, captured at the sender.
fn simulate(scenario: &Scenario, variant: &Variant) -> Result<Direction, String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let mut octets = Vec::new();
    let capture = Capture::at(End::Sender, &mut octets).map_err(|e| wrong(&e))?;
    let (_, capture) = run::run(scenario, variant, 1, capture).map_err(|e| wrong(&e))?;
    capture.finish().map_err(|e| wrong(&e))?;
    let source = Source::new(Box::new(std::io::Cursor::new(octets)), None);
    let mut analyzer = Analyzer::new(Limits::default());
    source.and_then(|source| read(source, |frame| analyzer.frame(frame))).map_err(|e| wrong(&e))?;
    let analysis = analyzer.finish();
    let connection = analysis.connections.into_iter().next();
    let [client, server] = connection.ok_or("nothing was sent over it")?.directions;
    Ok(if client.segments >= server.segments { client } else { server })
}

/// The largest distance between two distribution functions, told from percentiles, which are exact
/// to 1 %: values that differ by less than both of them may are not told apart.
fn kolmogorov_smirnov(one: &Lateness, other: &Lateness) -> f64 {
    let (one, other) = (&one.percentiles_ms, &other.percentiles_ms);
    let share = |percentiles: &[f64], at: f64| {
        percentiles.partition_point(|&ms| ms <= at) as f64 / percentiles.len() as f64
    };
    let beyond = |one: &[f64], other: &[f64], at: f64| share(one, at) - share(other, at * 1.02);
    let places = one.iter().chain(other);
    places.map(|&at| beyond(one, other, at).max(beyond(other, one, at))).fold(0.0, f64::max)
}
