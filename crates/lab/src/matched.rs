//! The matching of captures as text and as JSON.

use serde::Serialize;
use unruffled_capture::{ClockRelation, Match, MatchedFlow};
use unruffled_units::count;

use crate::text::wrapped;

/// The largest number of flows in the text. JSON has all of them.
const MAX_LISTED: usize = 12;

/// Two captures by name, and what they have in common.
pub type Pair<'a> = ([&'a str; 2], Option<Match>);

/// Returns one JSON object: those of the captures, and what each two have in common.
pub fn json(captures: &[String], matches: &[Pair<'_>]) -> String {
    #[derive(Serialize)]
    struct Matched<'a> {
        first: &'a str,
        second: &'a str,
        #[serde(flatten)]
        found: Option<&'a Match>,
    }
    let matches: Vec<_> = matches
        .iter()
        .map(|([first, second], found)| Matched { first, second, found: found.as_ref() })
        .collect();
    let matches = serde_json::to_string(&matches).unwrap_or_default();
    let captures: Vec<&str> = captures.iter().map(|capture| capture.trim_end()).collect();
    format!("{{\"captures\":[{}],\"matches\":{matches}}}\n", captures.join(","))
}

/// Renders the matches for `width` columns.
pub fn render(matches: &[Pair<'_>], width: usize) -> String {
    let mut text = String::new();
    for ([first, second], found) in matches {
        let Some(found) = found else {
            text += &wrapped(&format!("{first} and {second} have no flow in common"), width, "");
            continue;
        };
        let flows = count(found.flows.len(), "flow");
        text += &wrapped(&format!("{first} and {second} have {flows} in common"), width, "");
        text += &wrapped(&clocks(&found.clocks, second), width, "  ");
        for (name, &left_out) in [first, second].into_iter().zip(&found.left_out) {
            if left_out > 0 {
                let packets = count(left_out, "packet");
                let line = format!("{packets} of {name} are not matched: the capture is too long");
                text += &wrapped(&line, width, "  ");
            }
        }
        for flow in found.flows.iter().take(MAX_LISTED) {
            let seen_at = [first, second][flow.departs_at];
            text += &format!("\n{} to {}, from {seen_at} on\n", flow.from, flow.to);
            for line in lines(flow) {
                text += &wrapped(&line, width, "  ");
            }
        }
        if found.flows.len() > MAX_LISTED {
            let rest = count(found.flows.len() - MAX_LISTED, "smaller flow");
            text += &format!("\nand {rest} (--json has all)\n");
        }
    }
    text
}

/// Returns the relation of both clocks in words.
fn clocks(clocks: &ClockRelation, second: &str) -> String {
    let ahead = if clocks.offset_ms < 0.0 { "behind" } else { "ahead" };
    let skew = match clocks.skew_ppm {
        0.0 => String::new(),
        skew if skew < 0.0 => format!(", and loses {:.1} ppm", -skew),
        skew => format!(", and gains {skew:.1} ppm"),
    };
    match clocks.uncertainty_ms {
        Some(error) => format!(
            "The clock of {second} is {:.3} ms {ahead}{skew}. This takes the minimum delays of both \
             directions as equal, and is off by {error:.3} ms at most. All delays are relative to it.",
            clocks.offset_ms.abs()
        ),
        None => format!(
            "Packets of one direction only are in both captures, so the offset of the clock of {second} is \
             not known{skew}. All delays are relative to the smallest one."
        ),
    }
}

/// Describes what became of a flow's packets.
fn lines(flow: &MatchedFlow) -> Vec<String> {
    let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let mut lines = Vec::new();
    if (flow.from, flow.to) != (flow.arrives_from, flow.arrives_to) {
        lines.push(format!("It arrives as {} to {}.", flow.arrives_from, flow.arrives_to));
    }
    lines.push(format!(
        "{} departed, {} arrived, {} lost ({:.2} %).",
        count(flow.packets, "packet"),
        flow.arrived,
        flow.lost,
        share(flow.lost, flow.packets)
    ));
    let order = &flow.reordering;
    if let (Some(time), Some(extent)) = (&order.late_time, order.mean_extent) {
        lines.push(format!(
            "{} arrived late ({:.2} %): by {extent:.1} packets in the mean and {} at most, by {:.1} ms in \
             the median, {:.1} ms for one in ten, and {:.1} ms at most.",
            count(order.reordered, "packet"),
            order.ratio * 100.0,
            order.max_extent,
            time.median_ms,
            time.p90_ms,
            time.max_ms
        ));
    } else if flow.arrived > 0 {
        lines.push("All arrived in order.".to_owned());
    }
    if let Some(delay) = &flow.delay {
        lines.push(format!(
            "One-way delay: {:.3} ms at least, {:.3} ms in the median, {:.3} ms for one in ten, {:.3} ms for \
             one in a hundred, {:.3} ms at most.",
            delay.min_ms, delay.median_ms, delay.p90_ms, delay.p99_ms, delay.max_ms
        ));
    }
    let notes = [
        (flow.duplicated, "duplicated by the network"),
        (flow.unsettled, "perhaps under way at the end"),
        (flow.uncaptured, "acknowledged, but not captured where they arrived"),
        (flow.undeparted, "not captured where they departed"),
        (flow.ambiguous, "sent more than once, and which one arrived is not certain"),
    ];
    let notes: Vec<String> = notes
        .iter()
        .filter(|(packets, _)| *packets > 0)
        .map(|(packets, what)| format!("{packets} {what}"))
        .collect();
    if !notes.is_empty() {
        lines.push(format!("Of the packets: {}.", notes.join("; ")));
    }
    lines
}
