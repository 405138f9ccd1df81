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

/// Checks that real senders can carry the group's traffic: one stream each between the same two ends,
/// from the start.
fn check(file: &str, scenario: &Scenario, group: &Traffic) -> Result<(), Error> {
    let key = |field: &str| format!("traffic.{}.{field}", group.name);
    if group.ends != scenario.traffic[0].ends {
        return Err(refuse(file, &key("from"), Possible::EndsOfTheFirst));
    }
    if !matches!(group.app, App::Bulk { .. }) {
        return Err(refuse(file, &key("app"), Possible::Bulk));
    }
    if group.arrivals != Arrivals::At(Instant::ZERO) || group.stop.is_some() {
        return Err(refuse(file, &key("start"), Possible::FromTheBeginning));
    }
    Ok(())
}

/// Returns the group of each of `entrants` senders that run at once: the number of entrants is that of
/// [`field`], which lists them by group.
pub(crate) fn groups(scenario: &Scenario, entrants: usize) -> Vec<&Traffic> {
    let count = |fixed: bool| -> usize {
        let groups = scenario.traffic.iter().filter(|group| group.sender.is_some() == fixed);
        groups.map(|group| group.count as usize).sum()
    };
    // Each source without a sender of its own stands for all compared senders.
    let compared = entrants.saturating_sub(count(true)) / count(false).max(1);
    let mut groups = Vec::with_capacity(entrants);
    for group in &scenario.traffic {
        let each = if group.sender.is_some() { 1 } else { compared };
        groups.extend(std::iter::repeat_n(group, group.count as usize * each));
    }
    groups.resize(entrants, &scenario.traffic[0]);
    groups
}

fn refuse(file: &str, key: &str, expected: Possible) -> Error {
    Error::Traffic { file: file.to_owned(), key: key.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entrant_has_the_group_that_it_stands_for() {
        let text = "duration = '1 s'\nvariants = ['sack']\npath.hops = ['a']\nlink.a.delay = '1 ms'\n\
                    [[traffic]]\nname = 'one'\nsender = 'rack'\ncount = 2\n\
                    [[traffic]]\nname = 'two'\ncount = 2\n";
        let scenario = Scenario::parse("test", text, &[]).expect(text);
        let compared = scenario.senders(&["sack".to_owned(), "rr-ta".to_owned()], "test");
        let compared = compared.expect("variants").into_iter();
        let compared = compared.map(|variant| Competitor::Ours(Box::new(variant))).collect();
        let field = field("test", &scenario, compared).expect("all can be raced");
        let names: Vec<_> = field.iter().map(Competitor::name).collect();
        assert_eq!(names, ["rack", "rack", "sack", "rr-ta", "sack", "rr-ta"]);
        let groups: Vec<_> = groups(&scenario, 6).iter().map(|group| &group.name).collect();
        assert_eq!(groups, ["one", "one", "two", "two", "two", "two"]);
        // Without traffic of its own, a scenario has one group.
        let alone = Scenario::load("in-order", &[]).expect("is built in");
        assert_eq!(super::groups(&alone, 3).len(), 3);
    }
}
