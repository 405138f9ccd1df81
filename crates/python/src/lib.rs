//! The Rust part of the Python package `unruffled`: conversion of arguments and results. Scenarios, runs,
//! rows and reports are those of `unruffled-lab`. The public functions with their documentation are in
//! `python/unruffled`.

mod analysis;
mod background;
mod command;
mod comparison;
mod detector;
mod error;
mod facts;
mod html;
mod pickle;
#[cfg(target_os = "linux")]
mod race;
mod records;
mod restore;
mod scenario;
mod scenarios;
mod senders;
mod sweep;
mod table;
mod values;

use pyo3::prelude::*;

/// The part of the package that is written in Rust. Its public names are those of `unruffled`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::analysis::{Analysis, analyze};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::comparison::{Comparison, compare, record, runs};
    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::facts::{AckFacts, Reordering, Rule, SpuriousFastRetransmit, View};
    #[pymodule_export]
    use super::html::html_table;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::race::race;
    #[pymodule_export]
    use super::restore::restore;
    #[pymodule_export]
    use super::scenario::{Scenario, scenario};
    #[pymodule_export]
    use super::scenarios::{save_scenario, scenarios};
    #[pymodule_export]
    use super::senders::variants;
    #[pymodule_export]
    use super::sweep::{GridFile, Sweep, grid, make, plan};
    #[pymodule_export]
    use super::table::{Rows, Table};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("MODEL", unruffled_lab::store::MODEL)
    }
}
