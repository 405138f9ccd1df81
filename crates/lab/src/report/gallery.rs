//! The report of a gallery: the standings of the senders, and a heat map of senders by paths.

use minijinja::{Value, context};

use super::page::{self, colours, style_of};
use crate::gallery::{Gallery, Path, Standing};
use crate::rate::Scale;

/// Returns the report of a gallery. The same gallery gives the same bytes.
pub fn gallery(gallery: &Gallery) -> String {
    let standings = gallery.standings();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let line = |s: &Standing| {
        let numbers = [s.median, s.tenth, s.mean, s.worst].map(percent);
        let [median, tenth, mean, worst] = numbers;
        vec![s.sender.clone(), median, tenth, mean, worst, s.worst_path.clone()]
    };
    let cell = |sender: &str, path: &Path, share: f64| {
        let at = gallery.senders.iter().position(|name| name == sender);
        let bps = at.map_or(f64::NAN, |at| path.goodput_bps[at]);
        let goodput = Scale::of([bps]).with_unit(bps);
        let percent = percent(share);
        let title = format!("{sender} on {}: {goodput}, {percent}\u{a0}% of the best", path.name);
        context! { share => format!("{share:.4}"), text => format!("{:.0}", share * 100.0), title }
    };
    let rows = standings.iter().map(|s| {
        let cells = gallery.paths.iter().zip(&s.shares);
        let cells: Vec<Value> = cells.map(|(path, &share)| cell(&s.sender, path, share)).collect();
        context! { sender => s.sender.clone(), cells }
    });
    let paths = gallery.paths.iter().map(|path| {
        context! {
            name => path.name.clone(),
            title => path.title.clone(),
            undisturbed => path.undisturbed(),
            seconds => path.duration_s.to_string(),
            best => path.best(),
            leaders => gallery.leaders(path).join(", "),
        }
    });
    let names = || gallery.senders.iter().map(String::as_str);
    let contents = context! {
        style => style_of(names()),
        colours => colours(names()),
        title => "Senders by paths",
        seeds => gallery.seeds,
        overrides => gallery.overrides.clone(),
        heads => ["sender", "median %", "10th percentile %", "mean %", "worst %", "worst path"],
        lines => standings.iter().map(line).collect::<Vec<_>>(),
        rows => rows.collect::<Vec<_>>(),
        names => gallery.paths.iter().map(|path| path.name.clone()).collect::<Vec<_>>(),
        paths => paths.collect::<Vec<_>>(),
    };
    page::page("gallery.html", contents)
}

#[cfg(test)]
mod tests {
    use crate::gallery::{Gallery, Path};

    #[test]
    fn the_report_has_a_cell_for_each_sender_and_path_and_refers_to_nothing_outside() {
        let path = |name: &str, goodput_bps: [f64; 2]| Path {
            name: name.to_owned(),
            title: format!("path <{name}>"),
            duration_s: 12.0,
            goodput_bps: goodput_bps.to_vec(),
            undisturbed_bps: 10e6,
        };
        let html = super::gallery(&Gallery {
            senders: vec!["unruffled".to_owned(), "rack".to_owned()],
            paths: vec![path("a", [9e6, 10e6]), path("b", [8e6, 2e6])],
            seeds: 1,
            overrides: vec!["delayed.fraction=30%".to_owned()],
        });
        assert_eq!(html.matches("class=\"heat\"").count(), 4);
        let cell = "--share:0.2500\" title=\"rack on b: 2.00\u{a0}Mb&#x2f;s, 25.0\u{a0}% of the best\">25</td>";
        assert!(html.contains(cell), "{html}");
        assert!(html.contains("path &lt;a&gt;; 12 s; best 10.00\u{a0}Mb&#x2f;s (rack)"), "{html}");
        assert!(html.contains("1 seed; with delayed.fraction=30%."), "{html}");
        assert!(html.contains("<h1>Senders by paths</h1>"));
        assert!(html.contains("<h2>Goodput, per cent of the best</h2>"));
        assert!(html.contains("<th scope=\"col\">worst path</th>"));
        // Narrow screens hide elements of the class `wide`.
        assert!(!html.contains("class=\"wide\""));
        for reference in ["http://", "https://", "src=", "href=", "url(", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }
}
