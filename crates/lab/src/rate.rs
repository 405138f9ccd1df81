//! Bit rates as text, in a suitable unit.

use crate::text::number;

/// A unit of bit rates, and the heads of columns in it.
#[derive(Debug, PartialEq)]
struct Unit {
    bps: f64,
    name: &'static str,
    goodput: &'static str,
    each: &'static str,
}

/// The units, the largest first.
const UNITS: [Unit; 4] = [
    Unit { bps: 1e9, name: "Gb/s", goodput: "Goodput, Gb/s", each: "Gb/s per flow" },
    Unit { bps: 1e6, name: "Mb/s", goodput: "Goodput, Mb/s", each: "Mb/s per flow" },
    Unit { bps: 1e3, name: "kb/s", goodput: "Goodput, kb/s", each: "kb/s per flow" },
    Unit { bps: 1.0, name: "b/s", goodput: "Goodput, b/s", each: "b/s per flow" },
];

/// A common unit and number of decimals for the rates of a table or an axis. Each table and each
/// axis has its own scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    unit: &'static Unit,
    decimals: usize,
}

impl Scale {
    /// Returns the scale for these rates, in bits per second: the unit of the largest, with three
    /// of its digits.
    pub(crate) fn of(bps: impl IntoIterator<Item = f64>) -> Self {
        let largest = largest(bps);
        Self::new(largest, largest)
    }

    /// Returns the scale for these rates beside others: the unit of the largest of all, with three
    /// digits of the largest of `bps`, and at most five decimals.
    pub(crate) fn beside(
        bps: impl IntoIterator<Item = f64>,
        others: impl IntoIterator<Item = f64>,
    ) -> Self {
        let own = largest(bps);
        Self::new(own, own.max(largest(others)))
    }

    fn new(largest: f64, of_all: f64) -> Self {
        // A value that rounds to 1000 is 1 of the next unit.
        let fits = |unit: &&Unit| of_all >= 0.9995 * unit.bps;
        let unit = match UNITS.iter().find(fits) {
            Some(unit) => unit,
            None if of_all > 0.0 => &UNITS[3],
            None => &UNITS[1],
        };
        let decimals = match largest / unit.bps {
            _ if unit.bps == 1.0 => 0,
            largest if largest >= 99.95 => 1,
            largest if largest >= 0.9995 => 2,
            largest if largest >= 0.0995 || largest == 0.0 => 3,
            largest if largest >= 0.00995 => 4,
            _ => 5,
        };
        Self { unit, decimals }
    }

    /// Returns the name of the unit: `Mb/s`.
    pub(crate) fn name(self) -> &'static str {
        self.unit.name
    }

    /// Returns the head of a column of goodputs: `Goodput, Mb/s`.
    pub(crate) fn heading(self) -> &'static str {
        self.unit.goodput
    }

    /// Returns the head of a column of rates per flow: `Mb/s per flow`.
    pub(crate) fn each(self) -> &'static str {
        self.unit.each
    }

    /// Converts bits per second to the unit.
    pub(crate) fn value(self, bps: f64) -> f64 {
        bps / self.unit.bps
    }

    /// Formats a rate without the unit.
    pub(crate) fn number(self, bps: f64) -> String {
        number(self.value(bps), self.decimals)
    }

    /// Formats a rate with the unit, joined by a no-break space.
    pub(crate) fn with_unit(self, bps: f64) -> String {
        format!("{}\u{a0}{}", self.number(bps), self.unit.name)
    }
}

fn largest(bps: impl IntoIterator<Item = f64>) -> f64 {
    bps.into_iter().filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// Formats a rate with about three digits.
pub(crate) fn in_words(bps: f64) -> String {
    match bps {
        bps if bps < 1e6 => format!("{:.0} kb/s", bps / 1e3),
        bps if bps < 1e8 => format!("{:.2} Mb/s", bps / 1e6),
        bps if bps < 9.995e8 => format!("{:.0} Mb/s", bps / 1e6),
        bps => format!("{} Gb/s", number(bps / 1e9, usize::from(bps < 99.95e9) + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_three_digits_and_a_suitable_unit() {
        let shown = |bps: f64| Scale::of([bps]).with_unit(bps).replace('\u{a0}', " ");
        for (bps, expected) in [
            (99_547.5e6, "99.55 Gb/s"),
            (400e9, "400.0 Gb/s"),
            (2e12, "2,000.0 Gb/s"),
            (1e9, "1.00 Gb/s"),
            (999.96e6, "1.00 Gb/s"),
            (97.04e6, "97.04 Mb/s"),
            (100e6, "100.0 Mb/s"),
            (2.88e6, "2.88 Mb/s"),
            (999.9e3, "1.00 Mb/s"),
            (480e3, "480.0 kb/s"),
            (6.8e3, "6.80 kb/s"),
            (12.0, "12 b/s"),
            (0.0, "0.000 Mb/s"),
            (f64::NAN, "– Mb/s"),
        ] {
            assert_eq!(shown(bps), expected);
        }
    }

    #[test]
    fn rates_beside_each_other_have_one_unit() {
        let scale = Scale::of([0.5e6, 12e9, f64::NAN, f64::INFINITY]);
        assert_eq!((scale.name(), scale.number(0.5e6).as_str()), ("Gb/s", "0.00"));
        // The largest of the rates keeps three digits, in the unit of the rates beside it.
        let scale = Scale::beside([0.6e6, 0.19e6], [9.11e6]);
        assert_eq!((scale.name(), scale.number(0.6e6).as_str()), ("Mb/s", "0.600"));
        assert_eq!(Scale::beside([6.8e3], [9.11e6]).number(6.8e3), "0.00680");
    }

    #[test]
    fn a_rate_in_words_is_scaled() {
        let shown = [6.8e3, 2.88e6, 480e6, 12.345e9, 400e9].map(in_words);
        assert_eq!(shown, ["7 kb/s", "2.88 Mb/s", "480 Mb/s", "12.35 Gb/s", "400.0 Gb/s"]);
    }
}
