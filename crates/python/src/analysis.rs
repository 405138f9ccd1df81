//! `analyze`, and what comes of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Map, Value};
use unruffled_capture::{self as capture, Analyzer, Limits, Source, read};
use unruffled_lab::analysis::{Transfer, json, numbered, price, render, transfers};
use unruffled_lab::{Error, advice, fit, report};

use crate::background::{self, Ticket};
use crate::comparison::{pool, write};
use crate::error::refused;
use crate::records;
use crate::scenario::Scenario;
use crate::table::Table;

/// What a capture tells: its transfers, and what slowed each.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct Analysis {
    path: PathBuf,
    name: String,
    found: capture::Analysis,
    damage: Option<String>,
    /// What reordering cost the transfers that it slowed, in their order.
    costs: Vec<Option<Result<fit::Cost, Arc<fit::FitError>>>>,
    transfers: Table,
}

/// Reads a capture.
#[pyfunction]
#[pyo3(signature = (path, progress = None))]
pub(crate) fn analyze(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Analysis> {
    let ticket = Arc::new(Ticket::default());
    let told = Arc::clone(&ticket);
    let name = path.display().to_string();
    let called = name.clone();
    // Wherever the process goes.
    let path = std::path::absolute(&path).unwrap_or(path);
    let (read, pool) = (path.clone(), pool(None)?);
    let found = background::work(py, &ticket, progress, move || {
        let (found, damage) = take(&read, &told)?;
        let mut transfers = transfers(&found);
        if !told.stop.load(Ordering::Relaxed) {
            pool.install(|| price(&called, &mut transfers));
        }
        let table = table(&called, &transfers);
        let costs = transfers.into_iter().map(|transfer| transfer.cost).collect();
        Ok((found, damage, costs, table))
    })?;
    let (found, damage, costs, transfers) = found
        .map_err(|reason: capture::Error| refused(Error::Capture { name: name.clone(), reason }))?;
    Ok(Analysis { path, name, found, damage, costs, transfers: transfers? })
}

/// What is in the capture, and what kept the rest of it from being read.
fn take(
    path: &Path,
    ticket: &Ticket,
) -> Result<(capture::Analysis, Option<String>), capture::Error> {
    let source = Source::open(path)?;
    let progress = source.progress();
    let mut analyzer = Analyzer::new(Limits { dots: report::DOTS, ..Limits::default() });
    let mut frames: u64 = 0;
    let damage = read(source, |frame| {
        // Nobody wants the rest where Python has gone on without it.
        if !ticket.stop.load(Ordering::Relaxed) {
            analyzer.frame(frame);
        }
        frames += 1;
        if frames.is_multiple_of(65_536) {
            ticket.done.store(progress.read(), Ordering::Relaxed);
        }
    });
    Ok((analyzer.finish(), damage?.map(|damage| damage.to_string())))
}

impl Analysis {
    fn all(&self) -> Vec<Transfer<'_>> {
        let mut all = transfers(&self.found);
        for (transfer, cost) in all.iter_mut().zip(&self.costs) {
            transfer.cost.clone_from(cost);
        }
        all
    }
}

/// A row for each transfer.
fn table(name: &str, transfers: &[Transfer<'_>]) -> PyResult<Table> {
    let plan = advice::plan(name, transfers, None);
    let rows = (1..).zip(transfers).map(|(number, transfer)| {
        let mut row = Map::new();
        let direction = transfer.direction;
        row.insert("from".to_owned(), direction.from.to_string().into());
        row.insert("to".to_owned(), direction.to.to_string().into());
        flatten("", &Value::Object(records::fields(direction)), &mut row);
        flatten("", &Value::Object(records::fields(&transfer.verdict)), &mut row);
        row.insert("advice".to_owned(), advice::lines(&plan, number).join(" ").into());
        let cost = transfer.cost.as_ref().and_then(|cost| cost.as_ref().ok());
        for (name, value) in [
            ("cost_share", cost.map(|cost| cost.share)),
            ("cost_without_bps", cost.map(|cost| cost.without_bps)),
            ("cost_attached_bps", cost.map(|cost| cost.attached_bps)),
        ] {
            row.insert(name.to_owned(), value.into());
        }
        row
    });
    records::table(rows.collect())
}

/// The numbers and texts of nested objects, their names joined by underscores.
fn flatten(prefix: &str, value: &Value, row: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name =
                    if prefix.is_empty() { name.clone() } else { format!("{prefix}_{name}") };
                flatten(&name, value, row);
            }
        }
        Value::Array(_) => {}
        value => drop(row.insert(prefix.to_owned(), value.clone())),
    }
}

#[pymethods]
impl Analysis {
    #[getter]
    fn capture(&self) -> &str {
        &self.name
    }

    #[getter]
    fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    #[getter]
    fn transfers(&self) -> Table {
        self.transfers.clone()
    }

    fn to_json(&self) -> String {
        let all = self.all();
        let plan = advice::plan(&self.name, &all, None);
        json(&self.name, &self.found, &all, &plan, self.damage.as_deref())
    }

    #[pyo3(signature = (transfer = 1, sender = fit::OBSERVED))]
    fn scenario(&self, py: Python<'_>, transfer: u32, sender: &str) -> PyResult<Scenario> {
        let all = self.all();
        let unfit = |reason| refused(Error::Unfit { name: self.name.clone(), reason });
        let chosen = numbered(&all, transfer).map_err(unfit)?;
        let pool = pool(None)?;
        let fit = || fit::fit(&self.name, chosen.direction, sender);
        let fitted = py.detach(|| pool.install(fit));
        let (likelier, _) = fitted.map_err(unfit)?.readings();
        let toml = likelier.toml;
        let file = format!("{}, transfer {transfer}", self.name);
        let loaded = unruffled_lab::Scenario::parse(&file, &toml, &[]).map_err(refused)?;
        Ok(Scenario { file, path: None, loaded })
    }

    fn report(&self, path: PathBuf) -> PyResult<()> {
        let all = self.all();
        let plan = advice::plan(&self.name, &all, None);
        let page = report::capture(&self.name, &self.found, &all, &plan, self.damage.as_deref());
        write(&path, &page, ("the capture", Some(&self.path)))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        self.transfers.stream(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.transfers.schema(py)
    }

    fn __repr__(&self) -> String {
        let all = self.all();
        let plan = advice::plan(&self.name, &all, None);
        render(&self.name, &self.found, &all, &plan, 80)
    }
}
