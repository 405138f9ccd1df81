//! Stacked output of tables that are wider than the terminal: the cells of each row are below each
//! other, each after the head of its column.

use comfy_table::{Row, Table};

use crate::text::wrapped;

/// The length up to which a text is never wrapped, in characters.
const MAX_UNWRAPPED_LENGTH: usize = 24;

/// Returns the stacked lines of `table`; none if its cells fit into its width, with long texts
/// wrapped.
pub fn instead_of(table: &Table) -> Option<String> {
    let width = usize::from(table.width()?);
    let texts = |row: &Row| row.cell_iter().map(|cell| cell.content()).collect::<Vec<_>>();
    let heads = table.header().map(texts).unwrap_or_default();
    let rows: Vec<Vec<String>> = table.row_iter().map(texts).collect();
    let needs = |at: usize| {
        let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(at));
        cells.map(|cell| minimum(cell)).max().unwrap_or(0)
    };
    // Each cell is followed by a space, and another one separates two cells.
    let all: usize = (0..heads.len()).map(|at| needs(at) + 2).sum();
    (all > width + 1).then(|| rows.iter().map(|row| below(&heads, row, width)).collect())
}

/// Returns the width that a cell needs.
fn minimum(cell: &str) -> usize {
    let columns = |text: &str| text.chars().count();
    match columns(cell) {
        short if short <= MAX_UNWRAPPED_LENGTH => short,
        _ => cell.split_whitespace().map(columns).max().unwrap_or(0),
    }
}

/// Stacks the cells of a row: the first is the heading, the others follow the heads of their columns.
fn below(heads: &[String], row: &[String], width: usize) -> String {
    let Some((first, rest)) = row.split_first() else { return String::new() };
    let mut text = wrapped(first, width, "");
    let room = heads.iter().skip(1).map(|head| head.chars().count()).max().unwrap_or(0);
    for (head, cell) in heads.iter().skip(1).zip(rest).filter(|(_, cell)| !cell.is_empty()) {
        let indent = " ".repeat(room + 4);
        if room + 4 + minimum(cell) > width {
            text += &(wrapped(head, width, "  ") + wrapped(cell, width, "    ").as_str());
            continue;
        }
        let lines = wrapped(cell, width, &indent);
        text += &format!("  {head:room$}  {}", lines.trim_start_matches(' '));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{lines, plain_within};

    fn table(width: usize) -> String {
        let mut table = plain_within(width);
        table.set_header(["path", "best %", "a head of several words"]);
        table.add_row(["satellite", "98.5", "1"]);
        table.add_row(["half-late", "100.0", "2"]);
        lines(table)
    }

    #[test]
    fn a_table_that_fits_is_not_stacked() {
        assert!(
            table(45).starts_with("path       best %  a head of several words\n───"),
            "{}",
            table(45)
        );
        assert!(instead_of(&plain_within(10)).is_none());
    }

    #[test]
    fn the_cells_of_a_table_that_is_too_wide_are_stacked() {
        let expected = "satellite\n  best %                   98.5\n  a head of several words  1\n\
                      half-late\n  best %                   100.0\n  a head of several words  2\n";
        assert_eq!(table(40), expected);
        assert_eq!(table(20).lines().next(), Some("satellite"));
    }
}
