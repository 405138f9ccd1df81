//! Reports: self-contained HTML files without network access, scripts and fonts. Only the report of a
//! capture has scripts, for charts that can be zoomed.
//!
//! A point of a sweep leads to what happened there: a part of the page that is shown while it is the
//! target of the address. So it needs no script, and the keyboard reaches it. A race is not repeated, so
//! its report has the traces of each point. A simulation gives the same numbers again, so the report of
//! a sweep has a command and a link to the playground for each point instead.
//!
//! Plotters draws the axes and the series; `palette` adapts the drawings to light and dark mode. Each
//! variant has a small plot of its own in a grid, which suits 2 variants and 20, and screens of all
//! sizes.

#[cfg(feature = "captures")]
mod capture;
mod comparison_sweep;
#[cfg(feature = "threads")]
mod gallery;
mod goodput;
pub mod look;
pub mod page;
pub mod palette;
mod panel;
pub mod playground;
pub mod plot;
mod reordering;
mod sequence;
mod series;
pub mod slice;
#[cfg(feature = "store")]
mod sweep;
pub mod thin;
mod thresholds;

use minijinja::{Value, context};

use crate::groups::{TextTable, busy_links, flow_groups};
use crate::record::{Comparison, Medium};
use crate::summary::{
    Summary, cells, columns, effort, finding, leaders, reference_in_words, scale, summaries,
};
#[cfg(feature = "captures")]
pub use capture::{MAX_DOTS, capture};
pub use comparison_sweep::comparison_sweep;
#[cfg(feature = "threads")]
pub use gallery::gallery;
use page::{colours, style_of};
use panel::values;
#[cfg(feature = "store")]
pub use sweep::sweep;
pub use thresholds::thresholds;

/// The width of the goodput plot on wide screens, in drawing units.
const WIDE_GOODPUT: u32 = 1500;
/// The width of the goodput plot on narrow screens, in drawing units.
const NARROW_GOODPUT: u32 = 760;

/// Returns the report of a comparison. The same comparison gives the same bytes.
pub fn html(comparison: &Comparison) -> String {
    let summaries = summaries(comparison);
    page::page("page.html", contents(comparison, &summaries))
}

