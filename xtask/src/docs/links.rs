//! Relative links and their anchors.

use std::collections::BTreeMap;
use std::path::Path;

use super::Document;
use crate::site::resolve;

/// Returns the relative links that lead nowhere, as messages. Links to what begins with one of `generated`
/// are left out.
pub(crate) fn check(root: &Path, documents: &[Document], generated: &[&str]) -> Vec<String> {
    let pages: BTreeMap<&str, &Document> =
        documents.iter().map(|document| (document.path.as_str(), document)).collect();
    let mut violations = Vec::new();
    for document in documents {
        for link in &document.page.links {
            let Document { path, .. } = document;
            if let Some(what) = check_link(root, &pages, path, &link.target, generated) {
                violations.push(format!("{path}:{}: {}: {what}", link.line, link.target));
            }
        }
    }
    violations
}

fn check_link(
    root: &Path,
    pages: &BTreeMap<&str, &Document>,
    from: &str,
    target: &str,
    generated: &[&str],
) -> Option<&'static str> {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric())) {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(f, a)| (f, Some(a)));
    let Some(path) = resolve(from, file) else { return Some("outside the repository") };
    if generated.iter().any(|start| format!("{path}/").starts_with(start)) {
        return None;
    }
    match pages.get(path.as_str()) {
        Some(page) => {
            let is_known = |anchor: &str| page.page.anchors.iter().any(|known| known == anchor);
            (!anchor.is_none_or(is_known)).then_some("no such heading")
        }
        None => (!root.join(&path).exists()).then_some("no such file"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::docs::page::Page;

    fn document(path: &str, text: &str) -> Document {
        Document { path: path.to_owned(), page: Page::parse(text) }
    }

    #[test]
    fn a_file_is_seen_from_the_page_that_links_to_it() {
        assert_eq!(resolve("docs/a/b.md", "../c.md").as_deref(), Some("docs/c.md"));
        assert_eq!(resolve("docs/a/b.md", "c/").as_deref(), Some("docs/a/c"));
        assert_eq!(resolve("docs/a/b.md", "").as_deref(), Some("docs/a/b.md"));
        assert_eq!(resolve("README.md", "../c.md"), None);
    }

    #[test]
    fn files_and_headings_that_are_missing_are_reported() {
        let root = std::env::temp_dir().join(format!("xtask-links-{}", std::process::id()));
        fs::create_dir_all(root.join("docs")).expect("a folder can be made");
        fs::write(root.join("docs/x.svg"), "").expect("a file can be written");
        let a = "# One\n[1](b.md#two)\n[2](b.md#three)\n[3](c.md)\n[4](#one)\n[5](#four)\n\
                 ![6](x.svg)\n[7](https://example.org/#x)\n[8](reference/x.md#y)\n[9](../../z)\n";
        let documents = [document("docs/a.md", a), document("docs/b.md", "# Two\n")];
        let expected = [
            "docs/a.md:3: b.md#three: no such heading",
            "docs/a.md:4: c.md: no such file",
            "docs/a.md:6: #four: no such heading",
            "docs/a.md:10: ../../z: outside the repository",
        ];
        assert_eq!(check(&root, &documents, &["docs/reference/"]), expected);
        fs::remove_dir_all(&root).expect("the folder can be removed");
    }
}
