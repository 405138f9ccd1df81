//! The search for the path that fits a capture: a sender is simulated over candidate paths.

use pcap_file::PcapError;
use unruffled_capture::{Analyzer, Direction, DurationSummary, Frame, Interface, Limits, Link};
use unruffled_measure::End;
use unruffled_tcp::Variant;
use unruffled_units::{Duration, Instant};

use super::losses::{LossOrigin, Losses};
use super::path::{Loss, Measured, measured, scenario};

use crate::cancel::CancellationToken;
use crate::capture::{Sink, Tap};
use crate::error::FitError;
use crate::parallel;
use crate::run;
use unruffled_scenario::Scenario;

/// The sender that is simulated to judge how well a path fits: today's Linux.
pub const OBSERVED: &str = "linux";

/// The number of corrections of the share of late packets.
const ROUNDS: usize = 2;

/// The number of seeds whose mean goodput judges a fit.
const SEEDS: u64 = 3;

/// The mean number of segments per loss event from which losses are modelled as spells.
const MIN_SPELL: f64 = 2.0;

/// The number of simulated packets after which the nearest candidate is accepted.
const MAX_PACKETS: u64 = 10_000_000;

/// The misfit, as the logarithm of a ratio, below which the search ends.
const ACCEPTED_MISFIT: f64 = 0.03;

/// The misfit that is added if a fit loses less than half or more than twice as many segments as
/// were captured.
const LOSS_PENALTY: f64 = 0.1;

/// A path that was fitted to a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The scenario as TOML.
    pub toml: String,
    /// The scenario without late packets.
    pub in_order: String,
    /// Both scenarios with losses of the queue only, if the path has others.
    pub lossless: Option<[String; 2]>,
    /// The origin of the losses.
    pub losses: Losses,
    /// The rate of the path, in bits per second.
    pub rate_bps: f64,
    /// Whether the transfer filled the path; if not, the rate is a lower bound.
    pub filled: bool,
    /// The sender that was simulated.
    pub sender: String,
    /// The captured goodput, in bits per second.
    pub observed_bps: f64,
    /// The goodput of the sender over the fitted path in the same time, the mean of three seeds.
    pub simulated_bps: f64,
    /// The share of late packets: captured, and simulated.
    pub late: (f64, f64),
    /// The Kolmogorov–Smirnov distance of the two distributions of late times.
    pub distance: Option<f64>,
}

/// The path by one of two readings of the losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The scenario as TOML.
    pub toml: String,
    /// Whether only the queue of the path drops packets.
    pub lossless: bool,
}

impl Fit {
    /// Returns the path by the likelier reading of the losses, and by the other reading if the
    /// fitted path has losses of its own.
    pub fn readings(&self) -> (Reading, Option<Reading>) {
        let Some([lossless, _]) = &self.lossless else {
            return (Reading { toml: self.toml.clone(), lossless: true }, None);
        };
        let lossy = Reading { toml: self.toml.clone(), lossless: false };
        let lossless = Reading { toml: lossless.clone(), lossless: true };
        match self.losses.lossless() {
            true => (lossless, Some(lossy)),
            false => (lossy, Some(lossless)),
        }
    }

    /// Returns the sender's goodput over one of the readings, for the duration of the transfer.
    ///
    /// # Errors
    /// An unknown sender, or [`FitError::Cancelled`].
    pub fn delivers(
        &self,
        reading: &Reading,
        direction: &Direction,
        cancel: &CancellationToken,
    ) -> Result<f64, FitError> {
        if reading.toml == self.toml {
            return Ok(self.simulated_bps);
        }
        let scenario = same_time(&reading.toml, direction, &[])?;
        goodput_bps(&scenario, &Variant::parse(&self.sender)?, cancel)
    }

    /// Returns the absolute logarithm of the ratio of the two goodputs.
    pub(super) fn misfit(&self) -> f64 {
        apart(self.simulated_bps, self.observed_bps)
    }
}

