//! Comparisons of many senders over many paths: the goodput of each sender as a share of the best
//! sender's, and the goodput of the undisturbed path.

use rayon::prelude::*;
use serde::Serialize;
use unruffled_tcp::{ROWS, Variant};
use unruffled_units::{Duration, count};

use crate::cancel::{CancellationToken, RunError};
use crate::error::Error;
use crate::rate::Scale;
use crate::reference::{self, Reference};
use crate::run::run;
use crate::statistics::quantile;
use crate::table::{for_columns, lines};
use crate::text;
use unruffled_scenario::flags;
use unruffled_scenario::random_path;
use unruffled_scenario::{BUILTIN, Scenario};

/// The longest run of a built-in scenario.
const MAX_DURATION: Duration = Duration::from_secs(100);

/// A path and the goodputs of the senders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// The scenario's name.
    pub name: String,
    /// The scenario in one line.
    pub title: String,
    /// The simulated time, in seconds.
    pub duration_s: f64,
    /// The goodput of each sender, in bits per second: the mean over the seeds.
    pub goodput_bps: Vec<f64>,
    /// The goodput over the undisturbed path, in bits per second: the [`Reference`].
    pub undisturbed_bps: f64,
}

/// The paths, the senders and their goodputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gallery {
    /// The names of the senders, in the order of all lists of values.
    pub senders: Vec<String>,
    /// The paths.
    pub paths: Vec<Path>,
    /// The number of runs of each sender on each path.
    pub seeds: u64,
    /// Keys replaced in every scenario, as `KEY=VALUE`.
    pub overrides: Vec<String>,
}

/// The shares of a sender over all paths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The sender.
    pub sender: String,
    /// The median share.
    pub median: f64,
    /// The 10th percentile of the shares.
    pub tenth: f64,
    /// The mean share.
    pub mean: f64,
    /// The smallest share.
    pub worst: f64,
    /// The path of the smallest share.
    pub worst_path: String,
    /// The share on each path.
    pub shares: Vec<f64>,
}

/// Senders with BBR that are compared by default.
const WITH_BBR: [&str; 3] = ["rack+bbr", "unruffled+bbr", "unruffled+bbr3"];

/// Returns the senders that are compared by default: all rows except those that exist only in the
/// simulator, and Westwood, whose response to losses is not that of the standard; and three with BBR.
pub fn senders() -> Vec<String> {
    let of = |row: &&unruffled_tcp::Row| {
        let variant = Variant::named(row.name);
        row.name != "westwood" && variant.is_some_and(|v| !v.is_for_simulation_only())
    };
    let mut names: Vec<String> = ROWS.iter().filter(of).map(|row| row.name.to_owned()).collect();
    names.extend(WITH_BBR.map(str::to_owned));
    // The recommended sender is the first.
    names.sort_by_key(|name| name != "unruffled");
    names
}

/// Reads the scenario `name` with the overrides `defaults`, then `set`.
fn with(
    name: &str,
    text: &str,
    defaults: &[String],
    set: &[String],
) -> Result<Scenario, unruffled_scenario::Error> {
    let scenario = flags::once(name, text, set)
        .and_then(|()| Scenario::parse(name, text, &[defaults, set].concat()));
    scenario.map_err(|error| error.of_scenario(name))
}

/// The override with the default number of seeds.
const DEFAULT_SEEDS: &str = "seeds=1";

/// Returns the built-in scenarios with these overrides. By default each runs once, for at most
/// 100 s, of which the warm-up takes at most a tenth.
///
/// # Errors
/// An unknown key, or a key that is set twice.
pub fn built_in(set: &[String]) -> Result<Vec<Scenario>, Error> {
    let load = |(name, text): &(&str, &str)| {
        let own = Scenario::load(name, &[])?;
        let with = |warmup| {
            let duration = format!("duration={}", own.duration.min(MAX_DURATION));
            with(name, text, &[DEFAULT_SEEDS.to_owned(), duration, format!("warmup={warmup}")], set)
        };
        let duration = with(Duration::ZERO)?.duration;
        Ok(with(own.warmup.min(duration / 10))?)
    };
    BUILTIN.iter().map(load).collect()
}

