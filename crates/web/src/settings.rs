//! Scenarios from the values of sliders.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use unruffled_path::{Applies, Distribution, Impairment};
use unruffled_scenario::Scenario;
use unruffled_units::{Duration, Rate};

/// The name of the scenario and of its file.
const NAME: &str = "my-path";

/// Octets of a full packet on the wire.
const PACKET_OCTETS: f64 = 1500.0;

/// The smallest receiver's window, in segments.
const MIN_WINDOW: u64 = 2000;

/// Tail index of the Pareto distribution.
const SHAPE: f64 = 1.5;

/// Values of sliders. What is absent is left out, or has its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The scenario's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The title, one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The simulated time, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// The number of seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u64>,
    /// The senders to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub senders: Option<Vec<String>>,
    /// The rate, in bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// The round-trip time of the empty path, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// The length of the queue, in packets; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_packets: Option<u64>,
    /// The share of the data packets that are late, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_share: Option<f64>,
    /// The distribution of the lateness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
    /// The mean lateness, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_ms: Option<f64>,
    /// The standard deviation of a normal lateness, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_deviation_ms: Option<f64>,
    /// The share of the data packets that are lost, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_share: Option<f64>,
    /// A longer path that takes some of the packets in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternate: Option<Alternate>,
    /// The anti-replay window, in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_window: Option<u64>,
    /// The resequencer at the far end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resequence: Option<Resequence>,
    /// The octets of a transfer that ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A distribution of lateness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lateness {
    /// Always the same.
    Constant,
    /// From zero to twice the mean.
    Uniform,
    /// Normal.
    #[default]
    Normal,
    /// Exponential.
    Exponential,
    /// Pareto with the tail index 1.5, whose variance is infinite.
    Pareto,
}

/// A longer path that takes some of the packets in turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternate {
    /// The additional time, in milliseconds.
    pub extra_ms: f64,
    /// One packet in so many takes it.
    #[serde(default = "every_second")]
    pub every: u64,
}

fn every_second() -> u64 {
    2
}

/// A resequencer: `true`, or its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Resequence {
    /// With its defaults, or none.
    Is(bool),
    /// With bounds.
    Within {
        /// The longest time for which a packet is held, in milliseconds.
        max_hold_ms: Option<f64>,
    },
}

/// The bounds of a slider.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The name of the setting.
    #[serde(skip)]
    pub name: &'static str,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
    /// The value to begin with.
    pub default: f64,
    /// The unit.
    pub unit: &'static str,
    /// Whether the slider is logarithmic.
    pub logarithmic: bool,
}

/// Returns the bounds of the sliders. A scenario may have other values.
pub fn bounds() -> Vec<Bound> {
    let linear = |name, least, greatest, default, unit| Bound {
        name,
        least,
        greatest,
        default,
        unit,
        logarithmic: false,
    };
    let logarithmic = |name, least, greatest, default, unit| Bound {
        logarithmic: true,
        ..linear(name, least, greatest, default, unit)
    };
    vec![
        logarithmic("duration_s", 1.0, 1000.0, 60.0, "s"),
        linear("seeds", 1.0, 20.0, 1.0, ""),
        logarithmic("rate_bps", 1e5, 1e9, 1e7, "bit/s"),
        logarithmic("rtt_ms", 1.0, 1000.0, 50.0, "ms"),
        logarithmic("queue_packets", 1.0, 10_000.0, 50.0, "packets"),
        linear("late_share", 0.0, 1.0, 0.05, ""),
        logarithmic("late_ms", 0.1, 1000.0, 25.0, "ms"),
        logarithmic("late_deviation_ms", 0.1, 1000.0, 8.0, "ms"),
        linear("loss_share", 0.0, 0.2, 0.0, ""),
        logarithmic("alternate.extra_ms", 0.1, 1000.0, 50.0, "ms"),
        linear("alternate.every", 2.0, 20.0, 2.0, "packets"),
        logarithmic("replay_window", 32.0, 10_000.0, 64.0, "packets"),
        logarithmic("resequence.max_hold_ms", 1.0, 1000.0, 1000.0, "ms"),
        logarithmic("bytes", 1e4, 1e9, 1e6, "octets"),
    ]
}

