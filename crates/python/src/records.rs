//! Rows, flows, links and traces as tables.

use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};
use unruffled_lab::metric;
use unruffled_lab::record::{Comparison, RunRow, SendKind, VariantRuns};
use unruffled_lab::table::json;

use crate::table::{Column, Table};

/// Returns the columns of rows, which are those of the command's `--csv`.
pub(crate) fn row_columns<'a>(
    rows: impl Iterator<Item = &'a RunRow> + Clone,
) -> Vec<(String, Column)> {
    let text = |of: fn(&RunRow) -> &String| Column::Text(rows.clone().map(of).cloned().collect());
    let mut columns = vec![
        ("scenario".to_owned(), text(|row| &row.scenario)),
        ("variant".to_owned(), text(|row| &row.variant)),
        ("seed".to_owned(), Column::Count(rows.clone().map(|row| row.seed).collect())),
    ];
    for metric in metric::metrics(rows.clone()) {
        let values = rows.clone().map(|row| metric.of(row));
        let column = if metric.is_count() {
            Column::Count(values.map(count).collect())
        } else {
            Column::Number(values.map(metric::Value::number).collect())
        };
        columns.push((metric.name.to_owned(), column));
    }
    columns
}

fn count(value: metric::Value) -> u64 {
    match value {
        metric::Value::Count(count) => count,
        metric::Value::Measured(_) => 0,
    }
}

/// Returns one row for each run.
pub(crate) fn rows(comparison: &Comparison) -> PyResult<Table> {
    Table::of(row_columns(comparison.variants.iter().flat_map(|runs| &runs.rows)))
}

/// Columns that identify a row, and precede its numbers.
const IDENTITY_COLUMNS: [&str; 7] = ["variant", "runs", "seed", "group", "name", "from", "to"];

/// Returns records as a table, with a column for each field that is a number or a text, named as in JSON.
pub(crate) fn table(records: Vec<Map<String, Value>>) -> PyResult<Table> {
    let mut names: Vec<&String> = Vec::new();
    for record in &records {
        for (name, value) in record {
            if !value.is_array() && !value.is_object() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let rank = |name: &String| IDENTITY_COLUMNS.iter().position(|column| column == name);
    names.sort_by_key(|name| rank(name).unwrap_or(IDENTITY_COLUMNS.len()));
    let column = |name: &String| {
        let values = || records.iter().map(|record| record.get(name).unwrap_or(&Value::Null));
        if values().any(Value::is_string) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            Column::Text(values().map(text).collect())
        } else if values().all(Value::is_u64) {
            Column::Count(values().filter_map(Value::as_u64).collect())
        } else {
            let number = |value: &Value| match value {
                Value::Bool(truth) => Some(f64::from(*truth)),
                value => value.as_f64(),
            };
            Column::Number(values().map(number).collect())
        }
    };
    Table::of(names.iter().map(|name| ((*name).clone(), column(name))).collect())
}

/// Returns the fields of a record.
pub(crate) fn fields(record: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns one row for each flow, or link, of each run. With a single flow there are no rows, and the columns
/// are those of a default record.
pub(crate) fn counted<T: Serialize + Default>(
    comparison: &Comparison,
    of: impl Fn(&unruffled_measure::RunRecord) -> &[T],
) -> PyResult<Table> {
    let record = |variant: &str, seed: u64, counted: &T| {
        let mut all = Map::new();
        all.insert("variant".to_owned(), variant.into());
        all.insert("seed".to_owned(), seed.into());
        all.extend(fields(counted));
        all
    };
    let mut records = Vec::new();
    for runs in &comparison.variants {
        for (row, run) in runs.rows.iter().zip(&runs.records) {
            records.extend(of(run).iter().map(|counted| record(&row.variant, row.seed, counted)));
        }
    }
    if records.is_empty() {
        return Ok(table(vec![record("", 0, &T::default())])?.emptied());
    }
    table(records)
}

/// Returns the curves of each variant's first seed, a row for each point.
pub(crate) fn traces(comparison: &Comparison) -> PyResult<Table> {
    let mut variants = Vec::new();
    let mut quantities = Vec::new();
    let mut times = Vec::new();
    let mut values = Vec::new();
    for VariantRuns { name, trace, .. } in &comparison.variants {
        for (quantity, curve) in [
            ("cwnd_segments", &trace.cwnd),
            ("dupthresh_segments", &trace.dupthresh),
            ("patience_ms", &trace.patience),
            ("acked_segment", &trace.acked),
            ("delivered_mbps", &trace.delivered),
        ] {
            for &(time, value) in curve {
                variants.push(name.clone());
                quantities.push(quantity.to_owned());
                times.push(Some(time));
                values.push(Some(value));
            }
        }
    }
    Table::of(vec![
        ("variant", Column::Text(variants)),
        ("quantity", Column::Text(quantities)),
        ("time_s", Column::Number(times)),
        ("value", Column::Number(values)),
    ])
}

/// Returns the segments that each variant sent in the window of the time–sequence plot, first seed.
pub(crate) fn sent(comparison: &Comparison) -> PyResult<Table> {
    let all = || {
        let variants = comparison.variants.iter();
        variants.flat_map(|runs| runs.trace.sent.iter().map(move |sent| (&runs.name, sent)))
    };
    let kind = |kind: SendKind| match kind {
        SendKind::New => "new",
        SendKind::Retransmit => "retransmit",
        SendKind::SpuriousRetransmit => "spurious-retransmit",
    };
    Table::of(vec![
        ("variant", Column::Text(all().map(|(name, _)| name.clone()).collect())),
        ("time_s", Column::Number(all().map(|(_, sent)| Some(sent.time_s)).collect())),
        ("segment", Column::Number(all().map(|(_, sent)| Some(sent.segment)).collect())),
        ("kind", Column::Text(all().map(|(_, sent)| kind(sent.kind).to_owned()).collect())),
    ])
}

/// Returns one row for each variant: means over the seeds, and half-widths of their intervals.
pub(crate) fn summary(comparison: &Comparison) -> PyResult<Table> {
    let document: Value = serde_json::from_str(&json(comparison)).unwrap_or_default();
    let means = document["variants"].as_array().into_iter().flatten().map(|variant| {
        let mut flat = Map::new();
        for (name, value) in variant.as_object().into_iter().flatten() {
            match value {
                Value::Object(estimate) => {
                    flat.insert(name.clone(), estimate["mean"].clone());
                    flat.insert(format!("{name}_ci95"), estimate["ci95"].clone());
                }
                value => drop(flat.insert(name.clone(), value.clone())),
            }
        }
        flat
    });
    table(means.collect())
}

/// Returns the number of reorderings of each length that the sender noticed, first seed.
pub(crate) fn reordering_lengths(comparison: &Comparison) -> PyResult<Table> {
    let mut variants = Vec::new();
    let mut lengths = Vec::new();
    let mut events = Vec::new();
    for VariantRuns { name, trace, .. } in &comparison.variants {
        for (length, &n) in trace.reordering_lengths.iter().enumerate().skip(1) {
            variants.push(name.clone());
            lengths.push(length as u64);
            events.push(n);
        }
    }
    Table::of(vec![
        ("variant", Column::Text(variants)),
        ("length", Column::Count(lengths)),
        ("events", Column::Count(events)),
    ])
}
