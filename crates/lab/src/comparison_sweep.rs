//! Comparisons at several values of one key of a scenario, beside the results of a paper.

use comfy_table::Cell;
use serde::Serialize;

use crate::record::{Comparison, RunRow};
use crate::summary::summaries;
use crate::table;
use crate::text::number;

/// A comparison that is repeated with several values of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonSweep {
    /// The short name.
    pub name: String,
    /// One line that describes the sweep.
    pub title: String,
    /// The origin: paper, section, table.
    pub source: String,
    /// The quantity that varies, with its unit.
    pub quantity: String,
    /// The points, in ascending order of their values.
    pub points: Vec<ComparisonAt>,
    /// The paper's results at the same values.
    pub paper: Option<Paper>,
}

/// One value of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonAt {
    /// The value in the unit of [`ComparisonSweep::quantity`].
    pub value: f64,
    /// The comparison at that value. All points have the same variants.
    pub comparison: Comparison,
}

/// The results of a paper at each point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paper {
    /// The name of the results.
    pub name: String,
    /// Goodput, in bits per second.
    pub goodput_bps: Vec<f64>,
    /// The share of packets that arrived out of order.
    pub out_of_order_rate: Vec<f64>,
}

/// A variant's results over the sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoodputCurve {
    /// The name of the variant or of the paper.
    pub variant: String,
    /// The mean goodput at each point, in bits per second.
    pub goodput_bps: Vec<f64>,
    /// The difference between the largest and the smallest goodput, as a share of the largest.
    pub spread: f64,
}

impl GoodputCurve {
    fn new(variant: &str, goodput_bps: Vec<f64>) -> Self {
        let highest = goodput_bps.iter().copied().fold(f64::NAN, f64::max);
        let lowest = goodput_bps.iter().copied().fold(f64::NAN, f64::min);
        let spread = (highest - lowest) / highest;
        Self { variant: variant.to_owned(), goodput_bps, spread }
    }
}

impl ComparisonSweep {
    /// Returns a curve for each variant, then that of the paper.
    pub fn curves(&self) -> Vec<GoodputCurve> {
        let at: Vec<_> = self.points.iter().map(|p| summaries(&p.comparison)).collect();
        let variants = self.points.first().map_or(&[][..], |p| &p.comparison.variants);
        let curve = |(i, variant): (usize, &crate::record::VariantRuns)| {
            let goodput = at.iter().map(|s| s.get(i).map_or(f64::NAN, |s| s.goodput_bps.mean));
            GoodputCurve::new(&variant.name, goodput.collect())
        };
        let paper = self.paper.iter().map(|p| GoodputCurve::new(&p.name, p.goodput_bps.clone()));
        variants.iter().enumerate().map(curve).chain(paper).collect()
    }

    /// Returns the unit of goodputs: its size in bits per second, and its name. Papers use octets.
    pub(crate) fn unit(&self) -> (f64, &'static str) {
        let curves = self.curves();
        let all = curves.iter().flat_map(|c| &c.goodput_bps).copied();
        match all.filter(|bps| bps.is_finite()).fold(0.0, f64::max) / 8.0 {
            largest if largest >= 9.9995e9 => (8e9, "GB/s"),
            largest if largest >= 9.9995e6 => (8e6, "MB/s"),
            _ => (8e3, "KB/s"),
        }
    }

    /// Returns the mean share of packets that arrived out of order at each point.
    pub(crate) fn out_of_order(&self) -> Vec<f64> {
        let mean = |p: &ComparisonAt| {
            let rows = p.comparison.variants.iter().flat_map(|v| &v.rows);
            let rates: Vec<f64> = rows.map(|row| row.out_of_order_rate).collect();
            rates.iter().sum::<f64>() / rates.len() as f64
        };
        self.points.iter().map(mean).collect()
    }

