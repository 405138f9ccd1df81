//! Serialization of a sweep with its existing rows.

use serde::{Deserialize, Serialize};
use unruffled_tcp::Variant;

use super::file::Grid;
use super::plan::Plan;
use super::sweep::Sweep;
use crate::cancel::CancellationToken;
use crate::error::{Error, ParcelError};
use crate::record::{RunRow, whole};

/// The data from which a sweep is restored. Senders with parts from outside the program are not
/// included.
#[derive(Serialize, Deserialize)]
struct Parcel {
    /// The name that errors give the grid, and its text.
    grid: (String, String),
    /// The name that errors give the scenario, and its text.
    scenario: (String, String),
    /// The overrides of the scenario from outside the grid.
    overrides: Vec<String>,
    hypercube: Option<Vec<f64>>,
    /// The indices of the existing runs.
    runs: Vec<usize>,
    #[serde(with = "whole")]
    rows: Vec<RunRow>,
}

impl Sweep {
    /// Serializes the sweep for another process of the same version.
    pub fn pack(&self) -> Vec<u8> {
        let grid = self.plan().grid();
        let (file, text) = grid.text();
        let (runs, rows) = self.with_rows(|rows| {
            let there = rows.iter().enumerate();
            there.filter_map(|(run, row)| Some((run, row.clone()?))).unzip()
        });
        let parcel = Parcel {
            grid: (file.to_owned(), text.to_owned()),
            scenario: grid.scenario.clone(),
            overrides: grid.outside().to_vec(),
            hypercube: self.plan().hypercube().map(<[f64]>::to_vec),
            runs,
            rows,
        };
        let mut octets = Vec::new();
        ciborium::into_writer(&parcel, &mut octets).expect("memory takes every write");
        octets
    }

    /// Restores a sweep from [`pack`](Self::pack), without a store. `own` are its senders with
    /// parts from outside the program.
    ///
    /// # Errors
    /// Octets that are not a sweep, or cancellation.
    pub fn unpack(
        octets: &[u8],
        own: Vec<Variant>,
        cancel: &CancellationToken,
    ) -> Result<Self, Error> {
        let parcel: Parcel = ciborium::from_reader(octets).map_err(|_| not_a_sweep())?;
        let (file, text) = parcel.grid;
        let grid = Grid::parse(&file, &text, Some(parcel.scenario), &parcel.overrides)?;
        let plan = Plan::new(grid, parcel.hypercube.as_deref(), own, cancel)?;
        let mut rows = vec![None; plan.runs()];
        for (run, row) in parcel.runs.into_iter().zip(parcel.rows) {
            *rows.get_mut(run).ok_or_else(not_a_sweep)? = Some(row);
        }
        Ok(Self::of(plan, rows))
    }
}

fn not_a_sweep() -> Error {
    ParcelError::NotSweep.into()
}
