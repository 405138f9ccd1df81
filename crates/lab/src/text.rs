//! Text output: numbers, lines for a terminal, and words for a shell.

/// The indent of a command in a plan; no other line of it begins so.
pub const COMMAND_INDENT: &str = "       ";

/// Returns the text that a CSV writer has written.
pub fn of_csv(writer: csv::Writer<Vec<u8>>) -> String {
    let bytes = writer.into_inner().expect("memory takes every write");
    String::from_utf8(bytes).expect("the fields are UTF-8")
}

/// Shortens `text` to at most `width` characters.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Separates the thousands of a decimal number by commas: `12,345.6`.
pub fn grouped(number: &str) -> String {
    let whole = number.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(number.len());
    let (whole, rest) = number.split_at(whole);
    let mut text = String::new();
    for (i, digit) in whole.chars().enumerate() {
        let inside = text.ends_with(|before: char| before.is_ascii_digit());
        if inside && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// Quotes `word` for a shell.
pub fn for_shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    // A word that begins with a hyphen would be read as a flag.
    let flag = if word.starts_with('-') { "./" } else { "" };
    match !word.is_empty() && word.chars().all(plain) {
        true => format!("{flag}{word}"),
        false => format!("'{flag}{}'", word.replace('\'', r"'\''")),
    }
}

/// Splits `text` into words. A text that [`for_shell`] has quoted is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = match text.starts_with('\'') {
            true => text.find("' ").map(|quote| quote + 1),
            false => text.find(' '),
        };
        let (word, after) = end.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
        rest = after;
        Some(word)
    })
}

/// Wraps `text` to lines of at most `width` columns, each with `indent`. A `width` below 20 counts
/// as 20.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in words(text) {
        let columns = [indent, &line, word].map(|part| part.chars().count());
        if !line.is_empty() && columns.iter().sum::<usize>() + 1 > width.max(20) {
            lines += &format!("{indent}{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines + format!("{indent}{line}\n").as_str()
}

/// The text that replaces an absent number.
pub const NO_NUMBER: &str = "–";

/// Formats `value` with `decimals` decimals and separated thousands; as [`NO_NUMBER`] if it is not
/// finite.
pub fn number(value: f64, decimals: usize) -> String {
    if value.is_finite() { grouped(&format!("{value:.decimals$}")) } else { NO_NUMBER.to_owned() }
}

/// Formats a number with four digits, or a whole number with all of its digits.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "no value".to_owned() } else { value.to_string() };
    }
    if value == 0.0 || value.fract() == 0.0 && value.abs() < 1e9 {
        return format!("{value}");
    }
    let magnitude = libm::log10(value.abs()).floor() as i32;
    if !(-4..9).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.*}", (3 - magnitude).max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_have_four_digits() {
        let texts = [0.0, 2.0, 97184.0, 0.712345, 12.3456, 81916.4, 3.3e-7, -0.05, 1.0 / 3.0];
        let expected =
            ["0", "2", "97184", "0.7123", "12.35", "81916", "3.300e-7", "-0.05", "0.3333"];
        assert_eq!(texts.map(short), expected);
        assert_eq!(short(f64::NAN), "no value");
    }

    #[test]
    fn long_lines_are_wrapped_between_words() {
        let text = "one two three four five six seven";
        assert_eq!(wrapped(text, 80, ""), format!("{text}\n"));
        let expected = "  one two three four\n  five six seven\n";
        assert_eq!(wrapped(text, 20, "  "), expected);
        let long = "a".repeat(30);
        assert_eq!(wrapped(&format!("{long} b"), 20, ""), format!("{long}\nb\n"));
    }

    #[test]
    fn thousands_are_separated() {
        for (number, expected) in [
            ("0", "0"),
            ("999.25", "999.25"),
            ("1000", "1,000"),
            ("-812500", "-812,500"),
            ("-100", "-100"),
            ("1234567.8901", "1,234,567.8901"),
            ("1e7", "1e7"),
            ("–", "–"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }

    #[test]
    fn a_name_is_quoted_for_a_shell_if_necessary() {
        for (name, expected) in [
            ("a/b-1.toml", "a/b-1.toml"),
            ("übung.toml", "übung.toml"),
            ("my path.toml", "'my path.toml'"),
            ("it's", r"'it'\''s'"),
            ("$HOME;ls", "'$HOME;ls'"),
            ("~", "'~'"),
            ("-x", "./-x"),
            ("-x y", "'./-x y'"),
            ("", "''"),
        ] {
            assert_eq!(for_shell(name), expected);
        }
    }

    #[test]
    fn a_quoted_word_is_not_wrapped() {
        let text = format!("others' compare {} shows it", for_shell("it's my own path.toml"));
        let expected = "others' compare\n'it'\\''s my own path.toml'\nshows it\n";
        assert_eq!(wrapped(&text, 20, ""), expected);
    }
}
