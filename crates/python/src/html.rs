//! HTML for notebooks: accessible tables in the notebook's style. They load nothing, and all text is escaped.

use pyo3::prelude::*;
use unruffled_lab::table::Cells;

/// Returns text escaped for HTML.
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

/// Returns a table whose first column has the headings of the rows.
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

/// Returns a terminal's text as HTML. Its paragraphs are words or tables; `tables` has the cells.
pub(crate) fn text(text: &str, tables: Vec<Cells>) -> String {
    let mut tables = tables.into_iter();
    let mut html = String::new();
    let mut before = String::new();
    for part in text.trim_end().split("\n\n") {
        let cells = if is_table(part) { tables.next() } else { None };
        match cells {
            Some((heads, lines)) => {
                // The paragraph before a table is its caption.
                html += &table(&std::mem::take(&mut before), &heads, &lines);
            }
            None => {
                html += &words(&std::mem::replace(&mut before, part.to_owned()));
            }
        }
    }
    html + words(&before).as_str()
}

/// Returns whether the paragraph is a table: its second line is a rule.
fn is_table(part: &str) -> bool {
    let rule = part.lines().nth(1).unwrap_or_default();
    !rule.trim().is_empty() && rule.chars().all(|c| c == '─' || c == '-' || c == ' ')
}

/// Returns a paragraph with its line breaks.
fn words(part: &str) -> String {
    let lines: Vec<String> = part.trim().lines().map(|line| escaped(line.trim())).collect();
    match lines.as_slice() {
        [] => String::new(),
        lines => format!("<p>{}</p>\n", lines.join("<br>\n")),
    }
}
