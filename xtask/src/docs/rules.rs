//! Rules of prose: the length of paragraphs and sentences, numbers in a sentence, commit hashes.

use super::page::Page;

const MAX_PARAGRAPH_WORDS: usize = 80;
const MAX_SENTENCE_WORDS: usize = 40;
const MAX_SENTENCE_NUMBERS: usize = 2;

/// The readers of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Users: all rules.
    User,
    /// Developers, and the records of measurements: only paragraphs have a limit.
    Record,
}

impl Kind {
    /// Returns the readers of the page at `path`.
    pub(crate) fn of(path: &str) -> Self {
        let record = ["docs/measurements/", "docs/internals/", "docs/architecture.md"];
        if record.iter().any(|start| path.starts_with(start)) { Self::Record } else { Self::User }
    }
}

/// Returns what breaks a rule, with its line.
pub(crate) fn check(page: &Page, kind: Kind) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for paragraph in &page.paragraphs {
        let words = words(&paragraph.text).count();
        if words > MAX_PARAGRAPH_WORDS {
            let what =
                format!("a paragraph of {words} words, expected at most {MAX_PARAGRAPH_WORDS}");
            found.push((paragraph.line, what));
        }
        if kind == Kind::User {
            let sentences = sentences(&paragraph.text);
            found.extend(
                sentences
                    .iter()
                    .filter_map(|sentence| Some((paragraph.line, check_sentence(sentence)?))),
            );
        }
    }
    if kind == Kind::User {
        for (line, text) in &page.texts {
            let hashes = text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_hash(word));
            found.extend(hashes.map(|hash| (*line, format!("{hash}: a commit hash"))));
        }
    }
    found.sort_by_key(|(line, _)| *line);
    found
}

fn check_sentence(sentence: &str) -> Option<String> {
    let start = words(sentence).take(6).collect::<Vec<_>>().join(" ");
    let words = words(sentence).count();
    let numbers = numbers(sentence);
    if words > MAX_SENTENCE_WORDS {
        Some(format!(
            "a sentence of {words} words, expected at most {MAX_SENTENCE_WORDS}: {start} …"
        ))
    } else if numbers > MAX_SENTENCE_NUMBERS {
        Some(format!(
            "a sentence with {numbers} numbers, expected at most {MAX_SENTENCE_NUMBERS}: {start} …"
        ))
    } else {
        None
    }
}

/// Returns the words: what has a letter or a digit between spaces.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|token| token.contains(char::is_alphanumeric))
}

/// What ends with a full stop and ends no sentence.
const ABBREVIATIONS: [&str; 12] =
    ["e.g", "i.e", "al", "vs", "cf", "Fig", "No", "Nos", "approx", "ca", "St", "Dr"];

/// Returns the sentences. One ends with `.`, `!` or `?`, closing brackets and quotes included, before a word
/// that does not begin with a small letter.
fn sentences(text: &str) -> Vec<String> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut sentences = Vec::new();
    let mut sentence: Vec<&str> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        sentence.push(token);
        if ends_sentence(token) && tokens.get(index + 1).is_none_or(|next| begins_sentence(next)) {
            sentences.push(sentence.join(" "));
            sentence.clear();
        }
    }
    if !sentence.is_empty() {
        sentences.push(sentence.join(" "));
    }
    sentences
}

fn ends_sentence(token: &str) -> bool {
    let token = token.trim_end_matches([')', ']', '"', '”', '’', '\'', '*']);
    let Some(stem) = token.strip_suffix(['.', '!', '?']) else { return false };
    let stem = stem.trim_start_matches(['(', '[', '"', '“']);
    let is_initial = stem.chars().count() == 1 && stem.chars().all(char::is_uppercase);
    !(token.ends_with('.') && (is_initial || ABBREVIATIONS.contains(&stem)))
}

fn begins_sentence(token: &str) -> bool {
    let first = token.trim_start_matches(['(', '[', '"', '“', '*']).chars().next();
    first.is_none_or(|first| !first.is_lowercase())
}

/// Words after which a number is a name: of a document's part, a figure, a version.
const NAMERS: [&str; 42] = [
    "rfc",
    "rfcs",
    "section",
    "sections",
    "chapter",
    "chapters",
    "appendix",
    "figure",
    "figures",
    "table",
    "tables",
    "equation",
    "equations",
    "step",
    "steps",
    "rule",
    "rules",
    "line",
    "lines",
    "algorithm",
    "claim",
    "part",
    "item",
    "page",
    "version",
    "versions",
    "linux",
    "debian",
    "ubuntu",
    "kernel",
    "kernels",
    "python",
    "rust",
    "windows",
    "macos",
    "ios",
    "android",
    "freebsd",
    "port",
    "issue",
    "level",
    "seed",
];

/// Units that may stand right behind a number.
const UNITS: [&str; 24] = [
    "", "%", "s", "ms", "us", "µs", "ns", "min", "h", "b", "kb", "mb", "gb", "tb", "kib", "mib",
    "gib", "mb/s", "gb/s", "kbit/s", "mbit/s", "gbit/s", "x", "×",
];

