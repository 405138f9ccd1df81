//! All figures as Markdown.

use std::fmt::Write as _;

use super::figure;
use super::numbers::{self, Table};
use super::reproduction::{by_paper, classes, command, effort, overview, paragraphs, size, title};
use crate::claims::tolerance;
use crate::reproduce::{FigureOutcome, Holds};
use unruffled_lab::text::for_shell;

/// Returns the document. Its pictures are in `folder`, as ID.svg.
pub fn markdown(outcomes: &[FigureOutcome<'_>], folder: &str) -> String {
    let mut text = String::from("# The papers’ evaluations, redone\n\n");
    let quick = if outcomes.iter().any(|o| o.experiment.quick) { " --quick" } else { "" };
    let _ = writeln!(
        text,
        "Written by `unruffled reproduce{quick} --markdown {}`. {}. Numbers are means over \
         the seeds, ± is the 95 % confidence interval. [experiments.md](experiments.md) says how an \
         experiment is written, and what the words of the claims mean.\n",
        for_shell(&format!("{folder}.md")),
        effort(outcomes)
    );
    let (heads, lines) = overview(outcomes);
    let heads = heads.into_iter().map(str::to_owned).collect();
    table(&mut text, &Table { title: String::new(), heads, lines });
    if let Some(classes) = classes(outcomes) {
        let _ = writeln!(text, "{classes}\n");
    }
    let _ = writeln!(text, "{}\n", tolerance::in_words());
    for (paper, list) in by_paper(outcomes) {
        let _ = writeln!(text, "## {}\n", escaped(title(paper)));
        for outcome in list {
            of_figure(&mut text, outcome, &format!("{folder}/"));
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// A drawing of a figure as a file.
pub struct Picture {
    /// Name of the file.
    pub name: String,
    /// Its text.
    pub svg: String,
}

/// Returns the pages of a book by name, an overview and one for each paper, and the pictures beside them.
pub fn book(outcomes: &[FigureOutcome<'_>]) -> (Vec<(String, String)>, Vec<Picture>) {
    let mut first = String::from("# The papers’ evaluations, redone\n\n");
    let _ = writeln!(first, "{}\n", source(outcomes));
    let _ = writeln!(
        first,
        "The judgement of each claim that fails, with its reason, stands in the files of the experiments and \
         is shown beside the figure.\n"
    );
    let (heads, lines) = overview(outcomes);
    let heads = heads.into_iter().map(str::to_owned).collect();
    table(&mut first, &Table { title: String::new(), heads, lines });
    if let Some(classes) = classes(outcomes) {
        let _ = writeln!(first, "{classes}\n");
    }
    let _ = writeln!(first, "{}\n", tolerance::in_words());
    let mut pages = Vec::new();
    for (paper, list) in by_paper(outcomes) {
        let _ = writeln!(first, "* [{}]({paper}.md)", escaped(title(paper)));
        let mut text = format!("# {}\n\n{}\n\n", escaped(title(paper)), source(outcomes));
        for outcome in list {
            of_figure(&mut text, outcome, "");
        }
        pages.push((format!("{paper}.md"), text.trim_end().replace("\n### ", "\n## ") + "\n"));
    }
    pages.insert(0, ("overview.md".to_owned(), first));
    let picture = |outcome: &FigureOutcome<'_>| {
        let svg = figure::figure_file(outcome)?;
        Some(Picture { name: format!("{}.svg", outcome.experiment.id), svg })
    };
    (pages, outcomes.iter().filter_map(picture).collect())
}

/// Says which runs a page of a book is from.
fn source(outcomes: &[FigureOutcome<'_>]) -> String {
    let means = "Numbers are means over the seeds, ± is the 95 % confidence interval.";
    match outcomes.iter().any(|outcome| outcome.experiment.quick) {
        true => format!(
            "**From quick runs**: `unruffled reproduce --quick`, with fewer seeds and points and shorter runs. \
             Some claims that hold in a full run fail here, and the reverse. Model {}. {means}",
            unruffled_lab::store::MODEL
        ),
        false => format!(
            "From full runs: `unruffled reproduce`. Model {}. {means}",
            unruffled_lab::store::MODEL
        ),
    }
}

/// Writes a figure whose picture has `before` before its name.
fn of_figure(text: &mut String, outcome: &FigureOutcome<'_>, before: &str) {
    let e = outcome.experiment;
    let heading = format!("{}, {}: {}", e.id, e.figure, e.title);
    let _ = writeln!(text, "### {}\n", escaped(&heading));
    let section = e.section.as_ref().map(|s| format!("Section {s}; ")).unwrap_or_default();
    let _ = writeln!(text, "{}{}; `{}`\n", escaped(&section), size(outcome), command(outcome));
    if !figure::panels(outcome).is_empty() {
        let picture = target(&format!("{before}{}.svg", e.id));
        let _ = writeln!(text, "![{}]({picture})\n", escaped(&heading));
    }
    if !outcome.claims.is_empty() {
        let line = |claim: &crate::reproduce::ClaimOutcome| {
            let verdict = match claim.holds {
                Holds::Yes => "holds".to_owned(),
                Holds::No => match claim.failure() {
                    Some(cause) => format!("**fails**: {}", cause.class),
                    None => "**fails**".to_owned(),
                },
                Holds::NotTested => "not tested".to_owned(),
            };
            let source = claim.source.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
            let cells =
                [format!("{}{source}", claim.text), claim.expected.clone(), claim.measured.clone()];
            let mut cells: Vec<String> = cells.iter().map(|c| escaped(c)).collect();
            cells.push(match &claim.other_reading {
                Some(reading) => {
                    format!("{verdict}; not counted, another reading: {}", escaped(reading))
                }
                None => verdict,
            });
            cells
        };
        let heads = ["the paper says", "expected", "measured", ""].map(str::to_owned).to_vec();
        let lines = outcome.claims.iter().map(line).collect();
        rows(text, &heads, lines);
    }
    for claim in outcome.claims.iter().filter(|c| c.holds == Holds::No) {
        let known = claim.why().map(paragraphs).unwrap_or_default();
        for (i, paragraph) in known.iter().enumerate() {
            let which =
                if i == 0 { format!("*{}*: ", escaped(&claim.text)) } else { String::new() };
            let _ = writeln!(text, "{which}{}\n", escaped(paragraph));
        }
    }
    for note in paragraphs(&e.remarks.notes) {
        let _ = writeln!(text, "{}\n", escaped(&note));
    }
    if !e.remarks.assumed.is_empty() {
        let assumed = escaped(&e.remarks.assumed.join("; "));
        let _ = writeln!(text, "Assumed, as the paper leaves it open: {assumed}.\n");
    }
    for part in numbers::tables(outcome) {
        if e.is_swept() {
            let _ = writeln!(text, "{}:\n", escaped(&part.title));
        }
        table(text, &part);
    }
}

fn table(text: &mut String, table: &Table) {
    let heads: Vec<String> = table.heads.iter().map(|h| escaped(h)).collect();
    let line = |line: &Vec<String>| line.iter().map(|cell| escaped(cell)).collect();
    rows(text, &heads, table.lines.iter().map(line).collect());
}

fn rows(text: &mut String, heads: &[String], lines: Vec<Vec<String>>) {
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(heads.len()));
    for line in lines {
        let _ = writeln!(text, "| {} |", line.join(" | "));
    }
    text.push('\n');
}

/// Escapes the target of a link.
fn target(path: &str) -> String {
    match path.contains([' ', '(', ')', '<', '>']) {
        true => format!("<{}>", path.replace('<', "\\<").replace('>', "\\>")),
        false => path.to_owned(),
    }
}

/// Escapes text.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}
