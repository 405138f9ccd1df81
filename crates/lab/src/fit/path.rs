//! What a capture tells of its path, and the scenario that this makes.

use unruffled_capture::{Direction, RoundRobin};

use crate::error::FitError;

/// Senders that the scenario compares.
const SENDERS: [&str; 7] =
    ["unruffled", "linux-reordering+cubic", "rack", "rr-ta", "dcr-ack", "tcp-pr-sack", "sack"];

/// Segments of a transfer that tell enough of a path.
const ENOUGH: u64 = 100;

/// Packets of a run over the fitted path.
const PACKETS: f64 = 500_000.0;

/// Latenesses that differ by less than this share of their median are those of one path.
const VARIES: f64 = 0.5;

/// Prime to the number of quantiles.
const STEP: usize = 20;

/// What is measured of a path.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) rate_bps: f64,
    /// Packets followed each other as fast as the rate lets them; if not, it is a lower bound.
    pub(super) filled: bool,
    /// One way, without queues.
    delay_ms: f64,
    /// Packets.
    queue: u64,
    /// Segments; the most that the receiver lets be in flight.
    window: u64,
    pub(super) late: f64,
    lateness_ms: Vec<f64>,
    /// Late packets come in turn.
    pub(super) turn: Option<RoundRobin>,
    /// The sender's window grows by what is acknowledged (RFC 3465), as Linux's does, rather than by
    /// acknowledgements.
    counts_bytes: bool,
}

/// What a path loses, but for what its queue drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    /// Nothing.
    None,
    /// This share of the packets, each at random.
    Random(f64),
    /// This share of the packets starts a spell, in which all are lost.
    Spells { fraction: f64, length_ms: f64 },
}

impl Measured {
    /// The time that the path takes for a full segment.
    pub(super) fn spacing_ms(&self, direction: &Direction) -> f64 {
        f64::from(direction.traffic.segment_bytes + header(direction)) * 8.0 / self.rate_bps
            * 1000.0
    }

    /// The same path, the window growing by acknowledgements.
    pub(super) fn counting_acks(&self) -> Self {
        Self { counts_bytes: false, ..self.clone() }
    }

    /// The same path without late packets.
    pub(super) fn in_order(&self) -> Self {
        Self { late: 0.0, lateness_ms: Vec::new(), turn: None, ..self.clone() }
    }
}

pub(super) fn measured(direction: &Direction) -> Result<Measured, FitError> {
    if direction.traffic.segments < ENOUGH {
        return Err(FitError::TooShort { segments: direction.traffic.segments, enough: ENOUGH });
    }
    let rtt_ms = direction.rtt.min_ms.or(direction.rtt.beyond_ms);
    let rtt_ms = rtt_ms.ok_or(FitError::NoRoundTrip)?;
    let bits = f64::from(direction.traffic.segment_bytes + header(direction)) * 8.0;
    // What follows in a queue is as far apart as the path takes for one packet.
    let least = bits / (direction.traffic.goodput_bps.max(1.0) * 1.05) * 1000.0;
    let spacing_ms = direction.spacing_ms.unwrap_or(least).max(bits / 1e11 * 1000.0);
    let filled = spacing_ms < least;
    let spacing_ms = spacing_ms.min(least);
    let rate_bps = bits / spacing_ms * 1000.0;
    let samples = direction.rtt.samples.as_ref();
    let standing = samples.zip(direction.rtt.beyond_ms);
    let queued_ms = standing.map_or(0.0, |(samples, least)| (samples.max_ms - least).max(0.0));
    // Where nothing was lost the queue is larger than what was seen in it.
    let room = if direction.losses.lost == 0 { 2.0 } else { 1.0 };
    let queue = (queued_ms / spacing_ms * room).ceil().clamp(10.0, 1e6) as u64;
    let full = u64::from(direction.traffic.segment_bytes.max(1));
    let window = direction.windows.largest_window.map_or(100_000, |window| window / full);
    let late = direction.reordering();
    // A packet is overtaken first by the next that is in time: that much later it is in fact.
    let overtaken_ms = match late.in_turn {
        // In the middle of those that are late in a row.
        Some(turn) => spacing_ms * f64::from(turn.late + 1) / 2.0,
        None => spacing_ms / (1.0 - late.ratio).max(0.1),
    };
    let times = late.late_time.as_ref();
    let lateness_ms = times.map_or(Vec::new(), |times| {
        times.percentiles_ms.iter().step_by(2).map(|ms| ms + overtaken_ms).collect()
    });
    // The minimum round trip may be that of a handshake, whose packets are small.
    let of_data = samples.is_none_or(|s| s.percentiles_ms[0] < rtt_ms + spacing_ms / 2.0);
    // The time of an unfilled path for one packet is not known but for its upper bound.
    let sending_ms = if of_data && filled { spacing_ms } else { 0.0 };
    Ok(Measured {
        rate_bps,
        filled,
        delay_ms: ((rtt_ms - sending_ms) / 2.0).max(0.001),
        queue,
        window: window.clamp(2, 1_000_000),
        late: late.ratio,
        lateness_ms,
        turn: late.in_turn,
        counts_bytes: true,
    })
}

/// The share of a path's rate that is payload.
pub(super) fn payload_share(direction: &Direction) -> f64 {
    let payload = f64::from(direction.traffic.segment_bytes);
    payload / (payload + f64::from(header(direction)))
}

/// Octets of IP and TCP headers.
fn header(direction: &Direction) -> u32 {
    let ip = if direction.from.is_ipv6() { 40 } else { 20 };
    ip + 20 + if direction.traffic.timestamps { 12 } else { 0 }
}

pub(super) fn scenario(name: &str, direction: &Direction, path: &Measured, loss: Loss) -> String {
    // Fast paths are run for less time: so many packets tell enough.
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
    text += &lateness(path);
    text += &lost(loss);
    text
}

/// What the path itself loses.
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

/// Late packets: in turn over paths of fixed lengths, or at random.
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
    // Each turn has other latenesses, in an order that does not repeat before all were had.
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
        for (rate_bps, wanted) in [(1e11, "0.1 s"), (1e10, "0.4 s"), (1e9, "4 s"), (1e6, "10 s")] {
            let path = Measured { rate_bps, ..path.clone() };
            let toml = scenario("c", &direction, &path, Loss::None);
            assert!(toml.contains(&format!("\nduration = \"{wanted}\"\n")), "{rate_bps}: {toml}");
        }
    }

    /// Where somebody knows the rate and sets it, the delay must be right.
    #[test]
    fn a_path_that_was_never_filled_has_its_round_trip_as_delay_and_says_that_the_rate_is_a_bound()
    {
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
