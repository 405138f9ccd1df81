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

/// Time for which a list of network namespaces is used. Making it reads the folders of all processes.
const LIST_LIFETIME: Duration = Duration::from_secs(5);

/// Maximum number of network namespaces that are watched. Each takes an open file.
const MAX_NAMESPACES: usize = 512;

/// Takes snapshots.
#[derive(Debug)]
pub struct Observer {
    scope: Scope,
    began: Instant,
    /// Network namespaces other than the own one.
    others: Vec<(u64, File)>,
    /// Time at which the list was made.
    listed: Option<Instant>,
}

impl Observer {
    /// Starts a watch.
    pub fn new(scope: Scope) -> Self {
        Self { scope, began: Instant::now(), others: Vec::new(), listed: None }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns whether all network namespaces are in scope.
    pub(crate) fn is_for_all(&self) -> bool {
        matches!(self.scope, Scope::All)
    }

    /// Reads all connections.
    ///
    /// # Errors
    /// If the kernel does not list the connections of this thread's namespace, or of the only one in scope.
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot { at: self.elapsed(), ..Snapshot::default() };
        if let Scope::One(namespace) = &self.scope {
            let inode = inode_of(namespace.metadata())?;
            snapshot.add(inode, inside(namespace, inode)?);
            return Ok(snapshot);
        }
        let own = inode_of(fs::metadata(OWN_NAMESPACE))?;
        snapshot.add(own, read(own)?);
        if self.is_for_all() {
            self.list_namespaces(own);
            for (inode, namespace) in &self.others {
                match inside(namespace, *inode) {
                    Ok(found) => snapshot.add(*inode, found),
                    Err(_) => snapshot.closed += 1,
                }
            }
        }
        Ok(snapshot)
    }

    fn list_namespaces(&mut self, own: u64) {
        if self.listed.is_some_and(|listed| listed.elapsed() < LIST_LIFETIME) {
            return;
        }
        // An open file keeps a namespace that has ended, and the search would find it by that file.
        self.others.clear();
        let others = unruffled_kernel::network_namespaces().filter(|(inode, _)| *inode != own);
        self.others.extend(others.take(MAX_NAMESPACES));
        self.listed = Some(Instant::now());
    }
}

impl Snapshot {
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
