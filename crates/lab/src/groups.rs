//! Tables of scenarios with several flows: the traffic groups, and the links.

use unruffled_measure::{FlowRecord, LinkRecord, jain, share};

use crate::rate::Scale;
use crate::record::{Beside, Comparison, VariantRuns};
use crate::statistics::Estimate;
use crate::text::number;

/// A table: its heads, shorter heads for narrow terminals, and its lines.
pub(crate) struct TextTable {
    pub(crate) heads: Vec<&'static str>,
    pub(crate) tight: Vec<&'static str>,
    pub(crate) lines: Vec<Vec<String>>,
}

/// The utilisation below which links that drop nothing are omitted.
const MIN_UTILISATION: f64 = 0.5;

/// Returns a table with a line for each variant and traffic group; none if there is one flow. If
/// there is other traffic, a further column has its goodput without the compared sender.
pub(crate) fn flow_groups(comparison: &Comparison) -> Option<TextTable> {
    let mut groups = Vec::new();
    for runs in comparison.variants.iter().filter(|runs| !runs.records.is_empty()) {
        let of = names(runs, |record| record.flows.iter().map(|flow| flow.group.as_str()));
        groups.extend(of.into_iter().map(|group| (runs, group)));
    }
    let total = |&(runs, group): &(&VariantRuns, &str)| {
        let each = runs.records.iter().map(|record| record.group(group).collect::<Vec<_>>());
        Estimate::of(each.map(|flows| FlowRecord::sum(&flows).goodput_bps)).mean
    };
    let mean_alone = |beside: &Beside| Estimate::of(beside.alone_bps.iter().copied()).mean;
    let all_alone = comparison.beside.iter().map(mean_alone);
    let scale = Scale::of(groups.iter().map(total).chain(all_alone));
    let line = |(runs, group): &(&VariantRuns, &str)| {
        let mut line = group_line(runs, group, scale);
        if !comparison.beside.is_empty() {
            let beside = comparison.beside.iter().find(|beside| beside.group == *group);
            line.insert(4, number(scale.value(beside.map_or(f64::NAN, mean_alone)), 3));
        }
        line
    };
    let lines: Vec<_> = groups.iter().map(line).collect();
    let heads = |each, timeouts| {
        let mut heads = vec!["variant", "traffic", "flows", scale.name()];
        heads.extend((!comparison.beside.is_empty()).then_some("alone"));
        heads.extend([each, "Jain", "rtx %", timeouts]);
        heads
    };
    let tight = heads("per flow", "RTO");
    let heads = heads(scale.each(), "timeouts");
    (!lines.is_empty()).then_some(TextTable { heads, tight, lines })
}

/// Returns the line of a variant and a traffic group.
fn group_line(runs: &VariantRuns, group: &str, scale: Scale) -> Vec<String> {
    let mean = |of: &dyn Fn(&[&FlowRecord]) -> f64| {
        let each = runs.records.iter().map(|record| of(&record.group(group).collect::<Vec<_>>()));
        Estimate::of(each).mean
    };
    let sum = |flows: &[&FlowRecord]| FlowRecord::sum(flows);
    let goodputs = |flows: &[&FlowRecord]| flows.iter().map(|f| f.goodput_bps).collect::<Vec<_>>();
    let total = mean(&|flows| sum(flows).goodput_bps);
    let count = mean(&|flows| flows.len() as f64);
    // The goodput of a flow is over the time of that flow.
    let each = mean(&|flows| goodputs(flows).iter().sum::<f64>() / flows.len() as f64);
    vec![
        runs.name.clone(),
        group.to_owned(),
        number(count, 0),
        number(scale.value(total), 3),
        number(scale.value(each), 4),
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

/// Returns a table with a line for each variant and link that is busy or drops packets; none if there
/// is one flow, or no such link.
pub(crate) fn busy_links(comparison: &Comparison) -> Option<TextTable> {
    let mut heads = vec!["variant", "link", "used %", "dropped %", "queue"];
    let all = comparison.variants.iter().flat_map(|runs| &runs.records);
    let marks = all.flat_map(|record| &record.links).any(|link| link.marked_packets > 0);
    heads.extend(marks.then_some("marked %"));
    let mut lines = Vec::new();
    for runs in &comparison.variants {
        for link in names(runs, |record| record.links.iter().map(|link| link.name.as_str())) {
            let mean = |of: fn(&LinkRecord) -> f64| {
                let each = runs.records.iter().filter_map(|record| record.link(link));
                Estimate::of(each.map(of)).mean
            };
            let used = mean(|link| link.utilisation.unwrap_or(0.0));
            let dropped = mean(|link| link.drop_rate);
            let queue = mean(|link| link.queue_mean);
            if used >= MIN_UTILISATION || dropped > 0.0 {
                let mut line = vec![
                    runs.name.clone(),
                    link.to_owned(),
                    number(100.0 * used, 1),
                    number(100.0 * dropped, 2),
                    number(queue, 1),
                ];
                let marked = mean(|link| share(link.marked_packets, link.offered_packets));
                line.extend(marks.then(|| number(100.0 * marked, 2)));
                lines.push(line);
            }
        }
    }
    (!lines.is_empty()).then_some(TextTable { tight: heads.clone(), heads, lines })
}

/// Returns the distinct names in the first record of a variant, in order.
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
