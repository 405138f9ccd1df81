//! Adapts text to the terminal: to ASCII if the locale has no Unicode, and to its width.

use std::sync::OnceLock;

use unruffled_lab::text::COMMAND_INDENT;

/// Returns whether the locale has Unicode, by the variables in POSIX's order. Without any variable it has.
pub(crate) fn is_unicode() -> bool {
    static UNICODE: OnceLock<bool> = OnceLock::new();
    *UNICODE.get_or_init(|| {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        locale.is_none_or(|locale| has_unicode(&locale))
    })
}

/// Returns whether the locale of that name, such as `de_DE.UTF-8@euro`, has Unicode.
fn has_unicode(locale: &str) -> bool {
    let codeset = locale.split('@').next().and_then(|name| name.split_once('.'));
    codeset.is_some_and(|(_, codeset)| {
        let codeset = codeset.to_lowercase();
        codeset == "utf-8" || codeset == "utf8"
    })
}

/// Returns `text` in the locale's character set, wrapped to `columns` if given.
pub(crate) fn shown(text: &str, columns: Option<usize>) -> String {
    let text = if is_unicode() { text.to_owned() } else { ascii(text) };
    columns.map_or_else(|| text.clone(), |columns| within(&text, columns.max(1)))
}

/// Returns JSON in the locale's character set, with escapes of equal meaning if it has no Unicode.
pub(crate) fn json(text: &str) -> String {
    if is_unicode() || text.is_ascii() {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped += &format!("\\u{unit:04x}");
        }
    }
    escaped
}

/// Returns `text` in ASCII. Table cells keep their width.
fn ascii(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    // The blanks between a mean and its interval give room for the longer sign.
    for c in text.replace(" ± ", "+/-").chars() {
        match c {
            c if c.is_ascii() => plain.push(c),
            '─' | '–' | '—' | '−' | '‐' | '‑' => plain.push('-'),
            '\u{a0}' | '\u{2009}' | '\u{202f}' => plain.push(' '),
            '’' | '‘' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '±' => plain += "+/-",
            '×' => plain.push('x'),
            '·' => plain.push('*'),
            '…' => plain.push('~'),
            'µ' | 'μ' => plain.push('u'),
            '→' => plain += "->",
            '≤' => plain += "<=",
            '≥' => plain += ">=",
            'α' => plain += "alpha",
            'β' => plain += "beta",
            'γ' => plain += "gamma",
            'ε' => plain += "epsilon",
            'λ' => plain += "lambda",
            'τ' => plain += "tau",
            _ => plain.push('?'),
        }
    }
    plain
}

/// Wraps lines that are longer than `columns` between words, or within words that are longer. Continuation
/// lines have a larger indent.
fn within(text: &str, columns: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if width(line.trim_end_matches('\n')) <= columns {
            lines += line;
        } else {
            lines += &broken(line.trim_end_matches('\n'), columns);
            lines += if line.ends_with('\n') { "\n" } else { "" };
        }
    }
    lines
}

/// Wraps one line. A command continues after a backslash, as in a shell.
fn broken(line: &str, columns: usize) -> String {
    let command = line.strip_prefix(COMMAND_INDENT).is_some_and(|rest| !rest.starts_with(' '));
    let mark = if command { " \\" } else { "" };
    let columns = columns.saturating_sub(mark.len());
    let indent = line.len() - line.trim_start_matches(' ').len();
    let first = indent.min(columns / 2);
    let further = if first + 2 <= columns / 2 { first + 2 } else { first };
    let mut text = " ".repeat(first);
    let mut used = first;
    let mut empty = true;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let wide = width(word);
        if !empty && used + 1 + wide > columns {
            text += &format!("{mark}\n{}", " ".repeat(further));
            used = further;
            empty = true;
        }
        if !empty {
            text.push(' ');
            used += 1;
        }
        empty = false;
        if used + wide <= columns {
            text += word;
            used += wide;
            continue;
        }
        for c in word.chars() {
            if used == columns {
                text += &format!("\n{}", " ".repeat(further));
                used = further;
            }
            text.push(c);
            used += 1;
        }
    }
    text
}

/// Returns the columns of `text`. Colour codes take none.
fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().take_while(|c| !c.is_ascii_alphabetic()).for_each(drop);
        } else {
            columns += 1;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codeset_of_a_locale_determines_whether_it_has_unicode() {
        for (locale, expected) in [
            ("C", false),
            ("POSIX", false),
            ("C.UTF-8", true),
            ("en_GB.utf8", true),
            ("de_DE.UTF-8@euro", true),
            ("de_DE", false),
            ("de_DE.ISO-8859-15@euro", false),
        ] {
            assert_eq!(has_unicode(locale), expected, "{locale}");
        }
    }

    #[test]
    fn a_wrapped_command_can_be_copied() {
        let text = "       unruffled analyze slow.pcap --scenario path.toml\n";
        let shown = "       unruffled analyze slow.pcap \\\n         --scenario path.toml\n";
        assert_eq!(within(text, 40), shown);
        assert_eq!(within(text, 55), text);
    }

    #[test]
    fn tables_keep_their_width_in_ascii() {
        let table = "sack  2.88 ± 0.01  –\n─────────────────────\n";
        assert_eq!(ascii(table), "sack  2.88+/-0.01  -\n---------------------\n");
        assert_eq!(ascii("±: 95 %, τ × 2 µs, “übung”"), "+/-: 95 %, tau x 2 us, \"?bung\"");
    }

    #[test]
    fn json_in_ascii_means_the_same() {
        let text = "{\"a\": \"τ – 𝄞\"}";
        // Escaped by hand, since the locale of the test may have Unicode.
        let mut escaped = String::new();
        for unit in "τ – 𝄞".encode_utf16() {
            match u8::try_from(unit).ok().filter(u8::is_ascii) {
                Some(c) => escaped.push(char::from(c)),
                None => escaped += &format!("\\u{unit:04x}"),
            }
        }
        let same: serde_json::Value = serde_json::from_str(text).expect("is JSON");
        let other = serde_json::from_str(&format!("{{\"a\": \"{escaped}\"}}"));
        assert_eq!(same, other.map(|v: serde_json::Value| v).expect("is JSON"));
    }

    #[test]
    fn no_line_is_longer_than_the_columns() {
        let text =
            "short\n  a line of several words, and one-that-is-longer-than-all-the-columns\n\nend";
        for columns in [1, 7, 20, 40] {
            let text = within(text, columns);
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}:\n{text}");
        }
        let expected = "short\n  a line of several\n    words, and\n    one-that-is-long\n    er-than-all-the-\n    columns\n\nend";
        assert_eq!(within(text, 20), expected);
        assert_eq!(within("\u{1b}[1mbold\u{1b}[0m", 4), "\u{1b}[1mbold\u{1b}[0m");
    }
}
