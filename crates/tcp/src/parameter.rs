//! Tunable parameters: named numbers with a unit, a range, a default and a source, and choices
//! between named readings of a source. A part reads its parameters once, into typed [`Settings`].

use core::fmt;

use unruffled_units::{Duration, parse_duration, parse_fraction};

/// Unit of a parameter or a [`Variable`](crate::Variable). Determines how values are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A share, written "90 %" and stored as 0…1.
    Fraction,
    /// A whole number of segments.
    Segments,
    /// A time, written "80 s" and stored in seconds.
    Time,
    /// A multiple of the congestion window.
    Windows,
    /// A plain number.
    Number,
    /// One of these names, stored as its index.
    Choice(&'static [&'static str]),
}

/// A tunable parameter of a sender, as [`Variant::set`] takes it.
///
/// [`Variant::set`]: crate::Variant::set
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: Unit,
    /// Default value.
    pub default: f64,
    /// Minimum and maximum.
    pub range: (f64, f64),
    /// One-line description.
    pub about: &'static str,
    /// Source of the default.
    pub source: &'static str,
}

impl Parameter {
    /// Returns a choice between `names`; the first is the default.
    pub const fn choice(
        name: &'static str,
        names: &'static [&'static str],
        about: &'static str,
        source: &'static str,
    ) -> Self {
        let range = (0.0, (names.len() - 1) as f64);
        Self { name, unit: Unit::Choice(names), default: 0.0, range, about, source }
    }

    /// Describes the valid values: "0 % to 99 %", "before or after".
    pub fn expected(&self) -> String {
        match self.unit {
            Unit::Choice(names) => names.join(" or "),
            _ => format!("{} to {}", self.show(self.range.0), self.show(self.range.1)),
        }
    }

    /// Parses a value in the parameter's unit, as [`show`](Self::show) writes it, or a number
    /// without a unit. A time without a unit is in seconds and needs a decimal point.
    ///
    /// # Errors
    /// [`ParameterError`] if `text` is not in the unit or out of range.
    pub fn parse(&self, text: &str) -> Result<f64, ParameterError> {
        let wrong = || ParameterError { expected: self.expected(), found: text.to_owned() };
        let text = text.trim();
        let without = |unit: &str| text.strip_suffix(unit).map(str::trim_end);
        let value = match self.unit {
            Unit::Fraction => parse_fraction(text).ok(),
            Unit::Time => parse_duration(text).ok().map(Duration::as_secs_f64),
            Unit::Segments => {
                let number = without("segments").or(without("segment")).unwrap_or(text);
                // Results print segments like any other number: 3.0.
                number.parse::<f64>().ok().filter(|n| *n >= 0.0 && n.fract() == 0.0)
            }
            Unit::Windows => without("cwnd").unwrap_or(text).parse().ok(),
            Unit::Number => text.parse().ok(),
            Unit::Choice(names) => names.iter().position(|&name| name == text).map(|at| at as f64),
        };
        value.filter(|v| (self.range.0..=self.range.1).contains(v)).ok_or_else(wrong)
    }

    /// Formats `value` in the parameter's unit.
    pub fn show(&self, value: f64) -> String {
        // Shares are decimal fractions, so their percentages need no more digits than this.
        let rounded = |v: f64| (v * 1e9).round() / 1e9;
        match self.unit {
            Unit::Fraction => format!("{} %", rounded(value * 100.0)),
            Unit::Time => Duration::from_secs_f64(value).to_string(),
            Unit::Segments if value == 1.0 => "1 segment".to_owned(),
            Unit::Segments => format!("{value} segments"),
            Unit::Windows => format!("{value} cwnd"),
            Unit::Number => format!("{value}"),
            Unit::Choice(names) => {
                names.get(value as usize).copied().unwrap_or_default().to_owned()
            }
        }
    }
}

/// Reason why a text is not a value of a parameter. Displays as one line. Part of
/// [`VariantError::Value`](crate::VariantError::Value).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    expected: String,
    found: String,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.found)
    }
}

impl std::error::Error for ParameterError {}

/// The parameters of one part as typed values.
pub(crate) trait Settings: Copy + Send + Sync + 'static {
    /// Parameters of the part.
    const PARAMETERS: &'static [Parameter];
    /// Qualified names, used where another part of the same sender has a parameter of the same
    /// name.
    const QUALIFIED: &'static [&'static str];

    /// Reads one value for each of [`Self::PARAMETERS`], in the same order.
    fn read(values: &[f64]) -> Self;
}

/// The settings of a part without parameters.
impl Settings for () {
    const PARAMETERS: &'static [Parameter] = &[];
    const QUALIFIED: &'static [&'static str] = &[];

    fn read(_values: &[f64]) -> Self {}
}

