//! The folder that mdBook builds.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use super::{files, markdown, relative, resolve, text_of, write};

/// Pages of the repository's root that are pages of the book.
const PROJECT: [(&str, &str); 3] = [
    ("CONTRIBUTING.md", "project/contribute.md"),
    ("CHANGELOG.md", "project/changes.md"),
    ("SECURITY.md", "project/security.md"),
];

/// Folders of the finished site that mdBook does not write.
pub(super) const FOREIGN: [&str; 2] = ["api/", "play/"];

/// The table of contents.
const SUMMARY: &str = "SUMMARY.md";

/// Copies `docs` below `root` into `book`, which has generated pages already. Links that leave `docs` lead to
/// copies of the files below `source`. Returns the pages that the table of contents names and that are not
/// there.
///
/// # Errors
///
/// One line that names the file that cannot be read or written.
pub(crate) fn assemble(root: &Path, book: &Path) -> Result<Vec<String>, String> {
    let mut sources = Sources::default();
    let docs = root.join("docs");
    for file in files(&docs)? {
        let path = file.to_string_lossy().replace('\\', "/");
        if path.ends_with(".md") {
            let text = text_of(&docs.join(&file))?;
            write(&book.join(&path), sources.in_book(root, &format!("docs/{path}"), &path, &text))?;
        } else {
            let error = |error| format!("docs/{path}: {error}");
            write(&book.join(&path), fs::read(docs.join(&file)).map_err(error)?)?;
        }
    }
    for (from, to) in PROJECT {
        let text = text_of(&root.join(from))?;
        write(&book.join(to), sources.in_book(root, from, to, &text))?;
    }
    sources.copy(root, book)?;
    let (summary, missing) = complete(&text_of(&book.join(SUMMARY))?, book)?;
    write(&book.join(SUMMARY), summary)?;
    Ok(missing)
}

/// Files and folders outside `docs` that pages link to.
#[derive(Default)]
struct Sources {
    paths: BTreeSet<String>,
}

impl Sources {
    /// Returns the text of the page at `from` in the repository with links that hold at `to` in the book.
    fn in_book(&mut self, root: &Path, from: &str, to: &str, text: &str) -> String {
        markdown::with_links(text, |target| {
            let has_scheme =
                target.split(['/', '#']).next().is_some_and(|start| start.contains(':'));
            if has_scheme || target.starts_with('#') {
                return None;
            }
            let (file, anchor) = target.split_at(target.find('#').unwrap_or(target.len()));
            let path = resolve(from, file)?;
            let place = self.place(root, &path)?;
            Some(format!("{}{anchor}", relative(to, &place)))
        })
    }

    /// Returns where the book has a path of the repository.
    fn place(&mut self, root: &Path, path: &str) -> Option<String> {
        if let Some((_, page)) = PROJECT.iter().find(|(file, _)| *file == path) {
            return Some((*page).to_owned());
        }
        let in_docs = path.strip_prefix("docs/");
        if path == "README.md" {
            return Some("index.md".to_owned());
        }
        let foreign = in_docs.map(|inside| format!("{inside}/"));
        if let Some(folder) = foreign.filter(|folder| FOREIGN.contains(&folder.as_str())) {
            return Some(format!("{folder}index.html"));
        }
        let full = root.join(path);
        if full.is_dir() {
            self.paths.insert(path.to_owned());
            return Some(format!("source/{path}/index.html"));
        }
        if let Some(inside) = in_docs {
            return Some(inside.to_owned());
        }
        if !full.is_file() {
            return None;
        }
        self.paths.insert(path.to_owned());
        Some(source(path))
    }

    /// Copies all files, and lists folders. Browsers show text files and download others, so copies end with
    /// `.txt`.
    fn copy(self, root: &Path, book: &Path) -> Result<(), String> {
        let mut paths: VecDeque<String> = self.paths.into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(path) = paths.pop_front() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let full = root.join(&path);
            if full.is_dir() {
                let mut links = String::new();
                for (name, is_folder) in listing(&full)? {
                    let file = format!("{path}/{name}");
                    let place =
                        if is_folder { format!("{name}/index.html") } else { source(&name) };
                    let place = place.trim_start_matches("source/");
                    links.push_str(&format!("<li><a href=\"{place}\">{name}</a></li>\n"));
                    paths.push_back(file);
                }
                let page = format!(
                    "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{path}</title>\n\
                     <h1>{path}</h1>\n<ul>\n{links}</ul>\n</html>\n"
                );
                write(&book.join(format!("source/{path}/index.html")), page)?;
            } else {
                let error = |error| format!("{path}: {error}");
                write(&book.join(source(&path)), fs::read(&full).map_err(error)?)?;
            }
        }
        Ok(())
    }
}

/// Returns where the book has a copy of a file. mdBook takes all that has `.md` in its name for a page.
fn source(path: &str) -> String {
    let path = path.strip_suffix(".md").map_or(path.to_owned(), |stem| format!("{stem}.markdown"));
    format!("source/{path}.txt")
}