/// The absolute logarithm of the ratio of two numbers.
fn apart(one: f64, other: f64) -> f64 {
    libm::log(one.max(1e-9) / other.max(1e-9)).abs()
}

/// Fits a path to the transfer in `direction`, and simulates `sender` over it.
///
/// # Errors
/// A capture that lacks the necessary information, an unknown sender, or [`FitError::Cancelled`].
pub fn fit(
    name: &str,
    direction: &Direction,
    losses: &Losses,
    sender: &str,
    cancel: &CancellationToken,
) -> Result<Fit, FitError> {
    let variant = Variant::parse(sender)?;
    let path = measured(direction)?;
    let mut best: Option<(f64, Fit)> = None;
    let mut packets = 0;
    // Simulated senders count acknowledgements unless a scenario sets something else.
    for (loss, path) in [path.clone(), path.counting_acks()].iter().flat_map(|path| {
        candidates(direction, path, losses.decision).into_iter().map(move |loss| (loss, path))
    }) {
        let mut path = path.clone();
        for round in 0..=ROUNDS {
            cancel.check()?;
            let (fit, simulated) = attempt(name, direction, losses, &path, loss, &variant, cancel)?;
            packets += (1 + SEEDS) * simulated.traffic.segments;
            let lost = [direction, &simulated].map(|seen| seen.losses.lost.max(1) as f64);
            let others = apart(lost[0], lost[1]) > std::f64::consts::LN_2;
            let misfit = fit.misfit() + if others { LOSS_PENALTY } else { 0.0 };
            let (observed, seen) = fit.late;
            if best.as_ref().is_none_or(|(least, _)| misfit < *least) {
                best = Some((misfit, fit));
            }
            // Late packets that no other packet overtakes are invisible: their share is the same as
            // that of the visible ones.
            let alike = apart(observed, seen) < ACCEPTED_MISFIT || path.turn.is_some();
            if round == ROUNDS || seen == 0.0 || alike || packets > MAX_PACKETS {
                break;
            }
            path.late = (path.late * observed / seen).min(1.0);
        }
        if packets > MAX_PACKETS || best.as_ref().is_some_and(|(least, _)| *least < ACCEPTED_MISFIT)
        {
            break;
        }
    }
    best.map(|(_, fit)| fit).ok_or(FitError::NoPath)
}

/// Returns whether the capture shows enough of a transfer to fit a path to it.
pub fn is_long_enough(direction: &Direction) -> bool {
    measured(direction).is_ok()
}

/// The candidates for the losses of the path, the simplest first: none, if the queue caused the
/// losses; spells, if a recovery repairs several losses; random losses, whose share is known to two
/// standard errors, the square root of their number.
fn candidates(direction: &Direction, path: &Measured, blamed: LossOrigin) -> Vec<Loss> {
    let losses = &direction.losses;
    if losses.lost == 0 || path.limit.is_some() {
        return vec![Loss::None];
    }
    let windows = &direction.windows;
    let events = (windows.recoveries - windows.spurious_recoveries).max(1) as f64;
    let together = losses.lost as f64 / events;
    let spells = (together >= MIN_SPELL).then(|| Loss::Spells {
        fraction: events / direction.traffic.segments.max(1) as f64,
        length_ms: together * path.spacing_ms(direction),
    });
    let error = (2.0 / (losses.lost as f64).sqrt()).min(1.0);
    let random = [1.0, 1.0 - error, 1.0 + error].map(|part| Loss::Random(losses.ratio * part));
    // The queue does not explain losses that do not depend on it.
    let none = (blamed != LossOrigin::Path).then_some(Loss::None);
    none.into_iter().chain(spells).chain(random).collect()
}

