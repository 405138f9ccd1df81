//! Which of several known names a person may have meant.

/// The one of `known` that is most like `found`: the same but for case and punctuation, or a few letters
/// away (one in three), or the only one that begins so. None if nothing is like it.
///
/// ```
/// use unruffled_units::similar;
///
/// assert_eq!(similar("RRta", ["rr-fa", "rr-ta"]), Some("rr-ta"));
/// assert_eq!(similar("satelite", ["satellite", "switch"]), Some("satellite"));
/// assert_eq!(similar("bogus", ["satellite", "switch"]), None);
/// ```
pub fn similar<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = squeezed(found);
    let length = wanted.chars().count();
    let far = if length < 3 { 0 } else { (length / 3).max(1) };
    let (mut nearest, mut longer): (Option<(usize, &str)>, Vec<&str>) = (None, Vec::new());
    for name in known {
        let letters = squeezed(name);
        let distance = strsim::osa_distance(&wanted, &letters);
        let like = if wanted.is_empty() { name == found } else { distance <= far };
        if like && nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, name));
        }
        if length >= 2 && letters.starts_with(&wanted) {
            longer.push(name);
        }
    }
    let only = if let [only] = longer.as_slice() { Some(*only) } else { None };
    nearest.map(|(_, name)| name).or(only)
}

/// `; did you mean NAME?`, to end a line that refuses `found`; empty if nothing is like it.
pub fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(found, known).map_or(String::new(), did_you_mean)
}

/// `; did you mean NAME?`
pub fn did_you_mean(name: &str) -> String {
    format!("; did you mean {name}?")
}

/// Letters and digits alone, in lower case: what people remember of a name.
fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_letters() {
        let known = ["rr-3", "half-late", "few-late", "in-order", "satellite", "wi-fi"];
        for (found, wanted) in [
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
            assert_eq!(similar(found, known), wanted, "{found:?}");
        }
    }

    #[test]
    fn a_beginning_that_several_have_is_none() {
        assert_eq!(similar("tcp", ["tcp-pr-sack", "tcp-pr-extreme"]), None);
    }
}