/// Returns `count` random paths drawn from `seed`, with these overrides. By default each runs once.
///
/// # Errors
/// An unknown key, or a key that is set twice.
pub fn drawn(seed: u64, count: u32, set: &[String]) -> Result<Vec<Scenario>, Error> {
    let load = |n| {
        let defaults = [DEFAULT_SEEDS.to_owned()];
        Ok(with(&format!("{seed}-{n}"), &random_path(seed, n), &defaults, set)?)
    };
    (1..=count).map(load).collect()
}

/// Runs every sender on every path. The paths have the `overrides` already. `done` is called after
/// each run.
///
/// # Errors
/// An unknown sender, an invalid parameter, or cancellation.
pub fn gallery(
    scenarios: &[Scenario],
    senders: &[String],
    place: &str,
    overrides: &[String],
    cancel: &CancellationToken,
    done: impl Fn() + Sync,
) -> Result<Gallery, Error> {
    let mut tasks = Vec::new();
    for (path, scenario) in scenarios.iter().enumerate() {
        let variants = scenario.senders(senders, place)?;
        for (sender, variant) in variants.into_iter().enumerate() {
            tasks.extend((1..=scenario.seeds).map(|seed| (path, sender, variant.clone(), seed)));
        }
    }
    let of_senders = || -> Result<Vec<(usize, usize, f64)>, RunError> {
        let ran = tasks.into_par_iter().map(|(path, sender, variant, seed)| {
            let row = run(&scenarios[path], &variant, seed, None, cancel)?;
            done();
            Ok((path, sender, row.flow.goodput_bps))
        });
        ran.collect()
    };
    let undisturbed = || -> Result<Vec<f64>, RunError> {
        let each = scenarios.par_iter();
        each.map(|scenario| Ok(Reference::of(scenario, cancel, &done)?.bps())).collect()
    };
    let (undisturbed, results) = rayon::join(undisturbed, of_senders);
    let mut paths: Vec<Path> = scenarios
        .iter()
        .zip(undisturbed?)
        .map(|(scenario, undisturbed_bps)| Path {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            duration_s: scenario.duration.as_secs_f64(),
            goodput_bps: vec![0.0; senders.len()],
            undisturbed_bps,
        })
        .collect();
    for (path, sender, bps) in results? {
        paths[path].goodput_bps[sender] += bps / scenarios[path].seeds as f64;
    }
    let seeds = scenarios.iter().map(|scenario| scenario.seeds).max().unwrap_or(0);
    Ok(Gallery { senders: senders.to_vec(), paths, seeds, overrides: overrides.to_vec() })
}

/// Returns the number of runs that [`gallery`] makes.
pub fn runs(scenarios: &[Scenario], senders: usize) -> u64 {
    let of = |scenario: &Scenario| scenario.seeds * senders as u64 + reference::runs(scenario);
    scenarios.iter().map(of).sum()
}

impl Path {
    /// Formats the goodput of the best sender in a unit of its own, because paths are not compared.
    pub(crate) fn best(&self) -> String {
        let best = self.best_bps();
        Scale::of([best]).with_unit(best)
    }

    /// Formats the goodput of the undisturbed path in a unit of its own.
    pub(crate) fn undisturbed(&self) -> String {
        Scale::of([self.undisturbed_bps]).with_unit(self.undisturbed_bps)
    }

