//! `sweep`: a plan of runs, made here or by workers, and its rows.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use unruffled_lab::Error;
use unruffled_lab::grid::{Batch, Grid, Made, Plan, Sweep as Inner, Value, Watch, announcement};
use unruffled_lab::record::RunRow;
use unruffled_lab::store::Store;
use unruffled_scenario::flags::{self, Flags};

use crate::background::{self, Ticket};
use crate::comparison::pool;
use crate::error::refused;
use crate::pickle::{self, Kept};
use crate::records::row_columns;
use crate::scenario::Origin;
use crate::table::{Column, Table, Tabular, tabular};
use crate::{html, senders, values};

/// Name of a grid in errors, if it is a dictionary.
const DICTIONARY: &str = "grid";

/// A checked grid, before its runs are planned.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct GridFile {
    grid: Grid,
    file: String,
    /// Arguments that set keys of the scenario.
    flags: Flags,
}

/// Arguments that set a key of the scenario at every point.
const ARGUMENTS: [(&str, &str); 3] =
    [("variants", "variants"), ("seeds", "seeds"), ("duration", "duration")];

/// Read a grid from a file, or from a dictionary with the same keys.
///
/// `set` replaces keys of the scenario, as do `arguments`, whose names are keys.
#[pyfunction]
#[pyo3(signature = (given, scenario = None, set = None, arguments = None))]
pub(crate) fn grid(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    scenario: Option<&Bound<'_, PyAny>>,
    set: Option<&Bound<'_, PyDict>>,
    arguments: Option<&Bound<'_, PyDict>>,
) -> PyResult<GridFile> {
    let mut set = values::overrides(set)?;
    let given_as = values::overrides(arguments)?;
    let is_given = |key: &str| given_as.iter().any(|set| flags::key(set) == key);
    let flags = flags::given(&set, ARGUMENTS.map(|(key, flag)| (key, flag, is_given(key))));
    let flags = flags.map_err(refused)?;
    set.extend(given_as);
    let scenario = scenario.map(Origin::of).transpose()?;
    let named = scenario.map(|Origin { file, text, .. }| (file, text));
    let ticket = Arc::new(Ticket::default());
    let (file, read) = match given.cast::<PyDict>() {
        Ok(dict) => {
            let table = values::table(DICTIONARY, dict)?;
            let text = toml::to_string(&table).map_err(refused)?;
            let read = move || Grid::parse(DICTIONARY, &text, named, &set);
            (DICTIONARY.to_owned(), background::work(py, &ticket, None, read)?)
        }
        Err(_) => {
            let path = values::path(DICTIONARY, given)?;
            let file = path.display().to_string();
            let read = move || Grid::load(&path, named, &set);
            (file, background::work(py, &ticket, None, read)?)
        }
    };
    let grid = read.map_err(|error| refused(error.by_flag(&flags)))?;
    Ok(GridFile { grid, file, flags })
}

#[pymethods]
impl GridFile {
    /// Return points, dimensions and seed of the Latin hypercube that has to be drawn.
    fn hypercube(&self) -> Option<(usize, usize, u64)> {
        let hypercube = self.grid.hypercube()?;
        Some((hypercube.points, hypercube.dimensions, hypercube.seed))
    }

    /// Return the error of drawing the Latin hypercube.
    fn latin_error(&self, reason: String) -> PyErr {
        refused(Error::Latin { file: self.file.clone().into(), message: reason })
    }
}

/// Senders at many points: a row for each finished run.
///
/// :func:`unruffled.sweep` returns it. It is a table of its rows, like :class:`unruffled.Table`:
/// ``len(found)``, ``found["goodput_bps"]``, ``found[0]``, iteration, ``polars.DataFrame(found)``.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct Sweep {
    inner: Arc<Inner>,
    ticket: Arc<Ticket>,
    /// The reason why no runs are kept, although they should be.
    note: Option<String>,
    /// All rows, after the first request with all runs finished.
    rows: OnceLock<Table>,
    /// Senders with a detector written in Python, if any.
    own: Option<Py<PyAny>>,
}

