//! Opens and loads BPF objects, pins their links, and turns libbpf's messages into errors.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Link, Object, ObjectBuilder, OpenObject, PrintLevel, ProgramMut};

use crate::Error;

pub(crate) const UNRUFFLED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/unruffled.bpf.o"));
pub(crate) const STATUS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/status.bpf.o"));
pub(crate) const CGROUP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cgroup.bpf.o"));
pub(crate) const LISTENERS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/listeners.bpf.o"));
pub(crate) const NAMESPACE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/namespace.bpf.o"));
pub(crate) const TIMESTAMPS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/timestamps.bpf.o"));
pub(crate) const EVENTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/events.bpf.o"));
pub(crate) const EXISTING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/existing.bpf.o"));

/// Messages of libbpf, which have the reason for its errors.
static MESSAGES: Mutex<String> = Mutex::new(String::new());

fn record_message(_: PrintLevel, text: String) {
    let mut messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    messages.push_str(&text);
}

/// Returns a function that makes an error of `what` failed and libbpf's message.
pub(crate) fn refused(what: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Error {
    let what = what.into();
    move |error| {
        let messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
        let first = messages.lines().next().unwrap_or_default().trim();
        // The verifier's reason is the last line of its log before the statistics.
        let lines: Vec<_> = messages.lines().collect();
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
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, record_message)));
    ObjectBuilder::default().open_memory(object).map_err(refused("the BPF object"))
}

pub(crate) fn load(object: OpenObject) -> Result<Object, Error> {
    object.load().map_err(refused("this kernel does not take the BPF programs"))
}

/// Returns whether a map of this name has the constants of an object.
pub(crate) fn is_constants(name: &str) -> bool {
    name.ends_with(".rodata")
}

/// Returns the program of that name.
pub(crate) fn program<'a>(object: &'a Object, name: &str) -> Result<ProgramMut<'a>, Error> {
    let mut programs = object.progs_mut();
    programs.find(|program| program.name() == name).ok_or_else(|| Error::Program {
        what: format!("program {name}"),
        reason: "not in the object".to_owned(),
        source: None,
    })
}

/// Links of programs, which are removed when this value is dropped.
#[derive(Debug, Default)]
pub(crate) struct Links(pub(crate) Vec<(String, Link)>);

impl Links {
    /// Pins the links so that they outlive this process. They replace links of the same name.
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

/// Removes a pinned link.
pub(crate) fn unpin(pin: &Path) -> Result<(), Error> {
    fs::remove_file(pin).map_err(Error::file(pin))
}

/// Returns whether a pinned link to an interface is attached: its interface has not disappeared.
pub(crate) fn is_attached(pin: &Path) -> bool {
    let info = Link::open(pin).and_then(|link| link.info());
    info.is_ok_and(|info| match info.info {
        LinkTypeInfo::Tcx(tcx) => tcx.ifindex != 0,
        _ => true,
    })
}
