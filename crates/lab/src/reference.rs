//! What a path delivers where nothing disturbs it: what shares are taken of.
//!
//! The compared traffic has the network to itself. Nothing is late, lost or dropped, and the senders
//! begin with the whole window, so that neither a detector nor a congestion control limits them. What
//! limits them still: the links' rates and delays, the ways over which packets are spread, the
//! receiver's window, the handshake and the application. So no sender delivers more, but for what
//! retransmissions gain by another way than the packet that was dropped.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use unruffled_measure::FlowRecord;
use unruffled_path::{ConfigError, Direction, LinkConfig};
use unruffled_sim::{App, Arrivals, Simulation, Spread};
use unruffled_tcp::detect::{LossDetector, Rule, View};
use unruffled_tcp::{Config, Variant};
use unruffled_units::{Duration, Instant};

use crate::run::record_until;
use crate::scenario::{NetLink, Recording, Scenario, Traffic};

/// Packets that the senders of a group may have on their way together; more only where the path holds
/// more.
const PLENTY: f64 = 1_000_000.0;

/// The share of what the links carry from which on they are the limit.
const NEARLY_ALL: f64 = 0.98;

/// What the compared traffic delivers over the undisturbed path.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// In bits per second, for each seed; one for all where no seed changes it. Not a number where the
    /// undisturbed path takes no time.
    by_seed: Vec<f64>,
    /// What sets it.
    pub limit: Limit,
}

/// What sets the goodput of the undisturbed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The rates of the links.
    Links,
    /// The receiver's window: the path holds more than it allows.
    Window,
    /// The transfer is over before the path is full, so that delays decide.
    Length,
    /// The application: it pauses.
    Application,
}

impl Limit {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Window => "window",
            Self::Length => "length",
            Self::Application => "application",
        }
    }

    /// What it is, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Links => "link rates",
            Self::Window => "receiver's window",
            Self::Length => "length of the transfer",
            Self::Application => "application",
        }
    }
}

impl Reference {
    /// A reference of that goodput for all seeds.
    pub fn new(bps: f64, limit: Limit) -> Self {
        Self { by_seed: vec![bps], limit }
    }

    /// What the compared traffic of `scenario` delivers over the undisturbed path.
    ///
    /// # Errors
    /// A link's configuration that makes no sense; loaded scenarios have none.
    pub fn of(scenario: &Scenario) -> Result<Self, ConfigError> {
        let never = AtomicBool::new(false);
        Self::until(&never, scenario, &|| {}).map(|found| found.expect("nothing stops it"))
    }