/// Returns how many numbers a sentence has. Numbers of RFCs, sections, figures and versions are names and do
/// not count; nor do years, dates, words with digits (`ns-2`, `IPv6`) and numbers written as words. A range
/// with a dash counts once.
fn numbers(sentence: &str) -> usize {
    let mut count = 0;
    let mut names = false;
    for token in sentence.split_whitespace() {
        let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '%' && c != '×');
        if names && is_joint(token) {
            continue;
        }
        if bare.starts_with(|c: char| c.is_ascii_digit()) {
            if !names && is_number(bare) {
                count += 1;
            }
            continue;
        }
        names = NAMERS.contains(&bare.to_lowercase().as_str());
    }
    count
}

/// Returns whether a word joins names: `sections 3 and 4`.
fn is_joint(token: &str) -> bool {
    matches!(token, "and" | "or" | "to" | "," | "–" | "&")
}

/// Returns whether a word that begins with a digit is a quantity.
fn is_number(token: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '/' | '\u{202f}');
    let (number, unit) = token.split_at(token.find(|c| !digits(c)).unwrap_or(token.len()));
    let number = number.trim_end_matches(['.', ',', '/']);
    let is_version = number.matches('.').count() > 1;
    let is_year = number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    let is_range = unit.starts_with('–') || unit.starts_with('±');
    let is_unit = UNITS.contains(&unit.to_lowercase().as_str());
    let is_name = is_version || is_year && unit.is_empty();
    !is_name && (is_range || is_unit)
}

/// Returns whether a word is the beginning of a commit's hash, or all of it.
fn is_hash(word: &str) -> bool {
    let is_hex = word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let has_both =
        word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_lowercase());
    (7..=40).contains(&word.len()) && is_hex && has_both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_of_81_words_is_too_long_for_all() {
        let long = |words: usize| Page::parse(&vec!["word."; words].join(" Word "));
        // Each "word." ends a sentence: 41 and 40 more words.
        let expected = vec![(1, "a paragraph of 81 words, expected at most 80".to_owned())];
        assert_eq!(check(&long(41), Kind::User), expected);
        assert_eq!(check(&long(41), Kind::Record), expected);
        assert!(check(&long(40), Kind::User).is_empty());
    }

    #[test]
    fn a_sentence_of_41_words_is_too_long_for_users() {
        let page =
            |words: usize| Page::parse(&format!("Short. {}.", vec!["Word"; words].join(" ")));
        let expected =
            "a sentence of 41 words, expected at most 40: Word Word Word Word Word Word …"
                .to_owned();
        assert_eq!(check(&page(41), Kind::User), [(1, expected)]);
        assert!(check(&page(40), Kind::User).is_empty());
        assert!(check(&page(41), Kind::Record).is_empty());
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let text = "It is 5. CODE is next (see there.) M. Zhang et al. Say so, e.g. here! Why? \
                    A. small letter. follows";
        assert_eq!(
            sentences(text),
            [
                "It is 5.",
                "CODE is next (see there.)",
                "M. Zhang et al. Say so, e.g. here!",
                "Why?",
                "A. small letter. follows"
            ]
        );
    }

    #[test]
    fn quantities_count_and_names_do_not() {
        assert_eq!(numbers("10 Mb/s, 50ms and 3.5 % of 1,000"), 4);
        assert_eq!(numbers("RFC 8985, sections 3.2 and 4.1, figure 7, Linux 6.18 and 6.1.2"), 0);
        assert_eq!(numbers("in 2003, on 2026-11-28, by ns-2, IPv6, 64-bit and H.264"), 0);
        assert_eq!(numbers("between 5–10 ms, ±3, and (4)"), 3);
        assert_eq!(numbers("section 3 has 5 of them"), 1);
        assert_eq!(numbers("three of four"), 0);
    }

    #[test]
    fn a_third_number_in_a_sentence_is_reported() {
        let page = Page::parse("It has 1 of 2. It has 1 of 2 in 3 ms. `1 2 3` 4 5.");
        let expected =
            "a sentence with 3 numbers, expected at most 2: It has 1 of 2 in …".to_owned();
        assert_eq!(check(&page, Kind::User), [(1, expected)]);
        assert!(check(&page, Kind::Record).is_empty());
    }

    #[test]
    fn commit_hashes_are_reported_in_code_and_tables_too() {
        let page = Page::parse("At `24b263d6`.\n\n| 768061ae |\n|---|\n\ndefaced 1234567 2e8\n");
        let expected = [(1, "24b263d6: a commit hash"), (3, "768061ae: a commit hash")];
        assert_eq!(check(&page, Kind::User), expected.map(|(l, w)| (l, w.to_owned())));
        assert!(check(&page, Kind::Record).is_empty());
    }

    #[test]
    fn measurements_and_internals_are_records() {
        assert_eq!(Kind::of("docs/measurements/2026-11-28-x.md"), Kind::Record);
        assert_eq!(Kind::of("docs/internals/engine.md"), Kind::Record);
        assert_eq!(Kind::of("docs/guide/send.md"), Kind::User);
        assert_eq!(Kind::of("README.md"), Kind::User);
    }
}
