//! The report of a capture: the finding, the table of transfers, and charts of the largest ones.
//!
//! Sequence numbers and round trips over time can be zoomed and moved. uPlot draws them; it is part
//! of the page, which needs no network. Everything else is as in the other reports.

use minijinja::{Value, context};
use plotters::element::Rectangle;
use plotters::style::Color;
use unruffled_capture::{Analysis, Direction, DotSample, DurationSummary, Place, is_enough};
use unruffled_units::count;

use super::page::{page, style};
use super::palette::LATE;
use super::plot::{self, Axes};
use crate::advice::{Step, for_largest, remedy_in_words};
use crate::analysis::{heads, numbered_ends, place, row, tunnel_order, udp_row};
use crate::text::grouped;
use crate::transfer::Transfer;

const UPLOT: &str = include_str!("uplot/uPlot.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("uplot/LICENSE");
const UPLOT_STYLE: &str = include_str!("uplot/uPlot.min.css");
const SCRIPT: &str = include_str!("capture.js");
const OWN_STYLE: &str = include_str!("capture.css");

/// The most transfers in the table.
const MAX_LISTED: usize = 50;
/// The most transfers with charts.
const MAX_DRAWN: usize = 6;

/// The width and height of the histogram on wide screens, in drawing units.
const WIDE_HISTOGRAM: (u32, u32) = (1180, 560);
/// The width and height of the histogram on narrow screens, in drawing units.
const NARROW_HISTOGRAM: (u32, u32) = (760, 480);

/// The most dots of each kind that a page has per transfer, and that an analysis has to keep.
pub const MAX_DOTS: usize = 2500;

/// Returns the report of a capture. The same capture gives the same bytes.
pub fn capture(
    name: &str,
    analysis: &Analysis,
    transfers: &[Transfer<'_>],
    plan: &[Step],
    damage: Option<&str>,
) -> String {
    let size = crate::analysis::size(analysis);
    let source = match crate::analysis::clock(analysis) {
        Some(note) => format!("{size}; {note}"),
        None => size,
    };
    let finding = transfers
        .first()
        .map_or("No TCP connection carried data.", |transfer| transfer.verdict.text.as_str());
    let drawn = &transfers[..transfers.len().min(MAX_DRAWN)];
    let data: Vec<_> = drawn.iter().map(|transfer| series(transfer.direction)).collect();
    let any_drawn = drawn.iter().any(is_drawn);
    let shown: Vec<Value> = drawn.iter().enumerate().map(|(i, t)| shown(i + 1, t)).collect();
    let rows = transfers.iter().take(MAX_LISTED).enumerate();
    let safe = |text: String| Value::from_safe_string(text);
    page(
        "capture.html",
        context! {
            style => style([], &[UPLOT_STYLE, OWN_STYLE]),
            title => name,
            source,
            finding,
            damage,
            plan => for_largest(plan, MAX_LISTED)
                .map(|step| [step.in_words(), step.advice.command()])
                .collect::<Vec<_>>(),
            heads => heads(),
            lines => rows.map(|(i, transfer)| row(i + 1, transfer.direction)).collect::<Vec<_>>(),
            transfers => shown,
            drawn => any_drawn,
            udp_heads => ["between", "what", "datagrams", "MB", "Mb/s", "handshake ms", "spin ms"],
            udp => analysis.udp.iter().take(MAX_LISTED).map(udp_row).collect::<Vec<_>>(),
            tunnels => tunnels(analysis),
            // The data has only numbers and fixed keys, so it cannot close the script element.
            data => safe(serde_json::to_string(&data).unwrap_or_default()),
            uplot => safe(format!("/*!\n{UPLOT_LICENCE}*/\n{UPLOT}")),
            script => safe(SCRIPT.to_owned()),
        },
    )
}

/// Describes the order of each tunnel's packets.
fn tunnels(analysis: &Analysis) -> Vec<String> {
    let pairs = analysis.udp.iter().take(MAX_LISTED);
    let tunnels = pairs.filter_map(|pair| Some((pair, pair.tunnel?)));
    let lines = tunnels.flat_map(|(pair, tunnel)| {
        let ends = format!("{} tunnel, {} to {}", tunnel.name(), pair.client, pair.server);
        tunnel_order(pair, tunnel).into_iter().map(move |line| format!("{ends}: {line}"))
    });
    let flows = analysis.numbered.iter().take(MAX_LISTED);
    let numbered = flows.map(|flow| format!("{}: {}", numbered_ends(flow), flow.verdict.text));
    lines.chain(numbered).collect()
}

/// Returns the data of the charts of a transfer, for the script.
fn series(direction: &Direction) -> serde_json::Value {
    let rounded = |value: f64, to: f64| (value * to).round() / to;
    let lists = |thinned: &DotSample| {
        let mut dots = thinned.dots.clone();
        dots.sort_by(|a, b| a.0.total_cmp(&b.0));
        let times: Vec<f64> = dots.iter().map(|dot| rounded(dot.0, 1e6)).collect();
        (times, dots.iter().map(|dot| dot.1).collect::<Vec<_>>())
    };
    let drawing = direction.charts.drawing.clone().unwrap_or_default();
    let rtt = &direction.rtt.over_time;
    let column = |value: fn(&unruffled_capture::Bin) -> f64| -> Vec<f64> {
        rtt.iter().map(|bin| rounded(value(bin), 1e4)).collect()
    };
    serde_json::json!({
        "sequence": {
            "new": lists(&drawing.new),
            "late": lists(&drawing.late),
            "resent": lists(&drawing.resent),
            "spurious": lists(&drawing.spurious),
            "acknowledged": lists(&drawing.acknowledged),
        },
        "rtt": [
            column(|bin| f64::midpoint(bin.from_s, bin.to_s)),
            column(|bin| bin.min),
            column(|bin| bin.mean),
            column(|bin| bin.max),
        ],
    })
}

/// Returns whether a transfer has charts; transfers that are too short to judge have none.
fn is_drawn(transfer: &Transfer<'_>) -> bool {
    transfer.direction.charts.drawing.is_some() && is_enough(transfer.direction)
}

/// Returns the values of a transfer for the template.
fn shown(number: usize, transfer: &Transfer<'_>) -> Value {
    let direction = transfer.direction;
    let late = direction.reordering();
    let times = late.late_time.as_ref();
    context! {
        number,
        ends => format!("{} to {}", direction.from, direction.to),
        place => place(direction),
        verdict => transfer.verdict.text.as_str(),
        cost => transfer.cost_in_words(),
        remedy => remedy_in_words(direction, transfer.verdict.cause),
        drawn => is_drawn(transfer),
        thinned => direction.charts.drawing.as_ref().and_then(thinned),
        rtt_drawn => !direction.rtt.over_time.is_empty(),
        rtt => round_trips(direction),
        lateness_wide => times.map(|times| histogram(times, WIDE_HISTOGRAM)),
        lateness_narrow => times.map(|times| histogram(times, NARROW_HISTOGRAM)),
        lateness_note => times.map(|times| {
            let packets = count(times.packets, "packet");
            let hold = late.hold_ms.filter(|ms| *ms > 0.0);
            let hold = hold.map_or(String::new(), |ms| format!("; `resequence` holds for {ms:.1} ms"));
            format!("{packets}, half of them by {:.1} ms or more{hold}", times.median_ms)
        }),
    }
}

/// Describes the drawn round trips, which are those from the vantage point to the receiver; none if
/// there is nothing to add.
fn round_trips(direction: &Direction) -> Option<String> {
    let whole = direction.rtt.min_ms;
    let beyond = direction.rtt.beyond_ms;
    if direction.place == Place::Sender {
        return whole.or(beyond).map(|ms| format!("minimum {ms:.1} ms"));
    }
    let part = "from here to the receiver and back";
    Some(match (whole, beyond) {
        (Some(ms), _) => format!("{part}; between the ends at least {ms:.1} ms"),
        (None, Some(ms)) => format!("{part}, minimum {ms:.1} ms"),
        (None, None) => part.to_owned(),
    })
}

/// Describes the share of the segments that is drawn; none if all are.
fn thinned(drawing: &unruffled_capture::Drawing) -> Option<String> {
    let DotSample { dots, total } = &drawing.new;
    (*total > dots.len() as u64).then(|| {
        format!(
            "{} of {total} new segments are drawn, one in {}; of other marks, at most {MAX_DOTS} of each \
             kind.",
            dots.len(),
            total / dots.len().max(1) as u64
        )
    })
}

/// Draws a histogram of the lateness of packets. The last bar has all packets that are later still.
fn histogram(times: &DurationSummary, size: (u32, u32)) -> Value {
    let end_ms = times.bars.last().map_or(0.0, |bar| bar.from_ms);
    // The unit is milliseconds up to ten seconds, then seconds.
    let (factor, unit) = if end_ms >= 1e4 { (1e-3, "s") } else { (1.0, "ms") };
    let width = match times.bars.as_slice() {
        [_, second, ..] => second.from_ms,
        _ => (times.max_ms * 2.0).max(0.001),
    };
    let end = times.bars.last().map_or(1.0, |bar| bar.from_ms + width);
    let share = |packets: u64| packets as f64 / times.packets.max(1) as f64 * 100.0;
    let highest = times.bars.iter().map(|bar| share(bar.packets)).fold(0.0, f64::max);
    let x_label = format!("late by ({unit})");
    let axes = Axes {
        x: 0.0..end * factor,
        y: 0.0..highest * 1.05,
        x_label: &x_label,
        y_label: "share of the late packets (%)",
    };
    let label = "A histogram of how late packets were";
    let svg = plot::svg(size, label, |area, tips| {
        let mut chart = plot::chart(area, &axes)?;
        for (i, bar) in times.bars.iter().enumerate().filter(|(_, bar)| bar.packets > 0) {
            let from = bar.from_ms * factor;
            let until = (bar.from_ms + width) * factor;
            let corners = [(from, 0.0), (until, share(bar.packets))];
            chart.draw_series([Rectangle::new(corners, LATE.colour().filled())])?;
            let which = match i + 1 == times.bars.len() {
                true => format!("{} {unit} or more", plot::value(from)),
                false => format!("{} {unit}", plot::values(from, until)),
            };
            let plural = if bar.packets == 1 { "" } else { "s" };
            let packets = format!("{} packet{plural}", grouped(&bar.packets.to_string()));
            let text = format!("{which}: {packets}, {} %", plot::value(share(bar.packets)));
            let corners = [(from, axes.y.end), (until, 0.0)];
            tips.add(corners.map(|corner| chart.backend_coord(&corner)), &text);
        }
        Ok(())
    });
    Value::from_safe_string(svg)
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_nests;
    use super::*;
    use crate::advice;
    use crate::analysis::tests::captured;
    use crate::transfer;

    /// Returns the page without its scripts and styles, whose text is not HTML.
    fn markup(html: &str) -> String {
        let mut rest = html;
        let mut markup = String::new();
        while let Some(at) = rest.find("<script").into_iter().chain(rest.find("<style")).min() {
            let (before, element) = rest.split_at(at);
            let end = if element.starts_with("<script") { "</script>" } else { "</style>" };
            markup += before;
            rest = element.split_once(end).expect("it ends").1;
        }
        markup + rest
    }

    #[test]
    fn the_report_begins_with_the_finding_and_has_charts_of_each_transfer() {
        let analysis = captured(MAX_DOTS);
        let transfers = transfer::transfers(&analysis);
        let plan = advice::plan("<b>&.pcap", &transfers, None);
        let html = capture("<b>&.pcap", &analysis, &transfers, &plan, Some("cut off <here>"));
        let markup = markup(&html);
        assert_nests(&markup);
        assert!(!markup.contains("<b>") && markup.contains("&lt;b&gt;&amp;.pcap"));
        assert!(markup.contains("cut off &lt;here&gt;"));
        let parts = [
            "class=\"finding\"",
            "id=\"plan\"",
            "<table",
            "data-sequence=\"0\"",
            "data-rtt=\"0\"",
            "<svg",
        ];
        let places: Vec<_> = parts.iter().map(|part| markup.find(part)).collect();
        assert!(places[..5].is_sorted() && places.iter().all(Option::is_some), "{places:?}");
        assert!(markup.contains("Reordering: "));
        // Each bar of the histogram has a tooltip with its packets; the script shows the value at the
        // pointer.
        assert!(markup.contains(" packets, ") && markup.contains("<title>"), "{markup}");
        assert!(html.contains("setCursor") && html.contains("createElement(\"output\")"));
        for reference in ["src=", "href=", "http"] {
            assert!(!markup.contains(reference), "{reference}");
        }
        assert!(html.contains("Copyright (c) 2022 Leon Sorokin"));
        assert_eq!(
            html,
            capture("<b>&.pcap", &analysis, &transfers, &plan, Some("cut off <here>"))
        );
    }

    #[test]
    fn a_transfer_that_is_too_short_to_judge_has_no_charts() {
        let analysis = captured(MAX_DOTS);
        let connection = analysis.connections[0].clone();
        let with = |change: fn(&mut Direction)| {
            let mut connection = connection.clone();
            connection.directions.iter_mut().for_each(change);
            let analysis = Analysis { connections: vec![connection], ..analysis.clone() };
            let html = capture("c", &analysis, &transfer::transfers(&analysis), &[], None);
            assert_nests(&markup(&html));
            html
        };
        let short = with(|direction| direction.traffic.segments = 2);
        assert!(short.contains("2 segments: too little to judge."));
        assert!(!short.contains("<figure>") && !short.contains("data-sequence=\"0\""));
        assert!(!short.contains("<script"), "nothing is drawn");
        let unmeasured = with(|direction| direction.rtt.over_time.clear());
        assert!(unmeasured.contains("data-sequence=\"0\""));
        assert!(!unmeasured.contains("data-rtt=\"0\""));
    }

    #[test]
    fn the_caption_explains_that_round_trips_away_from_the_sender_are_partial() {
        let analysis = captured(10);
        let mut direction = transfer::transfers(&analysis)[0].direction.clone();
        let note = |direction: &Direction| round_trips(direction).unwrap();
        assert!(note(&direction).starts_with("minimum 1"), "{}", note(&direction));
        direction.place = Place::Receiver;
        direction.rtt.min_ms = Some(100.4);
        direction.rtt.beyond_ms = Some(0.1);
        let expected = "from here to the receiver and back; between the ends at least 100.4 ms";
        assert_eq!(note(&direction), expected);
    }

    #[test]
    fn the_report_of_a_large_capture_has_a_bounded_size() {
        let analysis = captured(MAX_DOTS);
        let mut one = analysis.connections[0].clone();
        let dots =
            DotSample { dots: vec![(1_234.567_891, 1_234_567_890); MAX_DOTS], total: 1 << 40 };
        for direction in &mut one.directions {
            direction.traffic.segments = 1 << 40;
            direction.charts.drawing = Some(unruffled_capture::Drawing {
                new: dots.clone(),
                late: dots.clone(),
                resent: dots.clone(),
                spurious: dots.clone(),
                acknowledged: dots.clone(),
            });
        }
        let many = Analysis { connections: vec![one; 1000], ..analysis };
        let html = capture("c", &many, &transfer::transfers(&many), &[], None);
        assert!(html.len() < 2_500_000, "{} bytes", html.len());
    }
}
