//! `analyze` and its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use unruffled_capture::{self as capture, Analyzer, Limits, Source, read};
use unruffled_lab::analysis::{json, render, table as table_of};
use unruffled_lab::transfer::{Transfer, numbered, price, transfers};
use unruffled_lab::{Error, advice, fit, report};

use crate::background::{self, Ticket};
use crate::comparison::{UNWRAPPED_COLUMNS, pool, write};
use crate::error::refused;
use crate::scenario::Scenario;
use crate::table::{Table, Tabular, tabular};
use crate::{html, records, values};

/// The transfers of a capture, and what slowed each.
///
/// :func:`unruffled.analyze` returns it. It is a table of its transfers, like
/// :class:`unruffled.Table`: ``len(found)``, ``found["cause"]``, ``found[0]``, iteration,
/// ``polars.DataFrame(found)``. It cannot be pickled; its transfers, its JSON and its scenarios
/// can.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct Analysis {
    path: PathBuf,
    name: String,
    found: Arc<capture::Analysis>,
    damage: Option<String>,
    /// Cost of reordering for each transfer, in their order.
    costs: Vec<Option<Result<fit::Cost, Arc<fit::FitError>>>>,
    transfers: Table,
}

/// Read a capture.
#[pyfunction]
#[pyo3(signature = (path, progress = None))]
pub(crate) fn analyze(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Analysis> {
    let path = values::path("capture", path)?;
    let ticket = Arc::new(Ticket::default());
    let shared = Arc::clone(&ticket);
    let name = path.display().to_string();
    let called = name.clone();
    // Absolute, since the process may change its folder.
    let path = std::path::absolute(&path).unwrap_or(path);
    let (read, pool) = (path.clone(), pool(None)?);
    let found = background::work(py, &ticket, progress, move || {
        let (found, damage) = take(&read, &shared)?;
        let mut transfers = transfers(&found);
        if !shared.stop.is_cancelled() {
            pool.install(|| price(&called, &mut transfers, &shared.stop));
        }
        let table = table(&called, &transfers);
        let costs = transfers.into_iter().map(|transfer| transfer.cost).collect();
        Ok((found, damage, costs, table))
    })?;
    let (found, damage, costs, transfers) = found
        .map_err(|source: capture::Error| refused(Error::Capture { name: name.clone(), source }))?;
    let found = Arc::new(found);
    Ok(Analysis { path, name, found, damage, costs, transfers: transfers? })
}

/// Reads the capture. Returns its analysis, and the reason why the rest could not be read, if any.
fn take(
    path: &Path,
    ticket: &Ticket,
) -> Result<(capture::Analysis, Option<String>), capture::Error> {
    let source = Source::open(path)?;
    let progress = source.progress();
    let mut analyzer = Analyzer::new(Limits { dots: report::MAX_DOTS, ..Limits::default() });
    let mut frames: u64 = 0;
    let damage = read(source, |frame| {
        // After a stop, the rest is read without analysis.
        if !ticket.stop.is_cancelled() {
            analyzer.frame(frame);
        }
        frames += 1;
        if frames.is_multiple_of(65_536) {
            ticket.done.store(progress.read(), Ordering::Relaxed);
        }
    });
    Ok((analyzer.finish(), damage?.map(|damage| damage.to_string())))
}

impl Tabular for Analysis {
    fn rows_as_table(&self, _: Python<'_>) -> PyResult<Table> {
        Ok(self.transfers.clone())
    }
}

tabular!(Analysis);

impl Analysis {
    fn all(&self) -> Vec<Transfer<'_>> {
        let mut all = transfers(&self.found);
        for (transfer, cost) in all.iter_mut().zip(&self.costs) {
            transfer.cost.clone_from(cost);
        }
        all
    }
}

/// Returns a row for each transfer.
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
            ("cost_resequenced_bps", cost.map(|cost| cost.resequenced_bps)),
        ] {
            row.insert(name.to_owned(), value.into());
        }
        row
    });
    records::table(rows.collect())
}

/// Flattens nested objects to their numbers and texts, with names joined by underscores.
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
    /// The name of the file.
    #[getter]
    fn capture(&self) -> &str {
        &self.name
    }

    /// The reason why the rest of the file could not be read, if any.
    #[getter]
    fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// A row for each transfer, the largest first.
    #[getter]
    fn transfers(&self) -> Table {
        self.transfers.clone()
    }

    /// Return the output of ``unruffled analyze --json``.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let all = self.all();
            let plan = advice::plan(&self.name, &all, None);
            json(&self.name, &self.found, &all, &plan, self.damage.as_deref())
        })
    }

    /// Return the path of a transfer, counted from 1, as a scenario.
    ///
    /// ``sender`` is the sender that the model runs instead of the captured one.
    #[pyo3(
        signature = (transfer = None, sender = fit::OBSERVED),
        text_signature = "($self, transfer=1, sender=...)"
    )]
    fn scenario(
        &self,
        py: Python<'_>,
        transfer: Option<&Bound<'_, PyAny>>,
        sender: &str,
    ) -> PyResult<Scenario> {
        let number = transfer.map_or(Ok(1), |given| values::number("transfer", given, 1))?;
        let unfit = |source| refused(Error::Unfit { name: self.name.clone(), source });
        let all = self.all();
        let chosen = numbered(&all, number).map_err(unfit)?;
        let (chosen, losses) = (chosen.direction.clone(), chosen.losses.clone());
        let (name, sender, pool) = (self.name.clone(), sender.to_owned(), pool(None)?);
        let ticket = Arc::new(Ticket::default());
        let shared = Arc::clone(&ticket);
        let fit = move || pool.install(|| fit::fit(&name, &chosen, &losses, &sender, &shared.stop));
        let fitted = background::work(py, &ticket, None, fit)?;
        let (likelier, _) = fitted.map_err(unfit)?.readings();
        let toml = likelier.toml;
        let file = format!("{}, transfer {number}", self.name);
        let loaded = unruffled_lab::Scenario::parse(&file, &toml, &[]).map_err(refused)?;
        Ok(Scenario { file, path: None, loaded })
    }

    /// Write the HTML page to a file.
    fn report(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = values::path("path", path)?;
        let damage = self.damage.as_deref();
        let page = py.detach(|| {
            let all = self.all();
            let plan = advice::plan(&self.name, &all, None);
            report::capture(&self.name, &self.found, &all, &plan, damage)
        });
        write(&path, &page, ("the capture", Some(&self.path)))
    }

    fn __eq__(&self, other: &Self) -> bool {
        (&self.name, &self.found, &self.damage) == (&other.name, &other.found, &other.damage)
            && self.transfers == other.transfers
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "an unruffled.Analysis cannot be pickled: pickle its transfers, to_json() or scenario()",
        ))
    }

    fn _repr_html_(&self) -> String {
        let all = self.all();
        let plan = advice::plan(&self.name, &all, None);
        let text = render(&self.name, &self.found, &all, &plan, UNWRAPPED_COLUMNS);
        html::text(&text, table_of(&all).into_iter().collect())
    }

    fn __repr__(&self) -> String {
        let all = self.all();
        let plan = advice::plan(&self.name, &all, None);
        render(&self.name, &self.found, &all, &plan, 80)
    }
}
