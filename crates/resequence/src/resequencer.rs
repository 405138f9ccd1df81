//! The flows and paths, and the waits of all flows.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;

use lru::LruCache;
use unruffled_units::{Duration, Instant};

use crate::flow::{Data, FlowState, Numbering, Outlet};
use crate::hash::Keyed;
use crate::path::PathModel;
use crate::{Config, Counters, Flow, Load, Packet, Path, PathState, Protocol, Role};

/// Maximum number of gaps that a flow remembers after the wait for them ended.
const MAX_GAPS_OF_A_FLOW: usize = 16_384;

/// Maximum number of gaps that all flows remember. At the limit the flow that was idle for longest is forgotten.
const MAX_GAPS: usize = 1 << 17;

/// Holds packets until they are in order.
///
/// `T` stands for a packet: what [`handle`](Self::handle) takes comes out of
/// [`poll_release`](Self::poll_release) exactly once.
pub struct Resequencer<T> {
    config: Config,
    flows: LruCache<Flow, FlowState<T>, Keyed>,
    paths: LruCache<Path, PathModel, Keyed>,
    /// Flows with something held, by the time at which their first wait ends.
    waits: BTreeSet<(Instant, Flow)>,
    outlet: Outlet<T>,
    /// Number of gaps that the flows remember.
    gaps: usize,
}

impl<T> Resequencer<T> {
    /// Creates a resequencer that knows nothing of any path.
    pub fn new(config: Config) -> Self {
        let at_least_one = |n: usize| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        let key = Keyed(config.key);
        Self {
            flows: LruCache::unbounded_with_hasher(key),
            paths: LruCache::with_hasher(at_least_one(config.max_paths), key),
            waits: BTreeSet::new(),
            outlet: Outlet {
                released: VecDeque::new(),
                counters: Counters::default(),
                load: Load::default(),
            },
            config,
            gaps: 0,
        }
    }

    /// Takes a packet that arrived at `now`. Times never decrease from one call to the next.
    pub fn handle(&mut self, packet: &Packet, token: T, now: Instant) {
        let Packet { flow: key, role, octets } = *packet;
        self.outlet.counters.packets += 1;
        if role == Role::Close {
            if let Some(mut flow) = self.flows.pop(&key) {
                self.end_flow(&key, &mut flow, now);
            }
            return self.outlet.released.push_back(token);
        }
        if role == Role::Acknowledgement && !self.flows.contains(&key) {
            // An upload, which sends nothing that could be late.
            return self.outlet.released.push_back(token);
        }
        if self.flows.len() >= self.config.max_flows.max(1) && !self.flows.contains(&key) {
            self.evict_flow(now);
        }
        let flow = self.flows.get_or_insert_mut(key, || FlowState::new(numbering(key.protocol)));
        let path =
            self.paths.get_or_insert_mut(key.path(), || PathModel::new(self.config.always_hold));
        if !matches!(role, Role::Open { .. })
            && let Some(round_trip) = flow.take_handshake(now)
        {
            path.on_handshake(round_trip);
        }
        let gaps = flow.gaps();
        match role {
            Role::Data { number, span, timestamp } if span > 0 => {
                self.outlet.counters.data += 1;
                let data = Data { number, span, timestamp, octets };
                flow.data(token, data, now, path, &mut self.outlet);
            }
            Role::Open { next } => {
                let lag =
                    if self.config.hold_handshake { path.terms(true).lag } else { Duration::ZERO };
                flow.open(token, next, octets, lag, now, &mut self.outlet);
            }
            Role::Data { .. } | Role::Acknowledgement | Role::Close => {
                self.outlet.released.push_back(token);
            }
        }
        settle(key, flow, path, &self.config, now, &mut self.waits, &mut self.outlet);
        flow.forget(MAX_GAPS_OF_A_FLOW, now, path);
        self.gaps = self.gaps + flow.gaps() - gaps;
        while self.gaps > MAX_GAPS && self.flows.len() > 1 {
            self.evict_flow(now);
        }
        while self.outlet.load.octets > self.config.budget
            || self.outlet.load.packets > self.config.max_packets
        {
            if !self.end_first_wait(now) {
                break;
            }
        }
    }