/// Returns the scenario as TOML.
///
/// # Errors
/// A line with the setting and what was expected.
pub fn toml_of(settings: &Settings) -> Result<String, String> {
    let text = write(settings)?;
    Scenario::parse(NAME, &text, &[]).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Returns the number if it is in these bounds.
fn within(name: &str, value: f64, least: f64, greatest: f64) -> Result<f64, String> {
    if (least..=greatest).contains(&value) {
        return Ok(value);
    }
    Err(format!("{name}: expected a number from {least} to {greatest}, found {value}"))
}

/// Returns a time of so many milliseconds.
fn time(name: &str, ms: f64) -> Result<Duration, String> {
    let ms = within(name, ms, 0.0, 3_600_000.0)?;
    Ok(Duration::from_nanos((ms * 1e6).round() as u64))
}

/// Returns a share as TOML has it, in percent.
fn share(name: &str, value: f64) -> Result<String, String> {
    let value = within(name, value, 0.0, 1.0)?;
    Ok(format!("\"{} %\"", (value * 1e8).round() / 1e6))
}

/// Returns text as TOML.
fn quoted(text: &str) -> String {
    // JSON escapes as TOML does.
    serde_json::to_string(text).unwrap_or_default()
}

fn write(settings: &Settings) -> Result<String, String> {
    let Settings { rate_bps, rtt_ms, queue_packets, .. } = settings;
    let rate_bps = within("rate_bps", rate_bps.unwrap_or(1e7), 1.0, 1e13)?;
    let rate = Rate::from_bps(rate_bps).ok_or("rate_bps: expected a number above 0")?;
    let rtt = time("rtt_ms", rtt_ms.unwrap_or(50.0))?;
    let span = within("duration_s", settings.duration_s.unwrap_or(60.0), 1e-6, 1e6)?;
    let span = Duration::from_nanos((span * 1e9).round() as u64);
    let senders = settings.senders.clone();
    let senders = senders
        .unwrap_or_else(|| ["unruffled", "linux", "sack"].map(str::to_owned).to_vec())
        .iter()
        .map(|name| quoted(name))
        .collect::<Vec<_>>();
    // The window is never the limit: twice what the path and its queue hold.
    let held = rate_bps * rtt.as_secs_f64() / 8.0 / PACKET_OCTETS;
    let held = held + queue_packets.unwrap_or(0) as f64;
    let window = MIN_WINDOW.max((2.0 * held).ceil() as u64);

    let mut text = String::new();
    let name = settings.name.as_deref().unwrap_or(NAME);
    let mut line = |line: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{line}");
    };
    line(format_args!("name = {}", quoted(name)));
    if let Some(title) = &settings.title {
        line(format_args!("title = {}", quoted(title)));
    }
    line(format_args!("duration = \"{span}\""));
    line(format_args!("seeds = {}", settings.seeds.unwrap_or(1)));
    line(format_args!("variants = [{}]", senders.join(", ")));
    line(format_args!("\n[tcp]"));
    line(format_args!("window = {window}          # never the limit"));
    line(format_args!("initial_window = 10"));
    line(format_args!("min_rto = \"200 ms\"     # this and the next as Linux has it"));
    line(format_args!("delayed_ack = \"40 ms\""));
    line(format_args!("byte_counting = 2"));
    if let Some(bytes) = settings.bytes {
        line(format_args!("\n[flow]\nbytes = {bytes}"));
    }
    line(format_args!("\n[path]\nhops = [\"path\"]"));
    line(format_args!("\n[link.path]\nrate = \"{rate}\"\ndelay = \"{}\"", rtt / 2));
    if let Some(packets) = queue_packets {
        line(format_args!("queue = {packets}"));
    }
    if let Some(packets) = settings.replay_window {
        line(format_args!("replay_window = {packets}"));
    }
    match settings.resequence {
        Some(Resequence::Is(true) | Resequence::Within { max_hold_ms: None }) => {
            line(format_args!("resequence = true"));
        }
        Some(Resequence::Within { max_hold_ms: Some(ms) }) => {
            let hold = time("resequence.max_hold_ms", ms)?;
            line(format_args!("resequence.max_hold = \"{hold}\""));
        }
        Some(Resequence::Is(false)) | None => {}
    }
    if let Some(late_share) = settings.late_share.filter(|share| *share != 0.0) {
        line(format_args!("\n[link.path.delayed]"));
        line(format_args!("fraction = {}", share("late_share", late_share)?));
        lateness(settings, &mut line)?;
    }
    if let Some(loss_share) = settings.loss_share.filter(|share| *share != 0.0) {
        line(format_args!("\n[link.path.loss]"));
        line(format_args!("fraction = {}", share("loss_share", loss_share)?));
    }
    if let Some(Alternate { extra_ms, every }) = settings.alternate {
        let extra = time("alternate.extra_ms", extra_ms)?;
        line(format_args!("\n[link.path.alternate]\nevery = {every}\nextra = \"{extra}\""));
    }
    Ok(text)
}

