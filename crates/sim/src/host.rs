//! Sources of traffic, and the flows that they have open: connections and their applications.

use unruffled_path::ConfigError;
use unruffled_tcp::{Config, Connection, State, Variant};
use unruffled_units::Instant;

use crate::End;
use crate::app::{App, Running};
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
}

/// A connection, and whose it is.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) source: u32,
    pub(crate) ends: [Endpoint; 2],
    /// Packets on their way.
    pub(crate) underway: u32,
    /// How much the receiver must have for the transfer to be complete.
    pub(crate) expects: u64,
    /// Its source opens others, so that it can be given up once it is over.
    pub(crate) passing: bool,
    /// The application writes whenever everything written was sent.
    pub(crate) endless: bool,
    /// The number of octets written so far.
    pub(crate) written: u64,
}

/// More than any transfer needs.
pub(crate) const ENDLESS: u64 = u64::MAX / 2;

impl TrafficSource {
    pub(crate) fn new(config: SourceConfig, routes: [Chooser; 2]) -> Result<Self, ConfigError> {
        let app = Running::new(config.app.clone(), config.sender.mss, config.seed)?;
        Ok(Self { config, app, routes, flow: None, active: true })
    }

    /// A new connection of it.
    pub(crate) fn connect(&self, number: u32) -> Flow {
        let SourceConfig { sender, receiver, variant, stop, .. } = &self.config;
        let endpoint = |connection| Endpoint { connection, armed: None };
        Flow {
            source: number,
            ends: [
                endpoint(Connection::connect(sender.clone(), variant)),
                endpoint(Connection::listen(receiver.clone(), variant)),
            ],
            underway: 0,
            expects: u64::MAX,
            passing: self.app.reconnects(),
            endless: stop.is_some() && self.app.is_endless(),
            written: 0,
        }
    }
}

impl Flow {
    pub(crate) fn end(&mut self, end: End) -> &mut Endpoint {
        &mut self.ends[end.index()]
    }

    /// The application writes so much more.
    pub(crate) fn write(&mut self, octets: u64) {
        self.written = self.written.saturating_add(octets);
        self.ends[End::Sender.index()].connection.write(octets);
    }

    /// Whether nothing will happen any more: both ends are closed, or one waits in vain for what is
    /// still on its way.
    pub(crate) fn is_over(&self) -> bool {
        let over = |state| matches!(state, State::Closed | State::TimeWait);
        self.underway == 0 && self.ends.iter().all(|end| over(end.connection.state()))
    }
}
