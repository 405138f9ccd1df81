//! A scenario: the contents of its file, checked and with defaults.

use std::io::ErrorKind;
use std::path::Path;

use unruffled_measure::Quantity;
use unruffled_path::LinkConfig;
use unruffled_resequence::Config as Resequence;
use unruffled_sim::App;
use unruffled_tcp::{Config, Variant};
use unruffled_units::{Duration, hint};

use crate::builtin::BUILTIN;
use crate::error::{Error, Place};
use crate::keys::Keys;
use crate::missing::{is_path, no_scenario, unreadable};
use crate::network::{self, Network};
use crate::random;
use crate::tcp::{self, Ends};
use crate::text;
use crate::traffic::{self, Traffic};

/// The most points of a time series: more than a plot shows, and few enough for memory.
const MAX_POINTS: u64 = 1_000_000;

/// The most points of all time series of a run together.
const MAX_POINTS_IN_ALL: u64 = 50_000_000;

/// A link of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The link's name in the file.
    pub name: String,
    /// The link's configuration. Both directions have the same rate, delay and queue; each
    /// impairment states which packets it affects.
    pub link: LinkConfig,
    /// Bounds of the resequencer at the link's far end, for packets that cross it forward; none if
    /// packets leave the link as they arrive.
    pub resequence: Option<Resequence>,
}

/// A parameter of a sender, `variant.NAME.PARAMETER` in the file. It applies to the sender of that
/// name, with or without added parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The place of the key.
    pub place: Place,
    /// The sender's name.
    pub variant: String,
    /// The parameter's name.
    pub parameter: String,
    /// The value with its unit.
    pub value: String,
}

/// What a run records besides its counts, `record` in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The quantities with time series.
    pub series: Vec<Quantity>,
    /// The time between two points.
    pub interval: Duration,
    /// Whether each segment is timed from its first transmission to its first arrival.
    pub deliveries: bool,
}

/// A scenario that has been checked and is ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The short name.
    pub name: String,
    /// One line that describes the scenario.
    pub title: String,
    /// The origin: paper, section, figure.
    pub source: String,
    /// The simulated time, including the warm-up.
    pub duration: Duration,
    /// The time at the beginning that is not measured.
    pub warmup: Duration,
    /// The number of seeds, which are 1, 2, 3 …
    pub seeds: u64,
    /// The names of the senders to compare.
    pub variants: Vec<String>,
    /// The settings of the sending end.
    pub sender: Config,
    /// The settings of the receiving end.
    pub receiver: Config,
    /// The header on the wire, in octets per segment.
    pub header: u32,
    /// The octets that each SACK block adds to the header.
    pub sack_block: u32,
    /// The links from the first node to the last, if the network is a chain; otherwise none.
    pub hops: Vec<Hop>,
    /// The nodes and links.
    pub network: Network,
    /// The traffic.
    pub traffic: Vec<Traffic>,
    /// What a run records besides its counts.
    pub recording: Recording,
    /// The parameters of senders.
    pub parameters: Vec<Assignment>,
    /// The file's keys with every override, as TOML.
    pub toml: String,
}

impl Scenario {
    /// Returns the text of a built-in scenario, of a file, or of the random path `SEED-NUMBER`.
    ///
    /// # Errors
    /// An unknown name, or a file that cannot be read.
    pub fn text(name: &str) -> Result<String, Error> {
        Self::text_beside(Path::new(""), name).map(|(_, text)| text)
    }

