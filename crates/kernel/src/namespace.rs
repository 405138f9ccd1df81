//! Network namespaces: which is ours, and work in another.

use std::collections::BTreeMap;
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
    match all().get(&inode) {
        Some(namespace) => inside(namespace, work),
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

/// All network namespaces that have a process or a name, by their inodes.
pub(crate) fn all() -> BTreeMap<u64, File> {
    let entries = |path| fs::read_dir(path).into_iter().flatten().flatten();
    let processes = entries("/proc").map(|entry| entry.path().join("ns/net"));
    let mut all = BTreeMap::new();
    for path in processes.chain(entries("/run/netns").map(|entry| entry.path())) {
        // A process may have ended meanwhile, and what is open is not another's.
        let Ok(inode) = fs::metadata(&path).map(|metadata| metadata.ino()) else { continue };
        if !all.contains_key(&inode)
            && let Ok(file) = File::open(&path)
            && let Ok(metadata) = file.metadata()
        {
            all.insert(metadata.ino(), file);
        }
    }
    all
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
