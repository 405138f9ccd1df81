//! Network namespaces: which is ours, and work in another.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Error;

const OWN: &str = "/proc/thread-self/ns/net";

/// The inode of this thread's.
pub(crate) fn own() -> Result<u64, Error> {
    Ok(fs::metadata(OWN).map_err(Error::file(OWN))?.ino())
}

/// Does `work` in the namespace with this inode; nothing, if no process is in it any more.
#[cfg(bpf)]
pub(crate) fn within(inode: u64, work: impl FnOnce() + Send) -> Result<(), Error> {
    if own()? == inode {
        work();
        return Ok(());
    }
    match all().find(|(found, _)| *found == inode) {
        Some((_, namespace)) => inside(&namespace, work),
        None => Ok(()),
    }
}

/// Does `work` in this namespace.
pub(crate) fn inside(namespace: &File, work: impl FnOnce() + Send) -> Result<(), Error> {
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let entered =
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
            entered.map(|()| work())
        });
        match worker.join() {
            Ok(done) => done.map_err(|reason| Error::file(OWN)(reason.into())),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// All network namespaces that have a process or a name, with their inodes. One is open at a time: there
/// may be more than files may be.
pub(crate) fn all() -> impl Iterator<Item = (u64, File)> {
    let entries = |path| fs::read_dir(path).into_iter().flatten().flatten();
    let processes = entries("/proc").map(|entry| entry.path().join("ns/net"));
    let paths = processes.chain(entries("/run/netns").map(|entry| entry.path()));
    let mut seen = BTreeSet::new();
    paths.filter_map(move |path| {
        if seen.contains(&fs::metadata(&path).ok()?.ino()) {
            return None;
        }
        // A process may have ended meanwhile, and what is open is not another's.
        let file = File::open(&path).ok()?;
        let inode = file.metadata().ok()?.ino();
        seen.insert(inode).then_some((inode, file))
    })
}

/// A sysctl of this thread's namespace.
pub(crate) fn sysctl(key: &str) -> Result<String, Error> {
    let path = path(key);
    let value = fs::read_to_string(&path).map_err(Error::file(&path))?;
    Ok(value.trim().to_owned())
}

/// Sets a sysctl of this thread's namespace.
pub(crate) fn set_sysctl(key: &str, value: &str) -> Result<(), Error> {
    let path = path(key);
    fs::write(&path, value).map_err(Error::file(&path))
}

fn path(key: &str) -> String {
    format!("/proc/sys/net/ipv4/{key}")
}
