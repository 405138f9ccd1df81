//! A time in which an impairment is at work.

use serde::{Deserialize, Serialize};

/// A time in which an impairment is at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// What, in a few words.
    pub what: String,
    /// From when, in seconds since the start of the run.
    pub from_s: f64,
    /// Until when.
    pub until_s: f64,
}
