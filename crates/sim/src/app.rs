//! What a source has to send, and when.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_path::{ConfigError, Distribution, Sampler};
use unruffled_units::Duration;

/// The minimum time between two requests.
const SHORTEST: Duration = Duration::from_micros(1);

/// An application at the sending end: what a [`SourceConfig`](crate::SourceConfig) sends. Use `Bulk`
/// for a transfer, the others for traffic that comes and goes.
#[derive(Clone, Debug, PartialEq)]
pub enum App {
    /// One transfer.
    Bulk {
        /// Octets to send before closing; none sends for ever.
        bytes: Option<u64>,
    },
    /// Transfer after transfer, each on a connection of its own, with a pause after each.
    Web {
        /// How much each transfer sends.
        size: Size,
        /// The pause, from the delivery of a transfer's last octet to the next connection.
        think: Distribution,
    },
    /// Transfer after transfer on one connection, with a pause after each.
    OnOff {
        /// How much each transfer sends.
        size: Size,
        /// The pause, from the delivery of a transfer's last octet to the next one's first.
        off: Distribution,
    },
    /// Transfer after transfer on one connection, each asked for a while after the one before was,
    /// delivered or not: what is not sent yet waits.
    Requests {
        /// How much each transfer sends.
        size: Size,
        /// The time from one request to the next.
        every: Distribution,
    },
    /// Packets at a constant rate, without TCP: none is acknowledged or sent again.
    Datagrams {
        /// Octets of payload of each.
        size: u32,
        /// The time from one to the next.
        interval: Duration,
    },
}

/// How much a transfer sends: octets where an experiment gives them, segments where it counts packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Always so many octets.
    Octets(u64),
    /// A number of whole segments, drawn with equal chances from the first to the last.
    Segments(u64, u64),
}

/// What an application wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// To send so many octets and to close the connection behind them; none: to send for ever.
    Transfer(Option<u64>),
    /// To send so many octets on the open connection.
    More(u64),
    /// To send so many octets on the open connection, and more after this time.
    Request(u64, Duration),
    /// To send one packet of so many octets, and the next after this time.
    Datagram(u32, Duration),
}

/// An application at work, with its own stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    app: App,
    /// The pause after a transfer, or the time between requests.
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

    /// What to do now.
    pub(crate) fn next(&mut self) -> Want {
        match self.app {
            App::Bulk { bytes } => Want::Transfer(bytes),
            App::Web { size, .. } => Want::Transfer(Some(self.draw(size))),
            App::OnOff { size, .. } => Want::More(self.draw(size)),
            App::Requests { size, .. } => {
                // Requests without a time between them would never end.
                let next = self.draw_pause().unwrap_or_default().max(SHORTEST);
                Want::Request(self.draw(size), next)
            }
            App::Datagrams { size, interval } => Want::Datagram(size, interval),
        }
    }

    /// How long to wait after a transfer; none if it was the last.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        match self.app {
            App::Requests { .. } => None,
            _ => self.draw_pause(),
        }
    }

    fn draw_pause(&mut self) -> Option<Duration> {
        self.pause.as_ref().map(|pause| pause.draw(&mut self.rng))
    }

    /// Whether it opens a connection for each transfer.
    pub(crate) fn reconnects(&self) -> bool {
        matches!(self.app, App::Web { .. })
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
