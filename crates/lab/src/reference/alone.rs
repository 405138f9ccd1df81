//! Simulation of a traffic group that has the undisturbed network to itself.

use std::borrow::Cow;
use std::sync::Arc;

use unruffled_measure::FlowRecord;
use unruffled_path::{Direction, Impairment, LinkConfig, Varying};
use unruffled_sim::{App, Simulation};
use unruffled_tcp::detect::{LossDetector, Rule, View};
use unruffled_tcp::{Config, Variant};
use unruffled_units::Duration;

use super::limit::Limit;
use super::ways::{Ways, directed, own, payload};
use super::without::without;
use crate::job::{Job, Kept, Ran};
use unruffled_scenario::{NetLink, Recording, Scenario, Traffic};

/// The most packets in flight of all senders of a group together, unless the path holds more.
const MAX_IN_FLIGHT: f64 = 1_000_000.0;

/// The share of the links' capacity from which on the links count as the limit.
const LINK_LIMITED_SHARE: f64 = 0.98;

/// A group of traffic with the undisturbed scenarios to simulate.
#[derive(Debug)]
pub(super) struct Alone {
    group: Traffic,
    /// The weights of the ways to try, each with its scenario: those of the group, and those that fill
    /// all ways if packets can be lost, because retransmissions may then take another way.
    spreads: Vec<(Ways, Arc<Scenario>)>,
    /// The receiver's window for one sender, in segments.
    window: u64,
}

/// A detector that declares no segment lost.
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

impl Alone {
    /// Prepares the undisturbed scenarios of a group.
    pub(super) fn new(scenario: &Scenario, group: &Traffic) -> Self {
        let octets = scenario.receiver.receive_buffer / u64::from(scenario.receiver.mss);
        // The advertised window is rounded to its unit, so allow an eighth more.
        let window = group.window.unwrap_or(octets);
        let most = window + window / 8 + 16;
        let original = Ways::of(scenario, group, group.weights());
        let filled = original.filled();
        let differs = original.carried(&filled) > original.bps * 1.001;
        let mut spreads = Vec::new();
        if differs && loses(scenario, group, &original, window * u64::from(group.count)) {
            let ways = Ways::of(scenario, group, filled);
            let calm = undisturbed(scenario, group, &ways, most);
            spreads.push((ways, Arc::new(calm)));
        }
        let calm = undisturbed(scenario, group, &original, most);
        spreads.push((original, Arc::new(calm)));
        Self { group: group.clone(), spreads, window }
    }

    /// Returns the smallest possible share of the group's packets that cross the link with that index.
    pub(super) fn crossed(&self, link: usize) -> f64 {
        self.spreads.iter().map(|(ways, _)| ways.crossed[link]).fold(1.0, f64::min)
    }

    /// Returns the number of runs for each seed.
    pub(super) fn runs(&self) -> usize {
        self.scenarios().count()
    }

    /// Returns the runs with `seed`, with a sender that detects no losses.
    pub(super) fn jobs(&self, seed: u64) -> Vec<Job> {
        let sender = Variant::parse("sack");
        let sender = sender.and_then(|sack| sack.with_detector("never", || Box::new(Never)));
        let sender = sender.expect("is composed of parts");
        let job = |scenario| Job { scenario, variant: sender.clone(), seed, kept: Kept::default() };
        self.scenarios().map(job).collect()
    }

    /// Returns the sum over the group in the run that has the highest goodput.
    pub(super) fn most<'a>(&self, ran: impl Iterator<Item = &'a Ran>) -> FlowRecord {
        let mut most = FlowRecord::default();
        for ran in ran {
            let flows: Vec<&FlowRecord> = ran.record.group(&self.group.name).collect();
            let sum = FlowRecord::sum(&flows);
            if sum.goodput_bps > most.goodput_bps {
                most = sum;
            }
        }
        most
    }

    /// Returns the scenarios to run for each seed.
    fn scenarios(&self) -> impl Iterator<Item = Arc<Scenario>> {
        let calm = self.spreads.iter().filter(|(_, calm)| !calm.is_stuck());
        calm.flat_map(|(_, calm)| {
            // A transfer may end within the warm-up, and an application may send most of its data there.
            let endless = matches!(self.group.app, App::Bulk { bytes: None });
            let whole = !endless && calm.warmup > Duration::ZERO;
            let whole =
                whole.then(|| Arc::new(Scenario { warmup: Duration::ZERO, ..(**calm).clone() }));
            [calm.clone()].into_iter().chain(whole)
        })
    }

    /// Returns the limiting factor of the group in the run with this record.
    pub(super) fn limit(&self, ran: &FlowRecord) -> Limit {
        let Some((ways, scenario)) = self.spreads.first() else { return Limit::Links };
        let all = ways.bps * payload(scenario);
        let segments = |octets: u64| octets as f64 / f64::from(scenario.sender.mss);
        let window = (self.window * u64::from(self.group.count)) as f64;
        match self.group.app {
            _ if ran.goodput_bps > LINK_LIMITED_SHARE * all => Limit::Links,
            App::Bulk { bytes: Some(bytes) } if segments(bytes) < ways.pipe => Limit::Length,
            App::Bulk { .. } if window <= ways.pipe => Limit::Window,
            App::Bulk { .. } => Limit::Links,
            _ => Limit::Application,
        }
    }
}

