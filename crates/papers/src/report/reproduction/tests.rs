use super::*;
use crate::experiment::Experiment;
use crate::report::{figure_file, markdown};
use crate::reproduce::{json, table, tiny};

fn shown(quick: bool) -> (String, String, String) {
    let experiments = [tiny::experiment(quick)];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let picture = figure_file(&outcomes[0]).expect("is drawn");
    (reproduction(&outcomes), markdown(&outcomes, "pictures"), picture)
}

/// Checks that elements are closed in order.
fn assert_nests(html: &str) {
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
fn a_book_has_an_overview_and_a_page_for_each_paper_with_its_pictures() {
    let experiments = [tiny::experiment(true)];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let (pages, pictures) = crate::report::book(&outcomes);
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    let paper = format!("{}.md", experiments[0].paper);
    assert_eq!(names, ["overview.md", &paper]);
    let [(_, overview), (_, page)] = &pages[..] else { panic!("two pages") };
    assert!(overview.contains(&format!("]({paper})")), "{overview}");
    assert!(overview.contains("**From quick runs**"), "{overview}");
    assert!(page.contains("\n## tiny-1, ") && !page.contains("\n### "), "{page}");
    assert!(page.contains("](tiny-1.svg)"), "{page}");
    assert_eq!(
        pictures.iter().map(|picture| picture.name.as_str()).collect::<Vec<_>>(),
        ["tiny-1.svg"]
    );
}

#[test]
fn verdicts_have_a_line_for_each_claim() {
    let experiments = [tiny::experiment(false)];
    let text = crate::reproduce::verdicts(&tiny::outcomes(&experiments).expect("runs"));
    assert_eq!(text.lines().count(), experiments[0].claims.len());
    assert!(text.contains("tiny-1: holds: At 20 % there is something left\n"), "{text}");
    assert!(text.contains("tiny-1: not tested: Everybody likes it\n"), "{text}");
}

#[test]
fn the_page_nests_and_loads_no_other_file() {
    let (page, _, _) = shown(false);
    assert_nests(&page);
    for reference in ["https://", "src=", "url(", "@import", "<script"] {
        assert!(!page.contains(reference), "{reference}");
    }
    let links: Vec<&str> = page.split("href=\"").skip(1).collect();
    // The playground of the figure, on this machine, has the scenario at the middle point.
    let (play, links): (Vec<&str>, Vec<&str>) =
        links.into_iter().partition(|link| link.starts_with("http:"));
    assert!(links.iter().all(|link| link.starts_with("#tiny-1\"")), "{links:?}");
    let begins = "http:&#x2f;&#x2f;127.0.0.1:8377&#x2f;#&#x2f;play?senders=";
    assert!(play.len() == 1 && play[0].starts_with(begins), "{play:?}");
    let address = play[0].split('"').next().expect("ends");
    assert!(address.contains("&amp;toml="), "{address}");
}

#[test]
fn the_page_has_every_claim_with_its_verdict_and_every_line() {
    let (page, _, _) = shown(false);
    for (text, holds) in [
        ("RR-TCP is above SACK", "holds"),
        ("SACK is above what is possible", "fails"),
        ("At 20 % there is something left", "holds"),
        ("Everybody likes it", "untested"),
    ] {
        let item = page.split("<li class=\"").skip(1).find(|item| item.contains(text)).expect(text);
        assert!(item.starts_with(holds), "{item}");
    }
    for text in ["2 of 4 claims hold, 1 fail, 1 not tested", "It cannot be.", "no survey was made"]
    {
        assert!(page.contains(text), "{text}");
    }
    for line in ["without delay", "SACK", "RR-TCP", "half"] {
        assert!(page.contains(&format!("</i>{line}</th>")), "{line}");
    }
    assert!(page.contains("unruffled reproduce tiny.toml"), "the command that redoes it");
    assert_eq!(page.matches("<figure>").count(), 2, "two panels");
}

#[test]
fn text_is_escaped_everywhere() {
    let hostile = "<b>&|*_`";
    let text = tiny::TEXT
        .replace("title = \"Goodput", &format!("title = \"{hostile}"))
        .replace("\"Figure 1\"", &format!("\"{hostile}\""))
        .replace("\"rr-tcp\"", &format!("\"{hostile}\""))
        .replace("section = \"1\"", &format!("section = \"{hostile}\""))
        .replace("all of it", hostile)
        .replace("One.", hostile)
        .replace("packets delayed (%)", hostile)
        .replace("goodput (Mb/s)", hostile)
        .replace("without delay", hostile)
        .replace("It cannot be", hostile)
        .replace("no survey was made", hostile)
        .replace("title = \"queue\"", &format!("title = \"{hostile}\""))
        .replace("Everybody likes it", hostile);
    let experiments = [Experiment::parse("my.toml", &text, true).expect("makes sense")];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let page = reproduction(&outcomes);
    assert!(!page.contains("<b>"));
    assert_nests(&page);
    let picture = figure_file(&outcomes[0]).expect("is drawn");
    assert!(!picture.contains("<b>"), "{picture}");
    let document = markdown(&outcomes, "pictures");
    assert!(!document.contains("<b>"), "{document}");
    assert!(document.contains("&lt;b>&amp;\\|\\*\\_\\`"), "{document}");
}

#[test]
fn pictures_are_self_contained() {
    let (_, _, picture) = shown(false);
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="), "{picture}");
    assert_eq!(picture.matches("<svg").count(), picture.matches("</svg>").count());
    for part in ["packets delayed (%)", "goodput (Mb/s)", "time (s)", "RR-TCP", "prefers-color"] {
        assert!(picture.contains(part), "{part}");
    }
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn a_point_whose_interval_reaches_zero_is_drawn_on_a_logarithmic_axis() {
    let markers = |axis: &str| {
        // Values that vary between seeds.
        let text = tiny::TEXT
            .replace("goodput() / 1e6", "(goodput() / 1e6) ** 20")
            .replace("4 / 2 + x / 1000", "1e11");
        let text = text.replace("y-range = [0, 4]", axis);
        let experiments = [Experiment::parse("my.toml", &text, false).expect("makes sense")];
        let outcomes = tiny::outcomes(&experiments).expect("runs");
        let picture = figure_file(&outcomes[0]).expect("is drawn");
        ["<circle", "<polygon", "<rect"].map(|mark| picture.matches(mark).count())
    };
    assert_eq!(markers("y-log = true"), markers("y-log = false"));
}

#[test]
fn long_names_stay_within_their_drawing() {
    let long = "a name that goes on and on ".repeat(9);
    let text = tiny::TEXT.replace("without delay", &long).replace("goodput (Mb/s)", &long);
    for kind in ["bars\"\nat = 20", "line\""] {
        let text = text.replace("y-range = [0, 4]", &format!("kind = \"{kind}"));
        let experiments = [Experiment::parse("my.toml", &text, false).expect("makes sense")];
        let outcomes = tiny::outcomes(&experiments).expect("runs");
        let picture = figure_file(&outcomes[0]).expect("is drawn");
        let shown = picture.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1));
        let longest = shown.map(|text| text.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= 75), "{longest:?}");
    }
}

