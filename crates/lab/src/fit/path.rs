//! The properties of a path that a capture shows, and the scenario made from them.

use unruffled_capture::{Direction, RoundRobin, range_limit, replay_window};

use crate::error::FitError;

/// The senders that the scenario compares.
const SENDERS: [&str; 7] =
    ["unruffled", "linux-reordering+cubic", "rack", "rr-ta", "dcr-ack", "tcp-pr-sack", "sack"];

/// The smallest number of segments from which a path is fitted.
const MIN_SEGMENTS: u64 = 100;

/// The number of packets of a run over the fitted path.
const PACKETS: f64 = 500_000.0;

/// The relative difference below which two late times belong to one path.
const VARIES: f64 = 0.5;

/// The largest queue, in packets.
const MAX_QUEUE: f64 = 1e6;

/// The step through the quantiles, coprime to their number.
const STEP: usize = 20;

/// The measured properties of a path.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) rate_bps: f64,
    /// Whether packets followed each other as fast as the rate allows; otherwise the rate is a
    /// lower bound.
    pub(super) filled: bool,
    /// The one-way delay without queues.
    delay_ms: f64,
    /// The size of the queue, in packets.
    pub(super) queue: u64,
    /// The receiver's window, in segments.
    window: u64,
    pub(super) late: f64,
    lateness_ms: Vec<f64>,
    /// The number of packets after which a late one comes, if late packets come at regular
    /// intervals.
    pub(super) turn: Option<RoundRobin>,
    /// What drops late packets at the end of the path.
    pub(super) limit: Option<ExitLimit>,
    /// Whether the sender's window grows by the acknowledged octets (RFC 3465), as in Linux, and
    /// not by acknowledgements.
    counts_bytes: bool,
}

/// What drops late packets at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitLimit {
    /// A replay window of so many packets.
    ReplayWindow(u64),
    /// Room for so many ranges beyond the first gap.
    Ranges(u32),
}

impl ExitLimit {
    /// Returns the key of a link for this limit.
    fn key(self) -> String {
        match self {
            Self::ReplayWindow(window) => format!("replay_window = {window}\n"),
            Self::Ranges(ranges) => format!("ranges = {ranges}\n"),
        }
    }
}

/// The losses of a path besides those of its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    /// No losses.
    None,
    /// The share of packets that are lost at random.
    Random(f64),
    /// The share of packets that start a spell in which all are lost.
    Spells { fraction: f64, length_ms: f64 },
}

impl Measured {
    /// Returns the time between two full segments on the path.
    pub(super) fn spacing_ms(&self, direction: &Direction) -> f64 {
        f64::from(direction.traffic.segment_bytes + header(direction)) * 8.0 / self.rate_bps
            * 1000.0
    }

    /// Returns the number of packets that fill the path without its queue, up to the largest queue of a
    /// scenario that is fitted.
    pub(super) fn window_packets(&self, direction: &Direction) -> u64 {
        (2.0 * self.delay_ms / self.spacing_ms(direction)).ceil().min(MAX_QUEUE) as u64
    }

    /// Returns the path with a window that grows by acknowledgements.
    pub(super) fn counting_acks(&self) -> Self {
        Self { counts_bytes: false, ..self.clone() }
    }

    /// Returns the path without late packets.
    pub(super) fn in_order(&self) -> Self {
        Self { late: 0.0, lateness_ms: Vec::new(), turn: None, ..self.clone() }
    }
}

