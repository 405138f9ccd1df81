//! A sweep as text: the standings of the senders, and all rows as CSV and JSON.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use unruffled_units::count;

use super::plan::Value;
use super::sweep::Sweep;
use crate::metric::{Metric, metrics};
use crate::record::RunRow;
use crate::statistics::quantile;
use crate::table::{Cells, for_columns, lines};
use crate::text;
use crate::text::number;

/// The standing of a sender in a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The sender.
    pub variant: String,
    /// The number of points at which its mean goodput is the highest. Several senders can win a point.
    pub wins: usize,
    /// The median over the points of its share of the best mean goodput.
    pub median_share: f64,
    /// The smallest share.
    pub worst_share: f64,
}

/// Describes the runs before they begin: their number, and the time that they take on `workers` units
/// named `what`, such as cores.
pub fn announcement(sweep: &Sweep, seconds: f64, workers: usize, what: &str) -> String {
    let plan = sweep.plan();
    let kept = match sweep.kept() {
        0 => String::new(),
        kept => format!(", {kept} of them kept from before"),
    };
    let time = seconds / workers.max(1) as f64;
    let time = match time {
        time if time < 1.0 => "less than a second".to_owned(),
        time if time < 120.0 => format!("about {time:.0} s"),
        time if time < 7200.0 => format!("about {:.0} minutes", time / 60.0),
        time => format!("about {:.1} hours", time / 3600.0),
    };
    format!(
        "{}: {}, {}{kept}: {time} on {}",
        plan.name(),
        count(plan.points(), "point"),
        count(plan.runs(), "run"),
        count(workers, what)
    )
}

/// A row with its point, as in JSON and CSV.
struct PointRow<'a> {
    point: usize,
    keys: &'a [String],
    values: &'a [Vec<Value>],
    row: &'a RunRow,
}

impl Serialize for PointRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("point", &self.point)?;
        for (key, values) in self.keys.iter().zip(self.values) {
            match &values[self.point] {
                Value::Number(number) => map.serialize_entry(key, number)?,
                Value::Text(text) => map.serialize_entry(key, text)?,
            }
        }
        map.serialize_entry("scenario", &self.row.scenario)?;
        map.serialize_entry("variant", &self.row.variant)?;
        map.serialize_entry("seed", &self.row.seed)?;
        for metric in metrics([self.row]) {
            map.serialize_entry(metric.name, &metric.of(self.row))?;
        }
        map.end()
    }
}

impl Sweep {
    /// Returns the sum of the goodputs of each sender over its seeds at each point; none where a run is
    /// missing.
    fn sums(&self) -> Vec<Option<Vec<f64>>> {
        let plan = self.plan();
        let mut points = vec![Some(vec![0.0; plan.variants().count()]); plan.points()];
        self.with_rows(|rows| {
            for (run, row) in rows.iter().enumerate() {
                let point = &mut points[plan.point(run)];
                *point = point.take().zip(row.as_ref()).map(|(mut sums, row)| {
                    sums[plan.sender(run)] += row.flow.goodput_bps;
                    sums
                });
            }
        });
        points
    }

    /// Returns the mean goodput of each sender at each point, in bits per second; none where a run is
    /// missing.
    pub(crate) fn goodputs(&self) -> Vec<Option<Vec<f64>>> {
        let seeds = self.plan().seeds() as f64;
        let means = |sums: Vec<f64>| sums.into_iter().map(|sum| sum / seeds).collect();
        self.sums().into_iter().map(|sums| sums.map(means)).collect()
    }

    /// Returns the share of each sender in the best mean goodput at each point; none where a run is
    /// missing.
    pub(crate) fn shares(&self) -> Vec<Option<Vec<f64>>> {
        let share = |sums: Vec<f64>| {
            let best = sums.iter().copied().fold(0.0, f64::max);
            sums.into_iter().map(|sum| if best > 0.0 { sum / best } else { 1.0 }).collect()
        };
        self.sums().into_iter().map(|sums| sums.map(share)).collect()
    }