#[test]
fn a_time_series_of_one_point_is_visible() {
    let circles = |interval: &str| {
        let text = tiny::TEXT.replace("100 ms", interval);
        let experiments = [Experiment::parse("my.toml", &text, false).expect("makes sense")];
        let outcomes = tiny::outcomes(&experiments).expect("runs");
        figure_file(&outcomes[0]).expect("is drawn").matches("<circle").count()
    };
    assert!(circles("6 s") > circles("3 s"));
}

/// Returns the page for the experiment with `old` replaced by `new`.
fn page_with(changes: &[(&str, &str)]) -> String {
    let text = changes.iter().fold(tiny::TEXT.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let experiments = [Experiment::parse("my.toml", &text, false).expect("makes sense")];
    reproduction(&tiny::outcomes(&experiments).expect("runs"))
}

/// Returns the elements of a drawing that have the sender's colour.
fn marks_of(page: &str, sender: &str) -> usize {
    let colour = format!("=\"#{:06X}\"", unruffled_lab::report::look::of(sender).ink.light);
    let body = page.split_once("</style>").expect("has a style").1;
    body.matches(&colour).count()
}

#[test]
fn lines_have_the_colours_of_their_senders_and_two_lines_of_one_sender_differ_in_dashes() {
    let page = page_with(&[]);
    assert!(marks_of(&page, "sack") > 0 && marks_of(&page, "rr-ta") > 0);
    assert_eq!(marks_of(&page, "rack"), 0);
    // Independently of the other lines and of their order.
    let other = page_with(&[("variant = \"sack\"\nset", "variant = \"rack\"\nset")]);
    assert_eq!(marks_of(&other, "rr-ta"), marks_of(&page, "rr-ta"));
    assert!(marks_of(&other, "rack") > 0 && marks_of(&other, "sack") > 0);
    // The second line of SACK is dashed, unless it has the name of the first.
    let same = page_with(&[(
        "variant = \"sack\"\n\n",
        "variant = \"sack\"\nlabel = \"without delay\"\n\n",
    )]);
    assert!(marks_of(&page, "sack") > marks_of(&same, "sack"), "dashes are many elements");
}

#[test]
fn each_point_has_a_tooltip_with_its_value() {
    let page = page_with(&[]);
    for title in
        ["<title>SACK at 5 %: ", "<title>RR-TCP at 20 %: ", "<title>half at 20 %: 2.02 Mb/s"]
    {
        assert!(page.contains(title), "{title}");
    }
    assert!(page.contains("<title>without delay: 3."), "a constant, along its line");
    // 6 s in 60 slices.
    assert!(page.matches(" s\n").count() > 50, "a time series, slice by slice");
    let bars = page_with(&[("y-range = [0, 4]", "kind = \"bars\"\nat = 20")]);
    assert!(bars.contains(" Mb/s; the paper’s 3.5</title>"), "{bars}");
}

#[test]
fn each_drawing_is_followed_by_its_claims_with_verdict_expected_and_measured() {
    let second = "[[panel]]\ny = \"retransmits\"\ntitle = \"resent\"\n\n[[claim]]\n\
                  text = \"SACK resends\"\ncheck = \"at_least(retransmits('SACK'), 1)\"\n\n[[claim]]";
    let page = page_with(&[("[[claim]]", second)]);
    let plots: Vec<&str> = page.split("<div class=\"plot\">").skip(1).collect();
    assert_eq!(plots.len(), 3);
    let of = |text: &str| -> Vec<usize> {
        let li =
            |plot: &&str| plot.split("class=\"whole\"").next().is_some_and(|p| p.contains(text));
        (0..3).filter(|&i| li(&plots[i])).collect()
    };
    assert_eq!(of("<p>RR-TCP is above SACK"), [0]);
    assert_eq!(of("<p>At 20 % there is something left"), [0]);
    assert_eq!(of("<p>SACK resends"), [2], "its panel is the third");
    let whole = page.split("class=\"whole\"").nth(1).expect("has claims of its own");
    assert!(whole.contains("<p>Everybody likes it"), "no drawing has what it speaks of");
    let claim = page.split("<li class=\"fails").nth(1).expect("one fails");
    let claim = claim.split("</li>").next().expect("ends");
    for part in
        ["<dt>verdict</dt><dd class=\"fails\">fails</dd>", "<dt>expected</dt>", "<dt>measured</dt>"]
    {
        assert!(claim.contains(part), "{part}: {claim}");
    }
    // A figure of one drawing has all claims beside it.
    let one = page_with(&[(
        "[[panel]]\ntitle = \"queue\"\nkind = \"time\"\ncurve = \"series('l', 'queue')\"\nat = 20\n",
        "",
    )]);
    assert!(!one.contains("class=\"whole\""), "{one}");
}

#[test]
fn an_evenly_spaced_axis_is_labelled_as_not_to_scale() {
    let drawn = |text: &str| {
        let experiments = [Experiment::parse("my.toml", text, false).expect("makes sense")];
        let outcomes = tiny::outcomes(&experiments).expect("runs");
        figure_file(&outcomes[0]).expect("is drawn")
    };
    let words = "packets delayed (%) (evenly spaced, not to scale)";
    assert!(!drawn(tiny::TEXT).contains(words));
    let even = tiny::TEXT.replace("quick = [5]\n", "quick = [5]\neven = true\n");
    assert!(drawn(&even).contains(words));
}

#[test]
fn a_table_without_a_sweep_has_the_papers_numbers_beside_ours() {
    let text = tiny::TEXT
        .replace("[x]\nlabel = \"packets delayed (%)\"\nvalues = [5, 20]\nquick = [5]\n", "")
        .replace("${x} %", "10 %")
        .replace("at = 20", "")
        .replace("x / 1000", "0")
        .replace("at_least(at(goodput_mbps('SACK'), 20), 0.1)", "near(goodput_mbps('SACK'), 1)");
    let experiments = [Experiment::parse("my.toml", &text, false).expect("makes sense")];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let document = markdown(&outcomes, "pictures");
    assert!(document.contains("|  | goodput (Mb/s) | the paper’s | retransmits |"), "{document}");
    assert!(document.lines().any(|l| l.starts_with("| RR-TCP | ") && l.contains(" | 3.5 | ")));
    assert_nests(&reproduction(&outcomes));
}

#[test]
fn markdown_has_tables_and_pictures() {
    let (_, document, _) = shown(false);
    assert!(document.contains(
        "![tiny-1, Figure 1: Goodput against the share of packets delayed](pictures/tiny-1.svg)"
    ));
    assert!(document.contains("| rr-tcp | 1 | 2 | 2 | 1 | 1 | 67 % |"), "{document}");
    let mut columns = 0;
    for line in document.lines() {
        let bars = line.replace("\\|", "").matches('|').count();
        match (columns, bars) {
            (_, 0) => columns = 0,
            (0, bars) => columns = bars,
            (columns, bars) => assert_eq!(columns, bars, "{line}"),
        }
    }
}

#[test]
fn names_with_spaces_are_escaped_in_links_and_quoted_in_commands() {
    let experiments = [Experiment::parse("my own.toml", tiny::TEXT, false).expect("makes sense")];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let document = markdown(&outcomes, "the pictures");
    assert!(document.contains("](<the pictures/tiny-1.svg>)\n"), "{document}");
    assert!(document.contains("`unruffled reproduce --markdown 'the pictures.md'`"), "{document}");
    assert!(document.contains("`unruffled reproduce 'my own.toml'`"), "{document}");
}

#[test]
fn the_same_outcomes_give_the_same_bytes_on_any_number_of_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let experiments = [tiny::experiment(false)];
            let outcomes = tiny::outcomes(&experiments).expect("runs");
            (reproduction(&outcomes), json(&outcomes), table(&outcomes, 80, false))
        })
    };
    assert!(on(1) == on(2));
}

