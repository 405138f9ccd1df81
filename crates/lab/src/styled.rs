//! Cells of tables with style, which is shown only on terminals.

use comfy_table::{Cell, Table};

/// Returns the cell of a head: bold.
pub(crate) fn head(text: impl ToString) -> Cell {
    let cell = Cell::new(text);
    #[cfg(feature = "colour")]
    let cell = cell.add_attribute(comfy_table::Attribute::Bold);
    cell
}

/// Returns the cell of a leading sender: green.
pub(crate) fn leading(text: impl ToString) -> Cell {
    let cell = Cell::new(text);
    #[cfg(feature = "colour")]
    let cell = cell.fg(comfy_table::Color::Green);
    cell
}

/// Shows the styles of a table.
pub(crate) fn show(table: &mut Table) {
    #[cfg(feature = "colour")]
    table.enforce_styling();
    #[cfg(not(feature = "colour"))]
    let _ = table;
}

/// Returns an empty table that shows no style unless [`show`] is called.
pub(crate) fn table() -> Table {
    #[cfg_attr(not(feature = "colour"), expect(unused_mut, reason = "it has no style"))]
    let mut table = Table::new();
    #[cfg(feature = "colour")]
    table.force_no_tty();
    table
}