/// Returns the scenario with only this group, over undisturbed links, with the weights of `ways`.
/// Senders start with a full window; the receiver's window allows each at most `most` segments.
fn undisturbed(scenario: &Scenario, group: &Traffic, ways: &Ways, most: u64) -> Scenario {
    let mut calm = without(scenario, |other| other.name == group.name);
    calm.recording = Recording::default();
    calm_links(&mut calm, &ways.crossed);
    for traffic in calm.traffic.iter_mut().filter(|other| other.name == group.name) {
        traffic.sender = None;
        traffic.ways.iter_mut().zip(&ways.weights).for_each(|(way, weight)| way.weight = *weight);
    }
    let count = f64::from(group.count);
    let pipe = ways.pipe;
    let in_flight =
        (4.0 * pipe + 1000.0).min((MAX_IN_FLIGHT / count).max(2.0 * pipe / count + 2.0));
    let in_flight = in_flight.min(Simulation::MOST_PACKETS as f64 / 2.0 / count);
    let cwnd = (most as f64).min(in_flight).ceil() as u32;
    let long = Duration::from_secs(1_000_000_000);
    calm.sender = calm.sender.with(|c| {
        c.window.initial = cwnd;
        c.window.max = Some(cwnd);
        c.rto.min = long;
        c.rto.initial = long;
        c.rto.max = long;
    });
    calm.receiver = Config { delayed_ack: None, ..calm.receiver };
    calm.sack_block = 0;
    calm
}

/// Removes all impairments, queue limits and resequencers from the links, and the rates of the links that carry no
/// data of the group, so that acknowledgements take no transmission time there.
fn calm_links(scenario: &mut Scenario, crossed: &[f64]) {
    let calm = |link: &LinkConfig| LinkConfig {
        rate: link.rate,
        delay: link.delay,
        varying: link.varying.clone(),
        ..LinkConfig::default()
    };
    let one_way = directed(scenario).into_iter().zip(crossed).map(|((link, direction), share)| {
        let ends = match direction {
            Direction::Forward => link.ends,
            Direction::Reverse => (link.ends.1, link.ends.0),
        };
        let mut calm = calm(&link.link);
        if *share == 0.0 {
            calm.rate = None;
            calm.varying.take_if(|varying| matches!(varying, Varying::Trace(_)));
        }
        let name = link.name_of(direction);
        let (resequence, replay_from) = (None, None);
        NetLink { name, ends, both_ways: false, link: calm, resequence, replay_from }
    });
    scenario.network.links = one_way.collect();
    for hop in &mut scenario.network.access {
        hop.link = calm(&hop.link);
        hop.resequence = None;
    }
    scenario.hops.clear();
}

/// Returns whether a packet of the group can be lost while `most` packets are in flight: by an
/// impairment, or because a queue is full.
fn loses(scenario: &Scenario, group: &Traffic, ways: &Ways, most: u64) -> bool {
    let others = scenario.traffic.iter().any(|other| other.name != group.name);
    let small = |queue: u32| others || u64::from(queue) < most;
    let full = |link: &LinkConfig| link.red.is_some() || link.queue.is_some_and(small);
    let loses = |link: &LinkConfig| {
        full(link) || link.may_drop_at_exit() || link.impairments.iter().any(may_lose)
    };
    let links = directed(scenario).into_iter().zip(&ways.crossed);
    links.filter(|(_, share)| **share > 0.0).any(|((link, _), _)| loses(&link.link))
        || own(scenario, group).any(loses)
}

/// Returns whether the impairment can lose a packet.
fn may_lose(impairment: &Impairment) -> bool {
    match impairment {
        Impairment::Delay { .. }
        | Impairment::Alternate { .. }
        | Impairment::Redrawn { .. }
        | Impairment::Overhead { .. }
        | Impairment::Workers { .. }
        | Impairment::Replay { .. }
        | Impairment::Behind { .. }
        | Impairment::Early { .. }
        | Impairment::Duplicate { .. } => false,
        Impairment::Loss { .. }
        | Impairment::Periodic { .. }
        | Impairment::Burst { .. }
        | Impairment::Blackout { .. }
        | Impairment::Netem { .. }
        | Impairment::Resend { .. } => true,
        Impairment::During { impairment, .. } => may_lose(impairment),
    }
}
