//! The messages of the TOML parser and of serde in the words of all other errors: what was expected, and
//! what was found.

/// The parser's message about `text` in one line; a duplicate key is named.
pub(super) fn of_parser(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    let at = error.span().and_then(|span| text.get(span));
    match at.filter(|_| message == "duplicate key").and_then(|key| key.lines().next()) {
        Some(key) => format!("{message} {key}: expected each key once"),
        None => message,
    }
}

/// The name of the field that serde misses, if the message says so.
pub(super) fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Serde's message about an unknown key, or a value of the wrong type.
pub(super) fn of_deserializer(message: &str) -> String {
    let unquoted = |words: &str| words.replace('`', "");
    if let Some((_, known)) = message.strip_prefix("unknown field ").and_then(at_expected) {
        return format!("unknown key: expected {}", unquoted(known));
    }
    if let Some((found, known)) = message.strip_prefix("unknown variant ").and_then(at_expected) {
        return format!("expected {}, found {:?}", unquoted(known), unquoted(found));
    }
    let kind = ["invalid type: ", "invalid value: "].iter().find_map(|p| message.strip_prefix(p));
    let Some((found, expected)) = kind.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let expected = match expected {
        "u32" | "u64" | "usize" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "any valid TOML value" => "a number of at most 64 bits",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let found = match found {
        "sequence" => "a list",
        "map" => "a table",
        other => other.strip_prefix("string ").or(other.split('`').nth(1)).unwrap_or(other),
    };
    format!("expected {expected}, found {found}")
}

/// The parts of a message before and after the word "expected".
fn at_expected(message: &str) -> Option<(&str, &str)> {
    message.split_once(", expected ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_keys_and_tables_and_no_types_of_rust() {
        for (message, expected) in [
            ("unknown field `a`, expected `b` or `c`", "unknown key: expected b or c"),
            ("unknown variant `bar`, expected one of `line`, `bars`", "expected one of line, bars"),
            ("invalid type: integer `3`, expected struct Seeds", "expected a table, found 3"),
            ("invalid type: map, expected a sequence", "expected a list, found a table"),
        ] {
            let message = of_deserializer(message);
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
