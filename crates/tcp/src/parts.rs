//! The parts that senders are made of.
//!
//! A part is a value with state of its own, its parameters, one line that describes it, and functions
//! from facts to a verdict. No part sees the sender: it is told what happens and asked what it makes
//! of it. One file per published algorithm, in the folder of what it decides:
//!
//! * [`detect`]: is this hole a loss, or is its segment late?
//! * [`respond`]: what becomes of the window when a reduction proves spurious?
//! * [`timer`]: how long does the retransmission timer run?
//! * [`limited_transmit`]: what is sent beyond the window while a hole waits?
//! * [`control`]: how much may be in flight?

pub mod control;
pub mod detect;
pub(crate) mod limited_transmit;
pub(crate) mod respond;
pub(crate) mod timer;

use std::sync::Arc;

use unruffled_units::Duration;

use crate::Config;
use crate::parameter::{Parameter, Unit};

/// A variable of an algorithm, for those who plot or print what it does. Ask
/// [`Connection::variables`](crate::Connection::variables) for those of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// Its name, such as `fa_ratio`.
    pub name: &'static str,
    /// What it is measured in; times are in seconds.
    pub unit: Unit,
    /// Its value.
    pub value: f64,
}

impl Variable {
    /// A share, 0…1.
    pub fn fraction(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Fraction, value }
    }

    /// A number of segments.
    pub fn segments(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Segments, value }
    }

    /// A time.
    pub fn time(name: &'static str, value: Duration) -> Self {
        Self { name, unit: Unit::Time, value: value.as_secs_f64() }
    }

    /// A plain number.
    pub fn number(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Number, value }
    }
}

/// A kind of part, as the tables of senders and parts name it: its parameters, and how a part of
/// this kind is made.
pub(crate) struct Kind<T: 'static> {
    /// Its name.
    pub(crate) name: &'static str,
    /// Tunable parameters.
    pub(crate) parameters: &'static [Parameter],
    /// The same, by names that no other part has.
    pub(crate) qualified: &'static [&'static str],
    /// Reads the parameters, once; what that gives makes a part for each connection.
    pub(crate) read: fn(&[f64]) -> Maker<T>,
}

/// Makes a part for a connection with these settings.
pub(crate) type Maker<T> = Arc<dyn Fn(&Config) -> T + Send + Sync>;

impl<T> Clone for Kind<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kind<T> {}

/// A kind of part: its name, the type of its settings, and a function from these (and, where it
/// matters, the connection's) to the part.
macro_rules! kind {
    ($name:literal, $settings:ty, |$part:pat_param, $config:pat_param| $make:expr) => {
        $crate::parts::Kind {
            name: $name,
            parameters: <$settings as $crate::parameter::Settings>::PARAMETERS,
            qualified: <$settings as $crate::parameter::Settings>::QUALIFIED,
            read: |values| {
                let $part = <$settings as $crate::parameter::Settings>::read(values);
                std::sync::Arc::new(move |$config: &$crate::Config| $make)
            },
        }
    };
    ($name:literal, |$config:pat_param| $make:expr) => {
        $crate::parts::Kind {
            name: $name,
            parameters: &[],
            qualified: &[],
            read: |_| std::sync::Arc::new(|$config: &$crate::Config| $make),
        }
    };
}

pub(crate) use kind;

/// The parts that a folder has: an enum of them, and a macro `each!` that matches it, because a call
/// through a table would cost more than most parts do. A part is one line of the list. The first
/// argument is a dollar sign, which the inner macro's variables need.
macro_rules! any_of {
    ($d:tt $(#[$meta:meta])* $any:ident { $($(#[$doc:meta])* $kind:ident($part:ty),)* }) => {
        $(#[$meta])*
        pub(crate) enum $any {
            $($(#[$doc])* $kind($part),)*
        }

        macro_rules! each {
            ($d self:expr, $d part:ident => $d do:expr) => {
                match $d self {
                    $($any::$kind($d part) => $d do,)*
                }
            };
        }
    };
}

pub(crate) use any_of;