/// The small experiment, in which the second claim has a class.
fn classed() -> Experiment {
    let class = "class = \"out of reach\"\nwhy = \"At most 0.97 of it.\"";
    let text = tiny::TEXT.replace("known = \"It cannot be.\"", class);
    // The first claim, which holds, has one by mistake.
    let held = "text = \"RR-TCP is above SACK\"";
    let text = text.replace(held, &format!("{held}\nclass = \"open\"\nwhy = \"1 of 1.\""));
    Experiment::parse("my.toml", &text, false).expect("makes sense")
}

#[test]
fn a_failing_claim_is_shown_with_its_class_and_reason_and_a_holding_one_is_not() {
    let experiments = [classed()];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let value: serde_json::Value = serde_json::from_str(&json(&outcomes)).expect("is JSON");
    let claims = &value["claims"];
    assert_eq!((&claims[1]["holds"], &claims[1]["class"]), (&false.into(), &"out of reach".into()));
    assert_eq!(claims[1]["why"], "At most 0.97 of it.");
    for other in [0, 2, 3] {
        assert!(claims[other].get("class").is_none() && claims[other].get("why").is_none());
    }
    let (page, document) = (reproduction(&outcomes), markdown(&outcomes, "pictures"));
    assert!(document.contains("| **fails**: out of reach |"), "{document}");
    for text in [&page, &document] {
        assert!(text.contains("At most 0.97 of it."), "{text}");
        assert!(text.contains("Of the claims that fail: out of reach 1."), "{text}");
    }
    // The page contains the experiment's file, too.
    assert!(!document.contains("1 of 1."), "of one that holds: {document}");
    assert_eq!(page.matches("1 of 1.").count(), 1, "in the file: {page}");
    assert!(page.contains("<dt>class</dt><dd>out of reach</dd>"), "{page}");
    let text = table(&outcomes, 80, false);
    assert!(text.contains("  class: out of reach\n  why: At most 0.97 of it.\n"), "{text}");
    assert!(text.contains("\nThose that fail: out of reach 1\n"), "{text}");
}

