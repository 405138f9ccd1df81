//! Network namespaces: which is ours, and work in another.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Error;

const OWN: &str = "/proc/thread-self/ns/net";

/// The inode of this thread's.
pub(crate) fn own() -> Result<u64, Error> {
    Ok(fs::metadata(OWN).map_err(Error::file(OWN))?.ino())
}

/// Does `work` in the namespace with this inode; nothing, if no process is in it any more.
pub(crate) fn within(inode: u64, work: impl FnOnce() + Send) -> Result<(), Error> {
    if own()? == inode {
        work();
        return Ok(());
    }
    let Some(namespace) = find(inode) else { return Ok(()) };
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

/// The network namespace of that inode, by a process in it or by its name.
fn find(inode: u64) -> Option<File> {
    let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path().join("ns/net"));
    let named = fs::read_dir("/run/netns").into_iter().flatten().flatten().map(|e| e.path());
    let is = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.ino() == inode);
    processes.chain(named).find(|path| is(path)).and_then(|path| File::open(path).ok())
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