    /// Returns the lines of the table: a name, a cell for each point, and the spread.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        let (octets, _) = self.unit();
        let curve = |c: &GoodputCurve| -> Vec<String> {
            let cells = c.goodput_bps.iter().map(|bps| number(bps / octets, 1));
            let spread = number(c.spread * 100.0, 1);
            [c.variant.clone()].into_iter().chain(cells).chain([spread]).collect()
        };
        let percent = |name: &str, rates: &[f64]| -> Vec<String> {
            let cells = rates.iter().map(|rate| number(rate * 100.0, 2));
            [name.to_owned()].into_iter().chain(cells).chain([String::new()]).collect()
        };
        let mut lines: Vec<Vec<String>> = self.curves().iter().map(curve).collect();
        lines.push(percent("out of order %", &self.out_of_order()));
        lines.extend(self.paper.iter().map(|p| percent("the paper’s %", &p.out_of_order_rate)));
        lines
    }

    /// Returns the heads of the columns of [`lines`](Self::lines).
    pub(crate) fn heads(&self) -> Vec<String> {
        let values = self.points.iter().map(|p| p.value.to_string());
        [self.unit().1.to_owned()]
            .into_iter()
            .chain(values)
            .chain(["spread %".to_owned()])
            .collect()
    }

    /// Formats the results as text.
    pub fn render(&self) -> String {
        self.render_within(None)
    }

    /// Formats the results for a terminal of that width.
    pub fn render_within(&self, width: Option<usize>) -> String {
        let mut table = table::for_columns(width);
        table.set_header(self.heads().into_iter().map(Cell::new));
        table.add_rows(self.lines());
        let lines = table::lines(table);
        let notes = self.notes().into_iter().map(|note| note + "\n").collect::<String>();
        format!("{}: by {}\n\n{lines}\n{}\n{notes}", self.name, self.quantity, self.octets())
    }

    /// Describes the unit.
    pub(crate) fn octets(&self) -> String {
        let (bps, unit) = self.unit();
        format!("{} are {} octets", unit.trim_end_matches("/s"), number(bps / 8.0, 0))
    }

    /// Returns the notes on the points, each with the values that it applies to.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
        for point in &self.points {
            for note in &point.comparison.notes {
                match notes.iter_mut().find(|(text, _)| text == note) {
                    Some((_, values)) => values.push(point.value.to_string()),
                    None => notes.push((note, vec![point.value.to_string()])),
                }
            }
        }
        notes.into_iter().map(|(note, at)| format!("at {}: {note}", at.join(", "))).collect()
    }

    /// Returns the results as one JSON object. The rows of each point name the scenario with its
    /// value.
    pub fn json(&self) -> String {
        let rows =
            self.points.iter().flat_map(|p| p.comparison.variants.iter().flat_map(|v| &v.rows));
        let document = Document {
            scenario: &self.name,
            quantity: &self.quantity,
            values: self.points.iter().map(|p| p.value).collect(),
            rows: rows.collect(),
            curves: self.curves(),
            out_of_order_rate: self.out_of_order(),
            paper: self.paper.as_ref(),
        };
        let text = serde_json::to_string_pretty(&document);
        text.expect("the document has string keys only") + "\n"
    }

    /// Returns all runs as CSV.
    pub fn csv(&self) -> String {
        table::rows_csv(self.points.iter().flat_map(|p| &p.comparison.variants))
    }
}

#[derive(Serialize)]
struct Document<'a> {
    scenario: &'a str,
    quantity: &'a str,
    values: Vec<f64>,
    rows: Vec<&'a RunRow>,
    curves: Vec<GoodputCurve>,
    out_of_order_rate: Vec<f64>,
    paper: Option<&'a Paper>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record;

    /// The made-up comparison at two values, and a paper with other results.
    pub(crate) fn fake() -> ComparisonSweep {
        let point = |value: f64| ComparisonAt { value, comparison: record::fake::comparison() };
        ComparisonSweep {
            name: "fake-sweep".to_owned(),
            title: "Ten per cent of the packets arrive late, and later".to_owned(),
            source: "Doe and Roe, table 3".to_owned(),
            quantity: "lateness (ms)".to_owned(),
            points: vec![point(0.0), point(1.0)],
            paper: Some(Paper {
                name: "the paper".to_owned(),
                goodput_bps: vec![8e6, 6e6],
                out_of_order_rate: vec![0.0, 0.1],
            }),
        }
    }

    #[test]
    fn a_curve_has_each_point_and_its_spread() {
        let sweep = fake();
        let curves = sweep.curves();
        assert_eq!(curves.len(), 8, "seven variants and the paper");
        assert_eq!(curves[7].spread, 0.25);
        assert_eq!(curves[0].goodput_bps.len(), 2);
    }

    #[test]
    fn the_table_has_the_papers_line_and_the_shares_out_of_order() {
        let table = fake().render();
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        let paper = table
            .lines()
            .find(|line| line.starts_with("the paper") && line.contains("1,000.0"))
            .unwrap();
        let cells: Vec<_> = paper.split_whitespace().skip(2).collect();
        assert_eq!(cells, ["1,000.0", "750.0", "25.0"]);
        assert!(table.contains("out of order %"), "{table}");
    }

    #[test]
    fn json_has_every_row_of_every_point() {
        let value: serde_json::Value = serde_json::from_str(&fake().json()).unwrap();
        assert_eq!(value["rows"].as_array().unwrap().len(), 2 * 35);
        assert_eq!(value["values"], serde_json::json!([0.0, 1.0]));
        assert_eq!(value["paper"]["goodput_bps"][0], 8e6);
    }
}
