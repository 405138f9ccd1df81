//! `compare` and its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use unruffled_lab::capture::{Capture, reason};
use unruffled_lab::run::run;
use unruffled_lab::{self as lab, Error, files, report};
use unruffled_scenario::{flags, place_of_variants};

use crate::background::{self, Ticket};
use crate::error::refused;
use crate::pickle::{self, Kept};
use crate::scenario::Origin;
use crate::table::{Table, Tabular, tabular};
use crate::{html, records, senders, values};

/// Several senders over one scenario: a row for each run, and other records.
///
/// :func:`unruffled.compare` and :func:`unruffled.race` return it. It is a table of its rows, like
/// :class:`unruffled.Table`: ``len(found)``, ``found["goodput_bps"]``, ``found[0]``, iteration,
/// ``polars.DataFrame(found)``.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct Comparison {
    pub(crate) inner: lab::record::Comparison,
    rows: Table,
    /// File of the scenario, if it was read from one.
    file: Option<PathBuf>,
}

impl Comparison {
    pub(crate) fn new(inner: lab::record::Comparison, origin: &Origin) -> PyResult<Self> {
        let rows = records::rows(&inner)?;
        Ok(Self { inner, rows, file: origin.path.clone() })
    }

    /// Restores a pickled comparison.
    pub(crate) fn restored(
        (inner, file): (lab::record::Comparison, Option<PathBuf>),
    ) -> PyResult<Self> {
        let rows = records::rows(&inner)?;
        Ok(Self { inner, rows, file })
    }
}

impl Tabular for Comparison {
    fn rows_as_table(&self, _: Python<'_>) -> PyResult<Table> {
        Ok(self.rows.clone())
    }
}

tabular!(Comparison);

/// Writes `text` to the file at `path`, which must not be `kept`.
pub(crate) fn write(path: &Path, text: &str, kept: files::Called<'_>) -> PyResult<()> {
    files::free(path, [&kept]).map_err(refused)?;
    files::write_text(path, text).map_err(|error| refused(Error::output(path, error)))
}

/// The parsed arguments of `compare`.
struct Job {
    origin: Origin,
    scenario: lab::Scenario,
    variants: Vec<unruffled_tcp::Variant>,
}

fn read(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    variants: Option<&Bound<'_, PyAny>>,
    seeds: Option<&Bound<'_, PyAny>>,
    duration: Option<&Bound<'_, PyAny>>,
    set: Option<&Bound<'_, PyDict>>,
    ticket: &Arc<Ticket>,
) -> PyResult<Job> {
    let mut overrides = values::overrides(set)?;
    let flags = [
        ("variants", "variants", variants.is_some()),
        ("seeds", "seeds", seeds.is_some()),
        ("duration", "duration", duration.is_some()),
    ];
    let flags = flags::given(&overrides, flags).map_err(refused)?;
    for (key, value) in [("seeds", seeds), ("duration", duration)] {
        if let Some(value) = value {
            let one = PyDict::new(py);
            one.set_item(key, value)?;
            overrides.extend(values::overrides(Some(&one))?);
        }
    }
    let origin = Origin::of(scenario)?;
    let scenario = origin.load(&overrides).map_err(|error| refused(error.by_flag(&flags)))?;
    let place = place_of_variants(&origin.file, &overrides);
    let variants = senders::chosen(&scenario, &place, variants, ticket)?;
    Ok(Job { origin, scenario, variants })
}

/// Returns a pool of `jobs` threads, or of one for each core.
pub(crate) fn pool(jobs: Option<u16>) -> PyResult<rayon::ThreadPool> {
    let threads = jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| refused(format!("threads: {error}")))
}

/// Return the number of runs that `compare` makes.
#[pyfunction]
#[pyo3(signature = (scenario, variants = None, seeds = None, duration = None, set = None))]
pub(crate) fn runs(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    variants: Option<&Bound<'_, PyAny>>,
    seeds: Option<&Bound<'_, PyAny>>,
    duration: Option<&Bound<'_, PyAny>>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<u64> {
    let ticket = Arc::new(Ticket::default());
    let job = read(py, scenario, variants, seeds, duration, set, &ticket)?;
    Ok(lab::compare::runs(&job.scenario, &job.variants))
}

