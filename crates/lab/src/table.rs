//! A comparison as text: a table for the terminal, CSV and JSON for programs.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};
use comfy_table::{ContentLineStyle, LineStyle, TableStyle};
use serde::ser::{Serialize, SerializeMap, Serializer};
use unruffled_measure::{FlowRecord, LinkRecord, RunRecord};

use crate::groups::{TextTable, busy_links, flow_groups};
use crate::metric::GOODPUT;
use crate::record::{Beside, Comparison, Medium, RunRow, VariantRuns};
use crate::senders::known_as;
use crate::stacked;
use crate::statistics::Estimate;
use crate::summary::{
    Column, DISPENSABLE, MEANS, Summary, cells, columns, effort, leaders, reference_in_words,
    scale, summaries,
};
use crate::text::{cut, of_csv, wrapped};

/// A line under the header, and nothing else.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .content_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('─').junction('─'));

/// The results for a terminal of `width` columns: a line above, one line per variant, a line below.
///
/// Columns that have no room are left out, and named below. With `colour` the header is bold and
/// the variants that share the lead green. Ends with a line feed.
pub fn render(comparison: &Comparison, width: usize, colour: bool) -> String {
    let summaries = summaries(comparison);
    let winners: Vec<&str> = leaders(comparison, &summaries).iter().map(|s| s.variant).collect();
    let mut table = plain_within(width);
    if colour {
        table.enforce_styling();
    }
    let Fitting { heads, lines: rows, left_out } = fitting(comparison, &summaries, width);
    table.set_header(heads.iter().map(|head| Cell::new(head).add_attribute(Attribute::Bold)));
    for line in rows {
        let wins = winners.contains(&line[0].as_str());
        table.add_row(line.into_iter().map(|text| match Cell::new(text) {
            cell if wins => cell.fg(Color::Green),
            cell => cell,
        }));
    }
    let scale = scale(comparison, &summaries);
    let undisturbed = scale.number(comparison.reference.bps());
    let above = cut(&format!("{}: {}", comparison.scenario, effort(comparison)), width);
    let how = reference_in_words(comparison);
    let below = format!("undisturbed: {undisturbed} {} ({how})", scale.name());
    let mut parts: Vec<&str> = Vec::new();
    if summaries.iter().any(|summary| summary.runs > 1) {
        parts.extend(["counts: means per run", "±: 95 %"]);
    }
    let left_out = format!("no room for {}", left_out.join(", "));
    if !left_out.ends_with(' ') {
        parts.push(&left_out);
    }
    let below = [wrapped(&below, width, ""), clauses(&parts, width), known(comparison, width)];
    let below = below.concat();
    let notes: String = comparison.notes.iter().map(|note| wrapped(note, width, "")).collect();
    let groups = groups(comparison, width);
    format!("{above}\n\n{}\n{below}{notes}{groups}", lines(table))
}

/// What the simulated senders are known as, where there is such a thing; a race has the kernel itself.
fn known(comparison: &Comparison, width: usize) -> String {
    let of = |runs: &VariantRuns| Some(format!("{}: {}", runs.name, known_as(&runs.name)?));
    let known: Vec<String> = match comparison.medium {
        Medium::Simulation => comparison.variants.iter().filter_map(of).collect(),
        Medium::Wire => Vec::new(),
    };
    clauses(&known.iter().map(String::as_str).collect::<Vec<_>>(), width)
}

/// A comparison's table, made to fit.
struct Fitting {
    heads: Vec<&'static str>,
    lines: Vec<Vec<String>>,
    /// The heads of the columns that had to go.
    left_out: Vec<&'static str>,
}

/// The table for `width` columns. Names are not broken: where they are long, heads are shortened, and
/// then columns left out.
fn fitting(comparison: &Comparison, summaries: &[Summary<'_>], width: usize) -> Fitting {
    let mut columns = columns(comparison);
    let table = |columns: &[Column], head: fn(&Column) -> &'static str, left_out: &[_]| Fitting {
        heads: columns.iter().map(head).collect(),
        lines: cells(columns, summaries),
        left_out: left_out.to_vec(),
    };
    let usual = table(&columns, |column| column.short, &[]);
    if fits(&usual.heads, &usual.lines, width) {
        return usual;
    }
    let mut left_out = Vec::new();
    let heads: Vec<&str> = columns.iter().map(|column| column.short).collect();
    // The name, goodput and share stay.
    let rest = heads.iter().skip(3).rev().filter(|head| !DISPENSABLE.contains(head)).copied();
    let order: Vec<&'static str> = DISPENSABLE.into_iter().chain(rest).collect();
    for next in order.into_iter().map(Some).chain([None]) {
        let tight = table(&columns, |column| column.tight, &left_out);
        if fits(&tight.heads, &tight.lines, width) {
            return tight;
        }
        let before = columns.len();
        columns.retain(|column| Some(column.short) != next);
        left_out.extend(next.filter(|_| columns.len() < before));
    }
    // Below each other there is room for all.
    usual
}