    /// Forgets the flow that was idle for longest. What it held goes on.
    fn evict_flow(&mut self, now: Instant) {
        if let Some((key, mut flow)) = self.flows.pop_lru() {
            self.end_flow(&key, &mut flow, now);
            self.outlet.counters.flows_evicted += 1;
        }
    }

    /// Lets all that a flow holds go on, when the flow is forgotten.
    fn end_flow(&mut self, key: &Flow, flow: &mut FlowState<T>, now: Instant) {
        flow.release_all(now, &mut self.outlet);
        self.gaps -= flow.gaps();
        if let Some(deadline) = flow.deadline {
            self.waits.remove(&(deadline, *key));
        }
    }

    /// Ends the wait that would end first. Returns whether there was one.
    fn end_first_wait(&mut self, now: Instant) -> bool {
        let Some(&(_, key)) = self.waits.first() else { return false };
        let Some(flow) = self.flows.peek_mut(&key) else { return self.waits.pop_first().is_some() };
        let released = flow.give_up(now, &mut self.outlet);
        self.outlet.counters.over_budget += released as u64;
        let path =
            self.paths.get_or_insert_mut(key.path(), || PathModel::new(self.config.always_hold));
        settle(key, flow, path, &self.config, now, &mut self.waits, &mut self.outlet);
        true
    }

    /// Ends the waits that are over at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(deadline, key)) = self.waits.first()
            && deadline <= now
        {
            let Some(flow) = self.flows.peek_mut(&key) else {
                self.waits.pop_first();
                continue;
            };
            let path = self
                .paths
                .get_or_insert_mut(key.path(), || PathModel::new(self.config.always_hold));
            settle(key, flow, path, &self.config, now, &mut self.waits, &mut self.outlet);
        }
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) must be called next, if anything is held.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waits.first().map(|&(deadline, _)| deadline)
    }

    /// Returns the next packet that goes on.
    pub fn poll_release(&mut self) -> Option<T> {
        self.outlet.released.pop_front()
    }

    /// Ends all waits. All that is held goes on, each flow in order.
    pub fn release_all(&mut self, now: Instant) {
        while let Some((_, key)) = self.waits.pop_first() {
            if let Some(flow) = self.flows.peek_mut(&key) {
                flow.deadline = None;
                flow.release_all(now, &mut self.outlet);
            }
        }
    }

    /// Returns the counts since the start.
    pub fn counters(&self) -> Counters {
        self.outlet.counters
    }

    /// Returns what is held now.
    pub fn load(&self) -> Load {
        Load { flows: self.flows.len(), paths: self.paths.len(), ..self.outlet.load }
    }

    /// Returns the state of each path, those with the longest hold first.
    pub fn paths(&self) -> Vec<PathState> {
        let state = |(&path, model): (&Path, &PathModel)| {
            let (hold, late, longest) = model.state();
            PathState { path, hold, late, longest, round_trip: model.round_trip() }
        };
        let mut paths: Vec<PathState> = self.paths.iter().map(state).collect();
        paths.sort_by_key(|state| (std::cmp::Reverse(state.hold), state.path));
        paths
    }
}

/// Returns how the packets of a protocol are numbered.
fn numbering(protocol: Protocol) -> Numbering {
    match protocol {
        Protocol::Tcp => Numbering::Octets,
        Protocol::Esp | Protocol::OpenVpn => Numbering::Packets32,
        Protocol::WireGuard => Numbering::Packets64,
    }
}

/// Ends the waits of a flow that are over, and notes when the next one ends.
fn settle<T>(
    key: Flow,
    flow: &mut FlowState<T>,
    path: &mut PathModel,
    config: &Config,
    now: Instant,
    waits: &mut BTreeSet<(Instant, Flow)>,
    outlet: &mut Outlet<T>,
) {
    let terms = path.update(config.max_hold, flow.shows_harm(), now);
    let next = flow.release(&terms, now, outlet);
    if next != flow.deadline {
        if let Some(former) = flow.deadline {
            waits.remove(&(former, key));
        }
        if let Some(deadline) = next {
            waits.insert((deadline, key));
        }
        flow.deadline = next;
    }
}

impl<T> fmt::Debug for Resequencer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resequencer")
            .field("config", &self.config)
            .field("load", &self.load())
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}
