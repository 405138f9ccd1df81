//! Programs that remove timestamps from handshakes, on each interface of this network namespace.

use std::fs;
use std::os::fd::AsFd as _;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Enum;
use libbpf_rs::{Link, Object, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};

use crate::Error;
use crate::live::Live;
use crate::loading::{Links, TIMESTAMPS, load, open, program, refused};
use crate::namespace::Identity;
use crate::state::{Filters, State, seconds_since_1970};

const INTERFACES: &str = "/proc/thread-self/net/dev";

/// Handle and priority identify our filters.
const HANDLE: u32 = 0x756e;
const PRIORITY: u32 = 0x756e;

/// Attaches the programs to every interface except loopback. On kernels with links to interfaces (6.6) they
/// are removed with the returned value; on others they stay until [`remove_filters`].
pub(crate) fn take_out_timestamps(state: &mut State) -> Result<Links, Error> {
    let object = load(open(TIMESTAMPS)?)?;
    let live = if has_links() { None } else { Some(Live::new()?) };
    let mut links = Links::default();
    for (name, index) in interfaces()? {
        let served = match &live {
            None => link(&object, &name, index).map(|served| links.0.extend(served)),
            Some(live) => filter(&object, state, Identity::own(Some(live))?, &name, index),
        };
        // The interface may have disappeared since.
        if served.is_err() && interfaces()?.iter().all(|(_, there)| *there != index) {
            continue;
        }
        served?;
    }
    Ok(links)
}

/// Attaches the programs to an interface by links, and returns the links with their names.
fn link(object: &Object, name: &str, interface: i32) -> Result<Vec<(String, Link)>, Error> {
    let programs = [("outgoing_syn", "out"), ("incoming_syn", "in")];
    let links = programs.map(|(program_name, way)| {
        // For links to interfaces, libbpf-rs has a function for XDP only. The kernel derives the type of the
        // link from the program.
        let link = program(object, program_name)?.attach_xdp(interface);
        let link = link.map_err(refused(format!("interface {name}")))?;
        Ok((format!("{interface}-{way}"), link))
    });
    links.into_iter().collect()
}

/// Attaches the programs to an interface as filters, without links.
fn filter(
    object: &Object,
    state: &mut State,
    namespace: Identity,
    name: &str,
    interface: i32,
) -> Result<(), Error> {
    let refused = || refused(format!("interface {name}"));
    let is_same = |f: &Filters| f.namespace.matches(&namespace) && f.interface == interface;
    if !state.filters.iter().any(is_same) {
        let since = Some(seconds_since_1970());
        state.filters.push(Filters { namespace, interface, own: !has_clsact(interface), since });
        state.store()?;
    }
    for (program_name, point) in [("outgoing_syn", TC_EGRESS), ("incoming_syn", TC_INGRESS)] {
        let program = program(object, program_name)?;
        let mut hook = hook(program.as_fd(), interface, point);
        hook.create().map_err(refused())?;
        hook.attach().map_err(refused())?;
    }
    Ok(())
}

fn hook(
    program: std::os::fd::BorrowedFd<'_>,
    interface: i32,
    point: libbpf_rs::TcAttachPoint,
) -> TcHook {
    let mut builder = TcHookBuilder::new(program);
    builder.ifindex(interface).replace(true).handle(HANDLE).priority(PRIORITY);
    builder.hook(point)
}

/// Returns whether the interface has a clsact queueing discipline. A query without one is an invalid
/// argument.
fn has_clsact(interface: i32) -> bool {
    let no_program = std::io::stdin();
    let mut hook = hook(no_program.as_fd(), interface, TC_EGRESS);
    !matches!(hook.query(), Err(error) if error.kind() == libbpf_rs::ErrorKind::InvalidInput)
}

/// Removes the filters of kernels without links.
pub(crate) fn remove_filters(filters: &[Filters]) -> Result<(), Error> {
    if filters.is_empty() {
        return Ok(());
    }
    // Without the programs, namespaces are identified by their inodes.
    let live = Live::new().ok();
    for filters in filters {
        filters.namespace.within(live.as_ref(), || {
            let no_program = std::io::stdin();
            for point in [TC_EGRESS, TC_INGRESS] {
                let mut hook = hook(no_program.as_fd(), filters.interface, point);
                // Fails if the interface has disappeared.
                let _ = hook.detach();
            }
            if filters.own {
                let mut hook = hook(no_program.as_fd(), filters.interface, TC_EGRESS | TC_INGRESS);
                let _ = hook.destroy();
            }
        })?;
    }
    Ok(())
}

/// Returns whether the kernel has links of programs to interfaces, as it does since 6.6.
fn has_links() -> bool {
    let Ok(btf) = Btf::from_vmlinux() else { return false };
    let mut values = btf.type_by_kind::<Enum<'_>>();
    values.any(|e| e.iter().any(|v| v.name.is_some_and(|n| n == "BPF_TCX_INGRESS")))
}

/// Returns names and indices of the interfaces except loopback. /sys is not used, since it has those of the
/// namespace in which it was mounted.
fn interfaces() -> Result<Vec<(String, i32)>, Error> {
    let table = fs::read_to_string(INTERFACES).map_err(Error::file(INTERFACES))?;
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None);
    let socket = socket.map_err(|reason| Error::file(INTERFACES)(reason.into()))?;
    let names = table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
    let interfaces = names.filter(|&name| name != "lo").filter_map(|name| {
        let index = name_to_index(&socket, name).ok()?;
        Some((name.to_owned(), i32::try_from(index).ok()?))
    });
    Ok(interfaces.collect())
}