/// Whether nothing has to be broken in `width` columns.
pub fn fits(heads: &[&str], lines: &[Vec<String>], width: usize) -> bool {
    let widest = |(i, head): (usize, &&str)| {
        let cells = lines.iter().filter_map(|line| line.get(i)).map(|cell| cell.chars().count());
        cells.chain([head.chars().count()]).max().unwrap_or(0)
    };
    // A space behind each, and one between two.
    let all: usize = heads.iter().enumerate().map(widest).map(|wide| wide + 2).sum();
    all <= width + 1
}

/// The heads of a table, and its cells line by line.
pub type Cells = (Vec<&'static str>, Vec<Vec<String>>);

/// The tables of [`render`] in their order, cell by cell: the senders, and the groups of traffic and the
/// links where there are several flows.
pub fn tables(comparison: &Comparison) -> Vec<Cells> {
    let columns = columns(comparison);
    let heads = columns.iter().map(|column| column.long).collect();
    let senders = (heads, cells(&columns, &summaries(comparison)));
    let groups = [flow_groups(comparison), busy_links(comparison)];
    let groups = groups.into_iter().flatten().map(|table| (table.heads.to_vec(), table.lines));
    [senders].into_iter().chain(groups).collect()
}

/// The groups of traffic and the links, where there are several flows.
fn groups(comparison: &Comparison, width: usize) -> String {
    let tables = [flow_groups(comparison), busy_links(comparison)];
    let tables = tables.into_iter().flatten().map(|TextTable { heads, tight, lines: rows }| {
        let heads = if fits(&heads, &rows, width) { heads } else { tight };
        let mut table = plain_within(width);
        table.set_header(heads.iter().map(|head| Cell::new(head).add_attribute(Attribute::Bold)));
        table.add_rows(rows);
        format!("\n{}", lines(table))
    });
    tables.collect()
}

/// A table in the style of all of them.
pub fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic).force_no_tty();
    table
}

/// The same for a terminal of `width` columns: what is too long for them is broken, or stands below each
/// other.
pub fn plain_within(width: usize) -> Table {
    let mut table = plain();
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table
}

/// A table for a terminal of so many columns, or for another program.
pub fn for_columns(width: Option<usize>) -> Table {
    width.map_or_else(plain, plain_within)
}

/// The table's lines: names to the left, numbers to the right. Where they have no room, the cells of each
/// row stand below each other.
pub fn lines(mut table: Table) -> String {
    if let Some(stacked) = stacked::instead_of(&table) {
        return stacked;
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        column.set_cell_alignment(if i == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The parts of the line below a table, in as many lines as they take.
fn clauses(parts: &[&str], width: usize) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let mut line = String::new();
    for part in parts {
        if line.is_empty() {
            line = (*part).to_owned();
        } else if line.chars().count() + 2 + part.chars().count() <= width {
            line += &format!("; {part}");
        } else {
            text += &wrapped(&line, width, "");
            line = (*part).to_owned();
        }
    }
    text + wrapped(&line, width, "").as_str()
}

/// The runs as CSV: a header with the names of the run and of
/// [`METRICS`](crate::metric::METRICS), then one line per run.
pub fn csv(comparison: &Comparison) -> String {
    rows_csv(&comparison.variants)
}

/// The runs of these variants as CSV.
pub fn rows_csv<'a>(variants: impl IntoIterator<Item = &'a VariantRuns>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in variants.into_iter().flat_map(|v| &v.rows) {
        writer.serialize(row).expect("rows are flat, and memory takes every write");
    }
    of_csv(writer)
}

/// The comparison as one JSON object: `rows` holds one object per run, `variants` the means over
/// the seeds. Numbers that do not exist are `null`. Ends with a line feed.
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
    scenario: &'a str,
    undisturbed_bps: f64,
    reference: Measure,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<Besides<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    rows: Vec<&'a RunRow>,
    variants: Vec<Means<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<Counted<'a, FlowRecord>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Counted<'a, LinkRecord>>,
}

