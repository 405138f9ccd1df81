//! Reads all connections of the machine.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use crate::{Counters, Error, Socket, diag};

const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// The network namespaces that are watched.
#[derive(Debug, Default)]
pub enum Scope {
    /// All that the process may enter.
    #[default]
    All,
    /// The one of the calling thread.
    Own,
    /// The one of an open file.
    One(File),
}

/// All connections at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Time since the start of the watch.
    pub at: Duration,
    /// The connections.
    pub sockets: Vec<Socket>,
    /// Counters of the network namespaces, by their inodes.
    pub namespaces: BTreeMap<u64, Counters>,
    /// Number of network namespaces that the process may not enter.
    pub closed: usize,
}

impl Snapshot {
    /// Reads all connections in `scope`. `began` is the start of the watch.
    ///
    /// # Errors
    /// If the kernel does not list the connections of this thread's namespace, or of the only one in scope.
    pub fn take(scope: &Scope, began: Instant) -> Result<Self, Error> {
        let mut snapshot = Self { at: began.elapsed(), ..Self::default() };
        if let Scope::One(namespace) = scope {
            let inode = inode_of(namespace.metadata())?;
            snapshot.add(inode, inside(namespace, inode)?);
            return Ok(snapshot);
        }
        let own = inode_of(fs::metadata(OWN_NAMESPACE))?;
        snapshot.add(own, read(own)?);
        if matches!(scope, Scope::Own) {
            return Ok(snapshot);
        }
        for (inode, namespace) in unruffled_kernel::network_namespaces() {
            if inode == own {
                continue;
            }
            match inside(&namespace, inode) {
                Ok(found) => snapshot.add(inode, found),
                Err(_) => snapshot.closed += 1,
            }
        }
        Ok(snapshot)
    }

    fn add(&mut self, namespace: u64, (sockets, counters): Found) {
        self.sockets.extend(sockets);
        self.namespaces.insert(namespace, counters);
    }
}

/// Connections and counters of a network namespace.
type Found = (Vec<Socket>, Counters);

fn inode_of(found: io::Result<fs::Metadata>) -> Result<u64, Error> {
    let found = found.map_err(|reason| Error::File { path: OWN_NAMESPACE.into(), reason });
    found.map(|found| found.ino())
}

/// Reads a network namespace from a thread that enters it.
fn inside(namespace: &File, inode: u64) -> Result<Found, Error> {
    unruffled_kernel::inside_network_namespace(namespace, || read(inode))?
}

/// Reads the connections and the counters of this thread's network namespace.
fn read(inode: u64) -> Result<Found, Error> {
    let text =
        |name| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
    let counters = Counters::parse(&text("snmp"), &text("netstat"), &text("xfrm_stat"));
    Ok((diag::connections(inode)?, counters))
}
