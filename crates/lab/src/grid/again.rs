//! How to repeat one point of a sweep.

use unruffled_scenario::Scenario;

use super::plan::Plan;
use super::quantity::plain;
use crate::text::for_shell;

/// The file that a command names if the scenario is neither built in nor an unchanged file.
const SAVED: &str = "scenario.toml";

/// The flags of `compare` for keys of a scenario.
const FLAGS: [(&str, &str); 3] =
    [("variants", "--variants"), ("seeds", "--seeds"), ("duration", "--duration")];

/// One point of a sweep, and how to repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Again {
    /// The swept keys and their values, as users write them.
    pub(crate) values: Vec<(String, String)>,
    /// The command.
    pub(crate) command: String,
    /// Whether the command needs [`toml`](Self::toml) as `scenario.toml`.
    pub(crate) needs_file: bool,
    /// The scenario at the point, with every override.
    pub(crate) toml: String,
}

impl Plan {
    /// Returns how to repeat a point. Senders with parts from outside the program are not part of it.
    ///
    /// # Errors
    /// None for a plan that was checked.
    pub(crate) fn again(&self, point: usize) -> Result<Again, unruffled_scenario::Error> {
        let (file, text) = self.text();
        let overrides = self.overrides(point);
        let names: Vec<&str> = self.named().iter().map(String::as_str).collect();
        let toml = self.scenario(point)?.to_toml(&names);
        let needs_file = !Scenario::text(file).is_ok_and(|found| found == *text);
        let mut command = vec!["unruffled compare".to_owned()];
        if needs_file {
            command.push(SAVED.to_owned());
        } else {
            command.push(for_shell(file));
            // The last override of a key wins, in whatever notation.
            let whole = Scenario::replaced(file, text, &overrides)?;
            let wins = |at: usize| !whole[at + 1..].contains(&whole[at]);
            let last = (0..overrides.len()).filter(|&at| wins(at));
            command.extend(last.map(|at| flag(&whole[at], &overrides[at])));
        }
        Ok(Again {
            values: self.settings(point).collect(),
            command: command.join(" "),
            needs_file,
            toml,
        })
    }
}

/// Returns the flag of `compare` for an override, whose whole key is `key`.
fn flag(key: &str, set: &str) -> String {
    let Some((_, flag)) = FLAGS.iter().find(|(of, _)| *of == key) else {
        return format!("--set {}", for_shell(set));
    };
    let value = set.split_once('=').map_or("", |(_, value)| value.trim());
    let value = match value.parse() {
        Ok(toml::Value::Array(names)) => {
            let names = names.iter().map(|name| plain(&name.to_string()));
            names.collect::<Vec<_>>().join(",")
        }
        _ => plain(value),
    };
    format!("{flag} {}", for_shell(&value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::never;
    use crate::grid::Grid;

    fn plan(text: &str, scenario: Option<(String, String)>, set: &[&str]) -> Plan {
        let set: Vec<String> = set.iter().map(|&s| s.to_owned()).collect();
        let grid = Grid::parse("grid.toml", text, scenario, &set).expect("is a grid");
        Plan::new(grid, None, Vec::new(), never()).expect("makes sense")
    }

    const TEXT: &str = "scenario = 'half-late'\nvariants = ['sack', 'rack+cubic']\nseeds = 1\n\
                        [grid]\nalternate.extra = ['20 ms', '40 ms']\nalternate.packets = ['data', 'both']\n";

    #[test]
    fn the_command_has_the_settings_of_the_file_of_the_command_and_of_the_point() {
        let plan = plan(TEXT, None, &["duration=1 s", "seeds=3"]);
        let again = plan.again(3).expect("was checked");
        assert_eq!(
            again.command,
            "unruffled compare half-late --variants sack,rack+cubic --duration '1 s' --seeds 3 \
             --set 'alternate.extra=\"40 ms\"' --set 'alternate.packets=\"both\"'"
        );
        let value = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            again.values,
            [value("alternate.extra", "40 ms"), value("alternate.packets", "both")]
        );
        assert!(!again.needs_file);
    }

    #[test]
    fn a_scenario_that_is_no_file_is_saved_first() {
        let text = Scenario::text("half-late").expect("is built in") + "\n# mine\n";
        let plan = plan(TEXT, Some(("half-late".to_owned(), text)), &["duration=1 s"]);
        let again = plan.again(1).expect("was checked");
        assert_eq!(
            (again.command.as_str(), again.needs_file),
            ("unruffled compare scenario.toml", true)
        );
        let of_text = Scenario::parse("scenario.toml", &again.toml, &[]).expect("is a scenario");
        let canonical = crate::store::canonical_toml;
        assert_eq!(canonical(&of_text), canonical(&plan.scenario(1).expect("was checked")));
    }
}
