//! Adapter for loss detectors written in Python. Each call takes the GIL, so they are slow.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use unruffled_tcp::Variant;
use unruffled_tcp::detect::{self, LossDetector, Overdue};
use unruffled_units::{Duration, Instant};

use crate::background::Ticket;
use crate::error::refused;
use crate::facts::{AckFacts, Reordering, Rule, SpuriousFastRetransmit, View};

impl From<&detect::View> for View {
    fn from(view: &detect::View) -> Self {
        let seconds = |time: Duration| time.as_secs_f64();
        Self {
            now_s: view.now.as_secs_f64(),
            cwnd: view.cwnd,
            slow_start: view.slow_start,
            flight: view.flight,
            sacked: view.sacked,
            srtt_s: view.srtt.map(seconds),
            latest_rtt_s: view.latest_rtt.map(seconds),
            min_rtt_s: view.min_rtt.map(seconds),
            rto_s: view.rto.as_secs_f64(),
            recovering: view.recovering,
            una: view.una,
            nxt: view.nxt,
        }
    }
}

impl From<&Rule> for detect::Rule {
    fn from(rule: &Rule) -> Self {
        let eager = rule.eager;
        let overdue = |wait| Overdue { wait: Duration::from_secs_f64(wait), eager };
        let instant = |time| Instant::ZERO + Duration::from_secs_f64(time);
        Self {
            dupthresh: rule.dupthresh,
            distance: rule.distance,
            overdue: rule.overdue_s.map(overdue),
            first_hole_due: rule.first_hole_due_s.map(instant),
            confirm_after: None,
        }
    }
}

/// Optional methods of a detector.
const METHODS: [&str; 6] = [
    "on_ack",
    "on_reordering",
    "on_recovery",
    "on_recovery_end",
    "on_spurious_fast_retransmit",
    "on_timeout",
];

/// Detector of a connection: a Python object.
#[derive(Debug)]
struct Detector {
    object: Py<PyAny>,
    /// Whether it has each of [`METHODS`].
    has: [bool; METHODS.len()],
    ticket: Arc<Ticket>,
    /// Dupthresh of the last rule plus one. 0: none.
    dupthresh: AtomicU64,
}

impl Detector {
    /// Calls one of [`METHODS`], if the object has it.
    fn notify<A>(&self, method: &str, arguments: impl FnOnce() -> A)
    where
        A: for<'a> pyo3::call::PyCallArgs<'a>,
    {
        let has_method = METHODS.iter().zip(self.has).any(|(name, has)| has && *name == method);
        if has_method && !self.ticket.stop.is_cancelled() {
            Python::attach(|py| {
                if let Err(error) = self.object.bind(py).call_method1(method, arguments()) {
                    self.ticket.raise(error);
                }
            });
        }
    }
}

impl LossDetector for Detector {
    fn about(&self) -> Cow<'static, str> {
        "written in Python".into()
    }

    fn rule(&self, view: &detect::View) -> detect::Rule {
        let classical = detect::Rule::dupthresh(3);
        if self.ticket.stop.is_cancelled() {
            return classical;
        }
        let rule = Python::attach(|py| -> PyResult<detect::Rule> {
            let answer = self.object.bind(py).call_method1("rule", (View::from(view),))?;
            let rule = answer.cast::<Rule>().map_err(|_| {
                refused(format!("rule(): expected an unruffled.Rule, found {answer}"))
            })?;
            Ok(rule.get().into())
        });
        match rule {
            Ok(rule) => {
                let shown = rule.dupthresh.map_or(0, |dupthresh| u64::from(dupthresh) + 1);
                self.dupthresh.store(shown, Ordering::Relaxed);
                rule
            }
            Err(error) => {
                self.ticket.raise(error);
                classical
            }
        }
    }

    fn dupthresh(&self) -> Option<u32> {
        let shown = self.dupthresh.load(Ordering::Relaxed).checked_sub(1)?;
        u32::try_from(shown).ok()
    }

    fn on_ack(&mut self, facts: &detect::AckFacts, view: &detect::View) {
        let facts = || AckFacts {
            delivered: facts.delivered,
            sacked: facts.sacked,
            advanced: facts.advanced,
            dsack: facts.dsack,
            reordered: facts.reordered,
            latest_sent_s: facts.latest_sent.map(|at| at.as_secs_f64()),
        };
        self.notify("on_ack", || (facts(), View::from(view)));
    }

    fn on_reordering(&mut self, sample: detect::Reordering, view: &detect::View) {
        let detect::Reordering { length, delay, by_dsack } = sample;
        let sample = || Reordering { length, delay_s: delay.as_secs_f64(), by_dsack };
        self.notify("on_reordering", || (sample(), View::from(view)));
    }

    fn on_recovery(&mut self, view: &detect::View) {
        self.notify("on_recovery", || (View::from(view),));
    }

    fn on_recovery_end(&mut self, view: &detect::View) {
        self.notify("on_recovery_end", || (View::from(view),));
    }

    fn on_spurious_fast_retransmit(
        &mut self,
        found: detect::SpuriousFastRetransmit,
        view: &detect::View,
    ) {
        let detect::SpuriousFastRetransmit { lasted, window, length } = found;
        let found = || SpuriousFastRetransmit { lasted_s: lasted.as_secs_f64(), window, length };
        self.notify("on_spurious_fast_retransmit", || (found(), View::from(view)));
    }

    fn on_timeout(&mut self, first: bool, view: &detect::View) {
        self.notify("on_timeout", || (first, View::from(view)));
    }
}

/// Returns the sender `base+name`: `base` with the detectors that `make` returns.
pub(crate) fn variant(
    base: &str,
    name: &str,
    make: Py<PyAny>,
    ticket: &Arc<Ticket>,
) -> PyResult<Variant> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(good) {
        let expected = "expected a name of small letters, digits and -";
        return Err(refused(format!("detector: {expected}, found {name:?}")));
    }
    let ticket = Arc::clone(ticket);
    let made = move || -> Box<dyn LossDetector> {
        let object = Python::attach(|py| -> PyResult<(Py<PyAny>, [bool; METHODS.len()])> {
            let object = make.bind(py).call0()?;
            let has = METHODS.map(|method| object.hasattr(method).unwrap_or(false));
            Ok((object.unbind(), has))
        });
        let ticket = Arc::clone(&ticket);
        match object {
            Ok((object, has)) => {
                Box::new(Detector { object, has, ticket, dupthresh: AtomicU64::new(0) })
            }
            Err(error) => {
                ticket.raise(error);
                let object = Python::attach(|py| py.None());
                let has = [false; METHODS.len()];
                Box::new(Detector { object, has, ticket, dupthresh: AtomicU64::new(0) })
            }
        }
    };
    let parsed = Variant::parse(base).map_err(|error| refused(format!("variants: {error}")))?;
    let variant = parsed.with_detector(leaked(name), made);
    variant.map_err(|error| refused(format!("variants: {error}")))
}

/// Returns the name with static lifetime. Each name is stored once per process.
fn leaked(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}
