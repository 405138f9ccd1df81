//! What notebooks show: tables that a screen reader can read, in the notebook's own style. Nothing in them
//! is fetched, and no text is markup.

use pyo3::prelude::*;
use unruffled_lab::table::Cells;

/// Text as HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#x27;",
            c => html.push(c),
        }
    }
    html
}

/// A table whose first column names each line.
pub(crate) fn table(caption: &str, heads: &[&str], lines: &[Vec<String>]) -> String {
    let heads: String = heads
        .iter()
        .map(|head| {
            format!(
                "<th scope=\"col\">{}</th>",
                escaped(if head.is_empty() { "no." } else { head })
            )
        })
        .collect();
    let line = |line: &Vec<String>| {
        let cells = line.iter().enumerate().map(|(at, cell)| match at {
            0 => format!("<th scope=\"row\" style=\"text-align:left\">{}</th>", escaped(cell)),
            _ => format!("<td style=\"text-align:right\">{}</td>", escaped(cell)),
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let lines: String = lines.iter().map(line).collect();
    let caption = escaped(caption);
    format!(
        "<table>\n<caption>{caption}</caption>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{lines}</tbody>\n</table>\n"
    )
}

/// Write a table as HTML.
#[pyfunction]
pub(crate) fn html_table(caption: &str, heads: Vec<String>, lines: Vec<Vec<String>>) -> String {
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    table(caption, &heads, &lines)
}

/// A text for a terminal whose paragraphs are words or tables: the tables are drawn as such.
pub(crate) fn text(text: &str, tables: Vec<Cells>) -> String {
    let mut tables = tables.into_iter();
    let (mut html, mut before) = (String::new(), String::new());
    for part in text.trim_end().split("\n\n") {
        let cells = if is_table(part) { tables.next() } else { None };
        match cells {
            Some((heads, lines)) => {
                // The words before a table are its caption.
                html += &table(&std::mem::take(&mut before), &heads, &lines);
            }
            None => {
                html += &words(&std::mem::replace(&mut before, part.to_owned()));
            }
        }
    }
    html + words(&before).as_str()
}

/// Whether there is a rule below the first line.
fn is_table(part: &str) -> bool {
    let rule = part.lines().nth(1).unwrap_or_default();
    !rule.trim().is_empty() && rule.chars().all(|c| c == '─' || c == '-' || c == ' ')
}

/// A paragraph, its lines as they are.
fn words(part: &str) -> String {
    let lines: Vec<String> = part.trim().lines().map(|line| escaped(line.trim())).collect();
    match lines.as_slice() {
        [] => String::new(),
        lines => format!("<p>{}</p>\n", lines.join("<br>\n")),
    }
}