impl Sweep {
    /// Restores a pickled sweep.
    pub(crate) fn restored(inner: Inner, ticket: Arc<Ticket>, own: Option<Py<PyAny>>) -> Self {
        Self { inner: Arc::new(inner), ticket, note: None, rows: OnceLock::new(), own }
    }
}

impl Tabular for Sweep {
    fn rows_as_table(&self, py: Python<'_>) -> PyResult<Table> {
        self.rows(py)
    }
}

tabular!(Sweep);

impl Watch for Ticket {
    fn done(&self, runs: usize) {
        self.done.fetch_add(runs as u64, Ordering::Relaxed);
    }
}

/// Plan a sweep on ``jobs`` threads, and look up its runs in a store.
///
/// The store is the file `store`, or the default one.
#[pyfunction]
#[pyo3(signature = (grid, hypercube = None, own = None, store = None, usual = false, jobs = None))]
pub(crate) fn plan(
    py: Python<'_>,
    grid: &Bound<'_, GridFile>,
    hypercube: Option<Vec<f64>>,
    own: Option<&Bound<'_, PyAny>>,
    store: Option<PathBuf>,
    usual: bool,
    jobs: Option<u16>,
) -> PyResult<Sweep> {
    let ticket = Arc::new(Ticket::default());
    let kept = own.map(|own| own.clone().unbind());
    let own = senders::own(own, &ticket)?;
    let GridFile { grid, flags, .. } = grid.get();
    let (grid, shared, pool) = (grid.clone(), Arc::clone(&ticket), pool(jobs)?);
    let planned = background::work(py, &ticket, None, move || {
        let plan = || Plan::new(grid, hypercube.as_deref(), own, &shared.stop);
        let plan = pool.install(plan)?;
        let (store, note) = match store {
            Some(path) => (Some(Store::open(&path)?), None),
            None if usual => Store::usual().map(|(store, note)| (Some(store), note))?,
            None => (None, None),
        };
        Ok((Inner::new(plan, store)?, note))
    })?;
    let (inner, note) = planned.map_err(|error: Error| refused(error.by_flag(flags)))?;
    Ok(Sweep { inner: Arc::new(inner), ticket, note, rows: OnceLock::new(), own: kept })
}

/// Make a batch of runs on this thread, without the GIL, for workers.
#[pyfunction]
#[pyo3(signature = (batch, own = None))]
pub(crate) fn make<'py>(
    py: Python<'py>,
    batch: &[u8],
    own: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let ticket = Arc::new(Ticket::default());
    let own = senders::own(own, &ticket)?;
    let batch = Batch::unpack(batch).map_err(refused)?;
    let made = py.detach(|| {
        let mut made = Vec::with_capacity(batch.runs());
        batch.make(&own, &ticket.stop, |run| made.push(run))?;
        Ok(Made::pack(made))
    });
    ticket.check()?;
    made.map(|octets| PyBytes::new(py, &octets)).map_err(|error: Error| refused(error))
}

#[pymethods]
impl Sweep {
    /// The reason why no runs are kept, although they should be.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The number of runs.
    #[getter]
    fn runs(&self) -> usize {
        self.inner.plan().runs()
    }

    /// The number of points.
    #[getter]
    fn points(&self) -> usize {
        self.inner.plan().points()
    }