/// Writes the distribution of the lateness.
fn lateness(
    settings: &Settings,
    line: &mut impl FnMut(std::fmt::Arguments<'_>),
) -> Result<(), String> {
    let mean_ms = settings.late_ms.unwrap_or(25.0);
    let mean = time("late_ms", mean_ms)?;
    match settings.lateness.unwrap_or_default() {
        Lateness::Constant => line(format_args!("distribution = \"constant\"\nvalue = \"{mean}\"")),
        Lateness::Uniform => {
            line(format_args!("distribution = \"uniform\"\nlow = \"0 s\"\nhigh = \"{}\"", mean * 2))
        }
        Lateness::Normal => {
            let deviation = settings.late_deviation_ms.unwrap_or(mean_ms / 3.0);
            let deviation = time("late_deviation_ms", deviation)?;
            line(format_args!(
                "distribution = \"normal\"\nmean = \"{mean}\"\ndeviation = \"{deviation}\""
            ));
        }
        Lateness::Exponential => {
            line(format_args!("distribution = \"exponential\"\nmean = \"{mean}\""));
        }
        Lateness::Pareto => {
            // The mean is scale * shape / (shape - 1).
            let scale = time("late_ms", mean_ms * (SHAPE - 1.0) / SHAPE)?;
            line(format_args!("distribution = \"pareto\"\nscale = \"{scale}\"\nshape = {SHAPE}"));
        }
    }
    Ok(())
}

/// Returns the settings whose path and ends are those of this scenario; none if sliders cannot express it.
///
/// # Errors
/// The line that the command prints about the scenario.
pub fn settings_of(text: &str) -> Result<Option<Settings>, String> {
    let scenario = crate::request::Request { toml: text.to_owned(), ..Default::default() };
    let scenario = scenario.checked()?.scenario;
    let Some(settings) = guess(&scenario) else { return Ok(None) };
    let same = toml_of(&settings).ok().and_then(|toml| Scenario::parse(NAME, &toml, &[]).ok());
    let same = same.filter(|same| {
        let link = |scenario: &Scenario| scenario.hops[0].link.clone();
        link(same) == link(&scenario)
            && same.hops[0].resequence == scenario.hops[0].resequence
            && same.duration == scenario.duration
            && same.warmup == scenario.warmup
            && same.variants == scenario.variants
            && same.bytes() == scenario.bytes()
            && same.traffic.len() == scenario.traffic.len()
            && alike(same, &scenario)
            && same.parameters == scenario.parameters
    });
    Ok(same.map(|_| settings))
}

/// Returns whether the ends are the same, except for a window that never limits.
fn alike(one: &Scenario, other: &Scenario) -> bool {
    let ends = |scenario: &Scenario| {
        let mut ends = (scenario.sender.clone(), scenario.receiver.clone());
        ends.0.receive_buffer = 0;
        ends.1.receive_buffer = 0;
        (ends, scenario.header, scenario.sack_block)
    };
    let most = |scenario: &Scenario| scenario.receiver.receive_buffer;
    ends(one) == ends(other) && most(one).min(most(other)) >= MIN_WINDOW * 1460
}

/// Returns the settings that are nearest to a scenario of one link.
fn guess(scenario: &Scenario) -> Option<Settings> {
    let [hop] = scenario.hops.as_slice() else { return None };
    let link = &hop.link;
    let ms = |time: Duration| time.as_millis_f64();
    let mut settings = Settings {
        name: Some(scenario.name.clone()),
        title: (scenario.title != scenario.name).then(|| scenario.title.clone()),
        duration_s: Some(scenario.duration.as_secs_f64()),
        seeds: Some(scenario.seeds),
        senders: Some(scenario.variants.clone()),
        rate_bps: Some(link.rate?.bps()),
        rtt_ms: Some(ms(link.delay * 2)),
        queue_packets: link.queue.map(u64::from),
        replay_window: link.exit.replay.as_ref().map(|window| u64::from(window.behind)),
        resequence: hop
            .resequence
            .as_ref()
            .map(|bounds| Resequence::Within { max_hold_ms: Some(ms(bounds.max_hold)) }),
        bytes: scenario.bytes(),
        ..Settings::default()
    };
    for impairment in &link.impairments {
        match impairment {
            Impairment::Delay { fraction, delay, applies: Applies::Data } => {
                let (lateness, mean, deviation) = match delay {
                    Distribution::Constant(value) => (Lateness::Constant, *value, None),
                    Distribution::Uniform { high, .. } => (Lateness::Uniform, *high / 2, None),
                    Distribution::Normal { mean, deviation } => {
                        (Lateness::Normal, *mean, Some(ms(*deviation)))
                    }
                    Distribution::Exponential { mean } => (Lateness::Exponential, *mean, None),
                    Distribution::Pareto { scale, .. } => (Lateness::Pareto, *scale * 3, None),
                    Distribution::Empirical { .. } => return None,
                };
                settings.late_share = Some(*fraction);
                settings.lateness = Some(lateness);
                settings.late_ms = Some(ms(mean));
                settings.late_deviation_ms = deviation;
            }
            Impairment::Loss { fraction, applies: Applies::Data } => {
                settings.loss_share = Some(*fraction);
            }
            Impairment::Alternate { every, extra, applies: Applies::Data } => {
                let every = u64::from(*every);
                settings.alternate = Some(Alternate { extra_ms: ms(*extra), every });
            }
            _ => return None,
        }
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(settings: &Settings) -> Scenario {
        let text = toml_of(settings).expect("is valid");
        Scenario::parse(NAME, &text, &[]).expect("was checked")
    }

    #[test]
    fn the_defaults_are_a_path_in_order() {
        let scenario = scenario(&Settings::default());
        let link = &scenario.hops[0].link;
        assert_eq!(link.rate, Rate::from_bps(1e7));
        assert_eq!(link.delay, Duration::from_millis(25));
        assert_eq!((link.queue, link.impairments.len()), (None, 0));
        assert_eq!(scenario.variants, ["unruffled", "linux", "sack"]);
        assert_eq!(scenario.seeds, 1);
    }

    #[test]
    fn each_setting_becomes_a_key() {
        let settings = Settings {
            rate_bps: Some(1e9),
            rtt_ms: Some(100.0),
            queue_packets: Some(500),
            late_share: Some(0.1),
            late_ms: Some(25.0),
            late_deviation_ms: Some(8.0),
            loss_share: Some(0.005),
            alternate: Some(Alternate { extra_ms: 12.5, every: 3 }),
            replay_window: Some(64),
            resequence: Some(Resequence::Within { max_hold_ms: Some(40.0) }),
            bytes: Some(1_000_000),
            ..Settings::default()
        };
        let scenario = scenario(&settings);
        let hop = &scenario.hops[0];
        let millis = Duration::from_millis;
        assert_eq!(
            hop.link.impairments,
            [
                Impairment::Delay {
                    fraction: 0.1,
                    delay: Distribution::Normal { mean: millis(25), deviation: millis(8) },
                    applies: Applies::Data,
                },
                Impairment::Loss { fraction: 0.005, applies: Applies::Data },
                Impairment::Alternate {
                    every: 3,
                    extra: Duration::from_micros(12_500),
                    applies: Applies::Data
                },
            ]
        );
        assert_eq!(hop.resequence.as_ref().map(|bounds| bounds.max_hold), Some(millis(40)));
        assert_eq!(hop.link.exit.replay.as_ref().map(|window| window.behind), Some(64));
        assert_eq!(scenario.bytes(), Some(1_000_000));
        // 1 Gbit/s * 100 ms / 8 / 1500 B = 8333.3 packets, and 500 in the queue: twice that.
        assert_eq!(scenario.receiver.receive_buffer / 1460, 17_667);
    }

    #[test]
    fn every_distribution_has_the_same_mean() {
        for lateness in [
            Lateness::Constant,
            Lateness::Uniform,
            Lateness::Normal,
            Lateness::Exponential,
            Lateness::Pareto,
        ] {
            let settings = Settings {
                late_share: Some(1.0),
                lateness: Some(lateness),
                late_ms: Some(30.0),
                ..Settings::default()
            };
            let scenario = scenario(&settings);
            let Impairment::Delay { delay, .. } = &scenario.hops[0].link.impairments[0] else {
                panic!("{lateness:?} is a delay");
            };
            let millis = Duration::from_millis;
            let expected = match lateness {
                Lateness::Constant => Distribution::Constant(millis(30)),
                Lateness::Uniform => {
                    Distribution::Uniform { low: Duration::ZERO, high: millis(60) }
                }
                Lateness::Normal => {
                    Distribution::Normal { mean: millis(30), deviation: millis(10) }
                }
                Lateness::Exponential => Distribution::Exponential { mean: millis(30) },
                // 10 ms * 1.5 / 0.5 = 30 ms.
                Lateness::Pareto => Distribution::Pareto { scale: millis(10), shape: 1.5 },
            };
            assert_eq!(*delay, expected);
        }
    }

    #[test]
    fn settings_that_cannot_be_are_one_line() {
        let error = |settings: &Settings| toml_of(settings).expect_err("is wrong");
        let late = Settings { late_share: Some(1.5), ..Settings::default() };
        assert_eq!(error(&late), "late_share: expected a number from 0 to 1, found 1.5");
        let rate = Settings { rate_bps: Some(f64::NAN), ..Settings::default() };
        assert!(error(&rate).starts_with("rate_bps: expected a number from 1"));
        let every = Alternate { extra_ms: 5.0, every: 0 };
        let every = Settings { alternate: Some(every), ..Settings::default() };
        assert!(error(&every).contains("link.path.alternate.every: expected"), "{}", error(&every));
    }

    #[test]
    fn settings_come_back_from_their_scenario() {
        let settings = Settings {
            name: Some("mine".to_owned()),
            duration_s: Some(12.5),
            seeds: Some(3),
            senders: Some(vec!["rr-ta".to_owned()]),
            rate_bps: Some(2.5e6),
            rtt_ms: Some(33.0),
            queue_packets: Some(20),
            late_share: Some(0.05),
            lateness: Some(Lateness::Pareto),
            late_ms: Some(12.0),
            loss_share: Some(0.01),
            ..Settings::default()
        };
        let text = toml_of(&settings).expect("is valid");
        assert_eq!(settings_of(&text), Ok(Some(settings)));
        assert_eq!(settings_of("bonded"), Ok(None), "two lines");
        assert_eq!(settings_of("rr-3"), Ok(None), "other ends");
        assert!(settings_of("name = 1").is_err());
    }
}
