//! A race as a sequence of heats.

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;

use unruffled_kernel::{Growth, Hold};
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::record::{Comparison, Medium, RunRow, Trace, VariantRuns};
use unruffled_lab::reference::Reference;
use unruffled_lab::statistics::Estimate;
use unruffled_measure::ExitCounts;
use unruffled_net::{Lateness, MAX_TOLERABLE_LATENESS, Pair, Report as EmulatorReport};
use unruffled_nfqueue::{Learnt, Report};
use unruffled_scenario::Traffic;
use unruffled_tcp::EcnMode;
use unruffled_units::count;

use crate::competitor::release;
use crate::entrant::{Entrant, Task, port};
use crate::error::{Failure, Reason};
use crate::field::groups;
use crate::foreign::{self, RealTime};
use crate::guest::mtu;
use crate::length::Length;
use crate::outcome::Transferred;
use crate::paths::{WayCounts, paths};
use crate::payload::Payload;
use crate::resequence::{self, WARM_UP};
use crate::{Competitor, Error, Foreign, Recording, Resequence, ResequencerPlace};

/// Configuration of a race: the transfer, its senders and the path.
#[derive(Clone, Debug)]
pub struct Course<'a> {
    /// The path and the settings of our senders. The scenario's duration, seeds and senders are not used.
    pub scenario: &'a Scenario,
    /// The senders, in the order of the results.
    pub competitors: &'a [Competitor],
    /// Length of each transfer.
    pub length: Length,
    /// Number of seeds; they are 1, 2, 3 …
    pub seeds: u64,
    /// Whether all senders run at once and share the path, instead of running one after another.
    pub together: bool,
    /// Whether our stack receives instead of the kernel.
    pub reverse: bool,
    /// Settings of the sending kernels, such as `net.ipv4.tcp_recovery` and `0`.
    pub sysctls: &'a [(String, String)],
    /// Resequencers for the competitors that send to one.
    pub resequence: Option<Resequence>,
}

/// Results of a race.
#[derive(Debug)]
pub struct Finished {
    /// Rows and traces, in the order of the competitors.
    pub comparison: Comparison,
    /// Failed transfers.
    pub failures: Vec<Failure>,
    /// Lateness of the emulator in all heats.
    pub lateness: Lateness,
}

/// Added to the seed of a heat for the transfer before it.
const WARM_UP_SEED: u64 = 1 << 32;

/// Senders, seed and length of one heat.
#[derive(Clone, Copy)]
struct Heat<'a> {
    /// Indices of the competitors.
    who: &'a [usize],
    seed: u64,
    length: Length,
}

/// Results of one heat.
struct Ended {
    /// Results of the competitors, in their order.
    ran: Vec<Ran>,
    /// Report of the emulator.
    report: EmulatorReport,
    /// Report of the resequencer, if there was one.
    resequenced: Option<Report>,
    /// What the resequencer has learnt.
    learnt: Learnt,
}

/// A competitor that is ready to start.
enum Runner<'a> {
    Own(Entrant<'a>),
    Foreign(RealTime<'a>),
}

impl Runner<'_> {
    fn run(self, seed: u64) -> std::io::Result<Transferred> {
        match self {
            Self::Own(entrant) => entrant.run(seed),
            Self::Foreign(foreign) => foreign.run(),
        }
    }
}

/// Result of one competitor in one heat.
type Ran = Result<(RunRow, Trace), Failure>;

