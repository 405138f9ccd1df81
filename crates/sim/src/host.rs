//! Sources of traffic, and the flows that they have open: connections and their applications.

use unruffled_path::ConfigError;
use unruffled_tcp::{Config, Connection, State, Variant};
use unruffled_units::Instant;

use crate::End;
use crate::app::{App, Running};
use crate::network::PathId;
use crate::route::{Chooser, Route};

/// Where traffic comes from, and where it goes; [`Simulation::add_source`](crate::Simulation::add_source)
/// takes it. [`Simulation`](crate::Simulation) has an example.
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// Who sends.
    pub variant: Variant,
    /// The sending end's settings.
    pub sender: Config,
    /// The receiving end's settings.
    pub receiver: Config,
    /// Octets that each packet has on the wire beside its payload.
    pub header: u32,
    /// Octets that each SACK block adds to a packet: eight in ns-2.
    pub sack_block: u32,
    /// When the sender connects first.
    pub start: Instant,
    /// When the application stops sending; what is on its way is still delivered.
    pub stop: Option<Instant>,
    /// What it sends.
    pub app: App,
    /// Feeds what is random about the application.
    pub seed: u64,
    /// How data gets to the receiver.
    pub forward: Route,
    /// How acknowledgements get back.
    pub reverse: Route,
}

/// A source at work.
#[derive(Debug)]
pub(crate) struct TrafficSource {
    pub(crate) config: SourceConfig,
    pub(crate) app: Running,
    /// For packets of the sender, and of the receiver.
    pub(crate) routes: [Chooser; 2],
    /// The open connection, once there is one; that of the latest transfer.
    pub(crate) flow: Option<u32>,
    /// The application is still allowed to begin something.
    pub(crate) active: bool,
}

/// One end of a flow.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) connection: Connection,
    /// The timer event that is planned, if one is.
    pub(crate) armed: Option<Instant>,
    /// The path of all its packets, where there is one.
    pub(crate) path: Option<PathId>,
}

/// A connection, and whose it is.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) source: u32,
    pub(crate) ends: [Endpoint; 2],
    /// The source's [`SourceConfig::header`] and [`SourceConfig::sack_block`].
    pub(crate) header: u32,
    pub(crate) sack_block: u32,
    /// Packets on their way.
    pub(crate) underway: u32,
    /// How much the receiver must have for the transfer to be complete.
    pub(crate) expects: u64,
    /// When the transfer began that is not complete yet.
    pub(crate) begun: Instant,
    /// Its source opens others, so that it can be given up once it is over.
    pub(crate) passing: bool,
    /// The number of octets that the application has to send, so far.
    pub(crate) has: u64,
    /// The number of those that it has written.
    written: u64,
    /// It may stop: it writes so many octets at a time, and those only when all before were sent.
    chunk: Option<u64>,
    /// It closes when all is written.
    closing: bool,
}

/// More than any transfer needs.
pub(crate) const ENDLESS: u64 = u64::MAX / 2;

/// How many segments an application that may stop writes at a time.
const CHUNK: u64 = 16;

impl TrafficSource {
    pub(crate) fn new(config: SourceConfig, routes: [Chooser; 2]) -> Result<Self, ConfigError> {
        let app = Running::new(config.app.clone(), config.sender.mss, config.seed)?;
        Ok(Self { config, app, routes, flow: None, active: true })
    }

    /// A new connection of it.
    pub(crate) fn connect(&self, number: u32) -> Flow {
        let SourceConfig { sender, receiver, variant, stop, header, sack_block, .. } = &self.config;
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
            chunk: stop.map(|_| CHUNK * u64::from(sender.mss)),
            closing: false,
        }
    }
}

impl Flow {
    pub(crate) fn end(&mut self, end: End) -> &mut Endpoint {
        &mut self.ends[end.index()]
    }

    /// The application has so much more to send.
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

    /// Writes what comes next, if the application waited until all before was sent; says whether it
    /// did.
    #[inline]
    pub(crate) fn write_on(&mut self) -> bool {
        let Some(chunk) = self.chunk else { return false };
        let sender = &self.ends[End::Sender.index()].connection;
        let goes_on = self.written < self.has && sender.unsent() == 0;
        if goes_on {
            self.write_to(self.has.min(self.written + chunk));
        }
        goes_on
    }

    /// The application has nothing to send after what it has to send now.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        self.write_to(self.written);
    }

    /// The application stops: what it has not written yet is never sent.
    pub(crate) fn stop(&mut self) {
        if self.written < self.has {
            // What is cut short is never complete, not even if its FIN is counted as an octet.
            (self.has, self.expects) = (self.written, u64::MAX);
        }
        self.close();
    }

    /// Whether nothing will happen any more: both ends are closed, or one waits in vain for what is
    /// still on its way.
    pub(crate) fn is_over(&self) -> bool {
        let over = |state| matches!(state, State::Closed | State::TimeWait);
        self.underway == 0 && self.ends.iter().all(|end| over(end.connection.state()))
    }
}
