//! The loss thresholds of each variant over time, as one SVG for documents.

use super::page::inks;
use super::palette;
use super::panel::Panel;
use super::series::{self, DUPTHRESH, TIME_LIMIT, TracedQuantity};
use crate::record::Comparison;
use minijinja::HtmlEscape;

/// The columns of panels, and the size of a panel with its heading, in the picture's units.
const COLUMNS: usize = 2;
const CELL: (usize, usize) = (410, 260);
/// The height of a heading, and of the caption below all panels.
const HEAD: usize = 26;
const CAPTION: usize = 30;

/// Renders a panel for each variant's duplicate threshold, then one for each variant's time limit.
pub fn thresholds(comparison: &Comparison) -> String {
    let panels_of = |quantity: &TracedQuantity| series::panels(comparison, quantity);
    let mut panels = panels_of(&DUPTHRESH);
    let thresholds: Vec<String> = panels.iter().map(|p| p.variant.clone()).collect();
    panels.extend(panels_of(&TIME_LIMIT).into_iter().map(|mut panel| {
        if thresholds.contains(&panel.variant) {
            panel.variant += ": time";
        }
        panel
    }));
    let rows = panels.len().div_ceil(COLUMNS).max(1);
    let (width, height) = (COLUMNS * CELL.0, rows * CELL.1 + CAPTION);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">\n<style>\n{}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n",
        palette::stylesheet(inks(comparison.variants.iter().map(|v| v.name.as_str())))
    );
    for (i, Panel { variant, svg: plot, .. }) in panels.iter().enumerate() {
        let (x, y) = (i % COLUMNS * CELL.0, i / COLUMNS * CELL.1);
        let (inner, below) = (CELL.0 - 10, CELL.1 - HEAD);
        let place =
            format!("<svg x=\"{x}\" y=\"{}\" width=\"{inner}\" height=\"{below}\"", y + HEAD);
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
    fn each_threshold_has_a_panel() {
        let svg = thresholds(&fake::comparison());
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
        assert_eq!(svg.matches("font-weight").count(), 6, "all but rack, which has no series");
    }
}