/// What shares are taken of.
#[derive(serde::Serialize)]
struct Measure {
    name: &'static str,
    about: String,
    limit: &'static str,
}

/// What other traffic gets without the compared sender.
#[derive(serde::Serialize)]
struct Besides<'a> {
    traffic: &'a str,
    alone_bps: Interval,
}

impl<'a> Besides<'a> {
    fn of(beside: &'a Beside) -> Self {
        let alone = Estimate::of(beside.alone_bps.iter().copied());
        Self { traffic: &beside.group, alone_bps: Interval::of(alone, beside.alone_bps.len()) }
    }
}

/// What was counted of one flow or link in one run.
#[derive(serde::Serialize)]
struct Counted<'a, T> {
    variant: &'a str,
    seed: u64,
    #[serde(flatten)]
    record: &'a T,
}

/// All flows or links of all runs, where there are several flows.
fn counted<'a, T>(
    comparison: &'a Comparison,
    of: impl Fn(&'a RunRecord) -> &'a Vec<T>,
) -> Vec<Counted<'a, T>> {
    let mut all = Vec::new();
    for runs in &comparison.variants {
        for (row, record) in runs.rows.iter().zip(&runs.records) {
            let (variant, seed) = (runs.name.as_str(), row.seed);
            all.extend(of(record).iter().map(|record| Counted { variant, seed, record }));
        }
    }
    all
}

/// A mean and the half-width of its 95 % confidence interval; a single run has none.
#[derive(serde::Serialize)]
struct Interval {
    mean: f64,
    ci95: Option<f64>,
}

impl Interval {
    fn of(Estimate { mean, half_width }: Estimate, runs: usize) -> Self {
        Self { mean, ci95: (runs > 1).then_some(half_width) }
    }
}

/// A [`Summary`] as `--json` prints it, and the goodput of the traffic beside it.
struct Means<'a>(Summary<'a>, Vec<Goodput<'a>>);

