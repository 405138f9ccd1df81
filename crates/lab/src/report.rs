//! A comparison as one HTML file that needs nothing else: no network, no script, no font. The page of
//! a capture has scripts of its own, for charts that can be zoomed.
//!
//! Plotters draws the axes and the series; `palette` lets the drawings follow light and dark mode.
//! Small multiples on a grid show 2 variants as well as 20, on a telephone as well as on a wall.

mod axis;
mod capture;
mod comparison_sweep;
mod figure;
mod gallery;
mod goodput;
mod markdown;
mod numbers;
mod palette;
mod plot;
mod reordering;
mod reproduction;
mod sequence;
mod series;
mod thin;
mod thresholds;

use minijinja::{Environment, Value, context};

use crate::groups::{TextTable, busy_links, flow_groups};
use crate::record::{Comparison, Medium, VariantRuns};
use crate::summary::{
    Summary, best, cells, columns, effort, finding, reference_in_words, summaries,
};
pub use capture::{DOTS, capture};
pub use comparison_sweep::comparison_sweep;
pub use figure::figure_file;
pub use gallery::gallery;
pub use markdown::markdown;
pub use reproduction::reproduction;
pub use thresholds::thresholds;

/// The templates; their names make the engine escape for HTML.
const TEMPLATES: [(&str, &str); 7] = [
    ("base.html", include_str!("report/base.html")),
    ("parts.html", include_str!("report/parts.html")),
    ("page.html", include_str!("report/page.html")),
    ("reproduction.html", include_str!("report/reproduction.html")),
    ("comparison-sweep.html", include_str!("report/comparison-sweep.html")),
    ("gallery.html", include_str!("report/gallery.html")),
    ("capture.html", include_str!("report/capture.html")),
];
const STYLE: &str = include_str!("report/style.css");

/// Widths of the goodput plot, in drawing units: for a page, and for a telephone.
const GOODPUT_WIDTHS: (u32, u32) = (1500, 760);

/// The report. The same comparison gives the same bytes.
pub fn html(comparison: &Comparison) -> String {
    let summaries = summaries(comparison);
    page("page.html", contents(comparison, &summaries))
}

/// The template of that name, filled in.
fn page(template: &str, contents: Value) -> String {
    let mut pages = Environment::new();
    TEMPLATES
        .into_iter()
        .try_for_each(|(name, source)| pages.add_template(name, source))
        .and_then(|()| pages.get_template(template)?.render(contents))
        .expect("the templates are part of the program, and its tests render them")
}