    /// Returns the goodput of the best sender, in bits per second.
    fn best_bps(&self) -> f64 {
        self.goodput_bps.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the goodput of a sender as a share of the best one; 1 if all are zero.
    fn share(&self, sender: usize) -> f64 {
        let best = self.best_bps();
        if best > 0.0 { self.goodput_bps[sender] / best } else { 1.0 }
    }
}

impl Gallery {
    /// Returns the senders whose goodput on a path has the same digits as the best one; empty if all
    /// goodputs are zero.
    pub(crate) fn leaders(&self, path: &Path) -> Vec<&str> {
        let best = path.best_bps();
        let scale = Scale::of([best]);
        let leads = |bps: f64| best > 0.0 && scale.number(bps) == scale.number(best);
        let of_path = self.senders.iter().zip(&path.goodput_bps);
        of_path.filter(|(_, bps)| leads(**bps)).map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the standings of the senders, the best mean share first.
    pub fn standings(&self) -> Vec<Standing> {
        let mut standings: Vec<Standing> = (0..self.senders.len())
            .map(|sender| {
                let shares: Vec<f64> = self.paths.iter().map(|path| path.share(sender)).collect();
                let mut sorted = shares.clone();
                sorted.sort_by(f64::total_cmp);
                let worst = sorted.first().copied().unwrap_or(f64::NAN);
                let at = shares.iter().position(|&share| share == worst);
                Standing {
                    sender: self.senders[sender].clone(),
                    median: quantile(&sorted, 0.5),
                    tenth: quantile(&sorted, 0.1),
                    mean: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
                    worst,
                    worst_path: at.map_or(String::new(), |at| self.paths[at].name.clone()),
                    shares,
                }
            })
            .collect();
        standings.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        standings
    }

    /// Formats the standings, then each path with its best sender and the share of the first sender.
    pub fn render(&self) -> String {
        self.render_within(None)
    }

    /// Formats the gallery for a terminal of that width.
    pub fn render_within(&self, width: Option<usize>) -> String {
        let plain = |heads: &[&str]| {
            let mut table = for_columns(width);
            table.set_header(heads.to_vec());
            table
        };
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let mut table = plain(&["sender", "median %", "10th %", "mean %", "worst %", "worst path"]);
        for s in self.standings() {
            let numbers = [s.median, s.tenth, s.mean, s.worst].map(percent);
            let [median, tenth, mean, worst] = numbers;
            table.add_row([s.sender, median, tenth, mean, worst, s.worst_path]);
        }
        let first = self.senders.first().map_or("", String::as_str);
        let heads = ["path", "best", "sender", &format!("{first} %"), "undisturbed"];
        let mut paths = plain(&heads);
        for path in &self.paths {
            let senders = match self.leaders(path).as_slice() {
                [] => String::new(),
                [one] => (*one).to_owned(),
                [one, other] => format!("{one}, {other}"),
                [one, others @ ..] => format!("{one} and {} more", others.len()),
            };
            let [best, undisturbed] =
                [path.best(), path.undisturbed()].map(|rate| rate.replace('\u{a0}', " "));
            let share = percent(path.share(0));
            paths.add_row([path.name.clone(), best, senders, share, undisturbed]);
        }
        format!(
            "{}, {}; shares of the best sender's goodput on each path\n\n{}\n{}\
             undisturbed: in order, nothing lost\n",
            count(self.paths.len(), "path"),
            count(self.senders.len(), "sender"),
            lines(table),
            lines(paths),
        )
    }

    /// Returns the gallery and the standings as one JSON object.
    pub fn json(&self) -> String {
        let value = serde_json::json!({ "gallery": self, "standings": self.standings() });
        format!("{value:#}\n")
    }

    /// Returns the goodputs as CSV, with a line for each path and sender.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let heads = ["path", "sender", "goodput_bps", "share", "undisturbed_bps"];
        writer.write_record(heads).expect("memory takes every write");
        for path in &self.paths {
            for (sender, name) in self.senders.iter().enumerate() {
                let numbers = [path.goodput_bps[sender], path.share(sender), path.undisturbed_bps];
                let numbers = numbers.map(|n| n.to_string());
                let cells = [&path.name, name].into_iter().chain(&numbers);
                writer.write_record(cells).expect("memory takes every write");
            }
        }
        text::of_csv(writer)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn fake() -> Gallery {
        let path = |name: &str, goodput_bps: [f64; 2]| Path {
            name: name.to_owned(),
            title: format!("path {name}"),
            duration_s: 10.0,
            goodput_bps: goodput_bps.to_vec(),
            undisturbed_bps: 10e6,
        };
        Gallery {
            senders: vec!["unruffled".to_owned(), "rack".to_owned()],
            paths: vec![path("a", [9e6, 10e6]), path("b", [8e6, 2e6]), path("c", [0.0, 0.0])],
            seeds: 1,
            overrides: Vec::new(),
        }
    }

    #[test]
    fn shares_are_relative_to_the_best_sender_on_the_same_path() {
        let standings = fake().standings();
        let [first, second] = standings.as_slice() else { panic!("two senders") };
        assert_eq!((first.sender.as_str(), first.worst, first.median), ("unruffled", 0.9, 1.0));
        assert_eq!(second.shares, [1.0, 0.25, 1.0]);
        assert_eq!((second.worst_path.as_str(), second.median), ("b", 1.0));
        assert!((first.tenth - 0.92).abs() < 1e-12, "a tenth of the way from 0.9 to 1");
    }

    #[test]
    fn the_table_names_every_sender_and_path() {
        let text = fake().render();
        for word in ["unruffled", "rack", "worst path", "25.0", "90.0"] {
            assert!(text.contains(word), "{word} in {text}");
        }
        assert_eq!(fake().csv().lines().count(), 7);
    }

    #[test]
    fn senders_with_the_same_digits_share_the_lead_and_rates_have_a_suitable_unit() {
        let mut gallery = fake();
        gallery.paths[0].goodput_bps = vec![99.5475e9, 99.548e9];
        assert_eq!(gallery.leaders(&gallery.paths[0]), ["unruffled", "rack"]);
        assert_eq!(gallery.leaders(&gallery.paths[1]), ["unruffled"]);
        assert!(gallery.leaders(&gallery.paths[2]).is_empty(), "nothing is delivered");
        let text = gallery.render();
        assert!(text.lines().any(|line| line.contains("99.55 Gb/s  unruffled, rack")), "{text}");
    }

    #[test]
    fn a_comma_in_a_name_is_quoted() {
        let mut gallery = fake();
        gallery.paths[0].name = "a, \"b\"".to_owned();
        let csv = gallery.csv();
        assert_eq!(csv.lines().nth(1), Some("\"a, \"\"b\"\"\",unruffled,9000000,0.9,10000000"));
    }

    #[test]
    fn westwood_and_senders_of_the_simulator_are_left_out() {
        let names = senders();
        assert_eq!(names[0], "unruffled");
        assert!(names.iter().all(|n| n != "westwood" && !n.ends_with("-rtx")), "{names:?}");
        // Westwood, two of the RTX variants, and three stacks that number their packets.
        assert_eq!(names.len(), ROWS.len() - 6 + WITH_BBR.len());
    }

    #[test]
    fn the_default_warm_up_is_at_most_a_tenth_and_overrides_have_precedence() {
        let dcr_4 = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&key| key.to_owned()).collect();
            let scenarios = built_in(&given).expect("scenarios");
            let scenario = scenarios.into_iter().find(|s| s.name == "dcr-4").expect("is built in");
            (scenario.duration.to_string(), scenario.warmup.to_string())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(dcr_4(&[]), pair("100 s", "10 s"));
        assert_eq!(dcr_4(&["duration=31 s"]), pair("31 s", "3.1 s"));
        assert_eq!(dcr_4(&["duration=300 s", "warmup=2 s"]), pair("300 s", "2 s"));
    }

