//! The engine of the web page: comparisons, recordings of runs, and analyses of captures, in steps.
//!
//! A web worker calls these types through `wasm-bindgen` (`bindings`, on `wasm32` only). Everything else is
//! plain Rust, and the same on every target: the same request gives the same bytes as the command.
//!
//! # Examples
//! ```
//! use unruffled_web::{Comparison, Request};
//!
//! let mut comparison = Comparison::new(&Request {
//!     toml: "half-late".to_owned(),
//!     senders: Some(vec!["unruffled".to_owned(), "sack".to_owned()]),
//!     seeds: Some(1),
//!     duration: Some("2 s".to_owned()),
//!     ..Request::default()
//! })?;
//! // A step ends after so many small parts of the runs, or whenever else the closure says.
//! let mut parts = 0;
//! let progress = comparison.step(|| {
//!     parts += 1;
//!     parts > 20
//! });
//! assert!(progress.estimates.iter().all(|sender| sender.goodput_bps > Some(1e5)));
//! while !comparison.step(|| false).done {}
//! assert!(comparison.json().is_some_and(|json| json.contains("\"undisturbed_bps\"")));
//! # Ok::<(), String>(())
//! ```

#[cfg(target_arch = "wasm32")]
mod bindings;
mod capture;
mod comparison;
mod presets;
mod recording;
mod request;
mod senders;
mod settings;

pub use capture::{
    Capture, CaptureHistogram, CapturePath, CapturePlots, CaptureProgress, CaptureTransfer,
    OtherPath,
};
pub use comparison::{Comparison, Estimate, Progress, TableText};
pub use presets::{Kind, Preset, presets};
pub use recording::{
    CurveInfo, EventColumns, EventKind, Fate, LinkInfo, PacketColumns, PacketFlag, RecordRequest,
    Recording, RecordingProgress, RunFacts,
};
pub use request::{Facts, Request, check};
pub use senders::{check_sender, senders};
pub use settings::{
    Alternate, Bound, Lateness, Resequence, Settings, bounds, settings_of, toml_of,
};

/// Returns the version of the engine.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
