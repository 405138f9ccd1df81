//! Sources of traffic, and their flows: connections and applications.

use unruffled_path::ConfigError;
use unruffled_tcp::{Config, Connection, State, Variant};
use unruffled_units::Instant;

use crate::End;
use crate::app::{App, Running};
use crate::network::PathId;
use crate::route::{PathChooser, Route};

/// Configuration of a source of traffic, for [`Simulation::add_source`](crate::Simulation::add_source).
/// [`Simulation`](crate::Simulation) has an example.
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// Sender algorithm.
    pub variant: Variant,
    /// Settings of the sending end.
    pub sender: Config,
    /// Settings of the receiving end.
    pub receiver: Config,
    /// Octets of each packet on the wire besides its payload.
    pub header: u32,
    /// Octets that each SACK block adds to a packet. ns-2 has eight.
    pub sack_block: u32,
    /// Time of the first connection.
    pub start: Instant,
    /// Time at which the application stops. Data that was written before is still delivered.
    pub stop: Option<Instant>,
    /// Application.
    pub app: App,
    /// Seed of the application's random numbers.
    pub seed: u64,
    /// Route of data to the receiver.
    pub forward: Route,
    /// Route of acknowledgements to the sender.
    pub reverse: Route,
}

/// A running source.
#[derive(Debug)]
pub(crate) struct TrafficSource {
    /// None once a source that connects only once has connected: of a million sources, their settings would be
    /// a fifth of all memory.
    config: Option<Box<SourceConfig>>,
    /// [`SourceConfig::header`].
    pub(crate) header: u32,
    pub(crate) app: Running,
    /// Routes of the sender's and of the receiver's packets.
    pub(crate) routes: [PathChooser; 2],
    /// Flow of the latest transfer, while it is open.
    pub(crate) flow: Option<u32>,
    /// Whether the application may start further transfers.
    pub(crate) active: bool,
}

/// One end of a flow.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) connection: Connection,
    /// Time of the planned timer event, if any.
    pub(crate) armed: Option<Instant>,
    /// Path of all its packets, if there is a single one.
    pub(crate) path: Option<PathId>,
}

/// A connection with both ends, and its application's state.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) source: u32,
    pub(crate) ends: [Endpoint; 2],
    /// [`SourceConfig::header`] of the source.
    pub(crate) header: u32,
    /// [`SourceConfig::sack_block`] of the source.
    pub(crate) sack_block: u32,
    /// Number of its packets in the network.
    pub(crate) underway: u32,
    /// Number of received octets at which the transfer is complete.
    pub(crate) expects: u64,
    /// Start of the current transfer.
    pub(crate) begun: Instant,
    /// Whether its source opens further flows, so that this one is removed when it ends.
    pub(crate) passing: bool,
    /// Total number of octets that the application has to send so far.
    pub(crate) has: u64,
    /// Number of these that it has written.
    written: u64,
    /// Octets that an application which may stop writes at a time, after all earlier ones were sent.
    chunk: Option<u64>,
    /// Whether the connection closes when everything is written.
    closing: bool,
}

/// Octets of a transfer without an end.
pub(crate) const ENDLESS_OCTETS: u64 = u64::MAX / 2;

/// Segments that an application which may stop writes at a time.
const CHUNK_SEGMENTS: u64 = 16;

impl TrafficSource {
    pub(crate) fn new(config: SourceConfig, routes: [PathChooser; 2]) -> Result<Self, ConfigError> {
        let app = Running::new(config.app.clone(), config.sender.mss, config.seed)?;
        let header = config.header;
        let config = Some(Box::new(config));
        Ok(Self { config, header, app, routes, flow: None, active: true })
    }

    /// Returns a new flow of the source.
    pub(crate) fn connect(&mut self, number: u32) -> Flow {
        let flow = self.new_flow(number);
        if self.app.connects_once() {
            self.config = None;
        }
        flow
    }

    fn new_flow(&self, number: u32) -> Flow {
        let config = self.config.as_deref().expect("a source that connects once has not connected");
        let SourceConfig { sender, receiver, variant, stop, header, sack_block, .. } = config;
        let endpoint = |connection, end: End| Endpoint {
            connection,
            armed: None,
            path: self.routes[end.index()].only(),
        };
        Flow {
            source: number,
            ends: [
                endpoint(Connection::connect(sender.clone(), variant), End::Sender),
                endpoint(Connection::listen(receiver.clone(), variant), End::Receiver),
            ],
            header: *header,
            sack_block: *sack_block,
            underway: 0,
            expects: u64::MAX,
            begun: Instant::ZERO,
            passing: self.app.reconnects(),
            has: 0,
            written: 0,
            chunk: stop.map(|_| CHUNK_SEGMENTS * u64::from(sender.mss)),
            closing: false,
        }
    }
}

impl Flow {
    pub(crate) fn end(&mut self, end: End) -> &mut Endpoint {
        &mut self.ends[end.index()]
    }

    /// Adds octets that the application has to send.
    pub(crate) fn write(&mut self, octets: u64) {
        self.has = self.has.saturating_add(octets);
        if self.chunk.is_none() {
            self.write_to(self.has);
        }
    }

    fn write_to(&mut self, upto: u64) {
        let sender = &mut self.ends[End::Sender.index()].connection;
        sender.write(upto - self.written);
        self.written = upto;
        if self.closing && upto == self.has {
            sender.finish();
        }
    }

    /// Writes the next chunk if all earlier octets were sent. Returns whether it did.
    #[inline]
    pub(crate) fn write_on(&mut self) -> bool {
        let Some(chunk) = self.chunk else { return false };
        let sender = &self.ends[End::Sender.index()].connection;
        let is_ready = self.written < self.has && sender.unsent() == 0;
        if is_ready {
            self.write_to(self.has.min(self.written + chunk));
        }
        is_ready
    }

    /// Closes the connection after the octets that the application has to send.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        self.write_to(self.written);
    }

    /// Stops the application. Octets that it has not written are never sent.
    pub(crate) fn stop(&mut self) {
        if self.written < self.has {
            // A transfer without its last octets is never complete, although its FIN counts as an octet.
            self.has = self.written;
            self.expects = u64::MAX;
        }
        self.close();
    }

    /// Returns whether the flow has ended: both ends are closed or in TIME-WAIT, and none of its packets is in
    /// the network.
    pub(crate) fn is_over(&self) -> bool {
        let over = |state| matches!(state, State::Closed | State::TimeWait);
        self.underway == 0 && self.ends.iter().all(|end| over(end.connection.state()))
    }
}
