//! Recognition of files that this program has written, by their beginnings. Only these are
//! replaced.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use crate::error::Error;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An HTML report.
    Report,
    /// Packets, as pcapng.
    Capture,
    /// A scenario.
    Scenario,
    /// The runs of a store, as CSV.
    Runs,
    /// A drawing, as SVG.
    Drawing,
    /// The papers' evaluations, as Markdown.
    Markdown,
    /// Claims that hold, a line each.
    Claims,
}

/// The application name in captures.
pub const APPLICATION: &str = "unruffled";

/// The number of octets that identify a file.
const HEAD_SIZE: u64 = 64 << 10;

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Report => "a report of unruffled",
            Self::Capture => "a capture of unruffled",
            Self::Scenario => "a scenario of unruffled",
            Self::Runs => "a list of runs of unruffled",
            Self::Drawing => "a drawing of unruffled",
            Self::Markdown => "a reproduction of unruffled",
            Self::Claims => "a list of claims of unruffled",
        }
    }

    /// Returns whether this program has written a file that begins with `head`.
    fn has_written(self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        match self {
            Self::Report => {
                let marks =
                    ["<meta name=\"generator\" content=\"unruffled\">", "– Unruffled</title>"];
                text.starts_with("<!doctype html>") && marks.iter().any(|mark| text.contains(mark))
            }
            Self::Capture => {
                let application = APPLICATION.as_bytes();
                let section = &head[..head.len().min(256)];
                head.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a])
                    && section.windows(application.len()).any(|part| part == application)
            }
            Self::Scenario => text.lines().any(|line| line.starts_with("source = \"measured: ")),
            Self::Runs => text.starts_with("run,model,made_for,variant,seed,"),
            Self::Drawing => text.starts_with("<svg ") && text.contains(":root{--paper:"),
            Self::Markdown => text.starts_with("# The papers’ evaluations, redone\n"),
            Self::Claims => text.lines().all(|line| line.contains(": ")),
        }
    }
}

/// Rejects a `path` with a file that this program has not written as this `kind`. Empty files, and
/// devices and pipes, are accepted.
///
/// # Errors
/// Such a path, and a file that cannot be read.
pub fn replaceable(path: &Path, kind: Kind) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(there) if there.is_file() && there.len() > 0 => {}
        _ => return Ok(()),
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_SIZE).read_to_end(&mut head));
    read.map_err(|reason| Error::output(path, reason))?;
    match kind.has_written(&head) {
        true => Ok(()),
        false => Err(Error::Foreign { path: path.to_owned(), kind: kind.name() }),
    }
}

/// Returns whether the file at `path` has exactly this text.
pub fn holds(path: &Path, text: &str) -> bool {
    let same_size = |there: fs::Metadata| there.is_file() && there.len() == text.len() as u64;
    fs::metadata(path).is_ok_and(same_size)
        && fs::read(path).is_ok_and(|there| there == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Capture;
    use crate::record::fake;
    use crate::report;

    #[test]
    fn only_files_of_this_program_are_recognised() {
        let mut capture = Vec::new();
        Capture::new(&mut capture).and_then(Capture::finish).expect("memory takes every write");
        let comparison = fake::comparison();
        let own = [
            (Kind::Report, report::html(&comparison).into_bytes()),
            (Kind::Capture, capture),
            (Kind::Scenario, b"name = \"x\"\nsource = \"measured: x\"\n".to_vec()),
            (Kind::Drawing, report::thresholds(&comparison).into_bytes()),
            (Kind::Claims, b"rr-3: It drops\n".to_vec()),
            (Kind::Runs, b"run,model,made_for,variant,seed,seconds,flow\n".to_vec()),
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        for (kind, _) in &own {
            for (of, text) in &own {
                fs::write(&path, text).expect("is written");
                assert_eq!(replaceable(&path, *kind).is_ok(), kind == of, "{kind:?} for {of:?}");
            }
            for foreign in
                ["<!doctype html><title>mine</title>", "notes\n", "<svg xmlns=\"\"/>", "\n"]
            {
                fs::write(&path, foreign).expect("is written");
                let message = replaceable(&path, *kind).expect_err(foreign).to_string();
                let expected = format!("x: there already, and not {}", kind.name());
                assert!(message.contains(&expected), "{message}");
            }
            fs::write(&path, "").expect("is written");
            replaceable(&path, *kind).expect("nothing is lost");
            replaceable(&folder.path().join("none"), *kind).expect("nothing is there");
        }
    }
}
