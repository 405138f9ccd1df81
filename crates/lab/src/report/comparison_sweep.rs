//! The report of a comparison at several values of a key: the table, a heat map, the goodput over the
//! values, and the traces of each point.

use minijinja::{Value, context};
use plotters::element::Circle;
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::Color;

use super::look;
use super::page::{self, colours, style_of};
use super::palette::TEXT;
use super::panel::{Panel, values};
use super::plot::{self, Axes};
use super::series::{CWND, DELIVERED, TracedQuantity};
use crate::comparison_sweep::{ComparisonAt, ComparisonSweep, GoodputCurve};
use crate::rate::Scale;
use crate::record::Comparison;

/// The most octets of traces in a report. Points whose traces do not fit have none.
const MAX_TRACES: usize = 2_000_000;

/// Returns the report of a swept comparison. The same sweep gives the same bytes.
pub fn comparison_sweep(sweep: &ComparisonSweep) -> String {
    let first = sweep.points.first().map(|p| &p.comparison);
    let repeated = |c: &Comparison| c.variants.iter().any(|v| v.rows.len() > 1);
    let about: Vec<_> = first.map_or(&[][..], |c| &c.variants).iter().collect();
    let about: Vec<_> = about.iter().map(|v| (v.name.clone(), v.about.clone())).collect();
    let contents = context! {
        style => style_of(about.iter().map(|(name, _)| name.as_str())),
        colours => colours(about.iter().map(|(name, _)| name.as_str())),
        name => sweep.name.as_str(),
        title => sweep.title.as_str(),
        source => sweep.source.as_str(),
        quantity => sweep.quantity.as_str(),
        repeated => first.is_some_and(repeated),
        octets => sweep.octets(),
        heads => sweep.heads(),
        lines => sweep.lines(),
        notes => sweep.notes(),
        points => sweep.points.iter().map(|p| p.value.to_string()).collect::<Vec<_>>(),
        heat => heat(sweep),
        curves => values(panels(sweep)),
        shown => traces(sweep, MAX_TRACES),
        about => about,
        facts => first.map(|c| c.facts.clone()).unwrap_or_default(),
        toml => first.map_or("", |c| c.scenario_toml.as_str()),
        command => first.map_or("", |c| c.command.as_str()),
    };
    page::page("comparison-sweep.html", contents)
}

/// Returns the rows of the heat map: the goodput of each variant as a share of the best at the same value.
fn heat(sweep: &ComparisonSweep) -> Vec<Value> {
    let mut curves = sweep.curves();
    curves.truncate(curves.len() - usize::from(sweep.paper.is_some()));
    let best = |at: usize| curves.iter().map(|c| c.goodput_bps[at]).fold(0.0, f64::max);
    let row = |curve: &GoodputCurve| {
        let cell = |(at, bps): (usize, &f64)| {
            let value = sweep.points[at].value;
            let share = bps / best(at);
            if !share.is_finite() {
                let title = format!("{} at {value}: no run", curve.variant);
                return context! { share => "0.0000", text => "", title, point => at };
            }
            let goodput = Scale::of([*bps]).with_unit(*bps);
            let name = &curve.variant;
            let text = format!("{:.0}", share * 100.0);
            let title =
                format!("{name} at {value}: {text}\u{a0}% of the best, {goodput}; see its traces");
            context! { share => format!("{share:.4}"), text, title, point => at }
        };
        let cells: Vec<Value> = curve.goodput_bps.iter().enumerate().map(cell).collect();
        context! { sender => curve.variant.as_str(), cells }
    };
    curves.iter().map(row).collect()
}

/// Returns the points with their traces, as long as these have no more than `most` octets together.
fn traces(sweep: &ComparisonSweep, most: usize) -> Vec<Value> {
    let mut left = most;
    let mut of = |comparison: &Comparison, quantity: &TracedQuantity| {
        let panels = super::series::panels(comparison, quantity);
        let octets: usize = panels.iter().map(|panel| panel.svg.len()).sum();
        let fits = octets <= left;
        left -= if fits { octets } else { 0 };
        (values(if fits { panels } else { Vec::new() }), !fits)
    };
    let mut point = |ComparisonAt { value, comparison }: &ComparisonAt| {
        let (delivered, delivered_left_out) = of(comparison, &DELIVERED);
        let (cwnd, cwnd_left_out) = of(comparison, &CWND);
        context! {
            value => value.to_string(),
            seed => super::shown(comparison),
            delivered,
            cwnd,
            left_out => delivered_left_out || cwnd_left_out,
            command => comparison.command.as_str(),
            toml => comparison.scenario_toml.as_str(),
        }
    };
    sweep.points.iter().map(&mut point).collect()
}

