//! Finds network namespaces: files through which they can be entered.
//!
//! A namespace lives as long as a process, a thread, a mount or an open file refers to it. One that only a
//! socket or a process of another PID namespace refers to is not found.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, OFlags, StatxFlags, makedev, statx};

use crate::namespace::OWN_NAMESPACE;

/// The inode of a network namespace, and the path of a file that may lead to it.
type Candidate = (u64, PathBuf);

/// Returns all network namespaces that can be found, with their inodes. One is open at a time, since there
/// may be more namespaces than a process may have open files.
pub fn all() -> impl Iterator<Item = (u64, File)> {
    let mut seen = BTreeSet::new();
    candidates().filter_map(move |(inode, path)| {
        let file = (!seen.contains(&inode)).then(|| open(&path, inode)).flatten()?;
        seen.insert(inode);
        Some((inode, file))
    })
}

/// Returns those of the namespaces with these inodes that can be found. The search ends with the last one.
pub fn find(mut inodes: BTreeSet<u64>) -> impl Iterator<Item = (u64, File)> {
    let mut candidates = candidates();
    std::iter::from_fn(move || {
        while !inodes.is_empty() {
            let (inode, path) = candidates.next()?;
            if let Some(file) = inodes.contains(&inode).then(|| open(&path, inode)).flatten() {
                inodes.remove(&inode);
                return Some((inode, file));
            }
        }
        None
    })
}

/// Opens the namespace. Returns `None` if the path leads to another file by now.
fn open(path: &Path, inode: u64) -> Option<File> {
    // A container decides what is at a path within it, such as a FIFO, which would block.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path).ok()?;
    let found = file.metadata().ok()?;
    let device = fs::metadata(OWN_NAMESPACE).ok()?.dev();
    ((found.ino(), found.dev()) == (inode, device)).then_some(file)
}

/// Returns candidates, those that are found at the least cost first.
fn candidates() -> impl Iterator<Item = Candidate> {
    type Stage = fn() -> Box<dyn Iterator<Item = Candidate>>;
    let stages: [Stage; 5] = [
        || Box::new(mounted("/proc/thread-self", Path::new("")).into_iter()),
        || Box::new(processes().filter_map(|process| link(process.join("ns/net")))),
        || Box::new(threads().filter_map(|thread| link(thread.join("ns/net")))),
        || Box::new(mounted_elsewhere()),
        || Box::new(open_files()),
    ];
    stages.into_iter().flat_map(|stage| stage())
}

/// Returns the entries of a directory. There are none if the process has ended.
fn entries(directory: PathBuf) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Returns the directories of all processes.
fn processes() -> impl Iterator<Item = PathBuf> {
    let is_number = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().iter().all(u8::is_ascii_digit))
    };
    entries("/proc".into()).filter(is_number)
}

/// Returns the directories of all threads that are not the first one of their process.
fn threads() -> impl Iterator<Item = PathBuf> {
    processes().flat_map(|process| {
        let first = process.file_name().map(OsString::from);
        entries(process.join("task")).filter(move |task| task.file_name() != first.as_deref())
    })
}

/// Returns a candidate if the symbolic link of procfs leads to a network namespace.
fn link(path: PathBuf) -> Option<Candidate> {
    let target = fs::read_link(&path).ok()?;
    Some((inode(target.to_str()?)?, path))
}

/// Parses the name of a network namespace, such as `net:[4026531840]`.
fn inode(name: &str) -> Option<u64> {
    name.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns the open files of all processes that lead to namespaces.
fn open_files() -> impl Iterator<Item = Candidate> {
    let device = fs::metadata(OWN_NAMESPACE).ok().map(|own| own.dev());
    let files = processes().flat_map(|process| entries(process.join("fd")));
    files.filter_map(move |path| {
        let target = fs::read_link(&path).ok()?;
        if let Some(inode) = target.to_str().and_then(inode) {
            return Some((inode, path));
        }
        // A file that was opened by a mount has the path of the mount, or of its remainder.
        let has_path = target.is_absolute();
        // Without synchronisation, a server that does not answer is not waited for.
        let about = has_path
            .then(|| statx(CWD, &path, AtFlags::STATX_DONT_SYNC, StatxFlags::INO).ok())??;
        let is_namespace = device == Some(makedev(about.stx_dev_major, about.stx_dev_minor));
        is_namespace.then_some((about.stx_ino, path))
    })
}

/// Returns the mounts of network namespaces in mount namespaces other than the own one.
fn mounted_elsewhere() -> impl Iterator<Item = Candidate> {
    let mut seen = BTreeSet::new();
    seen.extend(fs::read_link("/proc/thread-self/ns/mnt").ok());
    processes().flat_map(move |process| {
        let is_new = fs::read_link(process.join("ns/mnt")).is_ok_and(|mounts| seen.insert(mounts));
        let found = is_new.then(|| mounted(&process, &process.join("root")));
        found.unwrap_or_default()
    })
}

/// Returns the mounts of network namespaces that a process sees, whose root directory is at `root`.
fn mounted(process: impl AsRef<Path>, root: &Path) -> Vec<Candidate> {
    let mounts = fs::read(process.as_ref().join("mountinfo")).unwrap_or_default();
    let mounts = String::from_utf8_lossy(&mounts);
    let within = |(inode, place): Candidate| {
        let mut path = OsString::from(root);
        path.push(place);
        (inode, path.into())
    };
    parse_mounts(&mounts).into_iter().map(within).collect()
}

/// Returns the mount points of network namespaces; proc_pid_mountinfo(5) has the format.
fn parse_mounts(mounts: &str) -> Vec<Candidate> {
    let place = |line: &str| {
        let mut fields = line.split(' ').skip(3);
        let root = inode(fields.next()?)?;
        Some((root, unescaped(fields.next()?)))
    };
    mounts.lines().filter_map(place).collect()
}

/// Decodes a path whose white space and backslashes are octal escapes.
fn unescaped(written: &str) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = written.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(octet) => {
                path.push(octet);
                rest = &behind[3..];
            }
            None => {
                path.push(*first);
                rest = behind;
            }
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounted_namespaces_are_found_by_their_roots() {
        let mounts = "22 1 0:20 / /proc rw shared:5 - proc proc rw\n\
                      50 22 0:4 net:[4026532226] /run/netns/red rw shared:9 - nsfs nsfs rw\n\
                      51 22 0:4 mnt:[4026532227] /run/mnt rw - nsfs nsfs rw\n\
                      52 22 0:4 net:[4026532228] /tmp/a\\040b\\134 rw - nsfs nsfs rw\n";
        let expected = [(4_026_532_226, "/run/netns/red"), (4_026_532_228, r"/tmp/a b\")];
        assert_eq!(parse_mounts(mounts), expected.map(|(inode, path)| (inode, path.into())));
        assert!(parse_mounts("50 22").is_empty());
    }

    #[test]
    fn the_own_namespace_is_found_among_all() {
        let own = crate::namespace::own().expect("this thread has one");
        let inodes: Vec<_> = all().map(|(inode, _)| inode).collect();
        assert_eq!(inodes.iter().filter(|inode| **inode == own).count(), 1, "{inodes:?}");
        let found: Vec<_> = find([own, 1].into()).map(|(inode, _)| inode).collect();
        assert_eq!(found, [own]);
    }
}
