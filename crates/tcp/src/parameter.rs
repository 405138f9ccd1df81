//! Tunable parameters: named numbers with a unit, a range, a default and a source, and choices
//! between named readings of a source. A part reads its own once, into typed [`Settings`].

use core::fmt;

use unruffled_units::{Duration, parse_duration, parse_fraction};

/// What a parameter or a [`Variable`](crate::Variable) is measured in. Use it to print values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share, written "90 %"; kept as 0…1.
    Fraction,
    /// Segments, a whole number.
    Segments,
    /// A time, written "80 s"; kept in seconds.
    Time,
    /// Congestion windows.
    Windows,
    /// A plain number.
    Number,
    /// One of these, written by its name; kept as its place among them.
    Choice(&'static [&'static str]),
}

/// One tunable parameter of a sender. Use it to list or check what [`Variant::set`] takes.
///
/// [`Variant::set`]: crate::Variant::set
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// Its value unless it is set.
    pub default: f64,
    /// Minimum and maximum.
    pub range: (f64, f64),
    /// What it does, in one line.
    pub about: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

impl Parameter {
    /// A choice between `names`, of which the first is the default.
    pub const fn choice(
        name: &'static str,
        names: &'static [&'static str],
        about: &'static str,
        source: &'static str,
    ) -> Self {
        let range = (0.0, (names.len() - 1) as f64);
        Self { name, unit: Unit::Choice(names), default: 0.0, range, about, source }
    }

    /// What it can be, in words: "0 % to 99 %", "before or after".
    pub fn expected(&self) -> String {
        match self.unit {
            Unit::Choice(names) => names.join(" or "),
            _ => format!("{} to {}", self.show(self.range.0), self.show(self.range.1)),
        }
    }

    /// Reads a value in the parameter's unit, as [`show`](Self::show) writes it, or as a number alone: of
    /// a time one with a decimal point, in seconds.
    ///
    /// # Errors
    /// What was expected, where it is not of the unit or out of range.
    pub fn parse(&self, text: &str) -> Result<f64, ParameterError> {
        let wrong = || ParameterError { expected: self.expected(), found: text.to_owned() };
        let text = text.trim();
        let without = |unit: &str| text.strip_suffix(unit).map(str::trim_end);
        let value = match self.unit {
            Unit::Fraction => parse_fraction(text).ok(),
            Unit::Time => parse_duration(text).ok().map(Duration::as_secs_f64),
            Unit::Segments => {
                let number = without("segments").or(without("segment")).unwrap_or(text);
                // Results print it as any other number: 3.0.
                number.parse::<f64>().ok().filter(|n| *n >= 0.0 && n.fract() == 0.0)
            }
            Unit::Windows => without("cwnd").unwrap_or(text).parse().ok(),
            Unit::Number => text.parse().ok(),
            Unit::Choice(names) => names.iter().position(|&name| name == text).map(|at| at as f64),
        };
        value.filter(|v| (self.range.0..=self.range.1).contains(v)).ok_or_else(wrong)
    }

    /// `value` as people write it.
    pub fn show(&self, value: f64) -> String {
        // Shares are decimal fractions: their percentage needs no more digits than this.
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

/// Why a text is no value of a parameter. Displays as one line. Match on it in a
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
    /// Tunable parameters.
    const PARAMETERS: &'static [Parameter];
    /// Their names where another part of the same sender has one of the same name.
    const QUALIFIED: &'static [&'static str];

    /// Reads one value for each of [`Self::PARAMETERS`], in their order.
    fn read(values: &[f64]) -> Self;
}

/// The settings of a part without parameters.
impl Settings for () {
    const PARAMETERS: &'static [Parameter] = &[];
    const QUALIFIED: &'static [&'static str] = &[];

    fn read(_values: &[f64]) -> Self {}
}

/// A type that a parameter's value is read into.
pub(crate) trait Setting {
    /// Reads a value that is within the parameter's range.
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

/// Whether two names are the same, for [`settings!`] to ask while it compiles.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Declares a part's parameters and the struct that they are read into: a field for each, of its
/// name. A field without a parameter, or one of another name, does not compile.
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

/// Declares an enum that a [`Unit::Choice`] is read into: a variant for each name. The first is the
/// default.
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
            /// What people write, in order.
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
    fn a_value_is_read_in_its_unit_and_kept_in_its_range() {
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
    fn a_choice_is_read_and_shown_by_name_and_its_first_is_the_default() {
        let order = Parameter::choice("order", &["before", "after"], "", "");
        assert_eq!((order.default, order.parse("before")), (0.0, Ok(0.0)));
        assert_eq!((order.parse(" after "), order.show(1.0)), (Ok(1.0), "after".to_owned()));
        for wrong in ["1", "After", ""] {
            let error = order.parse(wrong).expect_err("no choice").to_string();
            assert_eq!(error, format!("expected before or after, found {wrong:?}"));
        }
    }

    choice! {
        /// An order.
        Order { Before = "before", After = "after" }
    }

    settings! {
        /// One of each type.
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
    fn a_name_is_the_same_only_as_itself() {
        assert!(same("gain", "gain"));
        assert!(!same("gain", "gains") && !same("gains", "gain") && !same("gain", "rain"));
    }
}
