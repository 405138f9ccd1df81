//! A time span in which an impairment is active.

use serde::{Deserialize, Serialize};

/// A time span in which an impairment is active.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The impairment in a few words.
    pub what: String,
    /// The beginning, in seconds since the start of the run.
    pub from_s: f64,
    /// The end, in seconds since the start of the run.
    pub until_s: f64,
}