/// What the template fills in.
fn contents(comparison: &Comparison, summaries: &[Summary<'_>]) -> Value {
    let (wide, narrow) = GOODPUT_WIDTHS;
    let goodput = |width| goodput::svg(summaries, comparison.reference.bps(), width);
    let about: Vec<_> =
        comparison.variants.iter().map(|v| (v.name.clone(), v.about.clone())).collect();
    let best = best(summaries).map(|s| s.variant);
    let columns = columns(comparison);
    context! {
        style => Value::from_safe_string(palette::stylesheet() + STYLE),
        scenario => comparison.scenario.as_str(),
        title => comparison.title.as_str(),
        source => comparison.source.as_str(),
        reference => reference_in_words(comparison),
        beside => !comparison.beside.is_empty(),
        effort => effort(comparison),
        finding => finding(comparison, summaries),
        columns => columns.iter().map(|column| column.long).collect::<Vec<_>>(),
        lines => cells(columns, summaries),
        grids => grids(comparison),
        wire => comparison.medium == Medium::Wire,
        repeated => summaries.iter().any(|s| s.runs > 1),
        notes => comparison.notes.clone(),
        best => best,
        goodput_wide => Value::from_safe_string(goodput(wide)),
        goodput_narrow => Value::from_safe_string(goodput(narrow)),
        shown => shown(comparison),
        delivered => values(series::panels(comparison, &series::DELIVERED)),
        cwnd => values(series::panels(comparison, &series::CWND)),
        dupthresh => values(series::panels(comparison, &series::DUPTHRESH)),
        patience => values(series::panels(comparison, &series::PATIENCE)),
        episodes => comparison.episodes.iter().map(|e| e.what.clone()).collect::<Vec<_>>(),
        sequence => values(sequence::panels(comparison)),
        reordering => values(reordering::panels(comparison)),
        about => about,
        facts => comparison.facts.clone(),
        toml => comparison.scenario_toml.as_str(),
        command => comparison.command.as_str(),
    }
}

/// Whose traces are drawn.
fn shown(comparison: &Comparison) -> String {
    let seed = comparison.variants.iter().find_map(|v| v.rows.first()).map_or(1, |row| row.seed);
    match comparison.compared {
        0 | 1 => format!("seed\u{a0}{seed}"),
        flows => format!("seed\u{a0}{seed}, first of {flows} flows"),
    }
}

/// The tables of groups of traffic and of links, where there are several flows.
fn grids(comparison: &Comparison) -> Vec<Value> {
    let grids = [flow_groups(comparison), busy_links(comparison)].into_iter().flatten();
    grids
        .map(|TextTable { heads, lines, .. }| context! { heads => heads.to_vec(), lines })
        .collect()
}

/// One of several small plots of the same kind.
#[derive(Debug)]
struct Panel {
    variant: String,
    /// The custom property that holds the variant's colour.
    colour: &'static str,
    note: String,
    svg: String,
}

impl Panel {
    fn new(index: usize, variant: &VariantRuns, note: &str, svg: String) -> Self {
        let (variant, note) = (variant.name.clone(), note.to_owned());
        Self { variant, colour: palette::variant(index).name, note, svg }
    }
}

/// The panels as the template sees them.
fn values(panels: Vec<Panel>) -> Vec<Value> {
    let value = |Panel { variant, colour, note, svg }| {
        context! { variant, colour, note, svg => Value::from_safe_string(svg) }
    };
    panels.into_iter().map(value).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::fake;
    use crate::reference::{Limit, Reference};

    /// Every element that is opened closes, in order.
    pub(super) fn assert_nests(html: &str) {
        const VOID: [&str; 3] = ["meta", "br", "!doctype"];
        let mut open = Vec::new();
        for tag in html.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("<{tag} does not end"));
            let name = tag.split_whitespace().next().unwrap();
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "closed by </{name}>");
            } else if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "left open: {open:?}");
    }

    #[test]
    fn every_element_closes() {
        let html = html(&fake::comparison());
        assert_nests(&html);
        assert!(html.matches("<svg").count() >= 2 + 7 + 6 + 7 + 6, "all plots are there");
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let html = html(&fake::comparison());
        for reference in ["http://", "https://", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }

    #[test]
    fn text_is_escaped_wherever_it_stands() {
        let mut comparison = fake::comparison();
        let hostile = "<b>&\"'";
        comparison.title = hostile.to_owned();
        comparison.source = hostile.to_owned();
        comparison.scenario = hostile.to_owned();
        comparison.scenario_toml = hostile.to_owned();
        comparison.facts[0] = (hostile.to_owned(), hostile.to_owned());
        comparison.variants[5].name = hostile.to_owned();
        comparison.variants[5].about = hostile.to_owned();
        let html = html(&comparison);
        assert!(!html.contains("<b>"));
        assert!(html.contains("<h1>&lt;b&gt;&amp;&quot;&#x27;</h1>"));
        assert_nests(&html);
    }

    #[test]
    fn the_report_follows_its_order_and_names_every_variant() {
        let comparison = fake::comparison();
        let html = html(&comparison);
        let parts = ["<h1>", "class=\"finding\"", "<table", "id=\"goodput\"", "id=\"cwnd\""];
        let rest =
            ["id=\"dupthresh\"", "id=\"sequence\"", "id=\"reordering\"", "id=\"path\"", "<pre>"];
        let places: Vec<_> = parts.iter().chain(&rest).map(|part| html.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
        for variant in &comparison.variants {
            assert!(html.contains(&format!("<th scope=\"row\">{}</th>", variant.name)));
        }
    }

    #[test]
    fn captions_say_that_one_of_several_flows_is_drawn() {
        let mut comparison = fake::comparison();
        assert!(html(&comparison).contains("(seed\u{a0}1)"));
        (comparison.flows, comparison.compared) = (6, 4);
        let html = html(&comparison);
        assert!(html.contains("(seed\u{a0}1, first of 4 flows)"));
        assert!(!html.contains("(seed\u{a0}1)"));
    }

    #[test]
    fn a_wait_is_for_resending_and_not_for_a_loss() {
        let mut comparison = fake::comparison();
        assert!(!html(&comparison).contains("id=\"patience\""));
        comparison.variants[6].trace.patience = vec![(0.0, 120.0), (5.0, 150.0)];
        let html = html(&comparison);
        assert!(html.contains("<h2>Wait before resending</h2>"));
        assert!(html.contains("aria-label=\"Wait before resending of rack over time\""));
        assert!(html.contains("<code>unruffled</code> waits longer before it cuts (seed"));
        assert_nests(&html);
    }

    #[test]
    fn captions_of_a_single_run_speak_of_no_means_and_intervals() {
        let mut comparison = fake::comparison();
        let words = ["Means over", "±", "whiskers", "bars are means"];
        let several = html(&comparison);
        assert!(words.iter().all(|word| several.contains(word)));
        comparison.variants.iter_mut().for_each(|v| v.rows.truncate(1));
        let single = html(&comparison);
        for word in words.iter().chain(&["confidence interval"]) {
            assert!(!single.contains(word), "{word}");
        }
        assert!(single.contains("Of a single run; the share"));
        assert!(single.contains("Longer is better; the dashed line"));
    }

    #[test]
    fn the_same_comparison_gives_the_same_bytes() {
        assert_eq!(html(&fake::comparison()), html(&fake::comparison()));
    }

    #[test]
    fn full_traces_make_a_file_of_bearable_size() {
        let mut comparison = fake::comparison();
        for trace in comparison.variants.iter_mut().map(|v| &mut v.trace) {
            let sent = |i: u32| crate::record::Sent {
                time_s: 500.0 + f64::from(i) * 0.001,
                segment: f64::from((i * 7919) % 5000),
                kind: crate::record::SendKind::New,
            };
            trace.sent = (0..5000).map(sent).collect();
        }
        let size = html(&comparison).len();
        assert!(size < 1_500_000, "{size} bytes");
    }

    #[test]
    fn a_section_without_data_is_left_out() {
        let mut comparison = fake::comparison();
        comparison.variants.iter_mut().for_each(|v| v.trace = Default::default());
        let html = html(&comparison);
        assert!(!html.contains("id=\"cwnd\"") && !html.contains("id=\"reordering\""));
        assert_nests(&html);
    }

    #[test]
    fn numbers_that_are_none_do_not_stop_the_report() {
        let mut comparison = fake::comparison();
        comparison.reference = Reference::new(f64::NAN, Limit::Links);
        comparison.variants[0].rows.clear();
        comparison.variants[1].trace.cwnd = vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)];
        comparison.variants[2].trace.acked = vec![(500.0, f64::NAN)];
        assert_nests(&html(&comparison));
        comparison.variants.clear();
        assert_nests(&html(&comparison));
    }
}