    /// The same, unless `stop` is set before it is known: then none. `done` is called after each of
    /// the [`runs`].
    pub(crate) fn until(
        stop: &AtomicBool,
        scenario: &Scenario,
        done: &(impl Fn() + Sync),
    ) -> Result<Option<Self>, ConfigError> {
        let groups: Vec<Alone<'_>> = groups(scenario).map(|g| Alone::new(scenario, g)).collect();
        let tasks: Vec<(&Alone<'_>, u64)> =
            seeds(scenario).flat_map(|seed| groups.iter().map(move |g| (g, seed))).collect();
        let ran: Option<Vec<FlowRecord>> = tasks
            .into_par_iter()
            .map(|(group, seed)| {
                let ran = group.run(stop, seed)?;
                done();
                Ok(ran)
            })
            .collect::<Result<_, ConfigError>>()?;
        let Some(ran) = ran else { return Ok(None) };
        let by_seed = ran.chunks(groups.len().max(1)).map(|ran| together(scenario, &groups, ran));
        let mut by_seed: Vec<f64> = by_seed.collect();
        if by_seed.is_empty() {
            by_seed.push(f64::NAN);
        }
        // Of several groups, the first stands for all.
        let first = groups.first().zip(ran.first());
        let limit = first.map_or(Limit::Links, |(group, ran)| group.limit(ran));
        Ok(Some(Self { by_seed, limit }))
    }

    /// The goodput in bits per second, the mean over the seeds.
    pub fn bps(&self) -> f64 {
        self.by_seed.iter().sum::<f64>() / self.by_seed.len() as f64
    }

    /// The goodput in a run with that seed.
    pub(crate) fn at(&self, seed: u64) -> f64 {
        let one = self.by_seed.get(seed.saturating_sub(1) as usize).or(self.by_seed.first());
        one.copied().unwrap_or(f64::NAN)
    }
}

/// How many runs tell the reference of a scenario.
pub(crate) fn runs(scenario: &Scenario) -> u64 {
    seeds(scenario).count() as u64 * groups(scenario).count() as u64
}

/// What the compared traffic consists of: all that has TCP, if no traffic is of the compared sender.
fn groups(scenario: &Scenario) -> impl Iterator<Item = &Traffic> {
    scenario.compared().filter(|group| !matches!(group.app, App::Datagrams { .. }))
}

/// The seeds to run: one is enough where all have the same starts, ways and applications.
fn seeds(scenario: &Scenario) -> std::ops::RangeInclusive<u64> {
    let same = groups(scenario).all(|group| {
        matches!(group.app, App::Bulk { .. })
            && !matches!(group.arrivals, Arrivals::Random { .. })
            && (group.ways.len() < 2 || group.spread == Spread::RoundRobin)
    });
    1..=if same { 1 } else { scenario.seeds }
}

/// The same with only the groups that `stays` picks. The others keep their places, so that what is
/// random stays as it is, and start after the end.
pub(crate) fn without(scenario: &Scenario, stays: impl Fn(&Traffic) -> bool) -> Scenario {
    let mut scenario = scenario.clone();
    let after = Instant::ZERO + scenario.duration + Duration::from_secs(1);
    for group in scenario.traffic.iter_mut().filter(|group| !stays(group)) {
        group.arrivals = Arrivals::At(after);
        group.stop = None;
    }
    scenario
}

/// A detector by which nothing is lost.
#[derive(Debug)]
struct Never;

impl LossDetector for Never {
    fn about(&self) -> Cow<'static, str> {
        "nothing is lost".into()
    }

    fn rule(&self, _view: &View) -> Rule {
        Rule::default()
    }
}

/// A group of traffic that has the undisturbed network to itself.
struct Alone<'a> {
    group: &'a Traffic,
    scenario: Scenario,
    /// For each direction of each link, the share of the group's packets that cross it.
    crossed: Vec<f64>,
    /// Bits per second, headers included, that the links carry of the group.
    bps: f64,
    /// Segments that the path holds.
    pipe: f64,
    /// Segments that the receiver's window allows one sender.
    window: u64,
}

impl<'a> Alone<'a> {
    fn new(of: &Scenario, group: &'a Traffic) -> Self {
        let mut scenario = without(of, |other| other.name == group.name);
        scenario.recording = Recording::default();
        let crossed = crossed(&scenario, group);
        let (bps, pipe) = pipe(&scenario, group, &crossed);
        let buffer = scenario.receiver.receive_buffer / u64::from(scenario.receiver.mss);
        let window = group.window.unwrap_or(buffer);
        undisturb(&mut scenario, &crossed);
        let count = f64::from(group.count);
        let enough = (4.0 * pipe + 1000.0).min((PLENTY / count).max(2.0 * pipe / count + 2.0));
        let enough = enough.min(Simulation::MOST_PACKETS as f64 / 2.0 / count);
        // A window is advertised in units, and an eighth more may come.
        let cwnd = ((window + window / 8) as f64 + 16.0).min(enough).ceil() as u32;
        let long = Duration::from_secs(1_000_000_000);
        scenario.sender = scenario.sender.with(|c| {
            c.window.initial = cwnd;
            c.window.max = Some(cwnd);
            (c.rto.min, c.rto.initial, c.rto.max) = (long, long, long);
        });
        scenario.receiver = Config { delayed_ack: None, ..scenario.receiver };
        scenario.sack_block = 0;
        for traffic in scenario.traffic.iter_mut().filter(|other| other.name == group.name) {
            traffic.sender = None;
        }
        Self { group, scenario, crossed, bps, pipe, window }
    }