    /// Returns the name that errors give a scenario, and its text, where `name` may be a path
    /// relative to `folder`.
    ///
    /// # Errors
    /// An unknown name, or a file that cannot be read.
    pub fn text_beside(folder: &Path, name: &str) -> Result<(String, String), Error> {
        if let Some((name, text)) = BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
            return Ok(((*name).to_owned(), (*text).to_owned()));
        }
        let path = folder.join(name);
        match text::read(&path) {
            Ok(text) => Ok((path.display().to_string(), text)),
            Err(reason) if is_absent(&reason) && !is_path(name) => {
                let drawn = random::named(name).map(|text| (name.to_owned(), text));
                drawn.ok_or_else(|| no_scenario(name, reason))
            }
            Err(reason) => Err(unreadable(&path, reason)),
        }
    }

    /// Loads a scenario by name or from a file, and applies `overrides` (`KEY=VALUE`).
    ///
    /// # Errors
    /// A file that cannot be read, and the errors of [`Self::parse`].
    pub fn load(name: &str, overrides: &[String]) -> Result<Self, Error> {
        let text = Self::text(name)?;
        Self::parse(name, &text, overrides)
    }

    /// Returns the whole keys that the `overrides` replace in the scenario in `text`, in their
    /// order.
    pub fn replaced(file: &str, text: &str, overrides: &[String]) -> Result<Vec<String>, Error> {
        let mut keys = Keys::parse(file, text)?;
        apply(&mut keys, overrides)
    }

    /// Reads a scenario from `text`, which errors call `file`, and applies `overrides`.
    ///
    /// # Errors
    /// Text that is not TOML, or a key that is unknown, missing or wrong.
    pub fn parse(file: &str, text: &str, overrides: &[String]) -> Result<Self, Error> {
        Self::read(file, text, overrides).map(|(scenario, _)| scenario)
    }

    /// Reads a scenario like [`Self::parse`], and rejects it if its traffic is not between two ends.
    /// The traffic of a chain is not checked: its path is clear without it.
    ///
    /// # Errors
    /// The errors of [`Self::parse`], and traffic with other ends than the first.
    pub fn parse_for_real_packets(
        file: &str,
        text: &str,
        overrides: &[String],
    ) -> Result<Self, Error> {
        let (scenario, keys) = Self::read(file, text, overrides)?;
        let first = &scenario.traffic[0];
        let elsewhere = |group: &&Traffic| scenario.hops.is_empty() && group.ends != first.ends;
        if let Some(other) = scenario.traffic.iter().find(elsewhere) {
            let (field, expected) = match other.ends.0 == first.ends.0 {
                true => ("to", first.ends.1),
                false => ("from", first.ends.0),
            };
            let node = &scenario.network.nodes[expected];
            let message =
                format!("expected {node}: real packets travel between the ends of {}", first.name);
            return Err(keys.wrong(&format!("traffic.{}.{field}", other.name), message));
        }
        Ok(scenario)
    }

    /// Returns the scenario and the keys that it was read from.
    pub(crate) fn read(
        file: &str,
        text: &str,
        overrides: &[String],
    ) -> Result<(Self, Keys), Error> {
        let mut keys = Keys::parse(file, text)?;
        apply(&mut keys, overrides)?;
        let scenario = Self::of(&mut keys)?;
        Ok((scenario, keys))
    }

    /// Reads a scenario from its keys.
    fn of(k: &mut Keys) -> Result<Self, Error> {
        let name = k.name("name")?;
        let name = name.unwrap_or_else(|| {
            let file = k.file();
            Path::new(file).file_stem().map_or(file.into(), |s| s.to_string_lossy()).into_owned()
        });
        let title = k.name("title")?.unwrap_or_else(|| name.clone());
        let source = k.string("source")?.unwrap_or_default();
        let duration = k.duration("duration")?;
        let duration = k.required("duration", duration, "\"1000 s\"")?;
        if duration == Duration::ZERO {
            return Err(k.wrong("duration", "expected more than 0 s"));
        }
        let warmup = k.duration("warmup")?.unwrap_or_default();
        if warmup >= duration {
            return Err(k.wrong("warmup", format!("expected less than the duration, {duration}")));
        }
        let seeds = k.count("seeds", 1, 10_000)?.unwrap_or(5);
        let variants = k.list("variants")?;
        let variants = k.required("variants", variants, "[\"sack\", \"rr-ta\"]")?;

        let Ends { sender, receiver, header, sack_block } = tcp::read(k)?;
        let bytes = k.bytes("flow.bytes")?;
        let (network, hops) = network::read(k)?;
        let traffic = traffic::read(k, &network, bytes, sender.mss)?;
        let curves = |series: usize| {
            let sources: u64 = traffic.iter().map(|group| u64::from(group.count)).sum();
            series as u64 * (sources + network.links.len() as u64)
        };
        let recording = recording(k, duration, curves)?;
        let parameters = parameters(k)?;
        k.finish()?;

        // Files that the keys name have been read into them.
        let toml = k.to_toml();
        let scenario = Self {
            name,
            title,
            source,
            duration,
            warmup,
            seeds,
            variants,
            sender,
            receiver,
            header,
            sack_block,
            hops,
            network,
            traffic,
            recording,
            parameters,
            toml,
        };
        scenario.check_progress(k)?;
        Ok(scenario)
    }

    /// Applies the scenario's parameters to `variant`: those of its row, then those of its full
    /// name.
    ///
    /// # Errors
    /// A parameter that the sender lacks, or a value outside its range.
    pub fn parametrise(&self, variant: &mut Variant) -> Result<(), Error> {
        for name in [variant.row().name.to_owned(), variant.name().to_owned()] {
            for a in self.parameters.iter().filter(|a| a.variant == name) {
                variant.set(&a.parameter, &a.value).map_err(|reason| Error::Key {
                    place: a.place.clone(),
                    key: format!("variant.{}.{}", a.variant, a.parameter),
                    message: reason.to_string(),
                })?;
            }
        }
        Ok(())
    }

    /// Returns a seed for each link in a run with `seed`. The random numbers of a link do not
    /// depend on the other links.
    pub fn link_seeds(&self, seed: u64) -> impl Iterator<Item = u64> + use<> {
        let first = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (0..).map(move |link| first.wrapping_add(link))
    }

    /// Returns the size of the only transfer, in octets; none if it is endless, or if there is
    /// other traffic.
    pub fn bytes(&self) -> Option<u64> {
        match self.traffic.as_slice() {
            [Traffic { app: App::Bulk { bytes }, count: 1, .. }] => *bytes,
            _ => None,
        }
    }

    /// Returns whether the only traffic is one transfer of the compared sender over the whole path.
    pub fn is_single(&self) -> bool {
        self.sources() == 1 && self.traffic.iter().all(Traffic::is_of_variant)
    }

    /// Returns the sender that a group of traffic names, with the scenario's parameters.
    ///
    /// # Panics
    /// If no group of this scenario names the sender: names are checked when a scenario is read.
    pub fn fixed_sender(&self, name: &str) -> Variant {
        let mut variant = Variant::parse(name).expect("senders are checked when read");
        self.parametrise(&mut variant).expect("parameters are checked when read");
        variant
    }

    /// Returns the number of sources.
    pub fn sources(&self) -> u64 {
        self.traffic.iter().map(|group| u64::from(group.count)).sum()
    }

    /// Returns the groups whose sender is the variant that is compared; all groups, if there is
    /// none.
    pub fn compared(&self) -> impl Iterator<Item = &Traffic> {
        let none = !self.traffic.iter().any(Traffic::is_of_variant);
        self.traffic.iter().filter(move |group| none || group.is_of_variant())
    }

    /// Returns the index of the first source whose sender is the variant that is compared.
    pub fn first_compared(&self) -> u32 {
        let before = self.traffic.iter().take_while(|group| !group.is_of_variant());
        let before = before.map(|group| group.count).sum();
        if u64::from(before) < self.sources() { before } else { 0 }
    }

    /// Sets the size of the only transfer; none makes it endless.
    #[must_use]
    pub fn with_bytes(mut self, octets: Option<u64>) -> Self {
        if let [Traffic { app: App::Bulk { bytes }, .. }] = self.traffic.as_mut_slice() {
            *bytes = octets;
        }
        self
    }
}

