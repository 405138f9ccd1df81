//! The parts that senders are made of.
//!
//! A part is a value with its own state, its parameters, a one-line description, and functions from
//! facts to a verdict. No part refers to the sender: it receives facts as arguments and returns its
//! decision. There is one file per published algorithm, in the folder of the question that it
//! answers:
//!
//! * [`detect`]: is this hole a loss, or is its segment late?
//! * [`respond`]: how is the window restored when a reduction proves spurious?
//! * [`timer`]: how long does the retransmission timer run?
//! * [`limited_transmit`]: what is sent beyond the window while a hole is open?
//! * [`control`]: how much may be in flight?

pub mod control;
pub mod detect;
pub(crate) mod limited_transmit;
pub(crate) mod respond;
pub(crate) mod timer;

use std::sync::Arc;

use unruffled_units::Duration;

use crate::Config;
use crate::parameter::{Parameter, Settings, Unit};

/// A variable of an algorithm, for plots and logs.
/// [`Connection::variables`](crate::Connection::variables) returns those of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// Name, such as `fa_ratio`.
    pub name: &'static str,
    /// Unit; times are in seconds.
    pub unit: Unit,
    /// Value.
    pub value: f64,
}

impl Variable {
    /// Returns a share, 0…1.
    pub fn fraction(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Fraction, value }
    }

    /// Returns a number of segments.
    pub fn segments(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Segments, value }
    }

    /// Returns a time.
    pub fn time(name: &'static str, value: Duration) -> Self {
        Self { name, unit: Unit::Time, value: value.as_secs_f64() }
    }

    /// Returns a plain number.
    pub fn number(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Number, value }
    }
}

/// A kind of part, as a row of the table of senders names it: its parameters, and how parts of it
/// are made.
pub(crate) struct Kind<T: 'static> {
    /// Name.
    pub(crate) name: &'static str,
    /// Tunable parameters.
    pub(crate) parameters: &'static [Parameter],
    /// Names of the same parameters that no other part has.
    pub(crate) qualified: &'static [&'static str],
    /// Reads values of the parameters, in their order, into a maker.
    pub(crate) read: fn(&[f64]) -> Maker<T>,
}

/// Makes a part for a connection with these settings.
pub(crate) type Maker<T> = Arc<dyn Fn(&Config) -> T + Send + Sync>;

impl<T> Kind<T> {
    /// Returns the kind called `name`, with the parameters of `S`. A kind without parameters has
    /// `()`.
    pub(crate) const fn new<S: Settings>(name: &'static str, read: fn(&[f64]) -> Maker<T>) -> Self {
        Self { name, parameters: S::PARAMETERS, qualified: S::QUALIFIED, read }
    }
}

impl<T> Clone for Kind<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kind<T> {}

/// Reads `values` once; the maker that it returns calls `make` for each connection.
pub(crate) fn maker<S: Settings, T>(
    values: &[f64],
    make: impl Fn(S, &Config) -> T + Send + Sync + 'static,
) -> Maker<T> {
    let settings = S::read(values);
    Arc::new(move |config| make(settings, config))
}
