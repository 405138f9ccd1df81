//! Descriptions of senders: name, parts, parameters, source.

use serde_json::{Value, json};
use unruffled_tcp::variant::{PARTS, Part};
use unruffled_tcp::{ROWS, Unit, Variant};

/// Returns a sender for each row of the table, with the published parameters.
pub fn all() -> Vec<Variant> {
    ROWS.iter().filter_map(|row| Variant::named(row.name)).collect()
}

/// Describes a sender in one line, with the parameters that differ from their defaults.
pub fn about(variant: &Variant) -> String {
    let changed = variant.parameters().filter(|(p, value)| *value != p.default);
    let changed: Vec<String> =
        changed.map(|(p, value)| format!("{} {}", p.name, p.show(value))).collect();
    match changed.as_slice() {
        [] => variant.row().about.to_owned(),
        changed => format!("{}; with {}", variant.row().about, changed.join(", ")),
    }
}

/// Returns the common name of a sender, if it has one.
pub fn known_as(name: &str) -> Option<&'static str> {
    let known = match name {
        "linux" => "a model of Linux today",
        "linux-reordering+cubic" => "Linux 3.18 to 4.14",
        "tcp-pr-sack" => "TCP-PR (2003)",
        "rr-ta" => "RR-TCP (2003)",
        "sack" => "the standard, RFC 6675",
        "unruffled" => "our own",
        _ => return None,
    };
    Some(known)
}

/// Returns one JSON object with these senders, and with the parts that can be added to a sender.
pub fn json(senders: &[Variant]) -> Value {
    let list: Vec<Value> = senders.iter().map(one).collect();
    let part =
        |part: &Part| json!({ "name": part.name, "about": part.about, "source": part.source });
    json!({ "variants": list, "parts": PARTS.iter().map(part).collect::<Vec<_>>() })
}

/// Returns the JSON object of one sender.
fn one(variant: &Variant) -> Value {
    let parts: serde_json::Map<String, Value> =
        variant.parts().into_iter().map(|(part, what)| (part.to_owned(), what.into())).collect();
    let parameters: Vec<Value> = variant
        .parameters()
        .map(|(p, _)| {
            let mut parameter = json!({
                "name": p.name,
                "default": p.show(p.default),
                "about": p.about,
                "source": p.source,
            });
            match p.unit {
                Unit::Choice(names) => parameter["choices"] = json!(names),
                _ => {
                    parameter["least"] = p.show(p.range.0).into();
                    parameter["greatest"] = p.show(p.range.1).into();
                }
            }
            parameter
        })
        .collect();
    json!({
        "name": variant.name(),
        "about": variant.row().about,
        "source": variant.row().source,
        "parts": parts,
        "parameters": parameters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_with_common_names_exist() {
        let names = ["linux", "linux-reordering+cubic", "tcp-pr-sack", "rr-ta", "sack"];
        for name in names.into_iter().chain(["unruffled"]) {
            assert!(Variant::parse(name).is_ok() && known_as(name).is_some(), "{name}");
        }
        assert_eq!(known_as("rack+cubic"), None);
    }

    #[test]
    fn the_description_of_a_sender_has_its_changed_parameters() {
        let mut variant = Variant::named("rr-ta+cubic").unwrap();
        assert_eq!(about(&variant), variant.row().about);
        variant.set("history", "20 s").unwrap();
        variant.set("fa_ratio", "50 %").unwrap();
        let text = about(&variant);
        assert!(text.starts_with(variant.row().about), "{text}");
        assert!(text.contains("; with ") && text.contains("fa_ratio 50 %"), "{text}");
        assert!(text.contains("history 20 s"), "{text}");
    }
}