/// Returns whether there is no such file, or no files at all.
fn is_absent(reason: &std::io::Error) -> bool {
    matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::Unsupported)
}

/// Applies the `overrides` in their order, and returns the whole key of each.
fn apply(keys: &mut Keys, overrides: &[String]) -> Result<Vec<String>, Error> {
    // An error of the scenario itself is reported when it is read with all overrides.
    let read = |keys: &mut Keys| drop(Scenario::of(keys));
    overrides.iter().map(|assignment| keys.set(assignment, read)).collect()
}

/// Reads the keys below `record`.
fn recording(
    k: &mut Keys,
    duration: Duration,
    curves: impl FnOnce(usize) -> u64,
) -> Result<Recording, Error> {
    let names = k.list("record.series")?.unwrap_or_default();
    let series = names.iter().map(|name| {
        Quantity::ALL.into_iter().find(|quantity| quantity.name() == name).ok_or_else(|| {
            let known = Quantity::ALL.map(Quantity::name);
            let (among, meant) = (known.join(", "), hint(name, known));
            k.wrong("record.series", format!("expected names among {among}, found {name:?}{meant}"))
        })
    });
    let series = series.collect::<Result<Vec<_>, _>>()?;
    let interval = k.duration("record.interval")?.unwrap_or(Duration::from_secs(1));
    let points = duration.as_nanos().checked_div(interval.as_nanos());
    if points.is_none_or(|points| points > MAX_POINTS && !series.is_empty()) {
        let message = format!("expected at most {MAX_POINTS} points in the duration, {duration}");
        return Err(k.wrong("record.interval", message));
    }
    let most = MAX_POINTS_IN_ALL / curves(series.len()).max(1);
    if !series.is_empty() && points.is_some_and(|points| points > most) {
        let message = format!("expected at most {most} points for each of so many curves");
        return Err(k.wrong("record.interval", message));
    }
    let deliveries = k.switch("record.deliveries")?.unwrap_or(false);
    let deliveries = deliveries || series.contains(&Quantity::Delivery);
    Ok(Recording { series, interval, deliveries })
}

/// Reads the keys `variant.NAME.PARAMETER`. Each is checked even if that sender does not run.
fn parameters(k: &mut Keys) -> Result<Vec<Assignment>, Error> {
    let mut assignments = Vec::new();
    for name in k.tables("variant") {
        let mut variant = None;
        for (key, parameter) in k.leaves(&format!("variant.{name}")) {
            if variant.is_none() {
                variant = Some(
                    Variant::parse(&name).map_err(|reason| k.wrong(&key, reason.to_string()))?,
                );
            }
            let value = k.string(&key)?.unwrap_or_default();
            if let Some(variant) = &mut variant {
                variant
                    .set(&parameter, &value)
                    .map_err(|reason| k.wrong(&key, reason.to_string()))?;
            }
            let place = k.place(&key);
            assignments.push(Assignment { place, variant: name.clone(), parameter, value });
        }
    }
    Ok(assignments)
}

#[cfg(test)]
mod tests;
