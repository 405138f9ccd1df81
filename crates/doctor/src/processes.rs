//! What processes lead to: names of network namespaces, and the programs that have sockets open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// How a user names a network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A name of `ip netns`.
    Name(String),
    /// A process in it.
    Process(u32),
}

/// A program that has a socket open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Name of the program, of at most 15 octets.
    pub name: String,
    /// Number of its process.
    pub process: u32,
}

/// Returns the names of network namespaces other than the own one: those of `ip netns`, or a process in it.
pub fn namespace_names(inodes: &BTreeSet<u64>, own: u64) -> BTreeMap<u64, Place> {
    let mut names = BTreeMap::new();
    let is_foreign = |inode: &u64| *inode != own && inodes.contains(inode);
    for entry in fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        let Ok(found) = fs::metadata(entry.path()) else { continue };
        if is_foreign(&found.ino()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            names.insert(found.ino(), Place::Name(name));
        }
    }
    if inodes.iter().filter(|inode| is_foreign(inode)).all(|inode| names.contains_key(inode)) {
        return names;
    }
    for (process, folder) in processes() {
        let Ok(found) = fs::metadata(folder.join("ns/net")) else { continue };
        if is_foreign(&found.ino()) {
            names.entry(found.ino()).or_insert(Place::Process(process));
        }
    }
    names
}

/// Returns the processes and their folders in `/proc`.
fn processes() -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// Returns the programs that have the sockets with these inodes open. Where several have, it is the one that
/// `/proc` lists first.
pub fn programs(mut inodes: BTreeSet<u64>) -> BTreeMap<u64, Program> {
    inodes.remove(&0);
    let mut programs = BTreeMap::new();
    for (process, folder) in processes() {
        if programs.len() == inodes.len() {
            break;
        }
        for entry in fs::read_dir(folder.join("fd")).into_iter().flatten().flatten() {
            let Some(inode) = socket_inode(&entry.path()) else { continue };
            if inodes.contains(&inode) {
                let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
                let program = Program { name: name.trim().to_owned(), process };
                programs.entry(inode).or_insert(program);
            }
        }
    }
    programs
}

fn socket_inode(descriptor: &Path) -> Option<u64> {
    let target = fs::read_link(descriptor).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn the_program_of_a_socket_is_found_by_its_inode() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let descriptor = format!("/proc/self/fd/{}", listener.as_raw_fd());
        let inode = fs::metadata(descriptor).expect("a socket").ino();
        let found = programs([inode, 1].into());
        let own = found.get(&inode).expect("this process has it open");
        assert_eq!((own.process, found.len()), (std::process::id(), 1));
    }
}
