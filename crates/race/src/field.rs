//! Assigns real senders to a scenario's traffic, for races of all senders at once.

use unruffled_lab::Scenario;
use unruffled_scenario::{App, Arrivals, Traffic};
use unruffled_units::Instant;

use crate::error::Possible;
use crate::{Competitor, Error};

/// Maximum number of senders at once: each needs its own addresses and threads.
const MAX_SENDERS: u64 = 100;

/// Returns the senders of the scenario's traffic. A group with its own sender contributes that sender,
/// any other group contributes all `competitors`, each as often as the group's count. If the scenario
/// has a single transfer, the result is `competitors`. Errors name the scenario as `file`.
///
/// # Errors
/// [`Error::Traffic`] with the key, for traffic that a race does not support.
pub fn field(
    file: &str,
    scenario: &Scenario,
    competitors: Vec<Competitor>,
) -> Result<Vec<Competitor>, Error> {
    if scenario.is_single() {
        return Ok(competitors);
    }
    let mut field = Vec::new();
    for group in &scenario.traffic {
        check(file, scenario, group)?;
        for _ in 0..group.count.min(MAX_SENDERS as u32 + 1) {
            match &group.sender {
                None => field.extend(competitors.iter().cloned()),
                Some(name) => field.push(Competitor::Ours(Box::new(scenario.fixed_sender(name)))),
            }
        }
    }
    if field.len() as u64 > MAX_SENDERS {
        return Err(refuse(file, "traffic", Possible::AtMost(MAX_SENDERS)));
    }
    Ok(field)
}

/// Checks that real senders can carry the group's traffic: one stream each over the whole path, from
/// the start.
fn check(file: &str, scenario: &Scenario, group: &Traffic) -> Result<(), Error> {
    let key = |field: &str| format!("traffic.{}.{field}", group.name);
    if group.ends != (0, scenario.hops.len()) {
        return Err(refuse(file, &key("from"), Possible::WholePath));
    }
    if !matches!(group.app, App::Bulk { .. }) {
        return Err(refuse(file, &key("app"), Possible::Bulk));
    }
    if group.arrivals != Arrivals::At(Instant::ZERO) || group.stop.is_some() {
        return Err(refuse(file, &key("start"), Possible::FromTheBeginning));
    }
    Ok(())
}

fn refuse(file: &str, key: &str, expected: Possible) -> Error {
    Error::Traffic { file: file.to_owned(), key: key.to_owned(), expected }
}