pub(super) fn measured(direction: &Direction) -> Result<Measured, FitError> {
    if direction.traffic.segments < MIN_SEGMENTS {
        return Err(FitError::TooShort {
            segments: direction.traffic.segments,
            enough: MIN_SEGMENTS,
        });
    }
    let rtt_ms = direction.rtt.min_ms.or(direction.rtt.beyond_ms);
    let rtt_ms = rtt_ms.ok_or(FitError::NoRoundTrip)?;
    let bits = f64::from(direction.traffic.segment_bytes + header(direction)) * 8.0;
    // Packets that follow each other in a queue are one packet time apart.
    let least = bits / (direction.traffic.goodput_bps.max(1.0) * 1.05) * 1000.0;
    let spacing_ms = direction.spacing_ms.unwrap_or(least).max(bits / 1e11 * 1000.0);
    let filled = spacing_ms < least;
    let spacing_ms = spacing_ms.min(least);
    let rate_bps = bits / spacing_ms * 1000.0;
    let samples = direction.rtt.samples.as_ref();
    let standing = samples.zip(direction.rtt.beyond_ms);
    let queued_ms = standing.map_or(0.0, |(samples, least)| (samples.max_ms - least).max(0.0));
    // Without losses the queue is larger than the queue that was seen.
    let room = if direction.losses.lost == 0 { 2.0 } else { 1.0 };
    let queue = (queued_ms / spacing_ms * room).ceil().clamp(10.0, MAX_QUEUE) as u64;
    let full = u64::from(direction.traffic.segment_bytes.max(1));
    let window = direction.windows.largest_window.map_or(100_000, |window| window / full);
    let late = direction.reordering();
    // The first packet to overtake a late one is the next that is in time, so the late one is later
    // by that distance.
    let overtaken_ms = match late.in_turn {
        // In the middle of a run of late packets.
        Some(turn) => spacing_ms * f64::from(turn.late + 1) / 2.0,
        None => spacing_ms / (1.0 - late.ratio).max(0.1),
    };
    let times = late.late_time.as_ref();
    let seen_ms: Vec<f64> =
        times.map_or(Vec::new(), |times| times.percentiles_ms.iter().step_by(2).copied().collect());
    // What a window dropped was late as well.
    let cutoff = replay_window(direction);
    let (late_ratio, late_ms) = match &cutoff {
        Some(cutoff) => (cutoff.late_ratio, cutoff.late_ms.clone()),
        None => (late.ratio, seen_ms),
    };
    let lateness_ms = late_ms.into_iter().map(|ms| ms + overtaken_ms).collect();
    let limit = match (range_limit(direction), &cutoff) {
        (Some(ranges), _) => Some(ExitLimit::Ranges(ranges.limit)),
        (None, Some(cutoff)) => Some(ExitLimit::ReplayWindow(cutoff.window)),
        (None, None) => None,
    };
    // The minimum round trip may be that of a handshake with small packets.
    let of_data = samples.is_none_or(|s| s.percentiles_ms[0] < rtt_ms + spacing_ms / 2.0);
    // The packet time of a path that was not filled has only an upper bound.
    let sending_ms = if of_data && filled { spacing_ms } else { 0.0 };
    Ok(Measured {
        rate_bps,
        filled,
        delay_ms: ((rtt_ms - sending_ms) / 2.0).max(0.001),
        queue,
        window: window.clamp(2, 1_000_000),
        late: late_ratio,
        lateness_ms,
        limit,
        turn: late.in_turn,
        counts_bytes: true,
    })
}

/// Returns the share of payload in the rate of a path.
pub(super) fn payload_share(direction: &Direction) -> f64 {
    let payload = f64::from(direction.traffic.segment_bytes);
    payload / (payload + f64::from(header(direction)))
}

/// Returns the size of the IP and TCP headers, in octets.
fn header(direction: &Direction) -> u32 {
    let ip = if direction.from.is_ipv6() { 40 } else { 20 };
    ip + 20 + if direction.traffic.timestamps { 12 } else { 0 }
}

pub(super) fn scenario(name: &str, direction: &Direction, path: &Measured, loss: Loss) -> String {
    // Fast paths are simulated for a shorter time, because so many packets are sufficient.
    let bits = f64::from(direction.traffic.segment_bytes + header(direction)) * 8.0;
    let longest = (PACKETS * bits / path.rate_bps).clamp(0.1, 60.0);
    let seconds = match direction.traffic.transfer_s.clamp(10.0, 60.0).min(longest) {
        short if short < 1.0 => (short * 10.0).round() / 10.0,
        seconds => seconds.round(),
    };
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let name = name.replace(char::is_control, " ");
    let source = format!("measured: {name}, {} to {}", direction.from, direction.to);
    let delayed_ack = if direction.traffic.acks * 4 < direction.traffic.segments * 3 {
        "\"40 ms\""
    } else {
        "false"
    };
    let unfilled = if path.filled { "" } else { "  # or more: the transfer never filled its path" };
    let byte_counting = if path.counts_bytes { "byte_counting = 2\n" } else { "" };
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
         {byte_counting}\
         \n\
         [path]\n\
         hops = [\"measured\"]\n\
         \n\
         [link.measured]\n\
         rate = \"{:.6} Mbit/s\"{unfilled}\n\
         delay = \"{:.4} ms\"\n\
         queue = {}\n",
        quoted(&source),
        direction.traffic.segment_bytes,
        header(direction),
        path.window,
        path.rate_bps / 1e6,
        path.delay_ms,
        path.queue,
    );
    text += &path.limit.map_or_else(String::new, ExitLimit::key);
    text += &lateness(path);
    text += &lost(loss);
    text
}

