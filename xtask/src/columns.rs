//! Line lengths in BPF programs and their headers, which no formatter checks.

use crate::sources::Source;

const FOLDER: &str = "crates/kernel/bpf/";
const MAX_COLUMNS: usize = 100;
/// Width of a tab in columns, as in the kernel's coding style.
const TAB_COLUMNS: usize = 8;

/// Returns the lines that are too long, as messages.
pub(crate) fn check<'a>(files: impl IntoIterator<Item = &'a Source>) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.into_iter().filter(|file| file.path.starts_with(FOLDER)) {
        for (index, line) in file.text.lines().enumerate() {
            let columns = width(line);
            if columns > MAX_COLUMNS {
                violations.push(format!(
                    "{}:{}: {columns} columns, expected at most {MAX_COLUMNS}",
                    file.path,
                    index + 1
                ));
            }
        }
    }
    violations
}

fn width(line: &str) -> usize {
    line.chars().fold(0, |column, character| match character {
        '\t' => (column / TAB_COLUMNS + 1) * TAB_COLUMNS,
        _ => column + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Language;

    #[test]
    fn a_tab_ends_at_the_next_multiple_of_eight() {
        assert_eq!(width("\tx"), 9);
        assert_eq!(width("1234567\tx"), 9);
        assert_eq!(width("12345678\tx"), 17);
    }

    #[test]
    fn a_bpf_line_has_at_most_100_columns() {
        let text = format!("{}\n{}\n", "x".repeat(100), "x".repeat(101));
        let file = |path: &str| Source {
            path: path.to_owned(),
            language: Language::C,
            text: text.clone(),
        };
        let violations = check(&[file("crates/kernel/bpf/a.h"), file("crates/kernel/tests/b.c")]);
        assert_eq!(violations, ["crates/kernel/bpf/a.h:2: 101 columns, expected at most 100"]);
    }
}
