//! What can be set of a sender: named numbers with a unit, a range, a default and a source, and
//! choices between named readings of a source.

use unruffled_units::{Duration, parse_duration, parse_fraction};

/// What a parameter is measured in.
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

/// One thing that can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// What it is when nobody sets it.
    pub default: f64,
    /// Least and greatest value.
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

    /// Reads a value in the parameter's unit.
    ///
    /// # Errors
    /// One line that says what was expected.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let wrong = || format!("expected {}, found {text:?}", self.expected());
        let value = match self.unit {
            Unit::Fraction => parse_fraction(text).ok(),
            Unit::Time => parse_duration(text).ok().map(Duration::as_secs_f64),
            Unit::Segments => text.trim().parse::<u64>().ok().map(|n| n as f64),
            Unit::Windows | Unit::Number => text.trim().parse().ok(),
            Unit::Choice(names) => {
                names.iter().position(|&name| name == text.trim()).map(|at| at as f64)
            }
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
            Unit::Segments => format!("{value} segments"),
            Unit::Windows => format!("{value} cwnd"),
            Unit::Number => format!("{value}"),
            Unit::Choice(names) => {
                names.get(value as usize).copied().unwrap_or_default().to_owned()
            }
        }
    }
}

/// The values of a sender's parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    pub(crate) parameters: &'a [Parameter],
    pub(crate) values: &'a [f64],
}

impl Values<'_> {
    /// The value of `name`, if the sender has such a parameter.
    pub(crate) fn find(&self, name: &str) -> Option<f64> {
        self.parameters.iter().position(|p| p.name == name).map(|at| self.values[at])
    }

    /// The value of `name`, which the sender's row must declare.
    pub(crate) fn get(&self, name: &str) -> f64 {
        let value = self.find(name);
        debug_assert!(value.is_some(), "no parameter {name}");
        value.unwrap_or_default()
    }

    /// The name that is chosen for `name`, a [`Unit::Choice`].
    pub(crate) fn choice(&self, name: &str) -> &'static str {
        let choice = self.find_choice(name);
        debug_assert!(choice.is_some(), "no choice {name}");
        choice.unwrap_or_default()
    }

    /// The name that is chosen for `name`, if the sender has such a choice.
    pub(crate) fn find_choice(&self, name: &str) -> Option<&'static str> {
        let at = self.parameters.iter().position(|p| p.name == name)?;
        match self.parameters[at].unit {
            Unit::Choice(names) => names.get(self.values[at] as usize).copied(),
            _ => None,
        }
    }

    pub(crate) fn segments(&self, name: &str) -> u32 {
        self.get(name) as u32
    }

    pub(crate) fn time(&self, name: &str) -> Duration {
        Duration::from_secs_f64(self.get(name))
    }
}

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
        assert_eq!(history.parse("-1 s"), Err("expected 1 s to 1000 s, found \"-1 s\"".to_owned()));
        assert_eq!(history.parse("2000 s").ok(), None);
    }

    #[test]
    fn a_choice_is_read_and_shown_by_name_and_its_first_is_the_default() {
        let order = Parameter::choice("order", &["before", "after"], "", "");
        assert_eq!((order.default, order.parse("before")), (0.0, Ok(0.0)));
        assert_eq!((order.parse(" after "), order.show(1.0)), (Ok(1.0), "after".to_owned()));
        for wrong in ["1", "After", ""] {
            assert_eq!(
                order.parse(wrong),
                Err(format!("expected before or after, found {wrong:?}"))
            );
        }
        let chosen = |at| Values { parameters: &[order], values: &[at] }.choice("order");
        assert_eq!((chosen(0.0), chosen(1.0)), ("before", "after"));
    }
}