#[test]
fn both_counts_are_shown_if_curves_are_close_only_on_the_mean() {
    // 2.005 and 2.02 beside 2.1 and 1.9: ratios of 0.955 and 1.063, 1.009 on the mean.
    let old = "at_least(at(goodput_mbps('SACK'), 20), 0.1)";
    let text = tiny::TEXT.replace(old, "close(goodput_mbps('half'), 2.1667 - x() / 75)");
    let experiments = [Experiment::parse("my.toml", &text, false).expect("makes sense")];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let claim = &outcomes[0].claims[2];
    assert_eq!(
        (claim.holds, claim.at_every_point),
        (Holds::Yes, Some(false)),
        "{}",
        claim.measured
    );
    let words =
        "2 of 4 claims hold, 1 fail, 1 not tested; 1 hold where curves must be close at every";
    assert!(table(&outcomes, 80, false).contains(words));
    assert!(reproduction(&outcomes).contains(words));
    assert!(markdown(&outcomes, "pictures").contains("| rr-tcp | 1 | 2 | 1 | 1 | 1 | 67 % |"));
    let value: serde_json::Value = serde_json::from_str(&json(&outcomes)).expect("is JSON");
    assert_eq!(value["claims"][2]["holds_at_every_point"], false);
    assert!(value["claims"][0].get("holds_at_every_point").is_none());
}

