//! Links of the finished site.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::assemble::FOREIGN;
use super::{files, resolve, text_of};

/// Returns what is wrong with the site, as messages: links that lead nowhere, and what a browser would fetch
/// from elsewhere. Only links into rustdoc and the page are followed, not those within them.
///
/// # Errors
///
/// One line that names the file that cannot be read.
pub(crate) fn check(site: &Path) -> Result<Vec<String>, String> {
    let is_foreign = |path: &str| FOREIGN.iter().any(|folder| path.starts_with(folder));
    let mut there = BTreeSet::new();
    let mut pages = BTreeMap::new();
    for file in files(site)? {
        let path = file.to_string_lossy().into_owned();
        if path.ends_with(".html") && !is_foreign(&path) {
            pages.insert(path.clone(), text_of(&site.join(&file))?);
        }
        there.insert(path);
    }
    let anchors: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(path, text)| (path.as_str(), attributes(text, "id").collect()))
        .collect();
    let mut wrong = Vec::new();
    for (path, text) in &pages {
        let links = attributes(text, "href").map(|link| (link, false));
        let fetched = attributes(text, "src").map(|link| (link, true));
        let mut seen = BTreeSet::new();
        for (link, is_fetched) in links.chain(fetched).filter(|(link, _)| seen.insert(*link)) {
            if link.contains("://") || link.starts_with("//") {
                if is_fetched || is_stylesheet(text, link) {
                    wrong.push(format!("{path}: {link}: fetched from elsewhere"));
                }
                continue;
            }
            if ["mailto:", "data:", "javascript:"].iter().any(|scheme| link.starts_with(scheme)) {
                continue;
            }
            let (file, anchor) = link.split_once('#').map_or((link, ""), |(f, a)| (f, a));
            let file = file.split('?').next().unwrap_or_default();
            let Some(target) = resolve(path, file) else {
                wrong.push(format!("{path}: {link}: outside the site"));
                continue;
            };
            let target = if file.ends_with('/') { format!("{target}/index.html") } else { target };
            if !there.contains(&target) {
                wrong.push(format!("{path}: {link}: no such file"));
            } else if let Some(known) = anchors.get(target.as_str())
                && !anchor.is_empty()
                && !known.contains(anchor)
            {
                wrong.push(format!("{path}: {link}: no such heading"));
            }
        }
    }
    Ok(wrong)
}

/// Returns whether `link` is that of an element `link`, which a browser fetches.
fn is_stylesheet(text: &str, link: &str) -> bool {
    text.match_indices("<link ").any(|(at, _)| {
        let element = &text[at..];
        element[..element.find('>').unwrap_or(element.len())].contains(link)
    })
}

/// Returns the values of an attribute in double quotes.
fn attributes<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {name}=\"");
    let length = start.len();
    let places: Vec<usize> = text.match_indices(&start).map(|(at, _)| at + length).collect();
    places.into_iter().filter_map(|at| text[at..].split('"').next())
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;

    #[test]
    fn links_are_followed_and_nothing_is_fetched() {
        let site = std::env::temp_dir().join(format!("xtask-check-{}", std::process::id()));
        let index = "<a href=\"b.html#x\"> <a href=\"b.html#y\"> <a href=\"c.html\"> <a href=\"../d\"> \
                     <a href=\"https://e.org\"> <img src=\"https://f.org\"> <link href=\"//g.org\"> \
                     <a href=\"api/\"> <a href=\"#h\">";
        write(&site.join("index.html"), index).expect("is written");
        write(&site.join("b.html"), "<h1 id=\"x\">").expect("is written");
        write(&site.join("api/index.html"), "<a href=\"nowhere\">").expect("is written");
        let found = check(&site);
        let _ = std::fs::remove_dir_all(&site);
        let expected = [
            "index.html: b.html#y: no such heading",
            "index.html: c.html: no such file",
            "index.html: ../d: outside the site",
            "index.html: //g.org: fetched from elsewhere",
            "index.html: #h: no such heading",
            "index.html: https://f.org: fetched from elsewhere",
        ];
        assert_eq!(found.expect("is read"), expected);
    }
}
