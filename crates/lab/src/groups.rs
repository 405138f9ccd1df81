//! Scenarios with several flows: what each group of traffic got, and what the links did.

use unruffled_measure::{FlowRecord, LinkRecord, jain, share};

use crate::record::{Beside, Comparison, VariantRuns};
use crate::statistics::Estimate;
use crate::summary::number;

/// A table: heads, the same where names leave less room, and lines with as many cells.
pub(crate) struct TextTable {
    pub(crate) heads: &'static [&'static str],
    pub(crate) tight: &'static [&'static str],
    pub(crate) lines: Vec<Vec<String>>,
}

/// Links that drop nothing are left out below this use of their rate.
const IDLE: f64 = 0.5;

/// A line for each variant and group of traffic; none where there is one flow. Traffic beside that of
/// the compared sender has a column more: what it gets alone, without that sender.
pub(crate) fn flow_groups(comparison: &Comparison) -> Option<TextTable> {
    const HEADS: &[&str] = &[
        "variant",
        "traffic",
        "flows",
        "Mb/s",
        "alone",
        "Mb/s per flow",
        "Jain",
        "rtx %",
        "timeouts",
    ];
    const TIGHT: &[&str] =
        &["variant", "traffic", "flows", "Mb/s", "alone", "per flow", "Jain", "rtx %", "RTO"];
    const FEWER: &[&str] =
        &["variant", "traffic", "flows", "Mb/s", "Mb/s per flow", "Jain", "rtx %", "timeouts"];
    const FEWER_TIGHT: &[&str] =
        &["variant", "traffic", "flows", "Mb/s", "per flow", "Jain", "rtx %", "RTO"];
    let mut lines = Vec::new();
    for runs in comparison.variants.iter().filter(|runs| !runs.records.is_empty()) {
        for group in names(runs, |record| record.flows.iter().map(|flow| flow.group.as_str())) {
            let mut line = group_line(runs, group);
            if !comparison.beside.is_empty() {
                let beside = comparison.beside.iter().find(|beside| beside.group == group);
                let mean = |b: &Beside| Estimate::of(b.alone_bps.iter().copied()).mean;
                line.insert(4, number(beside.map_or(f64::NAN, mean) / 1e6, 3));
            }
            lines.push(line);
        }
    }
    let (heads, tight) =
        if comparison.beside.is_empty() { (FEWER, FEWER_TIGHT) } else { (HEADS, TIGHT) };
    (!lines.is_empty()).then_some(TextTable { heads, tight, lines })
}

fn group_line(runs: &VariantRuns, group: &str) -> Vec<String> {
    let mean = |of: &dyn Fn(&[&FlowRecord]) -> f64| {
        let each = runs.records.iter().map(|record| of(&record.group(group).collect::<Vec<_>>()));
        Estimate::of(each).mean
    };
    let sum = |flows: &[&FlowRecord]| FlowRecord::sum(flows);
    let goodputs = |flows: &[&FlowRecord]| flows.iter().map(|f| f.goodput_bps).collect::<Vec<_>>();
    let total = mean(&|flows| sum(flows).goodput_bps / 1e6);
    let count = mean(&|flows| flows.len() as f64);
    // Each flow's is of its own time.
    let each = mean(&|flows| goodputs(flows).iter().sum::<f64>() / flows.len() as f64 / 1e6);
    vec![
        runs.name.clone(),
        group.to_owned(),
        number(count, 0),
        number(total, 3),
        number(each, 4),
        number(mean(&|flows| jain(goodputs(flows))), 3),
        number(
            mean(&|flows| {
                let sum = sum(flows);
                100.0 * share(sum.sending.retransmits, sum.sending.sent_segments)
            }),
            2,
        ),
        number(mean(&|flows| sum(flows).sending.timeouts as f64), 0),
    ]
}

/// A line for each variant and link that is busy or drops packets; none where there is one flow.
pub(crate) fn busy_links(comparison: &Comparison) -> Option<TextTable> {
    const HEADS: &[&str] = &["variant", "link", "used %", "dropped %", "queue"];
    let mut lines = Vec::new();
    for runs in &comparison.variants {
        for link in names(runs, |record| record.links.iter().map(|link| link.name.as_str())) {
            let mean = |of: fn(&LinkRecord) -> f64| {
                let each = runs.records.iter().filter_map(|record| record.link(link));
                Estimate::of(each.map(of)).mean
            };
            let used = mean(|link| link.utilisation.unwrap_or(0.0));
            let (dropped, queue) = (mean(|link| link.drop_rate), mean(|link| link.queue_mean));
            if used >= IDLE || dropped > 0.0 {
                lines.push(vec![
                    runs.name.clone(),
                    link.to_owned(),
                    number(100.0 * used, 1),
                    number(100.0 * dropped, 2),
                    number(queue, 1),
                ]);
            }
        }
    }
    (!lines.is_empty()).then_some(TextTable { heads: HEADS, tight: HEADS, lines })
}

/// The names that the records of a variant have, each once, in their order.
fn names<'a, I: Iterator<Item = &'a str>>(
    runs: &'a VariantRuns,
    of: impl Fn(&'a unruffled_measure::RunRecord) -> I,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in runs.records.iter().take(1).flat_map(of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
