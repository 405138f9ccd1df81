//! A check of the reference of JSON fields against what a command has printed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::page::SAME;

/// Stands for a name of `rows[]` in the reference.
const METRIC: &str = "METRIC";

/// Returns the fields of `document`, printed by `command`, that `page` does not have.
///
/// # Errors
///
/// If the page has no such command.
pub(crate) fn undocumented(
    page: &str,
    command: &str,
    document: &Value,
) -> Result<Vec<String>, String> {
    let heading = format!("\n## {command}\n");
    let (_, section) =
        page.split_once(&heading).ok_or_else(|| format!("{command}: no such command"))?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut known = Known::default();
    for line in section.lines() {
        let Some((name, rest)) = line.strip_prefix("| `").and_then(|line| line.split_once('`'))
        else {
            continue;
        };
        known.fields.insert(name.to_owned());
        if let Some((_, first)) = rest.split_once(&format!("{SAME} `")) {
            let first = first.split('`').next().unwrap_or_default();
            known.same.insert(name.to_owned(), first.to_owned());
        }
    }
    let mut missing = BTreeSet::new();
    known.walk("", document, &mut missing);
    Ok(missing.into_iter().collect())
}

#[derive(Default)]
struct Known {
    fields: BTreeSet<String>,
    /// Fields whose objects have the fields of another.
    same: BTreeMap<String, String>,
}

impl Known {
    fn walk(&self, path: &str, value: &Value, missing: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let dot = if path.is_empty() { "" } else { "." };
                    let field = format!("{path}{dot}{name}");
                    let any = format!("{path}{dot}{METRIC}");
                    let is_metric = self.fields.contains(&any)
                        && self.fields.contains(&format!("rows[].{name}"));
                    let known = match self.fields.contains(&field) {
                        true => Some(field.clone()),
                        false => is_metric.then_some(any),
                    };
                    match known {
                        Some(known) => match self.same.get(&known) {
                            Some(first) => self.walk_as(first, value, missing),
                            None => self.walk(&known, value, missing),
                        },
                        None => drop(missing.insert(field)),
                    }
                }
            }
            Value::Array(items) => {
                let path = format!("{path}[]");
                items.iter().for_each(|item| self.walk(&path, item, missing));
            }
            _ => {}
        }
    }

    /// Walks an object, or the objects of a list, with the fields of the object at `path`.
    fn walk_as(&self, path: &str, value: &Value, missing: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.walk_as(path, item, missing)),
            value => self.walk(path, value, missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PAGE: &str = "# JSON\n\n## compare\n\n| `rows` | list |\n| `rows[].a` | number |\n\
        | `means` | object |\n| `means.METRIC` | object |\n| `means.METRIC.low` | number |\n\
        | `other` | object | Its fields are those of `means.METRIC`. |\n\n## race\n\n| `x` | number |\n";

    #[test]
    fn fields_that_are_not_documented_are_found() {
        let document = json!({
            "rows": [{"a": 1}, {"a": 1, "b": 2}],
            "means": {"a": {"low": 1, "high": 2}, "c": 1},
            "other": {"low": 1, "mid": 2},
            "x": 1,
        });
        let found = undocumented(PAGE, "compare", &document).expect("is there");
        let expected = ["means.METRIC.high", "means.METRIC.mid", "means.c", "rows[].b", "x"];
        assert_eq!(found, expected);
        assert!(undocumented(PAGE, "sweep", &document).is_err());
    }
}