/// Simulates the sender over the path, and returns the fit and the analysis of the simulated
/// capture.
fn attempt(
    name: &str,
    direction: &Direction,
    losses: &Losses,
    path: &Measured,
    loss: Loss,
    variant: &Variant,
    cancel: &CancellationToken,
) -> Result<(Fit, Direction), FitError> {
    let toml = scenario(name, direction, path, loss);
    let in_order = scenario(name, direction, &path.in_order(), loss);
    let lossless = (loss != Loss::None)
        .then(|| [path, &path.in_order()].map(|path| scenario(name, direction, path, Loss::None)));
    let parsed = same_time(&toml, direction, &[])?;
    let (simulated, delivers) = parallel::join(
        || simulate(&parsed, variant, cancel),
        || goodput_bps(&parsed, variant, cancel),
    );
    let simulated = simulated?;
    let distance = late_times(direction).zip(late_times(&simulated));
    let fit = Fit {
        toml,
        in_order,
        lossless,
        losses: losses.clone(),
        rate_bps: path.rate_bps,
        filled: path.filled,
        sender: variant.name().to_owned(),
        observed_bps: direction.traffic.goodput_bps,
        simulated_bps: delivers?,
        late: (direction.reordering().ratio, simulated.reordering().ratio),
        distance: distance.map(|(ours, theirs)| kolmogorov_smirnov(ours, theirs)),
    };
    Ok((fit, simulated))
}

/// Returns the scenario, with `overrides`, for the duration of the transfer, so that both include slow
/// start.
pub(super) fn same_time(
    toml: &str,
    direction: &Direction,
    overrides: &[String],
) -> Result<Scenario, FitError> {
    let scenario = Scenario::parse("the fitted path", toml, overrides)?;
    let transfer = Duration::from_nanos((direction.traffic.transfer_s.max(0.1) * 1e9) as u64);
    Ok(Scenario { duration: transfer.min(scenario.duration), ..scenario })
}

/// The sender's goodput over a path, the mean of some seeds.
pub(super) fn goodput_bps(
    scenario: &Scenario,
    variant: &Variant,
    cancel: &CancellationToken,
) -> Result<f64, FitError> {
    let goodput = |seed| {
        let row = run::run(scenario, variant, seed, None, cancel)?;
        Ok::<f64, FitError>(row.flow.goodput_bps)
    };
    let all = parallel::try_map((1..=SEEDS).collect(), goodput)?;
    Ok(all.iter().sum::<f64>() / all.len() as f64)
}

fn late_times(direction: &Direction) -> Option<&DurationSummary> {
    direction.reordering().late_time.as_ref()
}

/// Returns the analysis of the simulated packets at the sender.
pub(super) fn simulate(
    scenario: &Scenario,
    variant: &Variant,
    cancel: &CancellationToken,
) -> Result<Direction, FitError> {
    let mut tap = Tap::new(End::Sender, Reader(Analyzer::new(Limits::default())));
    run::run(scenario, variant, 1, Some(&mut tap), cancel)?;
    let analysis = tap.finish()?.0.finish();
    let connection = analysis.connections.into_iter().next();
    let [client, server] = connection.ok_or(FitError::NothingSent)?.directions;
    Ok(if client.traffic.segments >= server.traffic.segments { client } else { server })
}

/// An analyzer of simulated packets.
struct Reader(Analyzer);

impl Sink for Reader {
    fn packet(&mut self, at: Instant, length: u32, data: &[u8]) -> Result<(), PcapError> {
        let interface = Interface::default();
        self.0.frame(&Frame { at, link: Link::RAW, interface, length, data });
        Ok(())
    }
}

/// The Kolmogorov–Smirnov distance of two distributions, from percentiles that are exact to 1 %.
/// Values that differ by less than their errors count as equal.
fn kolmogorov_smirnov(one: &DurationSummary, other: &DurationSummary) -> f64 {
    let (one, other) = (&one.percentiles_ms, &other.percentiles_ms);
    let share = |percentiles: &[f64], at: f64| {
        percentiles.partition_point(|&ms| ms <= at) as f64 / percentiles.len() as f64
    };
    let beyond = |one: &[f64], other: &[f64], at: f64| share(one, at) - share(other, at * 1.02);
    let places = one.iter().chain(other);
    places.map(|&at| beyond(one, other, at).max(beyond(other, one, at))).fold(0.0, f64::max)
}
