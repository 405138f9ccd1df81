//! A comparison as text: a table for the terminal.

mod data;
#[cfg(test)]
mod tests;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use comfy_table::{ContentLineStyle, LineStyle, TableStyle};

use crate::groups::{TextTable, busy_links, flow_groups};
use crate::record::{Comparison, Medium, VariantRuns};
use crate::senders::known_as;
use crate::stacked;
use crate::styled;
use crate::summary::{
    Column, DISPENSABLE_COLUMNS, Summary, cells, columns, effort, leaders, reference_in_words,
    scale, summaries,
};
use crate::text::{cut, wrapped};
pub(crate) use data::rows_csv;
pub use data::{csv, json};

/// The style: a line below the header only.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .content_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('─').junction('─'));

/// Formats the results for a terminal of `width` columns: the runs, a line for each variant, and the
/// legend.
///
/// Columns without room are omitted and named in the legend. With `colour` the header is bold, and
/// the leading variants are green. The text ends with a line feed.
pub fn render(comparison: &Comparison, width: usize, colour: bool) -> String {
    let summaries = summaries(comparison);
    let winners: Vec<&str> = leaders(comparison, &summaries).iter().map(|s| s.variant).collect();
    let mut table = plain_within(width);
    if colour {
        styled::show(&mut table);
    }
    let Fitting { heads, lines: rows, left_out } = fitting(comparison, &summaries, width);
    table.set_header(heads.iter().map(styled::head));
    for line in rows {
        let wins = winners.contains(&line[0].as_str());
        let cell = |text| if wins { styled::leading(text) } else { Cell::new(text) };
        table.add_row(line.into_iter().map(cell));
    }
    let scale = scale(comparison, &summaries);
    let undisturbed = scale.number(comparison.reference.bps());
    let above = cut(&format!("{}: {}", comparison.scenario, effort(comparison)), width);
    let how = reference_in_words(comparison);
    let below = format!("undisturbed: {undisturbed} {} ({how})", scale.name());
    let mut parts: Vec<&str> = Vec::new();
    if summaries.iter().any(|summary| summary.runs > 1) {
        parts.extend(["counts: means per run", "±: 95 %"]);
    }
    let left_out = format!("no room for {}", left_out.join(", "));
    if !left_out.ends_with(' ') {
        parts.push(&left_out);
    }
    let below = [wrapped(&below, width, ""), clauses(&parts, width), known(comparison, width)];
    let below = below.concat();
    let notes: String = comparison.notes.iter().map(|note| wrapped(note, width, "")).collect();
    let groups = groups(comparison, width);
    format!("{above}\n\n{}\n{below}{notes}{groups}", lines(table))
}

/// Returns the common names of the simulated senders; empty for a race, which includes the kernel
/// itself.
fn known(comparison: &Comparison, width: usize) -> String {
    let of = |runs: &VariantRuns| Some(format!("{}: {}", runs.name, known_as(&runs.name)?));
    let known: Vec<String> = match comparison.medium {
        Medium::Simulation => comparison.variants.iter().filter_map(of).collect(),
        Medium::Wire => Vec::new(),
    };
    clauses(&known.iter().map(String::as_str).collect::<Vec<_>>(), width)
}

/// The table of a comparison, reduced to fit.
struct Fitting {
    heads: Vec<&'static str>,
    lines: Vec<Vec<String>>,
    /// The heads of the omitted columns.
    left_out: Vec<&'static str>,
}