/// Returns the values for the template.
fn contents(comparison: &Comparison, summaries: &[Summary<'_>]) -> Value {
    let scale = scale(comparison, summaries);
    let goodput = |width| goodput::svg(summaries, comparison.reference.bps(), scale, width);
    let about: Vec<_> =
        comparison.variants.iter().map(|v| (v.name.clone(), v.about.clone())).collect();
    let best: Vec<String> =
        leaders(comparison, summaries).iter().map(|s| s.variant.to_owned()).collect();
    let names = || comparison.variants.iter().map(|v| v.name.as_str());
    let columns = columns(comparison);
    context! {
        style => style_of(names()),
        colours => colours(names()),
        scenario => comparison.scenario.as_str(),
        title => comparison.title.as_str(),
        source => comparison.source.as_str(),
        reference => reference_in_words(comparison),
        beside => !comparison.beside.is_empty(),
        effort => effort(comparison),
        finding => finding(comparison, summaries),
        columns => columns.iter().map(|column| column.long).collect::<Vec<_>>(),
        lines => cells(&columns, summaries),
        grids => grids(comparison),
        wire => comparison.medium == Medium::Wire,
        repeated => summaries.iter().any(|s| s.runs > 1),
        notes => comparison.notes.clone(),
        best => best,
        goodput_wide => Value::from_safe_string(goodput(WIDE_GOODPUT)),
        goodput_narrow => Value::from_safe_string(goodput(NARROW_GOODPUT)),
        shown => shown(comparison),
        delivered => over_time(comparison, &series::DELIVERED),
        cwnd => over_time(comparison, &series::CWND),
        dupthresh => over_time(comparison, &series::DUPTHRESH),
        resend_wait => over_time(comparison, &series::RESEND_WAIT),
        episodes => comparison.episodes.iter().map(|e| e.what.clone()).collect::<Vec<_>>(),
        sequence => values(sequence::panels(comparison)),
        reordering => values(reordering::panels(comparison)),
        about => about,
        facts => comparison.facts.clone(),
        toml => comparison.scenario_toml.as_str(),
        command => comparison.command.as_str(),
    }
}

/// Returns the panels and the table of a quantity over time; none if no variant has it.
fn over_time(comparison: &Comparison, quantity: &series::TracedQuantity) -> Option<Value> {
    let panels = series::panels(comparison, quantity);
    let mut lines = series::table(comparison, quantity);
    let heads = lines.remove(0);
    (!panels.is_empty()).then(|| context! { panels => values(panels), heads, lines })
}

/// Describes the run and the flow whose traces are drawn.
fn shown(comparison: &Comparison) -> String {
    let seed = comparison.variants.iter().find_map(|v| v.rows.first()).map_or(1, |row| row.seed);
    match comparison.compared {
        0 | 1 => format!("seed\u{a0}{seed}"),
        flows => format!("seed\u{a0}{seed}, first of {flows} flows"),
    }
}

/// Returns the tables of traffic groups and links, if there are several flows.
fn grids(comparison: &Comparison) -> Vec<Value> {
    let grids = [flow_groups(comparison), busy_links(comparison)].into_iter().flatten();
    grids.map(|TextTable { heads, lines, .. }| context! { heads, lines }).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::VariantRuns;
    use crate::record::fake;
    use crate::reference::{Limit, Reference};

    /// Asserts that every element is closed, in order.
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

    /// Asserts that the page loads nothing, and that each link leads to a part of it or to the
    /// playground on this machine. Returns the parts that links lead to.
    pub(super) fn targets(html: &str) -> std::collections::BTreeSet<&str> {
        for reference in ["https://", "src=", "url(", "@import", "<script", "<link"] {
            assert!(!html.contains(reference), "{reference}");
        }
        let playground = "href=\"http:&#x2f;&#x2f;127.0.0.1:8377&#x2f;#&#x2f;play?";
        let outside = html.matches("http:").count();
        assert_eq!(
            html.matches(playground).count(),
            outside,
            "other addresses than the playground"
        );
        let links = html.split("href=\"#").skip(1);
        let targets = links.filter_map(|link| Some(link.split_once('"')?.0)).collect();
        for target in &targets {
            assert_eq!(html.matches(&format!(" id=\"{target}\"")).count(), 1, "{target}");
        }
        targets
    }

    #[test]
    fn every_element_is_closed() {
        let html = html(&fake::comparison());
        assert_nests(&html);
        assert!(html.matches("<svg").count() >= 2 + 7 + 6 + 7 + 6, "all plots are there");
    }

    #[test]
    fn the_report_refers_to_nothing_outside() {
        let html = html(&fake::comparison());
        for reference in ["http://", "https://", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }

    #[test]
    fn all_text_is_escaped() {
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
    fn the_sections_are_in_order_and_name_every_variant() {
        let comparison = fake::comparison();
        let html = html(&comparison);
        let parts = ["<h1>", "class=\"finding\"", "<table", "id=\"goodput\"", "id=\"cwnd\""];
        let rest =
            ["id=\"dupthresh\"", "id=\"sequence\"", "id=\"reordering\"", "id=\"path\"", "<pre"];
        let places: Vec<_> = parts.iter().chain(&rest).map(|part| html.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
        for variant in &comparison.variants {
            let swatch = look::of(&variant.name).ink.property();
            let cell = format!(
                "<i class=\"swatch\" style=\"background:var(--{swatch})\"></i>{}</th>",
                variant.name
            );
            assert!(html.contains(&format!("<th scope=\"row\">{cell}")), "{cell}");
        }
    }

    #[test]
    fn captions_mention_that_one_of_several_flows_is_drawn() {
        let mut comparison = fake::comparison();
        assert!(html(&comparison).contains("(seed\u{a0}1)"));
        comparison.flows = 6;
        comparison.compared = 4;
        let html = html(&comparison);
        assert!(html.contains("(seed\u{a0}1, first of 4 flows)"));
        assert!(!html.contains("(seed\u{a0}1)"));
    }

    #[test]
    fn the_wait_before_resending_is_not_a_loss_delay_for_unruffled() {
        let mut comparison = fake::comparison();
        assert!(!html(&comparison).contains("id=\"resend-wait\""));
        comparison.variants[6].trace.patience = vec![(0.0, 120.0), (5.0, 150.0)];
        let html = html(&comparison);
        assert!(html.contains("<h2>Wait before resending</h2>"));
        assert!(html.contains("aria-label=\"Wait before resending of rack over time\""));
        assert!(
            html.contains("<code>unruffled</code> waits longer before it reduces the window (seed")
        );
        assert_nests(&html);
    }

    #[test]
    fn captions_of_a_single_run_do_not_mention_means_and_intervals() {
        let mut comparison = fake::comparison();
        let words = ["Means over", "±", "whiskers", "bars are means"];
        let several = html(&comparison);
        assert!(words.iter().all(|word| several.contains(word)));
        comparison.variants.iter_mut().for_each(|v| v.rows.truncate(1));
        let single = html(&comparison);
        for word in words.iter().chain(&["confidence interval"]) {
            assert!(!single.contains(word), "{word}");
        }
        assert!(single.contains("A single run; the share"));
        assert!(single.contains("Longer is better; the dashed line"));
    }

    /// Returns the colours beside a name, in tables and above panels.
    fn swatches(html: &str, name: &str) -> Vec<String> {
        let beside = html.split("<i class=\"swatch\" style=\"background:var(--").skip(1);
        let of_name = beside.filter(|rest| {
            let text = rest.split_once("</i>").map_or("", |(_, text)| text);
            let text = text.trim_start_matches("<strong>");
            text.starts_with(&format!("{name}</"))
        });
        of_name.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
    }

    #[test]
    fn a_sender_has_the_same_colour_in_all_reports() {
        let mut comparison = fake::comparison();
        let mut pages = vec![html(&comparison)];
        comparison.variants.reverse();
        comparison.medium = Medium::Wire;
        pages.push(html(&comparison));
        comparison.variants.retain(|v| v.name != "sack" && v.name != "rr-fa");
        pages.push(html(&comparison));
        pages.push(comparison_sweep(&crate::comparison_sweep::tests::fake()));
        pages.push(gallery(&crate::gallery::tests::fake()));
        for name in ["rack", "rr-ta", "rr-ta-rtx", "dsack-r"] {
            let colour = look::of(name).ink.property();
            for (i, page) in pages.iter().enumerate() {
                let found = swatches(page, name);
                assert!(found.iter().all(|found| *found == colour), "{name}: {found:?}");
                assert!(!found.is_empty() || i == 4, "{name} on page {i}");
            }
        }
        assert_eq!(swatches(&pages[4], "rack").len(), 2, "in both tables of the gallery");
    }

    #[test]
    fn all_senders_in_one_report_have_different_colours() {
        let mut comparison = fake::comparison();
        let model = comparison.variants[3].clone();
        let named =
            |row: &unruffled_tcp::Row| VariantRuns { name: row.name.to_owned(), ..model.clone() };
        comparison.variants = unruffled_tcp::ROWS.iter().map(named).collect();
        let page = html(&comparison);
        assert_nests(&page);
        let colours = unruffled_tcp::ROWS.iter().map(|row| swatches(&page, row.name)[0].clone());
        let colours: std::collections::HashSet<String> = colours.collect();
        assert_eq!(colours.len(), unruffled_tcp::ROWS.len());
        for colour in colours {
            assert_eq!(page.matches(&format!("--{colour}:#")).count(), 2, "light and dark");
        }
        assert!(page.len() < 4_000_000, "{} octets", page.len());
    }

    #[test]
    fn each_quantity_over_time_has_a_table() {
        let page = html(&fake::comparison());
        let cwnd = page.split("id=\"cwnd\"").nth(1).expect("windows");
        let table = cwnd.split("<details>").nth(1).expect("has a table").split("</details>").next();
        let table = table.expect("ends");
        assert!(
            table.contains(
                "<th scope=\"col\">cwnd, segments at s</th><th scope=\"col\">0 to 125</th>"
            )
        );
        assert_eq!(table.matches("<th scope=\"row\">").count(), 7);
    }

    #[test]
    fn the_same_comparison_gives_the_same_bytes() {
        assert_eq!(html(&fake::comparison()), html(&fake::comparison()));
    }

    #[test]
    fn the_report_of_full_traces_has_a_bounded_size() {
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
    fn a_section_without_data_is_omitted() {
        let mut comparison = fake::comparison();
        comparison.variants.iter_mut().for_each(|v| v.trace = Default::default());
        let html = html(&comparison);
        assert!(!html.contains("id=\"cwnd\"") && !html.contains("id=\"reordering\""));
        assert_nests(&html);
    }

    #[test]
    fn numbers_that_are_not_finite_do_not_prevent_a_report() {
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