#[test]
fn json_has_a_row_for_each_number_and_a_verdict_for_each_claim() {
    let experiments = [tiny::experiment(false)];
    let outcomes = tiny::outcomes(&experiments).expect("runs");
    let value: serde_json::Value = serde_json::from_str(&json(&outcomes)).expect("is JSON");
    let rows = value["rows"].as_array().expect("a list");
    // Two measures of three lines at two points; of the formula, one.
    assert_eq!(rows.len(), 2 * 3 * 2 + 2);
    let row = &rows[4];
    assert_eq!(
        (&row["id"], &row["line"], &row["x"]),
        (&"tiny-1".into(), &"SACK".into(), &5.0.into())
    );
    assert_eq!((&row["variant"], &row["metric"]), (&"sack".into(), &"goodput_mbps".into()));
    assert_eq!(row["seeds"], 2);
    assert!(row["mean"].as_f64() > Some(0.0) && row["sd"].as_f64() > Some(0.0), "{row}");
    let holds: Vec<_> =
        value["claims"].as_array().expect("a list").iter().map(|c| &c["holds"]).collect();
    let expected = serde_json::json!([true, false, true, null]);
    assert_eq!(serde_json::json!(holds), expected);
    for field in ["id", "claim", "expected", "measured"] {
        assert!(value["claims"][0][field].is_string(), "{field}");
    }
}