    /// What the group does in a run with `seed`; none if it was stopped.
    fn run(&self, stop: &AtomicBool, seed: u64) -> Result<Option<FlowRecord>, ConfigError> {
        if self.scenario.stands_still() {
            return Ok(Some(FlowRecord::default()));
        }
        let Some(measured) = self.measure(stop, seed)? else { return Ok(None) };
        if self.scenario.warmup == Duration::ZERO || self.is_endless() {
            return Ok(Some(measured));
        }
        // What ends or pauses may do so within the warm-up.
        let whole = Self { scenario: self.from_the_start(), crossed: Vec::new(), ..*self };
        let whole = whole.measure(stop, seed)?;
        Ok(whole.map(|whole| match whole.goodput_bps > measured.goodput_bps {
            true => whole,
            false => measured,
        }))
    }

    fn from_the_start(&self) -> Scenario {
        Scenario { warmup: Duration::ZERO, ..self.scenario.clone() }
    }

    fn measure(&self, stop: &AtomicBool, seed: u64) -> Result<Option<FlowRecord>, ConfigError> {
        let sender =
            Variant::parse("sack").and_then(|v| v.with_detector("never", || Box::new(Never)));
        let sender = sender.expect("is composed of parts");
        let record = record_until(stop, &self.scenario, &sender, seed, None)?;
        let flows = |record: unruffled_measure::RunRecord| {
            let flows: Vec<&FlowRecord> = record.group(&self.group.name).collect();
            FlowRecord::sum(&flows)
        };
        Ok(record.map(flows))
    }

    fn is_endless(&self) -> bool {
        matches!(self.group.app, App::Bulk { bytes: None })
    }

    /// What limits the group, which did `ran`.
    fn limit(&self, ran: &FlowRecord) -> Limit {
        let all = self.bps * payload(&self.scenario);
        let segments = |octets: u64| octets as f64 / f64::from(self.scenario.sender.mss);
        let window = (self.window * u64::from(self.group.count)) as f64;
        match self.group.app {
            _ if ran.goodput_bps > NEARLY_ALL * all => Limit::Links,
            App::Bulk { bytes: Some(bytes) } if segments(bytes) < self.pipe => Limit::Length,
            App::Bulk { .. } if window <= self.pipe => Limit::Window,
            App::Bulk { .. } => Limit::Links,
            _ => Limit::Application,
        }
    }
}

/// The links of the network in each direction, by the number that routes give them.
fn directed(scenario: &Scenario) -> Vec<(&NetLink, Direction)> {
    let links = scenario.network.links.iter();
    links.flat_map(|link| link.directions().iter().map(move |&way| (link, way))).collect()
}

/// For each direction of each link, the share of the group's packets that cross it.
fn crossed(scenario: &Scenario, group: &Traffic) -> Vec<f64> {
    let mut crossed = vec![0.0; directed(scenario).len()];
    let routes = group.routes(&scenario.network.topology());
    let total: f64 = routes.iter().map(|(.., weight)| weight).sum();
    for (there, _, weight) in &routes {
        for link in there {
            crossed[link.0 as usize] += weight / total;
        }
    }
    crossed
}

/// The links of its own that a source of the group has.
fn own<'a>(scenario: &'a Scenario, group: &'a Traffic) -> impl Iterator<Item = &'a LinkConfig> {
    let names = [&group.access.0, &group.access.1].into_iter().flatten();
    names.filter_map(|name| scenario.network.access(name)).map(|hop| &hop.link)
}

/// The share of a full packet that is payload.
fn payload(scenario: &Scenario) -> f64 {
    let mss = f64::from(scenario.sender.mss);
    mss / (mss + f64::from(scenario.header))
}

