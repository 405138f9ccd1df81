//! The files of a folder by the paths of URLs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Media types by the endings of names.
const KINDS: [(&str, &str); 12] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
    ("txt", "text/plain; charset=utf-8"),
    ("toml", "text/plain; charset=utf-8"),
];

/// A folder whose files are served.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Opens a folder with an `index.html`.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let folder = fs::canonicalize(path).ok()?;
        folder.join("index.html").is_file().then_some(Self(folder))
    }

    /// Returns the file at the path of a URL, and its media type. A folder stands for its `index.html`.
    /// Nothing outside of the folder is found.
    pub(super) fn find(&self, url: &str) -> Option<(File, &'static str)> {
        let path = url.split(['?', '#']).next()?.strip_prefix('/')?;
        let path = decoded(path)?;
        let mut file = self.0.clone();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if part == "." || part == ".." || part.contains(['\\', '\0']) {
                return None;
            }
            file.push(part);
        }
        if file.is_dir() {
            file.push("index.html");
        }
        // A link may lead out of the folder.
        let file = fs::canonicalize(file).ok().filter(|file| file.starts_with(&self.0))?;
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let kind = KINDS.iter().find(|(known, _)| *known == ending);
        let kind = kind.map_or("application/octet-stream", |(_, kind)| kind);
        // Opening a pipe would wait for its writer.
        if !file.is_file() {
            return None;
        }
        Some((File::open(&file).ok()?, kind))
    }
}

/// Decodes `%20` and the like.
fn decoded(path: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(octet) = rest.next() {
        if octet != b'%' {
            octets.push(octet);
            continue;
        }
        let digit = |octet: u8| char::from(octet).to_digit(16);
        let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
        octets.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(octets).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_found() {
        let outside = tempfile::tempdir().expect("can be made");
        let folder = outside.path().join("page");
        fs::create_dir_all(folder.join("assets")).expect("can be made");
        for (file, text) in [
            ("secret.txt", "outside"),
            ("page/index.html", "start"),
            ("page/assets/index.html", "assets"),
            ("page/assets/engine 1.wasm", "engine"),
        ] {
            fs::write(outside.path().join(file), text).expect("can be written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), folder.join("link.txt"))
            .expect("can be made");
        // A socket stands for all that is no file.
        #[cfg(unix)]
        let _socket =
            std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("can be made");
        assert!(Folder::open(outside.path()).is_none(), "it has no index.html");
        let folder = Folder::open(&folder).expect("has one");
        let found = |url: &str| {
            let (mut file, kind) = folder.find(url)?;
            let mut text = String::new();
            std::io::Read::read_to_string(&mut file, &mut text).expect("can be read");
            Some((text, kind))
        };
        let html = "text/html; charset=utf-8";
        assert_eq!(found("/"), Some(("start".to_owned(), html)));
        assert_eq!(found("/?x=1#y"), Some(("start".to_owned(), html)));
        assert_eq!(found("/assets/"), Some(("assets".to_owned(), html)));
        let wasm = Some(("engine".to_owned(), "application/wasm"));
        assert_eq!(found("/assets/engine%201.wasm"), wasm);
        for url in [
            "/../secret.txt",
            "/assets/../../secret.txt",
            "/%2e%2e/secret.txt",
            "/..%2fsecret.txt",
            "/link.txt",
            "/none.txt",
            "/socket",
            "/%zz",
            "/%",
            "*",
            "",
            "/index.html/x",
            "//etc/passwd",
        ] {
            assert_eq!(found(url), None, "{url}");
        }
    }
}