    /// The keys that are swept.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.inner.plan().keys().to_vec()
    }

    /// The number of runs that are not finished.
    #[getter]
    fn missing(&self) -> usize {
        self.inner.missing().len()
    }

    /// Make some of the missing runs, and return the seconds the others take on one core.
    fn estimate(&self, py: Python<'_>) -> PyResult<f64> {
        let (inner, ticket) = (Arc::clone(&self.inner), Arc::clone(&self.ticket));
        let seconds =
            background::work(py, &self.ticket, None, move || inner.estimate(&ticket.stop))?;
        seconds.map_err(refused)
    }

    /// Return the line that is printed before the runs begin.
    fn announce(&self, seconds: f64, workers: usize, what: &str) -> String {
        announcement(&self.inner, seconds, workers, what)
    }

    /// Make the missing runs on this machine.
    #[pyo3(signature = (jobs = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: Option<u16>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let pool = pool(jobs)?;
        let (inner, ticket) = (Arc::clone(&self.inner), Arc::clone(&self.ticket));
        let ran = background::work(py, &self.ticket, progress, move || {
            pool.install(|| inner.run(&ticket.stop, &*ticket))
        })?;
        ran.map_err(refused)
    }

    /// Return the missing runs in batches of about ``seconds``, and the runs of each.
    fn batches<'py>(&self, py: Python<'py>, seconds: f64) -> Vec<(Bound<'py, PyBytes>, usize)> {
        let batches = py.detach(|| self.inner.batches(seconds));
        let packed = |batch: &Batch| (PyBytes::new(py, &batch.pack()), batch.runs());
        batches.iter().map(packed).collect()
    }

    /// Store a worker's results of a batch, and return the number of its runs.
    fn take(&self, py: Python<'_>, octets: &[u8]) -> PyResult<usize> {
        let taken = py.detach(|| {
            let made = Made::unpack(octets)?;
            let runs = made.len();
            self.inner.take(made).map(|()| runs)
        });
        taken.map_err(refused)
    }

    /// A row for each run: its point, the values of the keys, and the run's columns.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<Table> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows.clone());
        }
        let rows = py.detach(|| self.inner.with_rows(|rows| table(self.inner.plan(), rows)))?;
        if rows.height() == self.inner.plan().runs() {
            let _ = self.rows.set(rows.clone());
        }
        Ok(rows)
    }

    /// A row for each sender: the points at which it wins, and its shares of the best.
    #[getter]
    fn standings(&self) -> PyResult<Table> {
        let standings = self.inner.standings();
        let number = |of: fn(&unruffled_lab::grid::Standing) -> f64| {
            Column::Number(standings.iter().map(|standing| Some(of(standing))).collect())
        };
        Table::of(vec![
            ("variant", Column::Text(standings.iter().map(|s| s.variant.clone()).collect())),
            ("wins", Column::Count(standings.iter().map(|s| s.wins as u64).collect())),
            ("median_share", number(|standing| standing.median_share)),
            ("worst_share", number(|standing| standing.worst_share)),
        ])
    }

    /// Return the output of ``unruffled sweep --csv``.
    fn to_csv(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.csv())
    }

    /// Return the output of ``unruffled sweep --json``.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.json())
    }

    fn __eq__(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        let plans = (self.inner.plan(), other.inner.plan());
        Ok(plans.0.runs() == plans.1.runs() && self.rows(py)? == other.rows(py)?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Kept<'py>> {
        let octets = py.detach(|| self.inner.pack());
        pickle::as_octets(py, "Sweep", &octets, self.own.as_ref().map(|own| own.clone_ref(py)))
    }

    fn _repr_html_(&self) -> String {
        html::text(&self.inner.render(), vec![self.inner.cells()])
    }

    fn __repr__(&self) -> String {
        self.inner.render()
    }
}

/// Returns the rows as a table.
fn table(plan: &Plan, rows: &[Option<RunRow>]) -> PyResult<Table> {
    let finished: Vec<(usize, &RunRow)> = rows
        .iter()
        .enumerate()
        .filter_map(|(run, row)| Some((plan.point(run), row.as_ref()?)))
        .collect();
    let points = || finished.iter().map(|(point, _)| *point);
    let mut columns =
        vec![("point".to_owned(), Column::Count(points().map(|p| p as u64).collect()))];
    for (at, key) in plan.keys().iter().enumerate() {
        let values = plan.values(at);
        let numbers: Option<Vec<Option<f64>>> = points()
            .map(|point| match &values[point] {
                Value::Number(number) => Some(Some(*number)),
                Value::Text(_) => None,
            })
            .collect();
        let text = |point: usize| match &values[point] {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
        };
        let column = match numbers {
            Some(numbers) => Column::Number(numbers),
            None => Column::Text(points().map(text).collect()),
        };
        columns.push((key.clone(), column));
    }
    columns.extend(row_columns(finished.iter().map(|(_, row)| *row)));
    Table::of(columns)
}