/// The bits per second that the links carry of the group, headers included, and the segments that are
/// then on their way, acknowledgements included; infinitely many if no link has a rate.
fn pipe(scenario: &Scenario, group: &Traffic, crossed: &[f64]) -> (f64, f64) {
    let octets = scenario.header + scenario.sender.mss;
    let links = directed(scenario);
    let rate = |link: &LinkConfig| link.rate.map_or(f64::INFINITY, |rate| rate.bps());
    let shared = links.iter().zip(crossed).filter(|(_, share)| **share > 0.0);
    let shared = shared.map(|((link, _), share)| rate(&link.link) / share);
    let of_its_own = own(scenario, group).map(|link| rate(link) * f64::from(group.count));
    let bps = shared.chain(of_its_own).fold(f64::INFINITY, f64::min);
    let service = |link: &LinkConfig| link.rate.map_or(0.0, |r| r.time_for(octets).as_secs_f64());
    let own_time: f64 =
        own(scenario, group).map(|link| 2.0 * link.delay.as_secs_f64() + service(link)).sum();
    let round_trip = |(there, back, _): &(Vec<_>, Vec<_>, f64)| {
        let link = |id: &unruffled_measure::LinkId| &links[id.0 as usize].0.link;
        let there = there.iter().map(link).map(|l| l.delay.as_secs_f64() + service(l));
        let back = back.iter().map(link).map(|l| l.delay.as_secs_f64());
        there.chain(back).sum::<f64>()
    };
    let routes = group.routes(&scenario.network.topology());
    let taken = routes.iter().filter(|(.., weight)| *weight > 0.0);
    let longest = taken.map(round_trip).fold(0.0, f64::max) + own_time;
    (bps, bps * longest / (8.0 * f64::from(octets)) + 1.0)
}

/// Takes from all links what hinders packets, and from those that carry no data of the group the time
/// that acknowledgements take.
fn undisturb(scenario: &mut Scenario, crossed: &[f64]) {
    let calm = |link: &LinkConfig| LinkConfig {
        rate: link.rate,
        delay: link.delay,
        ..LinkConfig::default()
    };
    let one_way = directed(scenario).into_iter().zip(crossed).map(|((link, direction), share)| {
        let ends = match direction {
            Direction::Forward => link.ends,
            Direction::Reverse => (link.ends.1, link.ends.0),
        };
        let mut calm = calm(&link.link);
        calm.rate = calm.rate.filter(|_| *share > 0.0);
        NetLink { name: link.name_of(direction), ends, both_ways: false, link: calm }
    });
    scenario.network.links = one_way.collect();
    scenario.network.access.iter_mut().for_each(|hop| hop.link = calm(&hop.link));
    scenario.hops.clear();
}

/// The goodput of all groups in bits per second, by what each delivers when it is alone.
///
/// Groups that share a link deliver together no more than it carries: the bound is the least of those
/// that a single link sets, where the link first takes the groups that use it least.
fn together(scenario: &Scenario, groups: &[Alone<'_>], ran: &[FlowRecord]) -> f64 {
    let longest = ran.iter().map(|flow| flow.duration_s).fold(0.0, f64::max);
    let bits: Vec<f64> = ran.iter().map(|flow| flow.delivered_bytes as f64 * 8.0).collect();
    let mut most: f64 = bits.iter().sum();
    if groups.len() > 1 {
        for (at, (link, _)) in directed(scenario).into_iter().enumerate() {
            let Some(rate) = link.link.rate else { continue };
            let mut used: Vec<(f64, f64)> =
                groups.iter().zip(&bits).map(|(group, &bits)| (group.crossed[at], bits)).collect();
            used.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut room, mut all) = (rate.bps() * longest * payload(scenario), 0.0);
            for (share, bits) in used {
                let fits = if share > 0.0 { bits.min(room / share) } else { bits };
                room -= fits * share;
                all += fits;
            }
            most = most.min(all);
        }
    }
    if longest > 0.0 { most / longest } else { f64::NAN }
}
