//! The analysis of a capture in steps.

use std::io::Cursor;
use std::sync::Arc;

use serde::Serialize;
use unruffled_capture::{
    Analysis, Analyzer, DotSample, Limits, Progress as ReadProgress, Reader, Source, is_enough,
};
use unruffled_lab::cancel::never;
use unruffled_lab::fit::{Cost, FitError, LimitCost};
use unruffled_lab::transfer::{self, Transfer};
use unruffled_lab::{Error, advice, analysis, fit};

/// The most dots of each kind in the plot of a transfer.
const MAX_DOTS: usize = 2500;

/// Packets that are read between two checks of the time.
const PACKETS_PER_PART: u64 = 2000;

/// A capture, which is read in steps.
pub struct Capture {
    name: String,
    reading: Option<Reading>,
    found: Analysis,
    damage: Option<String>,
    /// The costs of the transfers, once they are simulated.
    costs: Option<Vec<Costs>>,
}

/// A capture that is not read to its end.
struct Reading {
    reader: Reader,
    analyzer: Analyzer,
    progress: ReadProgress,
}

/// What reordering, or a limit that drops late packets, cost a transfer.
struct Costs {
    reordering: Option<Result<Cost, Arc<FitError>>>,
    limit: Option<Result<LimitCost, Arc<FitError>>>,
}

/// The state of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CaptureProgress {
    /// Whether all has been read.
    pub done: bool,
    /// The part of the octets that has been read, 0 to 1.
    pub fraction: f64,
}

/// A transfer in words, and its most important numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaptureTransfer {
    /// The number, from 1.
    pub number: usize,
    /// The sending end.
    pub from: String,
    /// The receiving end.
    pub to: String,
    /// Where the capture was made.
    pub place: &'static str,
    /// What slowed it, as in JSON.
    pub cause: serde_json::Value,
    /// What slowed it, in a sentence.
    pub verdict: String,
    /// What it cost, in a sentence.
    pub cost: Option<String>,
    /// What helps, in a sentence.
    pub remedy: Option<String>,
    /// The octets of payload.
    pub payload_bytes: u64,
    /// The data segments.
    pub segments: u64,
    /// The goodput, in bits per second.
    pub goodput_bps: f64,
    /// The duration, in seconds.
    pub duration_s: f64,
    /// The share of the segments that were late.
    pub late_share: f64,
    /// The share of the octets that were lost.
    pub loss_share: f64,
    /// Whether a path can be fitted to it.
    pub playable: bool,
}

/// The data of the charts of a transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapturePlots {
    /// Sequence numbers over time: kind, seconds since the connection's first packet, octets, and the number
    /// of dots before thinning.
    pub sequence: Vec<(&'static str, Vec<f64>, Vec<f64>, u64)>,
    /// Round trips over time: seconds, and the least, mean and greatest in milliseconds.
    pub rtt: [Vec<f64>; 4],
    /// How late the late packets were.
    pub lateness: Option<CaptureHistogram>,
}

/// A histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureHistogram {
    /// The beginning of each bar, in milliseconds. The last has all that is later.
    pub from_ms: Vec<f64>,
    /// The packets of each bar.
    pub packets: Vec<f64>,
}

/// The path of a transfer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapturePath {
    /// The scenario.
    pub toml: String,
    /// The sender that was simulated to fit it.
    pub sender: String,
    /// What the command says of it, line by line.
    pub notes: Vec<String>,
    /// The captured goodput, in bits per second.
    pub observed_bps: f64,
    /// The sender's goodput over the path, in bits per second.
    pub delivers_bps: f64,
    /// The path by the other reading of the losses.
    pub other: Option<OtherPath>,
}

/// The path of a transfer by the other reading of its losses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OtherPath {
    /// The scenario.
    pub toml: String,
    /// What the command says of it.
    pub note: String,
    /// The sender's goodput over it, in bits per second.
    pub delivers_bps: f64,
}

impl Capture {
    /// Opens a capture.
    ///
    /// # Errors
    /// The line that the command prints if these octets are no capture.
    pub fn new(name: &str, octets: Vec<u8>) -> Result<Self, String> {
        let length = octets.len() as u64;
        let refused = |source| Error::Capture { name: name.to_owned(), source }.to_string();
        let source = Source::new(Box::new(Cursor::new(octets)), Some(length)).map_err(refused)?;
        let progress = source.progress();
        let reader = Reader::open(source).map_err(refused)?;
        let limits = Limits { dots: MAX_DOTS, ..Limits::default() };
        let analyzer = Analyzer::new(limits);
        let found = Analyzer::new(limits).finish();
        let reading = Some(Reading { reader, analyzer, progress });
        Ok(Self { name: name.to_owned(), reading, found, damage: None, costs: None })
    }