/// The keys of the losses.
fn lost(loss: Loss) -> String {
    match loss {
        Loss::Random(fraction) if fraction > 0.0 => format!(
            "\n[link.measured.loss]\nfraction = \"{:.4} %\"\npackets = \"data\"\n",
            fraction.min(1.0) * 100.0
        ),
        Loss::Spells { fraction, length_ms } => format!(
            "\n[link.measured.burst]\n\
             fraction = \"{:.4} %\"\n\
             distribution = \"constant\"\n\
             value = \"{length_ms:.4} ms\"\n\
             packets = \"data\"\n",
            fraction.min(1.0) * 100.0
        ),
        _ => String::new(),
    }
}

/// The keys of the late packets: at regular intervals over paths of fixed delays, or at random.
fn lateness(path: &Measured) -> String {
    let ms = |ms: f64| format!("\"{ms:.4} ms\"");
    let list = |times: &mut dyn Iterator<Item = f64>| times.map(ms).collect::<Vec<_>>().join(", ");
    if path.late <= 0.0 || path.lateness_ms.is_empty() {
        return String::new();
    }
    let quantile = |share: f64| {
        path.lateness_ms[((path.lateness_ms.len() - 1) as f64 * share).round() as usize]
    };
    let Some(turn) = path.turn else {
        return format!(
            "\n[link.measured.delayed]\n\
             fraction = \"{:.4} %\"\n\
             distribution = \"empirical\"\n\
             quantiles = [{}]\n\
             packets = \"data\"\n",
            path.late * 100.0,
            list(&mut path.lateness_ms.iter().copied())
        );
    };
    let middle = quantile(0.5);
    let constant = quantile(0.9) - quantile(0.1) <= VARIES * middle;
    if constant && turn.late == 1 {
        return format!(
            "\n[link.measured.alternate]\n\
             every = {}\n\
             extra = {}\n\
             packets = \"data\"\n",
            turn.every,
            ms(middle)
        );
    }
    // Each interval has another late time, in an order that repeats only after all of them.
    let turns = if constant { 1 } else { path.lateness_ms.len() };
    let lateness = (0..turns).flat_map(|i| {
        let late = match constant {
            true => middle,
            false => path.lateness_ms[i * STEP % path.lateness_ms.len()],
        };
        (0..turn.every).map(move |n| if n < turn.every - turn.late { 0.0 } else { late })
    });
    format!(
        "\n[link.measured.replay]\nlateness = [{}]\npackets = \"data\"\n",
        list(&mut lateness.into_iter())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use unruffled_scenario::Scenario;
    use unruffled_tcp::Variant;

    #[test]
    fn fast_paths_are_run_for_as_many_packets_as_others() {
        let captured = Scenario::load("rr-3", &["duration=5 s".to_owned()]).expect("exists");
        let sack = Variant::named("sack").expect("exists");
        let direction =
            super::super::search::simulate(&captured, &sack, crate::cancel::never()).expect("runs");
        let path = measured(&direction).expect("is long enough");
        for (rate_bps, duration) in [(1e11, "0.1 s"), (1e10, "0.4 s"), (1e9, "4 s"), (1e6, "10 s")]
        {
            let path = Measured { rate_bps, ..path.clone() };
            let toml = scenario("c", &direction, &path, Loss::None);
            assert!(toml.contains(&format!("\nduration = \"{duration}\"\n")), "{rate_bps}: {toml}");
        }
    }

    /// If the rate is known and set, the delay must be right.
    #[test]
    fn a_path_that_was_never_filled_has_the_round_trip_as_delay_and_a_bound_as_rate() {
        let captured = Scenario::load("rr-3", &["duration=5 s".to_owned()]).expect("exists");
        let sack = Variant::named("sack").expect("exists");
        let mut direction =
            super::super::search::simulate(&captured, &sack, crate::cancel::never()).expect("runs");
        direction.spacing_ms = None;
        let path = measured(&direction).expect("is long enough");
        let rtt_ms = direction.rtt.min_ms.expect("is seen whole");
        assert!((path.delay_ms - rtt_ms / 2.0).abs() < 1e-9, "{} ms, {rtt_ms} ms", path.delay_ms);
        let toml = scenario("c", &direction, &path, Loss::None);
        assert!(toml.contains("# or more: the transfer never filled its path\n"), "{toml}");
        Scenario::parse("c", &toml, &[]).expect("is a scenario");
    }
}
