//! A scenario in a list of them, for programs.

use serde_json::{Value, json};

use super::Scenario;
use crate::error::Error;

/// What the scenario in `text` is, which errors call `name`: one JSON object, with the file in it.
///
/// # Errors
/// A file that is no scenario; those that ship with the program are.
pub fn description(name: &str, text: &str) -> Result<Value, Error> {
    let scenario = Scenario::parse(name, text, &[])?;
    Ok(json!({
        "name": scenario.name,
        "title": scenario.title,
        "source": scenario.source,
        "duration_s": scenario.duration.as_secs_f64(),
        "seeds": scenario.seeds,
        "variants": scenario.variants,
        "toml": text,
    }))
}
