//! Applications: the data that a source sends, and when.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_path::{ConfigError, Distribution, Sampler};
use unruffled_units::Duration;

/// Minimum time between two requests.
const MIN_REQUEST_INTERVAL: Duration = Duration::from_micros(1);

/// An application at the sending end of a [`SourceConfig`](crate::SourceConfig). `Bulk` is a single
/// transfer; the others make intermittent traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum App {
    /// One transfer.
    Bulk {
        /// Octets to send before closing. `None` sends forever.
        bytes: Option<u64>,
    },
    /// Transfers one after another, each on its own connection, with a pause after each.
    Web {
        /// How much each transfer sends.
        size: Size,
        /// Pause from the delivery of a transfer's last octet to the next connection.
        think: Distribution,
    },
    /// Transfers one after another on one connection, with a pause after each.
    OnOff {
        /// How much each transfer sends.
        size: Size,
        /// Pause from the delivery of a transfer's last octet to the next transfer.
        off: Distribution,
    },
    /// Transfers on one connection, requested at intervals whether earlier ones are delivered or not. Data
    /// that is not sent yet waits.
    Requests {
        /// How much each transfer sends.
        size: Size,
        /// Time from one request to the next.
        every: Distribution,
    },
    /// Packets at a constant rate without TCP, and so without acknowledgements and retransmissions.
    Datagrams {
        /// Payload of each packet, in octets.
        size: u32,
        /// Time from one packet to the next.
        interval: Duration,
    },
}

/// Size of a transfer, in octets or in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// A fixed number of octets.
    Octets(u64),
    /// A random number of whole segments, uniformly distributed between these two, inclusive.
    Segments(u64, u64),
}

/// Next action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Sends this number of octets on a new connection and closes it. `None` sends forever.
    Transfer(Option<u64>),
    /// Sends this number of octets on the open connection.
    More(u64),
    /// Sends this number of octets on the open connection, and acts again after this time.
    Request(u64, Duration),
    /// Sends one packet of this number of octets, and acts again after this time.
    Datagram(u32, Duration),
}

/// A running application with its own stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    app: App,
    /// Pause after a transfer, or time between requests.
    pause: Option<Sampler>,
    mss: u64,
    rng: Xoshiro256PlusPlus,
}

impl Running {
    pub(crate) fn new(app: App, mss: u32, seed: u64) -> Result<Self, ConfigError> {
        let pause = match &app {
            App::Web { think: pause, .. }
            | App::OnOff { off: pause, .. }
            | App::Requests { every: pause, .. } => Some(pause.sampler()?),
            App::Bulk { .. } | App::Datagrams { .. } => None,
        };
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Self { app, pause, mss: u64::from(mss), rng })
    }

    /// Returns the next action.
    pub(crate) fn next(&mut self) -> Action {
        match self.app {
            App::Bulk { bytes } => Action::Transfer(bytes),
            App::Web { size, .. } => Action::Transfer(Some(self.draw(size))),
            App::OnOff { size, .. } => Action::More(self.draw(size)),
            App::Requests { size, .. } => {
                // Without a minimum, requests at a single instant would never end.
                let next = self.draw_pause().unwrap_or_default().max(MIN_REQUEST_INTERVAL);
                Action::Request(self.draw(size), next)
            }
            App::Datagrams { size, interval } => Action::Datagram(size, interval),
        }
    }

    /// Returns the pause after a transfer. `None` if no transfer follows it.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        match self.app {
            App::Requests { .. } => None,
            _ => self.draw_pause(),
        }
    }

    fn draw_pause(&mut self) -> Option<Duration> {
        self.pause.as_ref().map(|pause| pause.draw(&mut self.rng))
    }

    /// Returns whether the application opens a connection for each transfer.
    pub(crate) fn reconnects(&self) -> bool {
        matches!(self.app, App::Web { .. })
    }

    /// Returns whether the application opens a single connection, when it first acts.
    pub(crate) fn connects_once(&self) -> bool {
        matches!(self.app, App::Bulk { .. })
    }

    fn draw(&mut self, size: Size) -> u64 {
        match size {
            Size::Octets(octets) => octets.max(1),
            Size::Segments(low, high) => {
                self.mss * self.rng.random_range(low.max(1)..=high.max(low).max(1))
            }
        }
    }
}
