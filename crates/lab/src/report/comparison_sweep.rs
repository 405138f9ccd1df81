//! The report of a comparison at several values of a key: the table, and the goodput over the values.

use minijinja::context;
use plotters::element::Circle;
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::Color;

use super::look;
use super::page::{self, colours, style_of};
use super::palette::TEXT;
use super::panel::{Panel, values};
use super::plot::{self, Axes};
use crate::comparison_sweep::{ComparisonSweep, GoodputCurve};
use crate::record::Comparison;

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
        curves => values(panels(sweep)),
        about => about,
        facts => first.map(|c| c.facts.clone()).unwrap_or_default(),
        toml => first.map_or("", |c| c.scenario_toml.as_str()),
        command => first.map_or("", |c| c.command.as_str()),
    };
    page::page("comparison-sweep.html", contents)
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
                    tips.mark((across, up - by), &text);
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
    use crate::comparison_sweep::tests::fake;

    #[test]
    fn the_report_has_a_panel_for_each_variant_and_the_papers_numbers() {
        let html = super::comparison_sweep(&fake());
        assert_eq!(html.matches("<figure").count(), 7);
        assert!(html.contains("<th scope=\"row\">the paper</th>"), "{html}");
        for reference in ["http://", "https://", "src=", "href=", "url(", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }
}