    /// Returns the standings of the senders, over the points with all runs.
    pub fn standings(&self) -> Vec<Standing> {
        let names: Vec<&str> = self.plan().variants().collect();
        let mut shares: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        let mut wins = vec![0; names.len()];
        for point in self.shares().iter().flatten() {
            for (i, &share) in point.iter().enumerate() {
                wins[i] += usize::from(share >= 1.0);
                shares[i].push(share);
            }
        }
        let standing = |(i, name): (usize, &&str)| {
            let shares = &mut shares[i];
            shares.sort_by(f64::total_cmp);
            Standing {
                variant: (*name).to_owned(),
                wins: wins[i],
                median_share: quantile(shares, 0.5),
                worst_share: quantile(shares, 0.0),
            }
        };
        names.iter().enumerate().map(standing).collect()
    }

    /// Returns the cells of the table of [`render`](Self::render).
    pub fn cells(&self) -> Cells {
        let percent = |share: f64| number(share * 100.0, 1);
        let line = |standing: Standing| {
            let Standing { variant, wins, median_share, worst_share } = standing;
            vec![variant, wins.to_string(), percent(median_share), percent(worst_share)]
        };
        let heads = vec!["variant", "wins at", "median share %", "worst share %"];
        (heads, self.standings().into_iter().map(line).collect())
    }

    /// Formats the standings as a table.
    pub fn render(&self) -> String {
        self.render_within(None)
    }

    /// Formats the standings for a terminal of that width.
    pub fn render_within(&self, width: Option<usize>) -> String {
        let plan = self.plan();
        let mut table = for_columns(width);
        let (heads, cells) = self.cells();
        table.set_header(heads).add_rows(cells);
        format!(
            "{}: {}, {}\n\n{}\nshare: mean goodput over the best sender’s at the same \
             point; where several are best, all win\n",
            plan.name(),
            count(plan.points(), "point"),
            count(plan.runs(), "run"),
            lines(table)
        )
    }

    /// Returns all rows as CSV: the point, the keys, then the columns of a comparison.
    pub fn csv(&self) -> String {
        let plan = self.plan();
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let head = ["point"].into_iter().chain(plan.keys().iter().map(String::as_str));
        let head = head.chain(["scenario", "variant", "seed"]);
        let metrics: Vec<Metric> = self.with_rows(|rows| metrics(rows.iter().flatten()));
        let head = head.chain(metrics.iter().map(|metric| metric.name));
        writer.write_record(head).expect("memory takes every write");
        self.each(|PointRow { point, values, row, .. }| {
            let cells: Vec<&Value> = values.iter().map(|values| &values[point]).collect();
            let run = (&row.scenario, &row.variant, row.seed);
            let numbers: Vec<_> = metrics.iter().map(|metric| metric.of(row)).collect();
            writer.serialize((point, cells, run, numbers)).expect("memory takes every write");
        });
        text::of_csv(writer)
    }

    /// Returns one JSON object: the swept keys, the standings, and all rows.
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            scenario: &'a str,
            keys: &'a [String],
            standings: Vec<Standing>,
            rows: Vec<serde_json::Value>,
        }
        let plan = self.plan();
        let mut rows = Vec::new();
        self.each(|row| rows.push(serde_json::to_value(row).unwrap_or_default()));
        let document = Document {
            scenario: plan.name(),
            keys: plan.keys(),
            standings: self.standings(),
            rows,
        };
        serde_json::to_string_pretty(&document).expect("string keys only") + "\n"
    }

    /// Calls `see` with each existing row.
    fn each(&self, mut see: impl FnMut(PointRow<'_>)) {
        let plan = self.plan();
        let values: Vec<Vec<Value>> = (0..plan.keys().len()).map(|key| plan.values(key)).collect();
        self.with_rows(|rows| {
            for (run, row) in rows.iter().enumerate() {
                if let Some(row) = row {
                    see(PointRow {
                        point: plan.point(run),
                        keys: plan.keys(),
                        values: &values,
                        row,
                    });
                }
            }
        });
    }
}
