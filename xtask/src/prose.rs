//! The words of a source file's comments and string literals.

use crate::sources::Language;

/// A word in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Line, from 1.
    pub(crate) line: usize,
    /// Number of the comment or string. Line comments on consecutive lines are one.
    pub(crate) passage: usize,
}

/// Returns the words in order. Code is left out: what stands between backticks, and the placeholders of
/// format strings.
pub(crate) fn words(text: &str, language: Language) -> Vec<Word> {
    let mut scanner = Scanner {
        rest: text.chars().collect(),
        position: 0,
        line: 1,
        language,
        words: Vec::new(),
        passage: 0,
        last_comment_line: None,
    };
    scanner.run();
    scanner.words
}

struct Scanner {
    rest: Vec<char>,
    position: usize,
    line: usize,
    language: Language,
    words: Vec<Word>,
    passage: usize,
    /// Line of the latest line comment.
    last_comment_line: Option<usize>,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.position + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, character)| self.peek(index) == Some(character))
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek(0)?;
        self.position += 1;
        if character == '\n' {
            self.line += 1;
        }
        Some(character)
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    fn run(&mut self) {
        while let Some(character) = self.peek(0) {
            let is_python = self.language == Language::Python;
            if is_python && character == '#' || !is_python && self.starts_with("//") {
                self.line_comment();
            } else if !is_python && self.starts_with("/*") {
                self.block_comment();
            } else if character == '"' {
                self.string('"');
            } else if character == '\'' {
                match self.language {
                    Language::Python => self.string('\''),
                    Language::Rust | Language::C => self.character(),
                }
            } else if is_word(character) {
                self.identifier();
            } else {
                self.next();
            }
        }
    }

    /// Skips an identifier. In Rust it may be the prefix of a raw string.
    fn identifier(&mut self) {
        let start = self.position;
        while self.peek(0).is_some_and(is_word) {
            self.next();
        }
        let prefix: String = self.rest[start..self.position].iter().collect();
        let may_be_raw = match self.language {
            Language::Rust => matches!(prefix.as_str(), "r" | "br" | "cr"),
            Language::C | Language::Python => false,
        };
        if may_be_raw {
            let hashes = (0..).take_while(|ahead| self.peek(*ahead) == Some('#')).count();
            if self.peek(hashes) == Some('"') {
                self.skip(hashes + 1);
                let end = format!("\"{}", "#".repeat(hashes));
                self.passage += 1;
                self.passage_until(&end, false, true);
            }
        }
    }

    /// Skips a character literal, or the apostrophe of a lifetime.
    fn character(&mut self) {
        self.next();
        if self.peek(0) == Some('\\') {
            self.skip(2);
            while self.peek(0).is_some_and(|character| character != '\'' && character != '\n') {
                self.next();
            }
            self.next();
        } else if self.peek(1) == Some('\'') {
            self.skip(2);
        }
    }

    fn line_comment(&mut self) {
        if self.last_comment_line.is_none_or(|last| self.line != last + 1) {
            self.passage += 1;
        }
        self.last_comment_line = Some(self.line);
        self.passage_until("\n", false, false);
    }

    /// Rust's block comments nest; C's do not.
    fn block_comment(&mut self) {
        self.passage += 1;
        self.skip(2);
        let mut depth = 1;
        while depth > 0 && self.peek(0).is_some() {
            if self.starts_with("*/") {
                self.skip(2);
                depth -= 1;
            } else if self.language == Language::Rust && self.starts_with("/*") {
                self.skip(2);
                depth += 1;
            } else {
                self.word_or_skip(false, false);
            }
        }
    }

    fn string(&mut self, quote: char) {
        self.passage += 1;
        let triple = quote.to_string().repeat(3);
        if self.language == Language::Python && self.starts_with(&triple) {
            self.skip(3);
            self.passage_until(&triple, true, true);
        } else {
            self.skip(1);
            self.passage_until(&quote.to_string(), true, true);
        }
    }

    fn passage_until(&mut self, end: &str, has_escapes: bool, is_string: bool) {
        while self.peek(0).is_some() && !self.starts_with(end) {
            self.word_or_skip(has_escapes, is_string);
        }
        self.skip(end.chars().count());
    }

    /// Reads one word, or skips one character, escape, placeholder or piece of code.
    fn word_or_skip(&mut self, has_escapes: bool, is_string: bool) {
        match self.peek(0) {
            Some('\\') if has_escapes => self.skip(2),
            Some('`') if !is_string => self.skip(self.length_of_code().unwrap_or(1)),
            Some('{') if is_string && self.peek(1) == Some('{') => self.skip(2),
            Some('{') if is_string => self.skip(self.length_of_placeholder().unwrap_or(1)),
            Some(character) if is_word(character) => {
                let line = self.line;
                let mut text = String::new();
                while let Some(character) = self.peek(0).filter(|character| is_word(*character)) {
                    text.extend(character.to_lowercase());
                    self.next();
                }
                self.words.push(Word { text, line, passage: self.passage });
            }
            _ => {
                self.next();
            }
        }
    }

    /// Characters from one backtick to the next on the same line.
    fn length_of_code(&self) -> Option<usize> {
        let mut ahead = 1;
        loop {
            match self.peek(ahead)? {
                '`' => return Some(ahead + 1),
                '\n' => return None,
                _ => ahead += 1,
            }
        }
    }

    /// Characters of `{name` before `}`, `:`, `.`, `!` or `[`: the rest has no words.
    fn length_of_placeholder(&self) -> Option<usize> {
        let name = (1..).take_while(|ahead| self.peek(*ahead).is_some_and(is_word)).count();
        let end = self.peek(name + 1)?;
        (name > 0 && "}:.![".contains(end)).then_some(name + 1)
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(source: &str, language: Language) -> String {
        let words: Vec<_> = words(source, language).into_iter().map(|word| word.text).collect();
        words.join(" ")
    }

    #[test]
    fn comments_and_strings_are_read_and_code_is_not() {
        let source = "fn red() { green(\"Blue\") } // yellow\n/* a /* b */ c */ d";
        assert_eq!(text_of(source, Language::Rust), "blue yellow a b c");
        assert_eq!(text_of("int d; /* a /* b */ c", Language::C), "a b");
        assert_eq!(text_of("x = 'a' # b\n\"\"\"c\n\"d\" e\"\"\"", Language::Python), "a b c d e");
    }

    #[test]
    fn quotes_in_literals_do_not_end_them() {
        assert_eq!(text_of(r##"'"' x "a \" b" y r#"c "d" e"# z"##, Language::Rust), "a b c d e");
        assert_eq!(text_of(r#"'\'' "a" x"#, Language::Rust), "a");
        assert_eq!(text_of("fn f<'a>(x: &'a str) { \"b\" }", Language::Rust), "b");
        assert_eq!(text_of(r#"br"a\" "b" r"c\" x"#, Language::Rust), "a b c");
    }

    #[test]
    fn escapes_code_and_placeholders_are_no_words() {
        assert_eq!(
            text_of(r#""\nsays {cwnd} {x:?} {0} {} {{brace}}""#, Language::Rust),
            "says brace"
        );
        assert_eq!(text_of("// the type `Cwnd` is", Language::Rust), "the type is");
        assert_eq!(text_of("// a lone ` is\n// no code", Language::Rust), "a lone is no code");
    }

    #[test]
    fn lines_and_passages_are_counted() {
        let words = words("// a\n// b\n\n// c\nx(\"d\n e\")", Language::Rust);
        let places: Vec<_> = words.iter().map(|word| (word.line, word.passage)).collect();
        assert_eq!(places, [(1, 1), (2, 1), (4, 2), (5, 3), (6, 3)]);
    }
}