impl Course<'_> {
    /// Returns the number of heats.
    pub fn heats(&self) -> u64 {
        if self.together { self.seeds } else { self.seeds * self.competitors.len() as u64 }
    }

    /// Runs all heats. `started` is called before each heat with the names of its senders; `recording`
    /// receives the packets of the first seed.
    ///
    /// # Errors
    /// If the emulated path cannot be created, or if the kernel lacks a congestion control. A failed
    /// transfer is not an error: it is listed in [`Finished::failures`], and the race continues.
    pub fn run<W: Write + Send>(
        &self,
        mut recording: Option<&mut Recording<W>>,
        mut started: impl FnMut(&str),
    ) -> Result<Finished, Error> {
        let is_needed = |growth: &Growth| {
            self.competitors.iter().any(|competitor| competitor.growth() == Some(*growth))
        };
        let mut holds: Vec<_> = Growth::ALL.into_iter().filter(is_needed).map(Hold::new).collect();
        let simulated = Scenario { seeds: self.seeds, ..self.length.simulated(self.scenario) };
        let reference =
            Reference::of(&simulated, never(), &|| ()).map_err(unruffled_lab::Error::from)?;
        let mut runs: Vec<VariantRuns> = self.competitors.iter().map(blank).collect();
        let mut counts: Vec<Option<Report>> = vec![None; runs.len()];
        let mut failures = Vec::new();
        let mut lateness = Lateness::new();
        let mut ways = WayCounts::default();
        let all: Vec<usize> = (0..runs.len()).collect();
        let heats: Vec<&[usize]> = if self.together { vec![&all] } else { all.chunks(1).collect() };
        for seed in 1..=self.seeds {
            for &heat in &heats {
                let names: Vec<String> = heat.iter().map(|&i| self.competitors[i].name()).collect();
                let names = names.join(" and ");
                started(&names);
                if let [i] = *heat
                    && let Competitor::Foreign(foreign) = &self.competitors[i]
                    && foreign.is_virtual()
                {
                    match self.foreign_heat(foreign, seed) {
                        Ok((row, trace)) => runs[i].add(row, trace),
                        Err(failure) => failures.push(failure),
                    }
                    continue;
                }
                for hold in &mut holds {
                    hold.ensure()?;
                }
                let recording = recording.as_deref_mut().filter(|_| seed == 1);
                let learnt = self.warm_up(heat, seed)?;
                let recording = recording.map(|recording| (recording, names));
                let heat_of = Heat { who: heat, seed, length: self.length };
                let Ended { ran, report, resequenced, .. } =
                    self.heat(heat_of, recording, learnt)?;
                if let Some(report) = resequenced {
                    counts[heat[0]].get_or_insert_default().add_counts(&report);
                }
                lateness = lateness.merge(&report.lateness());
                for (group, taken) in self.groups(heat).into_iter().zip(&report.forward.taken) {
                    ways.add(self.scenario, group, taken);
                }
                for (&i, ran) in heat.iter().zip(ran) {
                    match ran {
                        Ok((row, trace)) => runs[i].add(row, trace),
                        Err(failure) => failures.push(failure),
                    }
                }
            }
        }
        let mut notes = self.summaries(&runs);
        if self.competitors.iter().any(Competitor::is_real) {
            notes.push(timeliness(&lateness));
        }
        notes.extend(ways.in_words().map(|shares| format!("packets of data: {shares}")));
        let resequenced = runs.iter().zip(&counts);
        notes.extend(resequenced.filter_map(|(runs, counts)| {
            counts.as_ref().map(|counts| resequence::summary(&runs.name, counts))
        }));
        notes.extend(self.together.then(|| shares(&runs)).flatten());
        let comparison = Comparison {
            scenario: self.scenario.name.clone(),
            medium: Medium::Wire,
            notes,
            title: self.scenario.title.clone(),
            source: self.scenario.source.clone(),
            scenario_toml: self.scenario_toml(),
            command: self.command(),
            facts: self.facts(),
            episodes: self.scenario.episodes(),
            reference,
            beside: Vec::new(),
            flows: if self.together { self.competitors.len() as u64 } else { 1 },
            // Each competitor has its own row.
            compared: 1,
            variants: runs,
        };
        Ok(Finished { comparison, failures, lateness })
    }

    /// Runs a transfer that is not measured, if the resequencer of this heat learns from one. Returns what it
    /// has learnt.
    fn warm_up(&self, who: &[usize], seed: u64) -> Result<Learnt, Error> {
        let is_warm = self.resequence.is_some_and(|resequence| resequence.warm);
        if !is_warm || !who.iter().any(|&i| self.competitors[i].is_resequenced()) {
            return Ok(Learnt::default());
        }
        // The measured transfer has other random numbers.
        let seed = seed.wrapping_add(WARM_UP_SEED);
        let heat = Heat { who, seed, length: Length::Time(WARM_UP) };
        self.heat::<Vec<u8>>(heat, None, Learnt::default()).map(|ended| ended.learnt)
    }

    /// Runs the transfer of a foreign stack in virtual time.
    fn foreign_heat(&self, foreign: &Foreign, seed: u64) -> Ran {
        let group = self.groups(&[0])[0];
        let transferred = foreign::run(self.scenario, group, seed, self.length, foreign);
        let who = format!("{}, seed {seed}", foreign.name());
        let (transferred, path) =
            transferred.map_err(|error| Failure { who, reason: Reason::from(error) })?;
        Ok(transferred.into_row(self.scenario, &path))
    }

    /// Runs one heat over its own path.
    fn heat<W: Write + Send>(
        &self,
        heat: Heat<'_>,
        recording: Option<(&mut Recording<W>, String)>,
        learnt: Learnt,
    ) -> Result<Ended, Error> {
        let Heat { who, seed, length } = heat;
        let pair = Pair::new(mtu(self.scenario))?;
        let sources = self.groups(who).into_iter().zip((0..).map(port));
        let paths = paths(self.scenario, seed, sources);
        let task = Task {
            scenario: self.scenario,
            length,
            reverse: self.reverse,
            sysctls: self.sysctls,
            gateway: self.resequence.is_some_and(|r| r.place == ResequencerPlace::Gateway),
        };
        let entrants = who
            .iter()
            .zip(0..)
            .map(|(&i, n)| match &self.competitors[i] {
                Competitor::Foreign(foreign) => {
                    Ok(Runner::Foreign(RealTime::new(foreign, self.scenario, length, &pair, seed)?))
                }
                own => Ok(Runner::Own(Entrant::new(task, own, &pair, n)?)),
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let resequencer = match self.resequence {
            Some(resequence) if who.iter().any(|&i| self.competitors[i].is_resequenced()) => {
                Some(resequence::start(resequence.place, &pair, learnt)?)
            }
            _ => None,
        };
        thread::scope(|scope| {
            let (tap, packets) = channel();
            let emulator = pair.emulate(paths, recording.is_some().then_some(&tap))?;
            drop(tap);
            if let Some((recording, name)) = recording {
                scope.spawn(move || recording.heat(&name, &packets));
            }
            let runners: Vec<_> = entrants
                .into_iter()
                .map(|entrant| scope.spawn(move || entrant.run(seed)))
                .collect();
            let outcomes: Vec<_> = runners
                .into_iter()
                .map(|runner| runner.join().unwrap_or_else(|p| std::panic::resume_unwind(p)))
                .collect();
            // The transfer is over, so packets that the resequencer releases now change no row.
            let stopped = resequencer
                .map(|resequencer| pair.right.namespace.run(|| Ok::<_, Error>(resequencer.stop()?)))
                .transpose()?;
            let (resequenced, learnt) = match stopped {
                Some((report, learnt)) => (Some(report), learnt),
                None => (None, Learnt::default()),
            };
            let report = emulator.stop();
            let counts = report.forward.counts;
            let ran = who.iter().zip(outcomes).map(|(&i, outcome)| {
                let who = format!("{}, seed {seed}", self.competitors[i].name());
                let failure = |reason: Reason| Failure { who: who.clone(), reason };
                let outcome = outcome.map_err(|error| failure(error.into()))?;
                // A foreign stack's driver compares each octet itself.
                let is_foreign = matches!(self.competitors[i], Competitor::Foreign(_));
                let expected = Payload::hash(seed, outcome.received.octets);
                if !is_foreign && outcome.received.digest != expected {
                    return Err(failure(Reason::Corrupted));
                }
                let (mut row, trace) = outcome.into_row(self.scenario, &counts);
                let exits = ExitCounts {
                    replay_drops: counts.replay_drops,
                    range_drops: counts.range_drops,
                    fragment_drops: counts.fragment_drops,
                };
                if self.scenario.network.may_drop_at_exits() {
                    row.flow.exits = Some(exits);
                }
                if self.scenario.sender.ecn == EcnMode::Request {
                    row.flow.ecn.get_or_insert_default().marked_segments = counts.marked;
                }
                Ok((row, trace))
            });
            Ok(Ended { ran: ran.collect(), report, resequenced, learnt })
        })
    }

    /// Returns the traffic of the scenario that each sender of a heat stands for.
    fn groups(&self, who: &[usize]) -> Vec<&Traffic> {
        groups(self.scenario, who.len())
    }

    /// Returns the path and the ends in words.
    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = self.scenario.path_in_words();
        let fact = |what: &str, value: String| (what.to_owned(), value);
        facts.push(fact("packets", format!("IPv4, up to {} B", mtu(self.scenario))));
        let kernel = format!("Linux {}", release());
        let is_foreign = |competitor: &Competitor| matches!(competitor, Competitor::Foreign(_));
        if !self.competitors.iter().all(is_foreign) {
            let receiver = if self.reverse { "our stack".to_owned() } else { kernel };
            facts.push(fact("receiver", receiver));
            let sender = &self.scenario.sender;
            facts.push(fact("initial window of ours", sender.window.initial.to_string()));
            facts.push(fact("minimum RTO of ours", sender.rto.min.to_string()));
        }
        if self.competitors.iter().any(is_foreign) {
            facts.push(fact("receiver of a foreign stack", "the same stack".to_owned()));
        }
        let what = match self.length {
            Length::Time(time) => format!("as much as goes in {} s", time.as_secs_f64()),
            Length::Bytes(octets) => format!("{octets} B"),
        };
        let how = if self.together { "all at once" } else { "one after another" };
        let seeds = count(self.seeds, "seed");
        facts.push(fact("transfer", format!("{what}, {how}; {seeds}")));
        facts
    }

    /// Returns the numbers of transfers, a line for each kind of receiver.
    fn summaries(&self, runs: &[VariantRuns]) -> Vec<String> {
        let (mut ours, mut foreign) = (0, 0);
        for (competitor, runs) in self.competitors.iter().zip(runs) {
            match competitor {
                Competitor::Foreign(_) => foreign += runs.rows.len(),
                _ => ours += runs.rows.len(),
            }
        }
        let receiver = if self.reverse { "our stack" } else { "the kernel" };
        let mut lines = Vec::new();
        if ours > 0 {
            let transfers = count(ours, "transfer");
            lines.push(format!("{transfers} to {receiver}, the same hash at both ends of each"));
        }
        if foreign > 0 {
            let transfers = count(foreign, "transfer");
            lines.push(format!("{transfers} by foreign stacks, each octet compared on arrival"));
        }
        if lines.is_empty() {
            lines.push("no transfer came to its end".to_owned());
        }
        lines
    }
}