/// Run several senders over a scenario.
#[pyfunction]
#[pyo3(signature = (
    scenario, variants = None, seeds = None, duration = None, set = None, jobs = None,
    progress = None
))]
#[expect(clippy::too_many_arguments, reason = "the keywords of a function of Python's")]
pub(crate) fn compare(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    variants: Option<&Bound<'_, PyAny>>,
    seeds: Option<&Bound<'_, PyAny>>,
    duration: Option<&Bound<'_, PyAny>>,
    set: Option<&Bound<'_, PyDict>>,
    jobs: Option<u16>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Comparison> {
    let ticket = Arc::new(Ticket::default());
    let job = read(py, scenario, variants, seeds, duration, set, &ticket)?;
    let pool = pool(jobs)?;
    let (shared, origin) = (Arc::clone(&ticket), job.origin);
    let found = background::work(py, &ticket, progress, move || {
        let done = || shared.count();
        let compared = || lab::compare::compare(&job.scenario, &job.variants, &shared.stop, done);
        pool.install(compared)
    })?;
    Comparison::new(found.map_err(refused)?, &origin)
}

#[pymethods]
impl Comparison {
    /// The scenario's name.
    #[getter]
    fn scenario(&self) -> &str {
        &self.inner.scenario
    }

    /// The scenario's title.
    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    /// The scenario as TOML with every override, to repeat the run.
    #[getter]
    fn toml(&self) -> &str {
        &self.inner.scenario_toml
    }

    /// Notes on the runs, such as those of a race on its transfers.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }

    /// Goodput over the undisturbed path in bits per second, the base of shares.
    #[getter]
    fn undisturbed_bps(&self) -> f64 {
        self.inner.reference.bps()
    }

    /// A description of the undisturbed path: ``in order, nothing lost; limit: link rates``.
    #[getter]
    fn reference(&self) -> String {
        lab::summary::reference_in_words(&self.inner)
    }

    /// A row for each run: the columns of ``unruffled compare --csv``.
    #[getter]
    fn rows(&self) -> Table {
        self.rows.clone()
    }

    /// A row for each sender: means, and half-widths of their 95 % intervals (``_ci95``).
    #[getter]
    fn summary(&self) -> PyResult<Table> {
        records::summary(&self.inner)
    }

    /// A row for each flow of each run, if there are several flows.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        records::counted(&self.inner, |record| &record.flows)
    }

    /// A row for each link of each run, if there are several flows.
    #[getter]
    fn links(&self) -> PyResult<Table> {
        records::counted(&self.inner, |record| &record.links)
    }

    /// Congestion window, thresholds and acknowledgements over time, first seed.
    #[getter]
    fn traces(&self) -> PyResult<Table> {
        records::traces(&self.inner)
    }

    /// Segments sent within the window of the time–sequence plot, first seed.
    #[getter]
    fn sent(&self) -> PyResult<Table> {
        records::sent(&self.inner)
    }

    /// Reorderings of each length that the sender noticed, first seed.
    #[getter]
    fn reordering_lengths(&self) -> PyResult<Table> {
        records::reordering_lengths(&self.inner)
    }

    /// Return the output of ``unruffled compare --json``.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| lab::table::json(&self.inner))
    }

    /// Return the output of ``unruffled compare --csv``.
    fn to_csv(&self, py: Python<'_>) -> String {
        py.detach(|| lab::table::csv(&self.inner))
    }

    /// Write the HTML report to a file.
    fn report(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = values::path("path", path)?;
        let page = py.detach(|| report::html(&self.inner));
        write(&path, &page, ("the scenario", self.file.as_deref()))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Kept<'py>> {
        pickle::kept(py, "Comparison", &(&self.inner, &self.file))
    }

    fn _repr_html_(&self) -> String {
        let text = lab::table::render(&self.inner, UNWRAPPED_COLUMNS, false);
        html::text(&text, lab::table::tables(&self.inner))
    }

    fn __repr__(&self) -> String {
        lab::table::render(&self.inner, TEXT_COLUMNS, false)
    }
}

/// Width of a comparison as text, in columns.
const TEXT_COLUMNS: usize = 80;

/// Width of text that a notebook wraps, in columns.
pub(crate) const UNWRAPPED_COLUMNS: usize = 10_000;

/// Write the packets at a sender of the scenario as pcapng.
#[pyfunction]
#[pyo3(signature = (path, scenario, variant, seed = 1, duration = None, set = None))]
pub(crate) fn record(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    scenario: &Bound<'_, PyAny>,
    variant: &str,
    seed: u64,
    duration: Option<&Bound<'_, PyAny>>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let path = values::path("path", path)?;
    let ticket = Arc::new(Ticket::default());
    let names = pyo3::types::PyList::new(py, [variant])?;
    let job = read(py, scenario, Some(names.as_any()), None, duration, set, &ticket)?;
    let shared = Arc::clone(&ticket);
    let kept = ("the scenario", job.origin.path.as_deref());
    files::free(&path, [&kept]).map_err(refused)?;
    let written = background::work(py, &ticket, None, move || {
        let Some(sender) = job.variants.first() else { return Ok(()) };
        let written = files::write(&path, |file| {
            let mut capture = Capture::new(file).map_err(reason)?.of(job.scenario.first_compared());
            // An error, also that of a cancellation, keeps an existing file.
            run(&job.scenario, sender, seed, Some(&mut capture), &shared.stop)
                .map_err(std::io::Error::other)?;
            capture.finish().map_err(reason)
        });
        written.map_err(|error| Error::output(&path, error))
    })?;
    written.map_err(|error: Error| refused(error))
}