/// A type that the value of a parameter is read into.
pub(crate) trait Setting {
    /// Converts a value that is within the parameter's range.
    fn from_value(value: f64) -> Self;
}

impl Setting for f64 {
    fn from_value(value: f64) -> Self {
        value
    }
}

impl Setting for u32 {
    fn from_value(value: f64) -> Self {
        value as Self
    }
}

impl Setting for Duration {
    fn from_value(value: f64) -> Self {
        Self::from_secs_f64(value)
    }
}

/// Returns whether two names are equal, at compile time for [`settings!`].
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let a = a.as_bytes();
    let b = b.as_bytes();
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Declares the parameters of a part and the struct that they are read into, with one field per
/// parameter. A field without a parameter of the same name does not compile.
macro_rules! settings {
    ($(#[$doc:meta])* $part:literal $name:ident {
        $($field:ident: $type:ty = $parameter:expr),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type),*
        }

        impl $crate::parameter::Settings for $name {
            const PARAMETERS: &'static [$crate::parameter::Parameter] = &[$({
                const PARAMETER: $crate::parameter::Parameter = $parameter;
                assert!(
                    $crate::parameter::same(PARAMETER.name, stringify!($field)),
                    "a parameter has the name of its field"
                );
                PARAMETER
            }),*];
            const QUALIFIED: &'static [&'static str] =
                &[$(concat!($part, "-", stringify!($field))),*];

            fn read(values: &[f64]) -> Self {
                let mut values = values.iter().copied();
                $(let $field = <$type as $crate::parameter::Setting>::from_value(
                    values.next().expect("a value for each parameter"),
                );)*
                Self { $($field),* }
            }
        }
    };
}

/// Declares an enum that a [`Unit::Choice`] is read into, with a variant for each name. The first
/// is the default.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$variant_doc])* $variant),*
        }

        impl $name {
            /// Names as users write them, in order.
            pub(crate) const NAMES: &'static [&'static str] = &[$($text),*];
        }

        impl $crate::parameter::Setting for $name {
            fn from_value(value: f64) -> Self {
                const ALL: &[$name] = &[$($name::$variant),*];
                ALL[value as usize]
            }
        }
    };
}

pub(crate) use {choice, settings};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_parsed_in_its_unit_and_checked_against_its_range() {
        let history = Parameter {
            name: "history",
            unit: Unit::Time,
            default: 80.0,
            range: (1.0, 1000.0),
            about: "",
            source: "",
        };
        assert_eq!(history.parse("40s"), Ok(40.0));
        let wrong = history.parse("-1 s").expect_err("negative");
        assert_eq!(wrong.to_string(), "expected 1 s to 1000 s, found \"-1 s\"");
        assert_eq!(history.parse("2000 s").ok(), None);
    }

    #[test]
    fn a_choice_is_parsed_and_shown_by_name_and_defaults_to_the_first() {
        let order = Parameter::choice("order", &["before", "after"], "", "");
        assert_eq!((order.default, order.parse("before")), (0.0, Ok(0.0)));
        assert_eq!((order.parse(" after "), order.show(1.0)), (Ok(1.0), "after".to_owned()));
        for wrong in ["1", "After", ""] {
            let error = order.parse(wrong).expect_err("no choice").to_string();
            assert_eq!(error, format!("expected before or after, found {wrong:?}"));
        }
    }

    choice! {
        /// A choice between two orders.
        Order { Before = "before", After = "after" }
    }

    settings! {
        /// One parameter of each type.
        "part" All {
            share: f64 = SHARE,
            count: u32 = Parameter { name: "count", unit: Unit::Segments, ..SHARE },
            history: Duration = Parameter { name: "history", unit: Unit::Time, ..SHARE },
            order: Order = Parameter::choice("order", Order::NAMES, "", ""),
        }
    }

    const SHARE: Parameter = Parameter {
        name: "share",
        unit: Unit::Fraction,
        default: 0.5,
        range: (0.0, 1.0),
        about: "",
        source: "",
    };

    #[test]
    fn settings_are_read_in_the_order_of_their_parameters() {
        let names: Vec<&str> = All::PARAMETERS.iter().map(|p| p.name).collect();
        assert_eq!(names, ["share", "count", "history", "order"]);
        assert_eq!(All::QUALIFIED[1], "part-count");
        let all = All::read(&[0.25, 7.0, 1.5, 1.0]);
        assert_eq!((all.share, all.count, all.order), (0.25, 7, Order::After));
        assert_eq!(all.history, Duration::from_millis(1500));
    }

    #[test]
    fn names_are_compared_in_full() {
        assert!(same("gain", "gain"));
        assert!(!same("gain", "gains") && !same("gains", "gain") && !same("gain", "rain"));
    }
}