/// Returns the names in a folder, each with whether it is a folder. Build outputs are left out.
fn listing(folder: &Path) -> Result<Vec<(String, bool)>, String> {
    let error = |error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && !["target", "node_modules", "__pycache__"].contains(&&*name) {
            names.push((name, entry.path().is_dir()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the table of contents with all pages: a line `<!-- pages of FOLDER -->` stands for those of the
/// folder that no other line names. Also returns the pages that are named and not there, whose lines are
/// left out.
fn complete(summary: &str, book: &Path) -> Result<(String, Vec<String>), String> {
    let mut missing = Vec::new();
    let mut out = String::new();
    let named = targets(summary);
    for line in summary.lines() {
        let marker =
            line.trim().strip_prefix("<!-- pages of ").and_then(|l| l.strip_suffix(" -->"));
        if let Some(folder) = marker {
            let indent = &line[..line.len() - line.trim_start().len()];
            out.push_str(&pages(folder, indent, &named, book)?);
            continue;
        }
        match targets(line).first() {
            Some(page) if !book.join(page).is_file() => missing.push(page.clone()),
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Ok((out, missing))
}

fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    markdown::with_links(text, |target| {
        targets.push(target.to_owned());
        None
    });
    targets
}

/// Returns a line for each page of `folder` that is not `named`: the overview before the others, and dated pages
/// with their date, the newest first.
fn pages(folder: &str, indent: &str, named: &[String], book: &Path) -> Result<String, String> {
    if !book.join(folder).is_dir() {
        return Ok(String::new());
    }
    let mut found = Vec::new();
    for file in files(&book.join(folder))? {
        let name = file.to_string_lossy().into_owned();
        let page = format!("{folder}/{name}");
        if name.ends_with(".md") && !named.contains(&page) {
            let text = text_of(&book.join(&page))?;
            let title = markdown::title(&text).ok_or(format!("{page}: expected a heading"))?;
            found.push((name, page, title));
        }
    }
    found.sort_by_key(|(name, ..)| (!is_overview(name), date(name).is_none()));
    let first_dated = found.iter().position(|(name, ..)| date(name).is_some());
    if let Some(first) = first_dated {
        let count = found[first..].iter().take_while(|(name, ..)| date(name).is_some()).count();
        found[first..first + count].sort_by(|a, b| date(&b.0).cmp(&date(&a.0)).then(a.0.cmp(&b.0)));
    }
    let has_overview = found.first().is_some_and(|(name, ..)| is_overview(name));
    let mut lines = String::new();
    for (name, page, title) in found {
        let deeper = if has_overview && !is_overview(&name) { "  " } else { "" };
        let date = date(&name).map(|date| format!("{date}: ")).unwrap_or_default();
        lines.push_str(&format!("{indent}{deeper}- [{date}{title}]({page})\n"));
    }
    Ok(lines)
}

fn is_overview(name: &str) -> bool {
    ["index.md", "overview.md"].contains(&name)
}

/// Returns the date that a file's name begins with.
fn date(name: &str) -> Option<&str> {
    let date = name.get(..10)?;
    let is_date = date.chars().enumerate().all(|(index, character)| match index {
        4 | 7 => character == '-',
        _ => character.is_ascii_digit(),
    });
    is_date.then_some(date)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder with files, which goes with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let path =
                std::env::temp_dir().join(format!("xtask-assemble-{name}-{}", std::process::id()));
            for (file, text) in files {
                write(&path.join(file), text).expect("is written");
            }
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const ROOT: [(&str, &str); 9] = [
        (
            "docs/SUMMARY.md",
            "[A](index.md)\n- [C](../CONTRIBUTING.md)\n- [P](papers/index.md)\n<!-- pages of m -->\n",
        ),
        (
            "docs/index.md",
            "# A\n[b](m/2026-11-01-b.md#x) [s](../src/a.rs) [d](../src) [c](../CONTRIBUTING.md)\n",
        ),
        (
            "docs/m/2026-11-01-b.md",
            "# B\n[a](../index.md) [r](../../README.md) [w](https://w.org) [p](../play#/q?r=1)\n",
        ),
        ("docs/m/2026-11-02-c.md", "# `C`\n"),
        ("src/a.rs", "fn a() {}\n"),
        ("src/b.md", "b\n"),
        ("CONTRIBUTING.md", "# Contribute\n[a](docs/index.md)\n"),
        ("CHANGELOG.md", "# Changes\n"),
        ("SECURITY.md", "# Security\n"),
    ];

    #[test]
    fn links_that_leave_the_docs_lead_to_copies() {
        let root = Folder::new("links", &ROOT);
        let book = Folder::new("links-book", &[]);
        assert_eq!(assemble(&root.0, &book.0), Ok(vec!["papers/index.md".to_owned()]));
        let page = |name: &str| text_of(&book.0.join(name)).expect("is there");
        assert_eq!(
            page("index.md"),
            "# A\n[b](m/2026-11-01-b.md#x) [s](source/src/a.rs.txt) [d](source/src/index.html) \
             [c](project/contribute.md)\n"
        );
        assert_eq!(
            page("m/2026-11-01-b.md"),
            "# B\n[a](../index.md) [r](../index.md) [w](https://w.org) [p](../play/index.html#/q?r=1)\n"
        );
        assert_eq!(page("project/contribute.md"), "# Contribute\n[a](../index.md)\n");
        assert_eq!(page("source/src/a.rs.txt"), "fn a() {}\n");
        let listing = page("source/src/index.html");
        assert!(listing.contains("<a href=\"a.rs.txt\">a.rs</a>"));
        assert!(listing.contains("<a href=\"b.markdown.txt\">b.md</a>"));
        assert_eq!(page("source/src/b.markdown.txt"), "b\n");
    }

    #[test]
    fn the_table_of_contents_has_all_pages_and_the_newest_first() {
        let root = Folder::new("summary", &ROOT);
        let book = Folder::new("summary-book", &[("m/index.md", "# M\n"), ("m/a.md", "# Z\n")]);
        assemble(&root.0, &book.0).expect("is assembled");
        let expected = "[A](index.md)\n- [C](project/contribute.md)\n- [M](m/index.md)\n  \
                        - [2026-11-02: C](m/2026-11-02-c.md)\n  - [2026-11-01: B](m/2026-11-01-b.md)\n  \
                        - [Z](m/a.md)\n";
        assert_eq!(text_of(&book.0.join(SUMMARY)).as_deref(), Ok(expected));
    }
}
