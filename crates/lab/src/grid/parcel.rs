//! A sweep as octets, with the rows that are there: for another process, or for later.

use serde::{Deserialize, Serialize};
use unruffled_tcp::Variant;

use super::file::Grid;
use super::plan::Plan;
use super::sweep::Sweep;
use crate::cancel::CancellationToken;
use crate::error::{Error, ParcelError};
use crate::record::{RunRow, whole};

/// What a sweep is made of anew. Its senders with parts from outside stand beside it.
#[derive(Serialize, Deserialize)]
struct Parcel {
    /// What errors call the grid, and its text.
    grid: (String, String),
    /// What errors call the scenario, and its text.
    scenario: (String, String),
    /// Overrides of the scenario from outside the grid.
    overrides: Vec<String>,
    hypercube: Option<Vec<f64>>,
    /// The runs that are there, by their indices.
    runs: Vec<usize>,
    #[serde(with = "whole")]
    rows: Vec<RunRow>,
}

impl Sweep {
    /// The sweep as octets, for another process of the same version.
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

    /// What [`pack`](Self::pack) has packed, without a store. `own` are its senders with parts from
    /// outside.
    ///
    /// # Errors
    /// Octets that are nothing of the kind, or cancellation.
    pub fn unpack(
        octets: &[u8],
        own: Vec<Variant>,
        cancel: &CancellationToken,
    ) -> Result<Self, Error> {
        let parcel: Parcel = ciborium::from_reader(octets).map_err(|_| unreadable())?;
        let (file, text) = parcel.grid;
        let grid = Grid::parse(&file, &text, Some(parcel.scenario), &parcel.overrides)?;
        let plan = Plan::new(grid, parcel.hypercube.as_deref(), own, cancel)?;
        let mut rows = vec![None; plan.runs()];
        for (run, row) in parcel.runs.into_iter().zip(parcel.rows) {
            *rows.get_mut(run).ok_or_else(unreadable)? = Some(row);
        }
        Ok(Self::of(plan, rows))
    }
}

fn unreadable() -> Error {
    ParcelError::NotSweep.into()
}
