//! Suggestions for misspelt names.

/// Returns the name in `known` that is most similar to `found`, or `None` if none is similar.
///
/// Case and punctuation do not matter. Names are similar if at most one letter in three differs, or if
/// `found` is the beginning of only one of them.
///
/// ```
/// use unruffled_units::similar;
///
/// assert_eq!(similar("RRta", ["rr-fa", "rr-ta"]), Some("rr-ta"));
/// assert_eq!(similar("satelite", ["satellite", "switch"]), Some("satellite"));
/// assert_eq!(similar("bogus", ["satellite", "switch"]), None);
/// ```
pub fn similar<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters_found = normalised(found);
    let length = letters_found.chars().count();
    let max_distance = if length < 3 { 0 } else { (length / 3).max(1) };
    let mut nearest: Option<(usize, &str)> = None;
    let mut longer: Vec<&str> = Vec::new();
    for name in known {
        let letters = normalised(name);
        let distance = strsim::osa_distance(&letters_found, &letters);
        let is_similar =
            if letters_found.is_empty() { name == found } else { distance <= max_distance };
        if is_similar && nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, name));
        }
        if length >= 2 && letters.starts_with(&letters_found) {
            longer.push(name);
        }
    }
    let only = if let [only] = longer.as_slice() { Some(*only) } else { None };
    nearest.map(|(_, name)| name).or(only)
}

/// Returns `; did you mean NAME?`, the end of an error message that rejects `found`, or an empty string
/// if no name is similar.
pub fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(found, known).map_or(String::new(), did_you_mean)
}

/// Formats `; did you mean NAME?`.
pub fn did_you_mean(name: &str) -> String {
    format!("; did you mean {name}?")
}

/// Returns the letters and digits of a name, in lower case.
fn normalised(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_letters() {
        let known = ["rr-3", "half-late", "few-late", "in-order", "satellite", "wi-fi"];
        for (found, expected) in [
            ("RR3", Some("rr-3")),
            ("half_late", Some("half-late")),
            ("haf-late", Some("half-late")),
            ("few-latte", Some("few-late")),
            ("wifi", Some("wi-fi")),
            ("sat", Some("satellite")),
            ("inorder", Some("in-order")),
            ("x", None),
            ("", None),
            ("-", None),
            ("lambda", None),
        ] {
            assert_eq!(similar(found, known), expected, "{found:?}");
        }
    }

    #[test]
    fn a_prefix_of_several_names_has_no_suggestion() {
        assert_eq!(similar("tcp", ["tcp-pr-sack", "tcp-pr-extreme"]), None);
    }
}
