//! The loss thresholds of all variants over time, as one self-contained SVG for documents.

use super::page::inks;
use super::palette;
use super::panel::Panel;
use super::series::{self, DUPTHRESH, RESEND_WAIT, TracedQuantity};
use crate::record::Comparison;
use minijinja::HtmlEscape;

/// The number of panels in a row.
const COLUMNS: usize = 2;
/// The width and height of a panel with its heading, in drawing units.
const CELL: (usize, usize) = (410, 260);
/// The height of a heading, in drawing units.
const HEADING_HEIGHT: usize = 26;
/// The height of the caption below all panels, in drawing units.
const CAPTION_HEIGHT: usize = 30;

/// Returns a drawing with a panel for the duplicate threshold of each variant that has one, then a
/// panel for the time threshold of each variant that has one.
pub fn thresholds(comparison: &Comparison) -> String {
    let of = |quantity: &TracedQuantity| series::panels(comparison, quantity);
    let mut panels = of(&DUPTHRESH);
    let thresholds: Vec<String> = panels.iter().map(|p| p.variant.clone()).collect();
    panels.extend(of(&RESEND_WAIT).into_iter().map(|mut panel| {
        if thresholds.contains(&panel.variant) {
            panel.variant += ": time";
        }
        panel
    }));
    let rows = panels.len().div_ceil(COLUMNS).max(1);
    let width = COLUMNS * CELL.0;
    let height = rows * CELL.1 + CAPTION_HEIGHT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">\n<style>\n{}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n",
        palette::stylesheet(inks(comparison.variants.iter().map(|v| v.name.as_str())))
    );
    for (i, Panel { variant, svg: plot, .. }) in panels.iter().enumerate() {
        let x = i % COLUMNS * CELL.0;
        let y = i / COLUMNS * CELL.1;
        let inner = CELL.0 - 10;
        let below = CELL.1 - HEADING_HEIGHT;
        let place = format!(
            "<svg x=\"{x}\" y=\"{}\" width=\"{inner}\" height=\"{below}\"",
            y + HEADING_HEIGHT
        );
        svg += &format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" \
             style=\"fill:var(--text)\">{}</text>\n{}\n",
            x + 4,
            y + 18,
            HtmlEscape(variant),
            plot.replacen("<svg", &place, 1),
        );
    }
    let shaded: Vec<&str> = comparison.episodes.iter().map(|e| e.what.as_str()).collect();
    if !shaded.is_empty() {
        svg += &format!(
            "<text x=\"4\" y=\"{}\" font-size=\"12\" style=\"fill:var(--muted)\">shaded: {}</text>\n",
            height - 11,
            HtmlEscape(&shaded.join("; ")),
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;

    #[test]
    fn each_variant_with_a_threshold_has_a_panel() {
        let svg = thresholds(&fake::comparison());
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
        assert_eq!(svg.matches("font-weight").count(), 6, "all except rack, which has no series");
    }
}
