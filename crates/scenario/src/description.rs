//! A scenario as JSON.

use serde_json::{Value, json};

use super::Scenario;
use crate::error::Error;

/// Returns the scenario in `text` as one JSON object, with the text in it. Errors call the scenario
/// `name`.
///
/// # Errors
/// An invalid scenario; the built-in ones are valid.
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
