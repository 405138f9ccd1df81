//! The list of senders.

use serde_json::Value;
use unruffled_lab::senders;
use unruffled_tcp::Variant;

/// Returns all senders and the parts that can be added to one, as `unruffled variants --json` prints them,
/// each sender with its common name (`known_as`).
pub fn senders() -> Value {
    described(&senders::all())
}

/// Returns the description of one sender.
///
/// # Errors
/// An unknown name, or parts that do not fit together.
pub fn check_sender(name: &str) -> Result<Value, String> {
    let variant = Variant::parse(name).map_err(|error| error.to_string())?;
    Ok(described(&[variant])["variants"][0].take())
}

fn described(variants: &[Variant]) -> Value {
    let mut document = senders::json(variants);
    let list = document["variants"].as_array_mut().into_iter().flatten();
    for (sender, variant) in list.zip(variants) {
        sender["known_as"] = senders::known_as(variant.name()).into();
    }
    document
}

#[cfg(test)]
mod tests {
    use unruffled_tcp::ROWS;

    use super::*;

    #[test]
    fn each_row_is_listed_with_its_parameters_and_common_name() {
        let all = senders();
        let list = all["variants"].as_array().expect("is a list");
        assert_eq!(list.len(), ROWS.len());
        let linux = list.iter().find(|sender| sender["name"] == "linux").expect("is a row");
        assert_eq!(linux["known_as"], "a model of Linux today");
        let rr_ta = check_sender("rr-ta").expect("is a row");
        let names: Vec<&Value> =
            rr_ta["parameters"].as_array().expect("is a list").iter().map(|p| &p["name"]).collect();
        assert!(names.contains(&&Value::from("fa_ratio")), "{names:?}");
    }

    #[test]
    fn a_misspelt_sender_is_an_error_of_one_line() {
        let error = check_sender("unrufled").expect_err("is no sender");
        assert!(error.contains("unruffled") && !error.contains('\n'), "{error}");
    }
}
