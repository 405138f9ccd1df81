//! One run in detail: curves over time, events of a window, and the packets on the path.

mod curves;
mod events;
mod packets;
mod probe;
mod ranges;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use unruffled_lab::cancel::never;
use unruffled_lab::run::{Running, row};
use unruffled_measure::{End, FlowId, Monitor};
use unruffled_scenario::Scenario;
use unruffled_tcp::Variant;
use unruffled_units::{Duration, Instant};

use crate::request::{Checked, Request};
pub use curves::CurveInfo;
pub use events::{EventColumns, EventKind};
pub use packets::{Fate, PacketColumns, PacketFlag};
use probe::Probe;

/// The window of events and packets where none is requested.
const USUAL_WINDOW: Duration = Duration::from_secs(5);

/// The points of a curve where no number is requested.
const USUAL_POINTS: u32 = 1500;

/// A run to record.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RecordRequest {
    /// The scenario; its senders are not used.
    #[serde(flatten)]
    pub request: Request,
    /// The sender.
    pub sender: String,
    /// The seed, 1 if absent.
    pub seed: Option<u64>,
    /// The beginning of the window of events and packets, in seconds.
    pub from_s: Option<f64>,
    /// The end of the window, in seconds.
    pub to_s: Option<f64>,
    /// The time at which the run stops, in seconds.
    pub until_s: Option<f64>,
    /// The most points of a curve.
    pub points: Option<u32>,
    /// Whether packets are recorded; they are if this is absent.
    pub packets: Option<bool>,
}

/// A recording, which is made in steps.
pub struct Recording {
    scenario: Scenario,
    variant: Variant,
    seed: u64,
    running: Running,
    probe: Probe,
    until: Instant,
    /// The virtual time between two samples of the sender's variables.
    step: Duration,
    failed: Option<String>,
}

/// The state of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingProgress {
    /// Whether nothing is left to do.
    pub done: bool,
    /// Why the run has no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The part of the virtual time that is over, 0 to 1.
    pub fraction: f64,
    /// The virtual time that the run has reached, in seconds.
    pub time_s: f64,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFacts {
    /// The octets of payload in a full segment.
    pub mss: u32,
    /// The sender's full name.
    pub sender: String,
    /// The seed.
    pub seed: u64,
    /// The scenario's simulated time, in seconds.
    pub duration_s: f64,
    /// The beginning of the window of events and packets, in seconds.
    pub from_s: f64,
    /// The end of the window, in seconds.
    pub to_s: f64,
    /// The directions of the links, by their index.
    pub links: Vec<LinkInfo>,
    /// Whether the window has more events or packets than are kept.
    pub truncated: bool,
}

/// A direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkInfo {
    /// The name.
    pub name: String,
    /// The rate, in bits per second; none if the link is infinitely fast or its rate varies.
    pub rate_bps: Option<f64>,
    /// The propagation delay, in seconds.
    pub delay_s: f64,
}

impl Recording {
    /// Prepares a recording.
    ///
    /// # Errors
    /// The line that the command prints, or a window that is none.
    pub fn new(request: &RecordRequest) -> Result<Self, String> {
        let senders = Some(vec![request.sender.clone()]);
        let Checked { scenario, mut variants } =
            Request { senders, ..request.request.clone() }.checked()?;
        let variant = variants.pop().ok_or("sender: expected one")?;
        let seed = request.seed.unwrap_or(1);
        let time = |name: &str, value: Option<f64>, usual: Instant| match value {
            None => Ok(usual),
            Some(s) if (0.0..=1e9).contains(&s) => {
                Ok(Instant::ZERO + Duration::from_nanos((s * 1e9).round() as u64))
            }
            Some(s) => Err(format!("{name}: expected seconds of at least 0, found {s}")),
        };
        let end = Instant::ZERO + scenario.duration;
        let from = time("from_s", request.from_s, Instant::ZERO)?.min(end);
        let to = time("to_s", request.to_s, from + USUAL_WINDOW)?.min(end);
        if to < from {
            return Err("to_s: expected a time after from_s".to_owned());
        }
        let until = time("until_s", request.until_s, end)?.max(to).min(end);
        let points = request.points.unwrap_or(USUAL_POINTS).clamp(16, 100_000);
        let step = (until.since(Instant::ZERO) / u64::from(points)).max(Duration::from_nanos(1));
        let running = Running::new(&scenario, &variant, seed).map_err(|error| error.to_string())?;
        let packets = request.packets.unwrap_or(true);
        let probe = Probe::new(&scenario, (from, to), until, points, packets);
        Ok(Self { scenario, variant, seed, running, probe, until, step, failed: None })
    }

    /// Makes a part of the run, until `stop` returns true. It is called after each small part.
    pub fn step(&mut self, mut stop: impl FnMut() -> bool) -> RecordingProgress {
        while !self.is_done() {
            let monitor = Some(&mut self.probe as &mut dyn Monitor);
            if let Err(error) = self.running.advance_by(self.step, monitor, never()) {
                self.failed = Some(error.to_string());
            }
            self.sample();
            if stop() {
                break;
            }
        }
        let whole = self.until.as_secs_f64().max(f64::MIN_POSITIVE);
        let time_s = self.running.now().as_secs_f64().min(whole);
        RecordingProgress {
            done: self.is_done(),
            error: self.failed.clone(),
            fraction: time_s / whole,
            time_s,
        }
    }

    fn is_done(&self) -> bool {
        self.failed.is_some() || self.running.is_over() || self.running.now() >= self.until
    }

    /// Samples the variables of the sender.
    fn sample(&mut self) {
        let now = self.running.now();
        let flow = self.probe.flow().unwrap_or(FlowId(self.scenario.first_compared()));
        if let Some(sender) = self.running.simulation().connection(flow, End::Sender) {
            self.probe.variables(now, &sender.variables(now));
        }
    }

    /// Returns the names and units of the curves.
    pub fn curves(&self) -> Vec<CurveInfo> {
        self.probe.curves().list()
    }

    /// Returns the points of a curve: time in seconds, value, time, value and so on. Empty without such a
    /// curve.
    pub fn curve(&self, name: &str) -> Vec<f64> {
        self.probe.curves().points(name)
    }

    /// Returns the events of the window.
    pub fn events(&self) -> EventColumns {
        self.probe.events()
    }

    /// Returns the packets that were on the path for a part of the window.
    pub fn packets(&self) -> PacketColumns {
        self.probe.packets()
    }

    /// Returns the row of the run, as in the rows of a comparison. `None` if the run is not over.
    pub fn row(&self) -> Option<Value> {
        if !self.running.is_over() || self.failed.is_some() {
            return None;
        }
        let record = self.running.record_so_far();
        let row = row(&self.scenario, &self.variant, self.seed, &record);
        serde_json::to_value(&row).ok()
    }

    /// Returns what was recorded.
    pub fn facts(&self) -> RunFacts {
        let (from, to) = self.probe.window();
        let links = self.scenario.network.links.iter().flat_map(|link| {
            link.directions().iter().map(|&direction| LinkInfo {
                name: link.name_of(direction),
                rate_bps: link.link.rate.map(|rate| rate.bps()),
                delay_s: link.link.delay.as_secs_f64(),
            })
        });
        RunFacts {
            mss: self.scenario.sender.mss,
            sender: self.variant.name().to_owned(),
            seed: self.seed,
            duration_s: self.scenario.duration.as_secs_f64(),
            from_s: from.as_secs_f64(),
            to_s: to.as_secs_f64(),
            links: links.collect(),
            truncated: self.probe.is_truncated(),
        }
    }
}

#[cfg(test)]
mod tests;
