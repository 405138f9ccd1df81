//! Arguments and results of detectors written in Python, as plain values.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::values;

/// Declares a class of plain values: read-only fields, a constructor with a keyword for each, equality, a
/// hash, a `repr` that evaluates to an equal value, and pickle.
macro_rules! facts {
    (
        $(#[$about:meta])*
        $class:ident $signature:tt $text:literal {
            $($(#[$field_about:meta])* $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$about])*
        #[pyclass(frozen, module = "unruffled")]
        #[derive(Debug, PartialEq)]
        pub(crate) struct $class {
            $($(#[$field_about])* #[pyo3(get)] pub(crate) $field: $type,)*
        }

        impl $class {
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let fields = PyDict::new(py);
                $(fields.set_item(stringify!($field), self.$field)?;)*
                Ok(fields)
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = $signature, text_signature = $text)]
            #[allow(clippy::too_many_arguments, reason = "the keywords of a constructor")]
            fn new($($field: Option<&Bound<'_, PyAny>>),*) -> PyResult<Self> {
                let called = |field| concat!(stringify!($class), ": ").to_owned() + field;
                Ok(Self {
                    $($field: match $field {
                        Some(given) => Field::read(&called(stringify!($field)), given)?,
                        None => $default,
                    },)*
                })
            }

            fn __eq__(&self, other: &Self) -> bool {
                self == other
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                PyTuple::new(py, self.fields(py)?.values())?.hash()
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let field = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                    Ok(format!("{name}={}", value.repr()?))
                };
                let fields = self.fields(py)?.iter().map(field).collect::<PyResult<Vec<_>>>()?;
                Ok(format!("{}({})", stringify!($class), fields.join(", ")))
            }

            fn __reduce__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
                let py = slf.py();
                let partial = py.import("functools")?.getattr("partial")?;
                let fields = slf.get().fields(py)?;
                Ok((partial.call((slf.get_type(),), Some(&fields))?, PyTuple::empty(py)))
            }
        }
    };
}

/// The type of a field.
trait Field: Sized {
    /// Converts the argument `called`.
    fn read(called: &str, given: &Bound<'_, PyAny>) -> PyResult<Self>;
}

impl Field for u32 {
    fn read(called: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        values::number(called, given, 0)
    }
}

impl Field for u64 {
    fn read(called: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        values::number(called, given, 0)
    }
}

impl Field for f64 {
    fn read(called: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        values::amount(called, given)
    }
}

impl Field for bool {
    fn read(called: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        values::truth(called, given)
    }
}

impl<T: Field> Field for Option<T> {
    fn read(called: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        T::read(called, given).map(Some)
    }
}

facts! {
    /// The sender's state, as passed to detectors. Windows are in segments.
    ///
    /// The engine creates it; tests of a detector can create one, too.
    View (
        *, now_s = None, cwnd = None, slow_start = None, flight = None, sacked = None, srtt_s =
        None, latest_rtt_s = None, min_rtt_s = None, rto_s = None, recovering = None, una = None,
        nxt = None
    )
    "(*, now_s=0.0, cwnd=10.0, slow_start=True, flight=0, sacked=0, srtt_s=None, \
    latest_rtt_s=None, min_rtt_s=None, rto_s=1.0, recovering=False, una=0, nxt=0)" {
        /// The time in seconds since the start of the run.
        now_s: f64 = 0.0,
        /// The congestion window.
        cwnd: f64 = 10.0,
        /// Whether the window is in slow start.
        slow_start: bool = true,
        /// The number of segments sent and not cumulatively acknowledged.
        flight: u32 = 0,
        /// The number of segments SACKed and not cumulatively acknowledged.
        sacked: u32 = 0,
        /// The smoothed round-trip time in seconds, once there is a sample.
        srtt_s: Option<f64> = None,
        /// The last round-trip time measured, in seconds.
        latest_rtt_s: Option<f64> = None,
        /// The minimum of the recent round-trip times, in seconds.
        min_rtt_s: Option<f64> = None,
        /// The retransmission timeout in seconds, without backoff.
        rto_s: f64 = 1.0,
        /// Whether the sender is in fast recovery, or in recovery after a timeout.
        recovering: bool = false,
        /// The offset of the first octet that is not acknowledged (SND.UNA).
        una: u64 = 0,
        /// The offset of the next new octet (SND.NXT).
        nxt: u64 = 0,
    }
}

facts! {
    /// The contents of one acknowledgement, beyond the scoreboard.
    AckFacts (
        *, delivered = None, sacked = None, advanced = None, dsack = None, reordered = None,
        latest_sent_s = None
    )
    "(*, delivered=0, sacked=0, advanced=False, dsack=False, reordered=False, \
    latest_sent_s=None)" {
        /// The number of segments newly delivered, cumulatively or selectively.
        delivered: u32 = 0,
        /// The number of segments newly SACKed.
        sacked: u32 = 0,
        /// Whether it advanced the cumulative point.
        advanced: bool = false,
        /// Whether it carried a DSACK.
        dsack: bool = false,
        /// Whether a segment never retransmitted arrived behind a later one.
        reordered: bool = false,
        /// The latest send time of the newly delivered segments, in seconds.
        latest_sent_s: Option<f64> = None,
    }
}

facts! {
    /// One hole that closed because its segment was late.
    Reordering (
        *, length = None, delay_s = None, by_dsack = None
    )
    "(*, length=0, delay_s=0.0, by_dsack=False)" {
        /// The distance to the highest delivered segment, in segments.
        length: u32 = 0,
        /// The seconds from the delivery of that segment to that of the late one.
        delay_s: f64 = 0.0,
        /// Whether a DSACK reported it: the segment had been retransmitted.
        by_dsack: bool = false,
    }
}

facts! {
    /// A fast retransmit that proved spurious.
    SpuriousFastRetransmit (
        *, lasted_s = None, window = None, length = None
    )
    "(*, lasted_s=0.0, window=0.0, length=None)" {
        /// The seconds from its start to the DSACK that proved it spurious.
        lasted_s: f64 = 0.0,
        /// The congestion window before it, in segments.
        window: f64 = 0.0,
        /// The reordering length of the segment that the last DSACK reported.
        length: Option<u32> = None,
    }
}

facts! {
    /// The holes that are deemed lost now. A hole needs to meet one condition.
    ///
    /// ``rule`` of a detector returns it; see :class:`unruffled.Detector`.
    Rule (
        dupthresh = None, *, distance = None, overdue_s = None, eager = None, first_hole_due_s =
        None
    )
    "(dupthresh=None, *, distance=None, overdue_s=None, eager=False, first_hole_due_s=None)" {
        /// Every hole with at least this many SACKed segments above it is lost.
        dupthresh: Option<u32> = None,
        /// Every hole this far below the highest delivered segment is lost.
        distance: Option<u32> = None,
        /// Every segment sent this long ago, before one that is delivered, is lost.
        overdue_s: Option<f64> = None,
        /// Whether to check again when the first of them is due, and not only when all are.
        eager: bool = false,
        /// The first hole is lost at this time, if it is still open then.
        first_hole_due_s: Option<f64> = None,
    }
}
