//! `race`: transfers by the kernel and our senders with real packets, which require root, and by foreign
//! stacks.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use unruffled_kernel::Growth;
use unruffled_race::{Competitor, Course, Entry, Length, check_overrides};
use unruffled_units::{parse_bytes, parse_duration};

use crate::background::{self, Ticket};
use crate::comparison::Comparison;
use crate::error::refused;
use crate::scenario::Origin;
use crate::values;

/// Default length of a transfer.
const DEFAULT_LENGTH: Length = Length::Time(Duration::from_secs(30));

/// Error for a race with the congestion control of `unruffled attach` where that is missing.
const NOT_LOADED: &str = "kernel: unruffled: not in this kernel, and this package has no BPF programs to \
     load it: expected it there (sudo unruffled attach), or other names";

/// Let the kernel, our senders and foreign stacks make the same transfer.
#[pyfunction]
#[pyo3(signature = (
    scenario, kernel, variants, stack, stacks, duration = None, bytes = None, seeds = 1, set = None,
    together = false, reverse = false, progress = None
))]
#[expect(clippy::too_many_arguments, reason = "the keywords of a function of Python's")]
pub(crate) fn race(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    kernel: Vec<String>,
    variants: Vec<String>,
    stack: Vec<String>,
    stacks: PathBuf,
    duration: Option<&str>,
    bytes: Option<&str>,
    seeds: u64,
    set: Option<&Bound<'_, PyDict>>,
    together: bool,
    reverse: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Comparison, Vec<String>)> {
    let origin = Origin::of(scenario)?;
    let overrides = values::overrides(set)?;
    check_overrides(&overrides).map_err(refused)?;
    let scenario = origin.load_for_real_packets(&overrides).map_err(refused)?;
    let of = |argument: &'static str| move |reason| refused(format!("{argument}: {reason}"));
    let time = duration.map(parse_duration).transpose().map_err(of("duration"))?;
    let octets = bytes.map(parse_bytes).transpose().map_err(of("bytes"))?;
    let length = match (octets.or(scenario.bytes()), time) {
        (_, Some(time)) => Length::Time(Duration::from_nanos(time.as_nanos())),
        (Some(octets), None) => Length::Bytes(octets),
        (None, None) => DEFAULT_LENGTH,
    };
    if matches!(length, Length::Bytes(0) | Length::Time(Duration::ZERO)) || seeds == 0 {
        return Err(refused("race: expected more than none of duration, bytes and seeds"));
    }
    let entry = Entry {
        stacks: &stack,
        drivers: &stacks,
        scenario: &origin.file,
        set: &overrides,
        kernels: &kernel,
        variants: &variants,
        together,
        reverse,
        resequence: false,
    };
    let competitors = entry.competitors(&scenario).map_err(refused)?;
    let needed = || competitors.iter().filter_map(Competitor::growth);
    if !cfg!(feature = "bpf") && !needed().all(Growth::is_registered) {
        return Err(refused(NOT_LOADED));
    }
    let ticket = Arc::new(Ticket::default());
    let shared = Arc::clone(&ticket);
    let finished = background::work(py, &ticket, progress, move || {
        let sysctls = [];
        let course = Course {
            scenario: &scenario,
            competitors: &competitors,
            length,
            seeds,
            together,
            reverse,
            sysctls: &sysctls,
            resequence: None,
        };
        let mut begun = 0;
        course.run::<BufWriter<File>>(None, |_| {
            if shared.stop.is_cancelled() {
                // The caller has stopped waiting. Unwinding removes the namespaces.
                std::panic::resume_unwind(Box::new("stopped"));
            }
            shared.done.store(begun, Ordering::Relaxed);
            begun += 1;
        })
    })?;
    let finished = finished.map_err(refused)?;
    let failures = finished.failures.iter().map(ToString::to_string).collect();
    Ok((Comparison::new(finished.comparison, &origin)?, failures))
}
