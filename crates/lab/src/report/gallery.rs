//! A gallery as a page: how the senders stand, and a heat map of senders by paths.

use minijinja::{Value, context};

use super::{STYLE, page, palette};
use crate::gallery::{Gallery, Standing};
use crate::summary::number;

/// The page. The same gallery gives the same bytes.
pub fn gallery(gallery: &Gallery) -> String {
    let standings = gallery.standings();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let line = |s: &Standing| {
        let numbers = [s.median, s.tenth, s.mean, s.worst].map(percent);
        let [median, tenth, mean, worst] = numbers;
        vec![s.sender.clone(), median, tenth, mean, worst, s.worst_path.clone()]
    };
    let cell = |&share: &f64| {
        context! { share => format!("{share:.4}"), text => format!("{:.0}", share * 100.0) }
    };
    let rows = standings.iter().map(|s| {
        let cells: Vec<Value> = s.shares.iter().map(cell).collect();
        context! { sender => s.sender.clone(), cells }
    });
    let paths = gallery.paths.iter().map(|path| {
        let best = format!("{:.4}", path.best_bps() / 1e6);
        let seconds = path.duration_s.to_string();
        let undisturbed = number(path.undisturbed_bps / 1e6, 4);
        context! { name => path.name.clone(), title => path.title.clone(), seconds, best, undisturbed }
    });
    let contents = context! {
        style => Value::from_safe_string(palette::stylesheet() + STYLE),
        title => "Senders by paths",
        seeds => gallery.seeds,
        overrides => gallery.overrides.clone(),
        heads => ["sender", "median %", "10th percentile %", "mean %", "worst %", "worst path"],
        lines => standings.iter().map(line).collect::<Vec<_>>(),
        rows => rows.collect::<Vec<_>>(),
        paths => paths.collect::<Vec<_>>(),
    };
    page("gallery.html", contents)
}

#[cfg(test)]
mod tests {
    use crate::gallery::{Gallery, Path};

    #[test]
    fn the_page_has_a_cell_for_each_sender_and_path_and_needs_nothing_else() {
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
        assert!(html.contains("--share:0.2500\">25</td>"), "{html}");
        assert!(html.contains("path &lt;a&gt;; 12 s; best 10.0000 Mb/s"), "{html}");
        assert!(html.contains("1 seed; with delayed.fraction=30%."), "{html}");
        assert!(html.contains("<h1>Senders by paths</h1>"));
        assert!(html.contains("<h2>Goodput, per cent of the best</h2>"));
        assert!(html.contains("<th scope=\"col\">worst path</th>"));
        // Narrow screens do not show what is wide.
        assert!(!html.contains("class=\"wide\""));
        for reference in ["http://", "https://", "src=", "href=", "url(", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }
}
