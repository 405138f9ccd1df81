//! The scenario of a run as TOML: the keys of the file, with the values that were run.

use toml::{Table, Value};
use unruffled_units::{Duration, parse_duration};

use super::Scenario;

/// The keys at the beginning of a file.
const HEAD: [&str; 7] = ["name", "title", "source", "duration", "warmup", "seeds", "variants"];

impl Scenario {
    /// Returns the keys as TOML, with these senders, and with the present number of seeds, duration
    /// and warm-up. If `variants` is empty, the senders of the file stay.
    pub fn to_toml(&self, variants: &[&str]) -> String {
        let Ok(mut rest) = toml::from_str::<Table>(&self.toml) else { return self.toml.clone() };
        let mut table = Table::new();
        for key in HEAD {
            let written = rest.remove(key);
            let value = match key {
                "duration" => time(written, self.duration),
                "warmup" if self.warmup == Duration::ZERO => None,
                "warmup" => time(written, self.warmup),
                "seeds" => i64::try_from(self.seeds).ok().map(Value::Integer),
                "variants" if !variants.is_empty() => {
                    Some(Value::Array(variants.iter().map(|&name| name.into()).collect()))
                }
                _ => written,
            };
            if let Some(value) = value {
                table.insert(key.to_owned(), value);
            }
        }
        table.extend(rest);
        toml::to_string(&table).unwrap_or_else(|_| self.toml.clone())
    }
}

/// The time as the file has it, if that is its value.
fn time(written: Option<Value>, time: Duration) -> Option<Value> {
    let same = |value: &Value| value.as_str().and_then(|s| parse_duration(s).ok()) == Some(time);
    written.filter(same).or_else(|| Some(Value::String(time.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(overrides: &[&str]) -> Scenario {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
        Scenario::load("half-late", &overrides).unwrap()
    }

    #[test]
    fn toml_has_the_values_that_were_run() {
        let mut scenario = loaded(&["warmup=2 s", "variant.rr-ta.history=20 s"]);
        scenario.duration = Duration::from_millis(1500);
        scenario.warmup = Duration::ZERO;
        scenario.seeds = 3;
        let text = scenario.to_toml(&["sack", "rr-ta"]);
        let again = Scenario::parse("again", &text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again.variants, ["sack", "rr-ta"]);
        assert_eq!((again.seeds, again.duration), (3, scenario.duration));
        assert_eq!((again.warmup, &again.name), (Duration::ZERO, &scenario.name));
        assert_eq!((&again.hops, &again.sender), (&scenario.hops, &scenario.sender));
        assert_eq!(again.parameters.len(), scenario.parameters.len());
    }

    #[test]
    fn every_built_in_scenario_survives_a_round_trip_through_toml() {
        for (name, _) in super::super::BUILTIN {
            let scenario = Scenario::load(name, &[]).unwrap();
            let names: Vec<&str> = scenario.variants.iter().map(String::as_str).collect();
            let again = Scenario::parse(name, &scenario.to_toml(&names), &[]).unwrap();
            assert_eq!(again.variants, scenario.variants, "{name}");
            assert_eq!((again.seeds, again.duration), (scenario.seeds, scenario.duration));
            assert_eq!((&again.network, again.traffic), (&scenario.network, scenario.traffic));
        }
    }
}