    /// Reads on, until `stop` returns true. It is called after each small part.
    pub fn step(&mut self, mut stop: impl FnMut() -> bool) -> CaptureProgress {
        while let Some(Reading { reader, analyzer, .. }) = &mut self.reading {
            let ended = reader.read_some(PACKETS_PER_PART, &mut |frame| analyzer.frame(frame));
            if let Some(damage) = ended {
                self.damage = damage.map(|damage| damage.to_string());
                if let Some(reading) = self.reading.take() {
                    self.found = reading.analyzer.finish();
                }
            }
            if stop() {
                break;
            }
        }
        let part = |reading: &Reading| {
            let whole = reading.progress.length().unwrap_or(0).max(1);
            (reading.progress.read() as f64 / whole as f64).min(1.0)
        };
        CaptureProgress {
            done: self.reading.is_none(),
            fraction: self.reading.as_ref().map_or(1.0, part),
        }
    }

    /// Returns the transfers with their costs.
    fn priced(&self) -> Vec<Transfer<'_>> {
        let mut transfers = transfer::transfers(&self.found);
        for (transfer, costs) in transfers.iter_mut().zip(self.costs.iter().flatten()) {
            transfer.cost = costs.reordering.clone();
            transfer.limit_cost = costs.limit.clone();
        }
        transfers
    }

    /// Simulates what reordering cost the largest transfers that it slowed. Takes seconds.
    pub fn price(&mut self) {
        if self.costs.is_some() {
            return;
        }
        let mut transfers = transfer::transfers(&self.found);
        transfer::price(&self.name, &mut transfers, never());
        let costs = transfers
            .into_iter()
            .map(|transfer| Costs { reordering: transfer.cost, limit: transfer.limit_cost });
        self.costs = Some(costs.collect());
    }

    /// Returns what `unruffled analyze --json` prints. Costs are `null` before [`price`](Self::price).
    pub fn json(&self) -> String {
        let transfers = self.priced();
        let plan = advice::plan(&self.name, &transfers, None);
        analysis::json(&self.name, &self.found, &transfers, &plan, self.damage.as_deref())
    }

    /// Returns what `unruffled analyze` prints in so many columns.
    pub fn text(&self, width: usize) -> String {
        let transfers = self.priced();
        let plan = advice::plan(&self.name, &transfers, None);
        analysis::render(&self.name, &self.found, &transfers, &plan, width)
    }

    /// Returns the transfers, the largest first.
    pub fn transfers(&self) -> Vec<CaptureTransfer> {
        let transfers = self.priced();
        let all = (1..).zip(&transfers).map(|(number, transfer)| {
            let direction = transfer.direction;
            CaptureTransfer {
                number,
                from: direction.from.to_string(),
                to: direction.to.to_string(),
                place: analysis::place(direction),
                cause: serde_json::to_value(transfer.verdict.cause).unwrap_or_default(),
                verdict: transfer.verdict.text.clone(),
                cost: transfer.cost_in_words(),
                remedy: advice::remedy_in_words(direction, transfer.verdict.cause)
                    .map(ToOwned::to_owned),
                payload_bytes: direction.traffic.payload_bytes,
                segments: direction.traffic.segments,
                goodput_bps: direction.traffic.goodput_bps,
                duration_s: direction.traffic.transfer_s,
                late_share: direction.reordering().ratio,
                loss_share: direction.losses.ratio,
                playable: is_enough(direction) && fit::is_long_enough(direction),
            }
        });
        all.collect()
    }

    /// Returns the data of the charts of a transfer, numbered from 1.
    pub fn plots(&self, number: usize) -> Option<CapturePlots> {
        let transfers = transfer::transfers(&self.found);
        let direction = transfers.get(number.checked_sub(1)?)?.direction;
        let drawing = direction.charts.drawing.clone().unwrap_or_default();
        let kinds: [(&str, &DotSample); 5] = [
            ("new", &drawing.new),
            ("late", &drawing.late),
            ("resent", &drawing.resent),
            ("spurious", &drawing.spurious),
            ("acknowledged", &drawing.acknowledged),
        ];
        let sequence = kinds.into_iter().map(|(kind, sample)| {
            let mut dots = sample.dots.clone();
            dots.sort_by(|one, other| one.0.total_cmp(&other.0));
            let times = dots.iter().map(|dot| dot.0).collect();
            let octets = dots.iter().map(|dot| dot.1 as f64).collect();
            (kind, times, octets, sample.total)
        });
        let rtt = &direction.rtt.over_time;
        let lateness = direction.reordering().late_time.as_ref().map(|times| CaptureHistogram {
            from_ms: times.bars.iter().map(|bar| bar.from_ms).collect(),
            packets: times.bars.iter().map(|bar| bar.packets as f64).collect(),
        });
        Some(CapturePlots {
            sequence: sequence.collect(),
            rtt: [
                rtt.iter().map(|bin| f64::midpoint(bin.from_s, bin.to_s)).collect(),
                rtt.iter().map(|bin| bin.min).collect(),
                rtt.iter().map(|bin| bin.mean).collect(),
                rtt.iter().map(|bin| bin.max).collect(),
            ],
            lateness,
        })
    }

    /// Fits a path to a transfer, numbered from 1, with the captured sender if it is known. Takes seconds.
    ///
    /// # Errors
    /// The line that the command prints.
    pub fn scenario(&self, number: u32, sender: Option<&str>) -> Result<CapturePath, String> {
        let name = &self.name;
        let unfit = |source| Error::Unfit { name: name.clone(), source }.to_string();
        let transfers = transfer::transfers(&self.found);
        let chosen = transfer::numbered(&transfers, number).map_err(unfit)?;
        let sender = sender.unwrap_or(fit::OBSERVED);
        let fit = fit::fit(name, chosen.direction, &chosen.losses, sender, never());
        let fit = fit.map_err(unfit)?;
        let (likelier, other) = fit.readings();
        let delivers = |reading| fit.delivers(reading, chosen.direction, never()).map_err(unfit);
        let delivers_bps = delivers(&likelier)?;
        let mut notes = vec![fit.in_words(delivers_bps)];
        let other = match other {
            None => None,
            Some(other) => {
                let delivers_bps = delivers(&other)?;
                let note = fit.other_in_words(&other, delivers_bps);
                notes.extend([note.clone(), fit.losses.in_words()]);
                Some(OtherPath { toml: other.toml, note, delivers_bps })
            }
        };
        Ok(CapturePath {
            toml: likelier.toml,
            sender: fit.sender.clone(),
            notes,
            observed_bps: fit.observed_bps,
            delivers_bps,
            other,
        })
    }
}

