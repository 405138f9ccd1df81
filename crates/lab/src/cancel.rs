//! Cancellation of work that takes long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use unruffled_path::ConfigError;

/// Requests that work on other threads ends early. Clones share the request.
///
/// A simulation checks its token every 100 ms of virtual time and returns [`RunError::Cancelled`].
///
/// # Examples
/// ```
/// use unruffled_lab::cancel::{CancellationToken, RunError};
/// use unruffled_lab::run::run;
/// use unruffled_lab::Scenario;
///
/// let scenario = Scenario::load("rr-3", &[])?;
/// let sack = scenario.senders(&["sack".to_owned()], "here")?.remove(0);
/// let token = CancellationToken::default();
/// token.cancel();
/// let ran = run(&scenario, &sack, 1, None, &token);
/// assert!(matches!(ran, Err(RunError::Cancelled)));
/// # Ok::<(), unruffled_lab::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// Requests cancellation. A request cannot be withdrawn.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether cancellation is requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if cancellation is requested.
    ///
    /// # Errors
    /// [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        if self.is_cancelled() { Err(RunError::Cancelled) } else { Ok(()) }
    }
}

/// Shares a flag that a signal handler sets.
impl From<Arc<AtomicBool>> for CancellationToken {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// Returns a token for work that is never cancelled.
pub fn never() -> &'static CancellationToken {
    static NEVER: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::default);
    &NEVER
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The configuration of a link is invalid.
    #[error("link: {0}")]
    Config(#[from] ConfigError),
    /// More packets are in flight than memory should hold.
    #[error(
        "packets on their way must be fewer (by a queue on each link, or by lower rates), not more \
         than {max}"
    )]
    TooManyPackets {
        /// The largest number of packets in flight.
        max: usize,
    },
    /// Cancellation was requested.
    #[error("cancelled")]
    Cancelled,
}