/// The goodput of other traffic beside the compared sender.
#[derive(serde::Serialize)]
struct Goodput<'a> {
    traffic: &'a str,
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
        for metric in &MEANS {
            means.serialize_entry(metric.name, &summary.estimate(metric).map(interval))?;
        }
        if !beside.is_empty() {
            means.serialize_entry("beside", beside)?;
        }
        means.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;
    use crate::reference::{Limit, Reference};

    #[test]
    fn the_lines_below_a_table_are_whole_on_any_terminal() {
        let mut comparison = fake::comparison();
        comparison.medium = Medium::Wire;
        comparison.notes = vec!["a note of many words ".repeat(8).trim().to_owned()];
        let table = render(&comparison, 80, false);
        assert!(widest(&table) <= 80, "{table}");
        let below = "limit: link rates, simulated)\ncounts: means per run; ±: 95 %\na note of many";
        assert!(table.contains(below), "{table}");
        assert_eq!(table.split_whitespace().filter(|word| *word == "note").count(), 8, "{table}");
        assert!(render(&comparison, 90, false).contains("per run; ±: 95 %\n"));
    }

    #[test]
    fn a_single_run_has_no_interval_to_explain() {
        let mut comparison = fake::comparison();
        assert!(render(&comparison, 90, false).contains('±'));
        for variant in &mut comparison.variants {
            variant.rows.truncate(1);
            variant.records.truncate(1);
        }
        let table = render(&comparison, 90, false);
        assert!(!table.contains('±') && !table.contains("means"), "{table}");
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap()
    }

    #[test]
    fn the_table_fits_into_80_columns_and_is_the_same_in_200() {
        let comparison = fake::comparison();
        let table = render(&comparison, 80, false);
        assert!(widest(&table) <= 80, "{table}");
        assert_eq!(table, render(&comparison, 200, false));
        for variant in &comparison.variants {
            let lines = table.lines().filter(|l| l.split(' ').next() == Some(&variant.name));
            assert_eq!(lines.count(), 1, "{}\n{table}", variant.name);
        }
    }

    #[test]
    fn names_are_not_broken_where_something_else_can_go() {
        let mut comparison = fake::comparison();
        let mut of = |name: &str, medium| {
            comparison.medium = medium;
            name.clone_into(&mut comparison.variants[4].name);
            let table = render(&comparison, 80, false);
            assert!(widest(&table) <= 80, "{table}");
            assert!(table.contains(&format!("\n{name} ")), "{table}");
            table
        };
        for name in ["rr-ta", "linux-reordering"] {
            let table = of(name, Medium::Simulation);
            assert!(table.contains("spurious  timeouts  dupthresh\n"), "{table}");
        }
        let table = of("linux-reordering+cubic", Medium::Simulation);
        assert!(table.contains("spur.  RTO  dupthresh\n"), "{table}");
        let table = of("tcp-pr-extreme-with-own-flavour", Medium::Simulation);
        assert!(table.contains("spur.  RTO\n") && table.contains("no room for dupthresh\n"));
        let table = of("linux-reordering", Medium::Wire);
        assert!(table.contains("reord") && table.contains("; no room for DSACK\n"), "{table}");
    }

    #[test]
    fn large_numbers_and_long_names_fit_as_well() {
        let mut comparison = fake::comparison();
        comparison.scenario = "a-scenario-with-a-name-that-does-not-end".repeat(3);
        comparison.reference = Reference::new(40e9, Limit::Links);
        for variant in &mut comparison.variants {
            variant.name = format!("{}-with-a-long-flavour", variant.name);
            let group = "a-group-of-flows-with-a-long-name".to_owned();
            let flows = vec![FlowRecord { group, ..FlowRecord::default() }];
            variant.records = vec![RunRecord { flows, ..RunRecord::default() }];
            for row in &mut variant.rows {
                row.flow.goodput_bps *= 3000.0;
                row.flow.sending.fast_retransmits *= 1000;
                row.flow.sending.false_fast_retransmits *= 1000;
            }
        }
        let table = render(&comparison, 80, false);
        assert!(widest(&table) <= 80, "{table}");
        assert!(table.contains("a-group-of"), "{table}");
    }

    #[test]
    fn colour_is_there_only_when_asked_for() {
        let comparison = fake::comparison();
        assert!(!render(&comparison, 80, false).contains('\u{1b}'));
        assert!(render(&comparison, 80, true).contains('\u{1b}'));
    }

    #[test]
    fn csv_has_a_header_and_one_line_per_run() {
        let text = csv(&fake::comparison());
        assert_eq!(text.lines().count(), 1 + 7 * 5);
        assert!(text.starts_with("scenario,variant,seed,duration_s,delivered_segments,"), "{text}");
        let rack = text.lines().last().unwrap();
        assert_eq!(rack.split(',').nth(12), Some(""), "RACK has no dupthresh: {rack}");
    }

    #[test]
    fn json_holds_every_run_and_the_means() {
        let comparison = fake::comparison();
        let value: serde_json::Value = serde_json::from_str(&json(&comparison)).unwrap();
        assert_eq!(value["scenario"], "fake");
        assert_eq!(value["undisturbed_bps"], 9.5e6);
        assert_eq!(value["reference"]["name"], "undisturbed");
        assert_eq!(value["reference"]["about"], "in order, nothing lost; limit: link rates");
        assert_eq!(value["reference"]["limit"], "links");
        assert_eq!(value["rows"].as_array().unwrap().len(), 35);
        assert_eq!(value["rows"][5]["variant"], "dsack-r");
        assert_eq!(value["variants"][0]["runs"], 5);
        assert!(value["variants"][0]["goodput_bps"]["ci95"].as_f64().unwrap() > 0.0);
        assert!(value["variants"][6]["dupthresh_mean"].is_null());
        assert_eq!(json(&comparison), json(&comparison.clone()));
    }

    #[test]
    fn a_single_run_has_no_interval_in_json() {
        let mut comparison = fake::comparison();
        comparison.variants.iter_mut().for_each(|v| v.rows.truncate(1));
        let value: serde_json::Value = serde_json::from_str(&json(&comparison)).unwrap();
        assert!(value["variants"][0]["goodput_bps"]["mean"].as_f64().unwrap() > 0.0);
        assert!(value["variants"][0]["goodput_bps"]["ci95"].is_null());
    }
}
