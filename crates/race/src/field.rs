//! The traffic of a scenario with real senders, who send at once.

use unruffled_lab::Scenario;
use unruffled_scenario::{App, Arrivals, Traffic};
use unruffled_units::Instant;

use crate::error::Possible;
use crate::{Competitor, Error};

/// The most that can send at once: each takes addresses and threads of its own.
const MOST: u64 = 100;

/// The senders of the scenario's traffic: of a group with a sender of its own that one, of the others
/// each of `competitors`, as often as the group says. `competitors` themselves where the scenario is
/// about a single transfer. Errors call the scenario `file`.
///
/// # Errors
/// Traffic that a race cannot have; one line that names the key.
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
        for _ in 0..group.count.min(MOST as u32 + 1) {
            match &group.sender {
                None => field.extend(competitors.iter().cloned()),
                Some(name) => field.push(Competitor::Ours(Box::new(scenario.fixed_sender(name)))),
            }
        }
    }
    if field.len() as u64 > MOST {
        return Err(refuse(file, "traffic", Possible::AtMost(MOST)));
    }
    Ok(field)
}

/// Whether real senders can do what the group is to do: send one stream over the whole path, from
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