    #[test]
    fn the_error_of_an_override_names_the_path_that_rejects_it() {
        let message =
            |refused: Result<Vec<Scenario>, Error>| refused.expect_err("is refused").to_string();
        let late = message(built_in(&["delayed.fraction=2%".to_owned()]));
        assert!(late.starts_with("--set: delayed.fraction: ad-10: could be several: "), "{late}");
        let late = message(built_in(&["warmup=30 s".to_owned()]));
        assert_eq!(late, "--set: warmup: spray: expected less than the duration, 500 ms");
        let late = message(drawn(7, 2, &["loss.every=x".to_owned()]));
        assert!(
            late.starts_with("--set: link.bottleneck.loss.every: 7-1: expected a whole"),
            "{late}"
        );
    }

    #[test]
    fn a_gallery_has_a_goodput_for_each_path_and_sender() {
        let overrides = ["duration=2 s".to_owned(), "seeds=1".to_owned()];
        let scenarios = drawn(7, 2, &overrides).expect("paths");
        let senders = ["rack".to_owned(), "sack".to_owned()];
        let gallery = gallery(&scenarios, &senders, "here", &[], crate::cancel::never(), || {})
            .expect("they run");
        assert_eq!(gallery.paths.len(), 2);
        assert!(gallery.paths.iter().all(|p| p.goodput_bps.iter().all(|&bps| bps > 0.0)));
        let most = |p: &Path| p.undisturbed_bps * 1.01;
        assert!(gallery.paths.iter().all(|p| p.goodput_bps.iter().all(|&bps| bps < most(p))));
        let unknown = super::gallery(
            &scenarios,
            &["no".to_owned()],
            "here",
            &[],
            crate::cancel::never(),
            || {},
        );
        assert!(unknown.is_err());
    }
}
