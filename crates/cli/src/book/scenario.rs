//! The page of scenario keys.

use std::fmt::Write as _;

use unruffled_scenario::reference::{SECTIONS, Section};

use super::cell;

/// Returns the page.
pub(super) fn page() -> String {
    let mut text = String::from(
        "# Scenario keys\n\nEvery key of a scenario file, as `--set KEY=VALUE` takes it. NAME is a name of yours. \
         A key may leave out its beginning where that is unambiguous. [Scenario files](../scenarios.md) says how \
         values are written and how a file is put together.\n",
    );
    for Section { title, about, keys } in SECTIONS {
        let _ = writeln!(text, "\n## {title}\n\n{about}\n\n| key | values | default | meaning |");
        text += "|---|---|---|---|\n";
        for key in *keys {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                key.name,
                cell(key.values),
                cell(key.default),
                cell(key.about)
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_values_defaults_and_meanings() {
        let text = page();
        let line = "| `warmup` | time | `\"0 s\"` | Time at the beginning that is not measured. |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("\n## Traffic\n"), "{text}");
    }
}
