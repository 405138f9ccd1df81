//! Manifests of drivers, and the folder that they are in.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use unruffled_units::hint;

use crate::Error;
use crate::error::Unusable;

/// The clock of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Time {
    /// The bench's clock.
    Virtual,
    /// Real time, over the UDP sockets of a network namespace.
    Udp,
    /// Real time, over a TUN device.
    Tun,
}

/// A manifest, `stack.toml`: what a driver runs, and how to start it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name of the stack in flags and results.
    pub name: String,
    /// Package and version.
    pub version: String,
    /// One line on the stack.
    pub about: String,
    /// Its clock.
    pub time: Time,
    /// Its congestion controls; the first is its default.
    pub controls: Vec<String>,
    /// Names of what a user of the stack can set.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Program and arguments. A program with a slash is relative to the manifest.
    pub command: Vec<String>,
    /// The manifest's folder.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
}

/// A folder of built drivers, each in a folder of its own with its `stack.toml`.
#[derive(Clone, Debug)]
pub struct Stacks {
    folder: PathBuf,
    manifests: Vec<Manifest>,
}

/// File name of a manifest.
const FILE: &str = "stack.toml";

impl Stacks {
    /// Reads the manifests below `folder`. A folder that does not exist has none.
    ///
    /// # Errors
    /// [`Error::Stack`] if a manifest cannot be read or is invalid.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut files: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path().join(FILE))).collect();
        files.retain(|file| file.is_file());
        files.sort();
        let manifests = files.iter().map(|file| Manifest::read(file)).collect::<Result<_, _>>()?;
        Ok(Self { folder: folder.to_owned(), manifests })
    }

    /// Returns stacks with these manifests.
    #[cfg(test)]
    pub(crate) fn of(folder: &str, manifests: Vec<Manifest>) -> Self {
        Self { folder: folder.into(), manifests }
    }

    /// Returns the manifests, in the order of their names.
    pub fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }

    /// Returns the manifest of a stack.
    ///
    /// # Errors
    /// [`Error::Stack`] if there is none of this name.
    pub fn named(&self, name: &str) -> Result<&Manifest, Error> {
        self.manifests.iter().find(|manifest| manifest.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.manifests.iter().map(|m| m.name.as_str()).collect();
            let reason = Unusable::NotBuilt {
                folder: self.folder.clone(),
                built: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
                hint: hint(name, names.iter().copied()),
            };
            Error::Stack { place: format!("--stack {name}"), reason }
        })
    }
}

impl Manifest {
    fn read(file: &Path) -> Result<Self, Error> {
        let error = |reason| Error::Stack { place: file.display().to_string(), reason };
        let text = fs::read_to_string(file).map_err(|e| error(Unusable::Io(e)))?;
        let mut manifest: Self = toml::from_str(&text)
            .map_err(|e| error(Unusable::Manifest(e.message().replace('\n', " "))))?;
        if manifest.controls.is_empty() || manifest.command.is_empty() {
            let expected = "controls and command: expected at least one entry each";
            return Err(error(Unusable::Manifest(expected.to_owned())));
        }
        file.parent().unwrap_or(Path::new(".")).clone_into(&mut manifest.folder);
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUINN: &str = "name = 'quinn'\nversion = 'quinn-proto 0.11.19'\nabout = 'QUIC'\n\
                         time = 'virtual'\ncontrols = ['cubic', 'bbr']\ncommand = ['./quinn']\n";

    /// Writes manifests into a folder of their own.
    fn stacks(name: &str, manifests: &[(&str, &str)]) -> Result<Stacks, Error> {
        let folder = std::env::temp_dir().join(format!("unruffled-{name}-{}", std::process::id()));
        for (stack, text) in manifests {
            fs::create_dir_all(folder.join(stack)).unwrap();
            fs::write(folder.join(stack).join(FILE), text).unwrap();
        }
        let stacks = Stacks::read(&folder);
        let _ = fs::remove_dir_all(&folder);
        stacks
    }

    #[test]
    fn a_stack_is_found_by_its_name() {
        let stacks = stacks("found", &[("quinn", QUINN)]).expect("is valid");
        let quinn = stacks.named("quinn").expect("is there");
        assert_eq!((quinn.time, &quinn.settings[..]), (Time::Virtual, &[][..]));
        let error = stacks.named("quin").expect_err("is not there").to_string();
        assert!(error.starts_with("--stack quin: no driver in "), "{error}");
        assert!(
            error.ends_with("has quinn: `make stacks` builds them; did you mean quinn?"),
            "{error}"
        );
    }

    #[test]
    fn a_folder_that_does_not_exist_has_no_stacks() {
        let stacks = Stacks::read(Path::new("does/not/exist")).expect("none");
        let error = stacks.named("quinn").expect_err("none").to_string();
        assert!(error.contains("no driver in does/not/exist, which has none"), "{error}");
    }

    #[test]
    fn an_invalid_manifest_is_named_with_its_key() {
        let broken = QUINN.replace("'virtual'", "'sometimes'");
        let error = stacks("broken", &[("quinn", &broken)]).expect_err("is invalid").to_string();
        assert!(error.contains("quinn/stack.toml: ") && error.contains("sometimes"), "{error}");
        let empty = QUINN.replace("'./quinn'", "");
        let error = stacks("empty", &[("quinn", &empty)]).expect_err("is invalid").to_string();
        assert!(error.ends_with("expected at least one entry each"), "{error}");
    }
}