/// Returns a panel for each variant. The paper's curve, if there is one, is dashed in all panels.
fn panels(sweep: &ComparisonSweep) -> Vec<Panel> {
    let curves = sweep.curves();
    let highest =
        plot::span(curves.iter().flat_map(|c| &c.goodput_bps).copied()).end / sweep.unit().0;
    let x = plot::span(sweep.points.iter().map(|p| p.value));
    let (ours, paper) = curves.split_at(curves.len() - usize::from(sweep.paper.is_some()));
    let (octets, unit) = sweep.unit();
    let y_label = format!("goodput ({unit})");
    let panel = |curve: &GoodputCurve| {
        let points = |curve: &GoodputCurve| -> Vec<(f64, f64)> {
            let values = sweep.points.iter().map(|p| p.value);
            let points = values.zip(curve.goodput_bps.iter().map(|bps| bps / octets));
            points.filter(|p| p.1.is_finite()).collect()
        };
        let axes = Axes {
            x: x.clone(),
            y: 0.0..highest * 1.05,
            x_label: &sweep.quantity,
            y_label: &y_label,
        };
        let label = format!("Goodput of {} over {}", curve.variant, sweep.quantity);
        let svg = plot::svg(plot::PANEL_SIZE, &label, |area, tips| {
            let mut chart = plot::chart(area, &axes)?;
            for paper in paper {
                let style = TEXT.colour().stroke_width(2);
                chart.draw_series(DashedLineSeries::new(points(paper), 8, 8, style))?;
            }
            let colour = look::of(&curve.variant).ink.colour();
            chart.draw_series(LineSeries::new(points(curve), colour.stroke_width(4)))?;
            let dots = points(curve).into_iter();
            chart.draw_series(dots.map(|p| Circle::new(p, 7, colour.filled())))?;
            for (curve, by) in paper.iter().map(|paper| (paper, 8)).chain([(curve, 0)]) {
                for (x, y) in points(curve) {
                    let (across, up) = chart.backend_coord(&(x, y));
                    let text = format!("{} at {x}: {} {unit}", curve.variant, plot::value(y));
                    // The paper's points have no traces.
                    match sweep.points.iter().position(|p| p.value == x).filter(|_| by == 0) {
                        Some(at) => tips.link((across, up), &text, &format!("point-{at}")),
                        None => tips.mark((across, up - by), &text),
                    }
                }
            }
            Ok(())
        });
        Panel {
            variant: curve.variant.clone(),
            colour: look::of(&curve.variant).ink.property(),
            note: format!("spread {:.1} %", curve.spread * 100.0),
            svg,
        }
    };
    ours.iter().map(panel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison_sweep::tests::fake;
    use crate::report::tests::{assert_nests, targets};

    /// The made-up sweep, with a goodput over time.
    fn sweep() -> ComparisonSweep {
        let mut sweep = fake();
        let variants = sweep.points.iter_mut().flat_map(|point| &mut point.comparison.variants);
        variants.for_each(|v| v.trace.delivered = vec![(0.0, 8.0), (0.5, 6.0), (1.0, 6.0)]);
        sweep
    }

    #[test]
    fn each_cell_and_each_dot_leads_to_the_traces_of_its_point() {
        let html = comparison_sweep(&sweep());
        // Seven curves; at each of two values, seven windows and seven goodputs.
        assert_eq!(html.matches("<figure").count(), 7 + 2 * 2 * 7);
        assert!(html.contains("<th scope=\"row\">the paper</th>"), "{html}");
        assert_nests(&html);
        let targets: Vec<&str> = targets(&html).into_iter().collect();
        assert_eq!(targets, ["point-0", "point-1", "results"]);
        // A cell of the heat map, and a dot of a curve, for each of the seven senders.
        for point in ["point-0", "point-1"] {
            assert_eq!(html.matches(&format!("href=\"#{point}\"")).count(), 7 + 7);
            let part = html.split(&format!("id=\"{point}\"")).nth(1).expect("is there");
            let part = part.split("</article>").next().expect("ends");
            assert!(part.contains("Congestion window of sack over time"), "{part}");
            assert!(part.contains("Goodput of rack over time"), "{part}");
        }
        // What is in an image cannot be focused.
        let curve = html.split("<svg").find(|svg| svg.contains("<a href")).expect("has links");
        assert!(curve.contains("role=\"group\""), "{curve}");
    }

    #[test]
    fn traces_that_do_not_fit_are_left_out_and_the_report_says_so() {
        let sweep = sweep();
        let all = traces(&sweep, usize::MAX);
        let has = |value: &Value, name: &str| value.get_attr(name).expect("is there").is_true();
        assert!(all.iter().all(|point| has(point, "cwnd") && !has(point, "left_out")));
        let octets = |quantity: &TracedQuantity| {
            let panels = crate::report::series::panels(&sweep.points[0].comparison, quantity);
            panels.iter().map(|panel| panel.svg.len()).sum::<usize>()
        };
        // Both points have the same traces: there is room for those of the first.
        let some = traces(&sweep, octets(&DELIVERED) + octets(&CWND));
        assert!(has(&some[0], "cwnd") && !has(&some[0], "left_out"));
        assert!(!has(&some[1], "cwnd") && has(&some[1], "left_out"));
    }
}
