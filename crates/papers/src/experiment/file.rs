//! The experiment file as serde reads it, before it is checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub(super) type Settings = BTreeMap<Spanned<String>, Spanned<toml::Value>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) id: Spanned<String>,
    pub(super) paper: String,
    pub(super) figure: String,
    pub(super) title: String,
    pub(super) section: Option<String>,
    #[serde(default)]
    pub(super) assumed: Vec<String>,
    #[serde(default)]
    pub(super) notes: String,
    pub(super) seeds: Option<Seeds>,
    pub(super) x: Option<X>,
    #[serde(default)]
    pub(super) set: Settings,
    #[serde(default)]
    pub(super) quick_set: Settings,
    pub(super) scenario: Option<Spanned<toml::Value>>,
    #[serde(default)]
    pub(super) line: Vec<Spanned<Line>>,
    #[serde(default)]
    pub(super) measure: Vec<Spanned<Measure>>,
    pub(super) plot: Option<Spanned<Panel>>,
    #[serde(default)]
    pub(super) panel: Vec<Spanned<Panel>>,
    #[serde(default)]
    pub(super) claim: Vec<Spanned<Claim>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seeds {
    pub(super) full: Spanned<u64>,
    pub(super) quick: Option<Spanned<u64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct X {
    pub(super) label: String,
    pub(super) values: Option<Spanned<Vec<f64>>>,
    pub(super) quick: Option<Spanned<Vec<f64>>>,
    pub(super) grid: Option<Spanned<BTreeMap<String, Vec<f64>>>>,
    pub(super) quick_grid: Option<Spanned<BTreeMap<String, Vec<f64>>>>,
    #[serde(default)]
    pub(super) log: bool,
    pub(super) even: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) name: Spanned<String>,
    pub(super) label: Option<String>,
    pub(super) variant: Option<Spanned<String>>,
    pub(super) group: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) set: Settings,
    pub(super) formula: Option<Spanned<String>>,
    pub(super) measure: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) paper: BTreeMap<Spanned<String>, f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    pub(super) name: Spanned<String>,
    pub(super) value: Spanned<String>,
    pub(super) label: Option<String>,
    pub(super) lines: Option<Spanned<Vec<String>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Curves with markers.
    #[default]
    Line,
    /// Markers only.
    Points,
    /// A bar for each line.
    Bars,
    /// A time series for each line.
    Time,
    /// No drawing, only a table of numbers.
    Table,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Panel {
    pub(super) title: Option<String>,
    pub(super) kind: Option<Kind>,
    pub(super) y: Option<Spanned<String>>,
    pub(super) y_label: Option<String>,
    pub(super) y_range: Option<Spanned<[f64; 2]>>,
    pub(super) y_log: Option<bool>,
    pub(super) x_label: Option<String>,
    pub(super) x_range: Option<Spanned<[f64; 2]>>,
    pub(super) lines: Option<Spanned<Vec<String>>>,
    pub(super) curve: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) curves: BTreeMap<String, Spanned<String>>,
    pub(super) at: Option<Spanned<f64>>,
    pub(super) dots: Option<bool>,
    pub(super) rule: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Claim {
    pub(super) text: Spanned<String>,
    pub(super) source: Option<String>,
    pub(super) check: Option<Spanned<String>>,
    pub(super) expected: Option<String>,
    pub(super) known: Option<Spanned<String>>,
    pub(super) class: Option<Spanned<String>>,
    pub(super) why: Option<Spanned<String>>,
    pub(super) other_reading: Option<String>,
    pub(super) not_tested: Option<String>,
}
