//! A comparison as CSV and JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use unruffled_measure::{FlowRecord, LinkRecord, RunRecord};

use crate::metric::{ECN_METRICS, EXIT_METRICS, GOODPUT, Metric, metrics};
use crate::record::{Beside, Comparison, RunRow, VariantRuns};
use crate::statistics::Estimate;
use crate::summary::{MEANS, Summary, reference_in_words, summaries};
use crate::text::of_csv;

/// Returns the runs as CSV: a header with the names of the run and of
/// [`metrics`], then a line for each run.
pub fn csv(comparison: &Comparison) -> String {
    rows_csv(&comparison.variants)
}

/// Returns the runs of these variants as CSV.
pub(crate) fn rows_csv<'a>(variants: impl IntoIterator<Item = &'a VariantRuns>) -> String {
    let rows: Vec<&RunRow> = variants.into_iter().flat_map(|v| &v.rows).collect();
    let metrics = metrics(rows.iter().copied());
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    if !rows.is_empty() {
        let names = metrics.iter().map(|metric| metric.name);
        let head = ["scenario", "variant", "seed"].into_iter().chain(names);
        writer.write_record(head).expect("memory takes every write");
    }
    for row in rows {
        let run = (&row.scenario, &row.variant, row.seed);
        let numbers: Vec<_> = metrics.iter().map(|metric| metric.of(row)).collect();
        writer.serialize((run, numbers)).expect("memory takes every write");
    }
    of_csv(writer)
}

/// Returns the comparison as one JSON object with a final line feed: `rows` has an object for each
/// run, `variants` the means over the seeds. Absent numbers are `null`.
pub fn json(comparison: &Comparison) -> String {
    let document = Document {
        scenario: &comparison.scenario,
        undisturbed_bps: comparison.reference.bps(),
        reference: Measure {
            name: "undisturbed",
            about: reference_in_words(comparison),
            limit: comparison.reference.limit.name(),
        },
        beside: comparison.beside.iter().map(Besides::of).collect(),
        notes: &comparison.notes,
        rows: comparison.variants.iter().flat_map(|v| &v.rows).collect(),
        variants: summaries(comparison).into_iter().map(|s| Means::of(s, comparison)).collect(),
        flows: counted(comparison, |record| &record.flows),
        links: counted(comparison, |record| &record.links),
    };
    let text = serde_json::to_string_pretty(&document).expect("the document has string keys only");
    text + "\n"
}

#[derive(serde::Serialize)]
struct Document<'a> {
    /// Name of the scenario.
    scenario: &'a str,
    /// Goodput of the undisturbed path, in bits per second.
    undisturbed_bps: f64,
    /// What shares are of.
    reference: Measure,
    /// Other traffic, without the compared sender.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<Besides<'a>>,
    /// Notes on the runs, a line each.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// A row for each sender and seed.
    rows: Vec<&'a RunRow>,
    /// The means of each sender over the seeds.
    variants: Vec<Means<'a>>,
    /// The records of all flows of all runs, where there are several flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<Counted<'a, FlowRecord>>,
    /// The records of both directions of all links of all runs, where there are several flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Counted<'a, LinkRecord>>,
}

/// The reference of shares.
#[derive(serde::Serialize)]
struct Measure {
    /// Name of the reference: `undisturbed`.
    name: &'static str,
    /// The reference as a sentence.
    about: String,
    /// What limits every sender there: `links`, `window`, `length` or `application`.
    limit: &'static str,
}

/// The goodput of other traffic without the compared sender.
#[derive(serde::Serialize)]
struct Besides<'a> {
    /// Name of the `[[traffic]]`.
    traffic: &'a str,
    /// Its goodput without the compared sender, in bits per second.
    alone_bps: Interval,
}

impl<'a> Besides<'a> {
    fn of(beside: &'a Beside) -> Self {
        let alone = Estimate::of(beside.alone_bps.iter().copied());
        Self { traffic: &beside.group, alone_bps: Interval::of(alone, beside.alone_bps.len()) }
    }
}

/// The record of a flow or link in a run.
#[derive(serde::Serialize)]
struct Counted<'a, T> {
    /// Full name of the compared sender.
    variant: &'a str,
    /// Seed of the run.
    seed: u64,
    /// The record.
    #[serde(flatten)]
    record: &'a T,
}

/// Returns the records of the flows or links of all runs; empty if there is one flow.
fn counted<'a, T>(
    comparison: &'a Comparison,
    of: impl Fn(&'a RunRecord) -> &'a Vec<T>,
) -> Vec<Counted<'a, T>> {
    let mut all = Vec::new();
    for runs in &comparison.variants {
        for (row, record) in runs.rows.iter().zip(&runs.records) {
            let variant = runs.name.as_str();
            let seed = row.seed;
            all.extend(of(record).iter().map(|record| Counted { variant, seed, record }));
        }
    }
    all
}

/// A mean and the half-width of its 95 % confidence interval; a single run has none.
#[derive(serde::Serialize)]
struct Interval {
    /// Mean over the runs.
    mean: f64,
    /// Half-width of the 95 % confidence interval; `None` of a single run.
    ci95: Option<f64>,
}

impl Interval {
    fn of(Estimate { mean, half_width }: Estimate, runs: usize) -> Self {
        Self { mean, ci95: (runs > 1).then_some(half_width) }
    }
}

/// A [`Summary`] as `--json` prints it, with the goodputs of other traffic.
struct Means<'a>(Summary<'a>, Vec<Goodput<'a>>);

/// The goodput of other traffic beside the compared sender.
#[derive(serde::Serialize)]
struct Goodput<'a> {
    /// Name of the `[[traffic]]`.
    traffic: &'a str,
    /// Its goodput beside this sender, in bits per second.
    goodput_bps: Interval,
}

impl<'a> Means<'a> {
    fn of(summary: Summary<'a>, comparison: &'a Comparison) -> Self {
        let runs = comparison.variants.iter().find(|runs| runs.name == summary.variant);
        let records = runs.map_or(&[][..], |runs| &runs.records);
        let beside = comparison.beside.iter().map(|beside| Goodput {
            traffic: &beside.group,
            goodput_bps: Interval::of(
                Estimate::of(records.iter().map(|record| record.goodput_bps(&beside.group))),
                records.len(),
            ),
        });
        let beside = beside.collect();
        Self(summary, beside)
    }
}

impl Serialize for Means<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(summary, beside) = self;
        let interval = |estimate: Estimate| Interval::of(estimate, summary.runs);
        let mut means = serializer.serialize_map(None)?;
        means.serialize_entry("variant", summary.variant)?;
        means.serialize_entry("runs", &summary.runs)?;
        means.serialize_entry(GOODPUT.name, &interval(summary.goodput_bps))?;
        means.serialize_entry("share_of_undisturbed", &interval(summary.share))?;
        let has = |metric: &&Metric| summary.estimate(metric).is_some();
        let optional = ECN_METRICS.iter().chain(&EXIT_METRICS).filter(has);
        for metric in MEANS.iter().chain(optional) {
            means.serialize_entry(metric.name, &summary.estimate(metric).map(interval))?;
        }
        if !beside.is_empty() {
            means.serialize_entry("beside", beside)?;
        }
        means.end()
    }
}