/// Returns a competitor's runs before the first.
fn blank(competitor: &Competitor) -> VariantRuns {
    VariantRuns {
        name: competitor.name(),
        about: competitor.about(),
        rows: Vec::new(),
        trace: Trace::default(),
        records: Vec::new(),
    }
}

/// Returns the lateness of the emulator in one line.
fn timeliness(lateness: &Lateness) -> String {
    let micros = |share| lateness.quantile(share).as_nanos().div_ceil(1_000);
    let mut line = format!("emulator late: p50 {} us, p99 {} us", micros(0.5), micros(0.99));
    if lateness.is_intolerable() {
        line += &format!(
            "; warning: the machine could not keep up, {MAX_TOLERABLE_LATENESS} is tolerable"
        );
    }
    line
}

/// Returns the senders' shares of the goodput in a race of all at once.
fn shares(runs: &[VariantRuns]) -> Option<String> {
    let mean = |v: &VariantRuns| Estimate::of(v.rows.iter().map(|row| row.flow.goodput_bps)).mean;
    let all: f64 = runs.iter().map(mean).sum();
    let share = |v: &VariantRuns| format!("{} {:.1} %", v.name, 100.0 * mean(v) / all);
    let shares = runs.iter().map(share).collect::<Vec<_>>().join(", ");
    all.is_finite().then(|| format!("shares of {:.2} Mb/s: {shares}", all / 1e6))
}
