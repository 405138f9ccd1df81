//! The BPF objects: opened and loaded, their links pinned, and why libbpf refuses one.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use libbpf_rs::{Link, Object, ObjectBuilder, OpenObject, PrintLevel, ProgramMut};

use crate::Error;

/// An object, aligned as an ELF file has to be.
macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o"))
    };
}

pub(crate) const UNRUFFLED: &[u8] = object!("unruffled");
pub(crate) const STATUS: &[u8] = object!("status");
pub(crate) const CGROUP: &[u8] = object!("cgroup");
pub(crate) const LISTENERS: &[u8] = object!("listeners");
pub(crate) const NAMESPACE: &[u8] = object!("namespace");
pub(crate) const TIMESTAMPS: &[u8] = object!("timestamps");

/// What libbpf complained of: its errors are numbers, its messages say why.
static COMPLAINT: Mutex<String> = Mutex::new(String::new());

fn listen(_: PrintLevel, text: String) {
    let mut complaint = COMPLAINT.lock().unwrap_or_else(PoisonError::into_inner);
    complaint.push_str(&text);
}

/// What failed, and what libbpf said of it.
pub(crate) fn refused(what: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Error {
    let what = what.into();
    move |error| {
        let complaint = COMPLAINT.lock().unwrap_or_else(PoisonError::into_inner);
        let first = complaint.lines().next().unwrap_or_default().trim();
        // The verifier's reason is the last line of its log but for its statistics.
        let lines: Vec<_> = complaint.lines().collect();
        let end = lines.iter().position(|line| line.starts_with("processed "));
        let verifier = end.and_then(|end| lines[..end].last());
        let reason = match (first, verifier) {
            ("", _) => error.to_string(),
            (first, None) => first.to_owned(),
            (first, Some(why)) => format!("{first} ({why})"),
        };
        Error::Program { what, reason, source: Some(Box::new(error)) }
    }
}

/// Opens an object.
pub(crate) fn open(object: &[u8]) -> Result<OpenObject, Error> {
    COMPLAINT.lock().unwrap_or_else(PoisonError::into_inner).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, listen)));
    ObjectBuilder::default().open_memory(object).map_err(refused("the BPF object"))
}

pub(crate) fn load(object: OpenObject) -> Result<Object, Error> {
    object.load().map_err(refused("this kernel does not take the BPF programs"))
}

/// Its program of that name.
pub(crate) fn program<'a>(object: &'a Object, name: &str) -> Result<ProgramMut<'a>, Error> {
    let mut programs = object.progs_mut();
    programs.find(|program| program.name() == name).ok_or_else(|| Error::Program {
        what: format!("program {name}"),
        reason: "not in the object".to_owned(),
        source: None,
    })
}

/// Links that are gone with this value.
#[derive(Debug, Default)]
pub(crate) struct Links(pub(crate) Vec<(String, Link)>);

impl Links {
    /// Lets them outlive this process, in place of former ones of that name.
    pub(crate) fn pin(self, directory: &Path, prefix: &str) -> Result<(), Error> {
        for (name, mut link) in self.0 {
            let path = directory.join(format!("{prefix}-{name}"));
            if path.exists() {
                unpin(&path)?;
            }
            link.pin(&path).map_err(refused(path.to_string_lossy()))?;
            link.disconnect();
        }
        Ok(())
    }
}

/// Removes what a pinned link holds.
pub(crate) fn unpin(pin: &Path) -> Result<(), Error> {
    fs::remove_file(pin).map_err(Error::file(pin))
}
