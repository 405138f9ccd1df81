//! What surrounds a connection: names of network namespaces, cgroups, programs, and tunnels on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::processes::{Place, Program, namespace_names, programs};
use crate::{Flow, Observer, Role, Verdict};

/// A network device that puts packets into others, or encrypts them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Tunnel {
    /// Name of the device.
    pub device: String,
    /// Its kind, as `ip -d link` shows it.
    pub kind: String,
}

/// Facts about flows that do not come from their sockets.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether the connections of all network namespaces were visible, or only some were requested.
    pub sees_all: bool,
    /// Inode of the network namespace of this process.
    pub own: u64,
    /// Names of network namespaces.
    pub namespaces: BTreeMap<u64, Place>,
    /// Paths of cgroups, without that of the root.
    pub cgroups: BTreeMap<u64, String>,
    /// Programs by the inodes of their sockets.
    pub programs: BTreeMap<u32, String>,
    /// Tunnels by network namespace and destination.
    pub tunnels: BTreeMap<(u64, IpAddr), Tunnel>,
}

/// Kinds of devices that drop packets which are late by a few dozen packets, or whose programs do. The window of
/// WireGuard has 8129.
const TUNNEL_KINDS: [&str; 11] =
    ["tun", "ovpn", "xfrm", "vti", "vti6", "macsec", "l2tp", "gre", "ip6gre", "gretap", "erspan"];

/// Maximum number of destinations whose route is looked up.
const MAX_ROUTES: usize = 32;

/// Maximum depth of cgroups.
const MAX_DEPTH: usize = 16;

impl Surroundings {
    /// Looks up what surrounds the flows that suffer.
    pub fn of(flows: &[Flow], observer: &Observer) -> Self {
        let is_slow = |flow: &&Flow| {
            matches!(flow.verdict, Verdict::SlowedByReordering | Verdict::SlowedByLateLosses)
        };
        let slow: Vec<&Flow> = flows.iter().filter(is_slow).collect();
        let own = fs::metadata("/proc/thread-self/ns/net").map_or(0, |found| found.ino());
        let is_root = rustix::process::geteuid().is_root();
        let namespaces: BTreeSet<u64> = flows.iter().map(|flow| flow.namespace).collect();
        Self {
            sees_all: is_root || !observer.is_for_all(),
            own,
            namespaces: namespace_names(&namespaces, own),
            cgroups: cgroup_paths(slow.iter().filter_map(|flow| flow.cgroup).collect()),
            programs: names_of_programs(&slow),
            tunnels: tunnels(&slow, own),
        }
    }

    pub(crate) fn cgroup(&self, flow: &Flow) -> Option<&str> {
        self.cgroups.get(&flow.cgroup?).map(String::as_str)
    }

    pub(crate) fn program(&self, flow: &Flow) -> Option<&str> {
        self.programs.get(&flow.inode).map(String::as_str)
    }

    pub(crate) fn tunnel(&self, flow: &Flow) -> Option<&Tunnel> {
        self.tunnels.get(&(flow.namespace, flow.peer.ip()))
    }
}

/// Returns the programs that have the sockets open, in words.
fn names_of_programs(flows: &[&Flow]) -> BTreeMap<u32, String> {
    let found = programs(flows.iter().map(|flow| u64::from(flow.inode)).collect());
    let named = |flow: &&Flow| {
        let Program { name, process } = found.get(&u64::from(flow.inode))?;
        Some((flow.inode, format!("{name} ({process})")))
    };
    flows.iter().filter_map(named).collect()
}

/// Returns the paths of cgroups of version 2 by their numbers, which are the inodes of their folders.
fn cgroup_paths(mut ids: BTreeSet<u64>) -> BTreeMap<u64, String> {
    let mut paths = BTreeMap::new();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let root = fields.find(|fields| fields.get(2) == Some(&"cgroup2"));
    let Some(root) = root.and_then(|fields| fields.get(1).map(PathBuf::from)) else { return paths };
    // Connections of the root are those of programs in no cgroup.
    ids.remove(&fs::metadata(&root).map_or(0, |found| found.ino()));
    let mut folders = vec![(root, 0)];
    while let Some((folder, depth)) = folders.pop() {
        if ids.is_empty() {
            break;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) || depth == MAX_DEPTH {
                continue;
            }
            if let Some(id) =
                entry.metadata().ok().map(|found| found.ino()).filter(|id| ids.remove(id))
            {
                paths.insert(id, entry.path().to_string_lossy().into_owned());
            }
            folders.push((entry.path(), depth + 1));
        }
    }
    paths
}

/// Returns the tunnels through which the packets of slow senders leave.
fn tunnels(slow: &[&Flow], own: u64) -> BTreeMap<(u64, IpAddr), Tunnel> {
    let senders = slow.iter().filter(|flow| flow.role == Role::Sender);
    let mut destinations: BTreeMap<u64, BTreeSet<IpAddr>> = BTreeMap::new();
    for flow in senders.take(MAX_ROUTES) {
        destinations.entry(flow.namespace).or_default().insert(flow.peer.ip());
    }
    let mut tunnels = BTreeMap::new();
    let mut look = |namespace: u64, destinations: &BTreeSet<IpAddr>| {
        for &destination in destinations {
            let tunnel = tunnel_to(destination);
            tunnels.extend(tunnel.map(|tunnel| ((namespace, destination), tunnel)));
        }
    };
    if let Some(here) = destinations.remove(&own) {
        look(own, &here);
    }
    if destinations.is_empty() {
        return tunnels;
    }
    for (inode, namespace) in unruffled_kernel::network_namespaces() {
        if let Some(there) = destinations.get(&inode) {
            let _ = unruffled_kernel::inside_network_namespace(&namespace, || look(inode, there));
        }
    }
    tunnels
}

/// Returns the tunnel of the route to an address in this thread's network namespace. `None` without `ip`, or if
/// it is no tunnel.
fn tunnel_to(destination: IpAddr) -> Option<Tunnel> {
    let route = ip(&["-o", "route", "get", &destination.to_string()])?;
    let device = device_of_route(&route)?;
    let link = ip(&["-d", "-o", "link", "show", "dev", device])?;
    let kind = kind_of_link(&link)?;
    Some(Tunnel { device: device.to_owned(), kind: kind.to_owned() })
}

fn device_of_route(route: &str) -> Option<&str> {
    let mut words = route.split_whitespace();
    words.find(|word| *word == "dev")?;
    words.next()
}

/// Returns the kind of a tunnel from the words of `ip -d link`.
fn kind_of_link(link: &str) -> Option<&'static str> {
    let mut words = link.split(|c: char| c.is_whitespace() || c == '\\');
    words.find_map(|word| TUNNEL_KINDS.into_iter().find(|kind| *kind == word))
}

fn ip(arguments: &[&str]) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("ip");
    // It may be in a folder that is only in root's PATH.
    command.env("PATH", format!("{path}:/usr/sbin:/sbin")).args(arguments);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