#[cfg(test)]
mod tests {
    use unruffled_lab::{Scenario, run};
    use unruffled_tcp::Variant;

    use super::*;

    /// Returns a capture of SACK's packets at the sender, over a path that reorders.
    fn octets() -> Vec<u8> {
        let set = ["duration=20 s".to_owned()];
        let scenario = Scenario::load("few-late", &set).expect("is built in");
        let sack = Variant::parse("sack").expect("is a row");
        let mut file = Vec::new();
        let mut tap = unruffled_lab::capture::Capture::new(&mut file).expect("memory takes it");
        run::run(&scenario, &sack, 1, Some(&mut tap), never()).expect("runs");
        tap.finish().expect("memory takes it");
        file
    }

    fn read(name: &str, octets: Vec<u8>) -> Capture {
        let mut capture = Capture::new(name, octets).expect("is a capture");
        while !capture.step(|| true).done {}
        capture
    }

    #[test]
    fn a_capture_is_read_in_parts_with_the_same_result() {
        let octets = octets();
        let mut whole = Capture::new("c.pcapng", octets.clone()).expect("is a capture");
        assert_eq!(whole.step(|| false), CaptureProgress { done: true, fraction: 1.0 });
        let parts = read("c.pcapng", octets);
        assert_eq!(whole.json(), parts.json());
        let transfers = parts.transfers();
        assert_eq!(transfers[0].cause, "reordering", "{:?}", transfers[0]);
        assert!(transfers[0].playable && transfers[0].late_share > 0.02);
        let plots = parts.plots(1).expect("has a transfer");
        assert_eq!(plots.sequence[0].0, "new");
        assert!(plots.sequence.iter().all(|(_, times, octets, _)| times.len() == octets.len()));
        assert!(!plots.rtt[0].is_empty() && plots.lateness.is_some());
        assert_eq!(parts.plots(0), None);
        assert_eq!(parts.plots(9), None);
        assert!(parts.text(80).contains("Reordering"));
    }

    #[test]
    fn the_path_of_a_transfer_is_a_scenario() {
        let capture = read("c.pcapng", octets());
        let path = capture.scenario(1, None).expect("fits");
        assert!(Scenario::parse("path.toml", &path.toml, &[]).is_ok(), "{}", path.toml);
        assert!(path.notes[0].contains("delivers") && path.observed_bps > 0.0);
        let error = capture.scenario(7, None).expect_err("there is none");
        assert_eq!(error, "c.pcapng: no transfer 7: it has 1");
        assert!(capture.scenario(1, Some("sak")).expect_err("no sender").contains("sak"));
    }

    #[test]
    fn what_is_no_capture_is_one_clear_line() {
        for octets in [Vec::new(), b"hello, world".to_vec(), vec![0x1f, 0x8b, 8, 0]] {
            let error = Capture::new("photo.jpg", octets).err().expect("is no capture");
            assert!(error.starts_with("photo.jpg: ") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_capture_that_is_cut_off_is_read_up_to_there() {
        let mut octets = octets();
        octets.truncate(100_001);
        let capture = read("c.pcapng", octets);
        let json: serde_json::Value = serde_json::from_str(&capture.json()).expect("is JSON");
        assert!(json["damage"].as_str().is_some_and(|damage| damage.contains("cut off")), "{json}");
        assert!(!capture.transfers().is_empty());
    }
}
