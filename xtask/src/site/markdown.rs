//! Links and titles of a page of Markdown.

use std::borrow::Cow;

/// Returns the text with each link's target replaced by what `replace` returns, if anything. Code has no
/// links.
pub(super) fn with_links(text: &str, mut replace: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if let Some(marks) = fence {
            if start.trim_end() == marks {
                fence = None;
            }
            out.push_str(line);
        } else if start.starts_with("```") {
            fence = Some(&start[..start.find(|c| c != '`').unwrap_or(start.len())]);
            out.push_str(line);
        } else {
            line_with_links(line, &mut replace, &mut out);
        }
    }
    out
}

fn line_with_links(line: &str, replace: &mut impl FnMut(&str) -> Option<String>, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['`', ']']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        if found.starts_with('`') {
            let length = length_of_code(found);
            out.push_str(&found[..length]);
            rest = &found[length..];
        } else if let Some((target, after)) =
            found.strip_prefix("](").and_then(|t| t.split_once(')'))
        {
            out.push_str("](");
            out.push_str(&replace(target).map_or(Cow::Borrowed(target), Cow::Owned));
            out.push(')');
            rest = after;
        } else {
            out.push(']');
            rest = &found[1..];
        }
    }
    out.push_str(rest);
}

/// Returns the length of the code span that `text` begins with, or of its backticks if it has no end.
fn length_of_code(text: &str) -> usize {
    let marks = text.find(|c| c != '`').unwrap_or(text.len());
    let (fence, rest) = text.split_at(marks);
    rest.find(fence).map_or(marks, |end| marks + end + marks)
}

/// Returns the first heading, without marks of code and emphasis.
pub(super) fn title(text: &str) -> Option<String> {
    let heading = text.lines().find_map(|line| line.strip_prefix("# "))?;
    Some(heading.replace(['`', '*', '[', ']'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_replaced_outside_of_code() {
        let text = "[a](b.md#c) `[d](e)` ![f](g.svg) [h] ](i)\n```sh\n[j](k)\n```\n[`l`](m)\n";
        let mut seen = Vec::new();
        let out = with_links(text, |target| {
            seen.push(target.to_owned());
            (target == "m").then(|| "n".to_owned())
        });
        assert_eq!(seen, ["b.md#c", "g.svg", "i", "m"]);
        assert_eq!(out, text.replace("](m)", "](n)"));
    }

    #[test]
    fn the_title_is_the_first_heading() {
        assert_eq!(title("x\n# The `a` and *b*\n# c\n").as_deref(), Some("The a and b"));
        assert_eq!(title("## d\n"), None);
    }
}
