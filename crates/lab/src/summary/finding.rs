//! A comparison in sentences: the effort, the reference, and the finding.

use unruffled_units::count;

use super::means::{Summary, best, leaders, overlap, scale};
use crate::rate::Scale;
use crate::record::{Comparison, Medium};
use crate::text::number;

/// Describes the runs: `5 seeds, 1000 s each`, or `3.3 to 17.3 s` for transfers that end; `0 seeds`
/// without runs.
pub fn effort(comparison: &Comparison) -> String {
    let runs = comparison.variants.iter().map(|v| v.rows.len()).max().unwrap_or(0);
    let rows = comparison.variants.iter().flat_map(|v| &v.rows);
    let mut times: Vec<f64> = rows.map(|row| row.flow.duration_s).collect();
    times.sort_by(f64::total_cmp);
    let (Some(&shortest), Some(&longest)) = (times.first(), times.last()) else {
        return count(0, "seed");
    };
    let shortest = seconds(shortest);
    let longest = seconds(longest);
    let seconds = if shortest == longest { shortest } else { format!("{shortest} to {longest}") };
    let each = if runs == 1 { "" } else { " each" };
    format!("{}, {seconds} s{each}", count(runs, "seed"))
}

/// Formats seconds with one decimal, or with three digits below one second.
fn seconds(time: f64) -> String {
    let rounded = if time < 1.0 { format!("{time:.2e}") } else { format!("{time:.1}") };
    rounded.parse().unwrap_or(time).to_string()
}

/// Describes the reference of shares: `in order, nothing lost; limit: link rates`.
pub fn reference_in_words(comparison: &Comparison) -> String {
    let alone = if comparison.beside.is_empty() { "" } else { ", no other traffic" };
    let limit = comparison.reference.limit.words();
    let how = match comparison.medium {
        Medium::Simulation => "",
        Medium::Wire => ", simulated",
    };
    format!("in order, nothing lost{alone}; limit: {limit}{how}")
}

/// Describes the result in one sentence: the variant that delivers most, its share of the
/// undisturbed path, and its ratio to `sack`. If the lead is shared, the sentence names all
/// leaders.
pub fn finding(comparison: &Comparison, summaries: &[Summary<'_>]) -> String {
    let Some(best) = best(summaries) else {
        let ran = summaries.iter().any(|s| s.runs > 0);
        return if ran { "No variant delivers anything." } else { "No variant ran." }.to_owned();
    };
    let leaders = leaders(comparison, summaries);
    let scale = scale(comparison, summaries);
    let rate = |bps: f64| scale.with_unit(bps);
    let range = |of: &dyn Fn(&Summary<'_>) -> f64, decimals: usize| {
        let values = || leaders.iter().map(|s| of(s));
        let low = number(values().fold(f64::INFINITY, f64::min), decimals);
        let high = number(values().fold(f64::NEG_INFINITY, f64::max), decimals);
        if low == high { high } else { format!("{low} to {high}") }
    };
    let mut text = match leaders.as_slice() {
        [_] => format!("{} delivers {}", best.variant, rate(best.goodput_bps.mean)),
        _ => lead(&leaders, scale),
    };
    if best.share.mean.is_finite() {
        let share = range(&|s| s.share.mean * 100.0, 0);
        let all = rate(comparison.reference.bps());
        text += &format!(", {share}\u{a0}% of the undisturbed path’s {all}");
    }
    match summaries.iter().find(|s| s.variant == "sack") {
        Some(sack) if leaders == [sack] && summaries.len() > 1 => {
            text += "; no other variant delivers more";
        }
        Some(sack) if leaders.contains(&sack) => {}
        Some(sack) if sack.goodput_bps.mean > 0.0 => {
            let of = |s: &Summary<'_>| s.goodput_bps.mean / sack.goodput_bps.mean;
            let ratio = of(best);
            let times = range(&of, usize::from(ratio < 10.0) + usize::from(ratio < 2.0));
            text +=
                &format!(" and {times} times what sack delivers ({})", rate(sack.goodput_bps.mean));
        }
        Some(sack) if sack.goodput_bps.mean == 0.0 => text += "; sack delivers nothing",
        _ => {}
    }
    text + reason(best, &leaders, summaries).as_str() + "."
}

/// Describes a shared lead: `rr-ta and rack share the lead at 2.85 to 2.88 Mb/s`.
fn lead(leaders: &[&Summary<'_>], scale: Scale) -> String {
    let bps = || leaders.iter().map(|s| s.goodput_bps.mean);
    let low = scale.number(bps().fold(f64::INFINITY, f64::min));
    let high = bps().fold(f64::NEG_INFINITY, f64::max);
    let to = if low == scale.number(high) { String::new() } else { format!("{low} to ") };
    let names: Vec<&str> = leaders.iter().map(|s| s.variant).collect();
    format!("{} share the lead at {to}{}", listed(&names), scale.with_unit(high))
}

/// Returns the clause after the finding: why several variants lead, or that a difference between
/// single runs may be chance; empty if there is nothing to add.
fn reason(best: &Summary<'_>, leaders: &[&Summary<'_>], all: &[Summary<'_>]) -> String {
    let others = leaders.iter().filter(|s| s.variant != best.variant);
    let overlapping: Vec<&str> = others.filter(|s| overlap(s, best)).map(|s| s.variant).collect();
    match (overlapping.as_slice(), leaders.len()) {
        ([], 1) if best.runs < 2 && all.len() > 1 => {
            "; of single runs, a difference may be chance".to_owned()
        }
        ([], 1) => String::new(),
        ([], _) => "; they are the same in all digits shown".to_owned(),
        ([_], 2) => "; their 95\u{a0}% confidence intervals overlap".to_owned(),
        ([other], _) => format!(
            "; the 95\u{a0}% confidence interval of {other} overlaps that of {}",
            best.variant
        ),
        (others, _) => format!(
            "; the 95\u{a0}% confidence intervals of {} overlap that of {}",
            listed(others),
            best.variant
        ),
    }
}

/// Joins names as a sentence does: `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}