/// Reduces the table to `width` columns: first heads are shortened, then columns are omitted. Names
/// stay whole.
fn fitting(comparison: &Comparison, summaries: &[Summary<'_>], width: usize) -> Fitting {
    let mut columns = columns(comparison);
    let table = |columns: &[Column], head: fn(&Column) -> &'static str, left_out: &[_]| Fitting {
        heads: columns.iter().map(head).collect(),
        lines: cells(columns, summaries),
        left_out: left_out.to_vec(),
    };
    let usual = table(&columns, |column| column.short, &[]);
    if fits(&usual.heads, &usual.lines, width) {
        return usual;
    }
    let mut left_out = Vec::new();
    let heads: Vec<&str> = columns.iter().map(|column| column.short).collect();
    // The columns of name, goodput and share are never omitted.
    let rest =
        heads.iter().skip(3).rev().filter(|head| !DISPENSABLE_COLUMNS.contains(head)).copied();
    let order: Vec<&'static str> = DISPENSABLE_COLUMNS.into_iter().chain(rest).collect();
    for next in order.into_iter().map(Some).chain([None]) {
        let tight = table(&columns, |column| column.tight, &left_out);
        if fits(&tight.heads, &tight.lines, width) {
            return tight;
        }
        let before = columns.len();
        columns.retain(|column| Some(column.short) != next);
        left_out.extend(next.filter(|_| columns.len() < before));
    }
    // The table will be stacked, which has room for all columns.
    usual
}

/// Returns whether the table fits `width` columns without wrapping.
pub fn fits(heads: &[&str], lines: &[Vec<String>], width: usize) -> bool {
    let widest = |(i, head): (usize, &&str)| {
        let cells = lines.iter().filter_map(|line| line.get(i)).map(|cell| cell.chars().count());
        cells.chain([head.chars().count()]).max().unwrap_or(0)
    };
    // Each cell is followed by a space, and another one separates two cells.
    let all: usize = heads.iter().enumerate().map(widest).map(|wide| wide + 2).sum();
    all <= width.saturating_add(1)
}

/// The heads of a table, and its cells line by line.
pub type Cells = (Vec<&'static str>, Vec<Vec<String>>);

/// Returns the cells of the tables of [`render`], in their order: senders, and groups and links if
/// there are several flows.
pub fn tables(comparison: &Comparison) -> Vec<Cells> {
    let columns = columns(comparison);
    let heads = columns.iter().map(|column| column.long).collect();
    let senders = (heads, cells(&columns, &summaries(comparison)));
    let groups = [flow_groups(comparison), busy_links(comparison)];
    let groups = groups.into_iter().flatten().map(|table| (table.heads.to_vec(), table.lines));
    [senders].into_iter().chain(groups).collect()
}

/// Formats the tables of groups and links, if there are several flows.
fn groups(comparison: &Comparison, width: usize) -> String {
    let tables = [flow_groups(comparison), busy_links(comparison)];
    let tables = tables.into_iter().flatten().map(|TextTable { heads, tight, lines: rows }| {
        let heads = if fits(&heads, &rows, width) { heads } else { tight };
        let mut table = plain_within(width);
        table.set_header(heads.iter().map(styled::head));
        table.add_rows(rows);
        format!("\n{}", lines(table))
    });
    tables.collect()
}

/// Returns an empty table in the common style.
pub fn plain() -> Table {
    let mut table = styled::table();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// Returns an empty table for a terminal of `width` columns; longer texts are wrapped or stacked.
pub fn plain_within(width: usize) -> Table {
    let mut table = plain();
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table
}

/// Returns an empty table for a terminal of that width, or of unlimited width.
pub fn for_columns(width: Option<usize>) -> Table {
    width.map_or_else(plain, plain_within)
}

/// Formats a table: the first column is left-aligned, the others right-aligned. If the table does
/// not fit, the cells of each row are stacked.
pub fn lines(mut table: Table) -> String {
    if let Some(stacked) = stacked::instead_of(&table) {
        return stacked;
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        column.set_cell_alignment(if i == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Joins the parts of the legend by semicolons, in as many lines as necessary.
fn clauses(parts: &[&str], width: usize) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let mut line = String::new();
    for part in parts {
        if line.is_empty() {
            line = (*part).to_owned();
        } else if line.chars().count() + 2 + part.chars().count() <= width {
            line += &format!("; {part}");
        } else {
            text += &wrapped(&line, width, "");
            line = (*part).to_owned();
        }
    }
    text + wrapped(&line, width, "").as_str()
}
